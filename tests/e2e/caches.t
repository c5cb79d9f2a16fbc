#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux simulate`: a program whose misses are known is run again in the emulator with other sizes of the last cache, and
# what is foreseen of a larger cache is what happens to half the data in the same cache.
# Real time: which bursts are a phase in the emulated run, whose times a busy machine stretches.
. "$(dirname "$0")/lib.sh"

[ -z "$sanitizer" ] || skip_all "an emulator of a sanitizer's memory takes all that there is"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulator is of x86-64 alone"
cached=$programs/cached.openmpi
have mpirun.openmpi && [ -x "$cached" ] || skip_all "no Open MPI"

launch="mpirun.openmpi --allow-run-as-root --oversubscribe -n 2"
# recorded NAME KIB: a run without the emulator, as a user has it
recorded() {
	preloaded "$1" PHASEMUX_BUDGET=none PHASEMUX_BURST_MIN=100us on openmpi 2 "$cached" 30 "$2"
}
# simulated NAME RESULT KIB OPTION...: leaves the document in NAME.out
simulated() {
	# words of the launcher are split
	# shellcheck disable=SC2086
	run "$1" PHASEMUX_BURST_MIN=100us timeout -k 10 300 "$phasemux" simulate "${@:4}" "$2.result" -- $launch "$cached" 30 "$3"
	is "$(cat "$1.code")" 0 "$1: it is simulated" || diag "$(cat "$1.err")"
}

recorded large 3072
is "$(cat large.code)" 0 "a run is recorded"
refuses "a folder that is not there" "No such file" simulate nothing -- true
refuses "no command, and nothing that was simulated" "large.result/caches: nothing was simulated yet" simulate large.result
refuses "no command for another core" "^usage: phasemux simulate" simulate --core in-order large.result
refuses "no command behind --" "^usage: phasemux simulate" simulate large.result --
refuses "another core model" "--core z80: out-of-order, in-order" simulate --core z80 large.result -- true
refuses "a size that is not simulated" "MiB, one of 1, 2, 4, 8, 16, 32" simulate --size 3 large.result -- true
refuses "no limit" "stop-after soon: a number of seconds above 0" simulate --stop-after soon large.result -- true
"$python" -c 'import json, sys
report = json.load(open("large.result/report.json")); report["phases"] = []; json.dump(report, open("empty.json", "w"))'
refuses "a result without phases" "empty.json: this result has no phase" simulate empty.json -- true
refuses "whatif before the caches are simulated" "cache: no other caches were simulated .*phasemux simulate" \
	whatif --cache 2 large.result
mkdir "$tmp/empty"
run missing PATH="$tmp/empty" "$phasemux" simulate large.result -- true
is "$(cat missing.code)" 2 "without QEMU it refuses"
holds "and says what to install" grep -q 'cannot be emulated: qemu-x86_64 is not in PATH.*qemu-user' missing.err

takes_plugins || skip_all "no qemu-x86_64 that takes plugins is installed"
simulated sizes large 3072 --json
cat >check.py <<'CHECK'
import json, sys
KIB, PASSES, LOADS, BURSTS = int(sys.argv[2]), 8, 100000, 60
document = json.load(open(sys.argv[1]))
def at(phase, mib): return next(size for size in phase["sizes"] if size["bytes"] == mib << 20)
def misses(phase, mib): return at(phase, mib)["misses_per_1000_instructions"]["mean"] * phase["instructions"] / 1000
lines = KIB * 1024 // 64 * PASSES
# a busy machine may divide the bursts of a function into several phases, which are the same ones in the emulator
stream = next(phase for phase in document["phases"] if 4 * lines <= phase["instructions"] <= 4.04 * lines)
CHECK
cat check.py - >stream.py <<'CHECK'
share = {mib: misses(stream, mib) / lines for mib in (1, 2, 4, 8, 16, 32)}
print("instructions", stream["instructions"] / (4 * lines), share)
assert (document["core"], document["bytes"], document["level"]) == ("out-of-order", 2 << 20, 3)
# Too small a cache misses every line. A large one misses none, except in the first pass, after the loads from 8 MiB.
assert all(abs(share[mib] - 1) < .01 for mib in (1, 2)) and abs(share[4] - 1 / PASSES) < .01, share
assert share[8] < 1 / PASSES and all(share[mib] < .01 for mib in (16, 32)), share
# 4 instructions are 1 cycle, a hit 16 and a miss 80 cycles
assert abs(at(stream, 4)["cpi"] / ((1 + 16 + 64 / PASSES) / 4) - 1) < .02, at(stream, 4)
assert at(stream, 2)["time_factor"]["mean"] == 1 and abs(at(stream, 4)["time_factor"]["mean"] - 25 / 81) < .01
CHECK
holds "an array of 3 MiB misses a cache of 2 MiB and fits into one of 4 MiB" "$python" stream.py sizes.out 3072
cat check.py - >scattered.py <<'CHECK'
import math
others = [phase for phase in document["phases"] if LOADS < misses(phase, 1) * 1.5 and phase["instructions"] < 3 * lines]
assert others, [misses(phase, 1) for phase in document["phases"]]
# Misses of all bursts: on a busy machine, a short burst without any may take as long, and be in the phase.
share = {mib: others[0]["bursts"] * misses(others[0], mib) / (BURSTS * LOADS) for mib in (1, 2, 4, 16)}
# Random loads in N lines find C lines after -N ln(1 - C/N) loads, and then miss 1 - C/N. Before, each miss adds a line.
N = (8 << 20) // 64
def expected(mib):
    C = (mib << 20) // 64
    return (C + (LOADS + N * math.log(1 - C / N)) * (1 - C / N)) / LOADS
print(share, [expected(mib) for mib in (1, 2, 4)])
assert all(abs(share[mib] / expected(mib) - 1) < .015 for mib in (1, 2, 4)) and share[16] < .03, share
CHECK
holds "random loads miss as often as the part of the array that is not in the cache" "$python" scattered.py sizes.out 3072

# what was foreseen of twice the cache is what half the array does in the same cache
recorded small 1536
simulated half small 1536 --json
holds "twice the cache brings what half the array does" "$python" - <<'CHECK'
import json
def stream(name, kib):
    lines = kib * 1024 // 64 * 8
    return next(phase for phase in json.load(open(name))["phases"] if 4 * lines <= phase["instructions"] <= 4.04 * lines)
def cpi(phase, mib): return next(size["cpi"] for size in phase["sizes"] if size["bytes"] == mib << 20)
foreseen, happened = cpi(stream("sizes.out", 3072), 4), cpi(stream("half.out", 1536), 2)
print(foreseen, happened)
assert abs(foreseen / happened - 1) < .05
CHECK

# words, other options, and whatif
simulated words large 3072
holds "in words first: what the run would take" grep -Pzq 'With a last cache 2 times as large, the run\s*would\s*take' words.out
holds "and which phase gains most" grep -Pzq 'Phase [0-9]+ gains most: with 4 MiB of level 3 cache for each core instead of 2\s+MiB' words.out
holds "it fits into 100 columns" [ "$(wc -L <words.out)" -le 100 ]
is "$(ls large.result/caches)" "caches.json
run
run.log" "the document and the second run are in the folder of the result"
run whatif "$phasemux" whatif --json --cache 2 large.result
is "$(cat whatif.code)" 0 "whatif takes what was simulated"
holds "each phase as it was simulated" "$python" - <<'CHECK'
import json
document, answers = json.load(open("large.result/caches/caches.json")), json.load(open("whatif.out"))["answers"]
answer, wall = answers[0], json.load(open("large.result/report.json"))["wall_seconds"]
assert answer["change"] == "a last cache 2 times as large" and answer["option"] == "--cache 2", answer
factors = [next(size for size in phase["sizes"] if size["times"] == 2)["time_factor"]["mean"] for phase in document["phases"]]
print(factors, answer)
assert min(factors) * wall <= answer["wall_seconds"]["least"] < wall
CHECK
run alone "$phasemux" whatif large.result
holds "and tries it among the single changes" grep -q '^a last cache 2 times as large ' alone.out
holds "saying where it is from" grep -q 'core model out-of-order by phasemux simulate' <(tr '\n' ' ' <alone.out | tr -s ' ')
refuses "a size that was not simulated" "no last cache 3 times as large was simulated, but others: 0.5, 2, 4, 8, 16 times" \
	whatif --cache 3 large.result
refuses "two caches" "only one cache can be asked for" whatif --cache 2 --cache 4 large.result
simulated from large 3072 --json --size 4
holds "--size: twice a cache of 4 MiB, which holds the array already" "$python" - <<'CHECK'
import json
document = json.load(open("from.out"))
assert document["bytes"] == 4 << 20
sizes = {size["times"]: size["time_factor"]["mean"] for size in document["phases"][0]["sizes"]}
assert sorted(sizes) == [.25, .5, 1, 2, 4, 8] and sizes[1] == 1
CHECK
run shown "$phasemux" simulate --json --size 4 large.result
holds "without COMMAND: what was simulated before" cmp from.out shown.out
refuses "with a size that was simulated" "MiB, one of 1, 2, 4" simulate --size 5 large.result
simulated core large 3072 --json --core in-order --stop-after 10iterations
holds "--core: the last cache of the other model is L2" "$python" - <<'CHECK'
import json
document = json.load(open("core.out"))
assert (document["core"], document["level"], document["bytes"]) == ("in-order", 2, 256 << 10)
assert document["stopped"]["iterations"] >= 10 and json.load(open("sizes.out"))["stopped"] is None
assert max(phase["bursts"] for phase in document["phases"]) < 2 * 30, document
CHECK

# a result that has counters: the second run has the same instructions, and CPI as it is
preloaded counted PHASEMUX_COUNTERS=emulated PHASEMUX_BUDGET=none PHASEMUX_BURST_MIN=100us on openmpi 2 "$cached" 20 3072
# shellcheck disable=SC2086
run again PHASEMUX_BURST_MIN=100us timeout -k 10 300 "$phasemux" simulate counted.result -- $launch "$cached" 20 3072
holds "a result with counters: the second run has the same instructions" \
	grep -qE '^Bursts have as many instructions as in the recorded run, within (<?0\.[0-9])%\.$' again.out || diag "$(cat again.out)"
holds "and the CPI of the cache as it is is the recorded one" "$python" - <<'CHECK'
import json
document = json.load(open("counted.result/caches/caches.json"))
phases = [phase for phase in document["phases"] if phase["time_share"] > .05]
assert len(phases) >= 3, document
for phase in phases:
    cpi = next(size["cpi"] for size in phase["sizes"] if size["times"] == 1)
    assert abs(cpi / phase["recorded_cpi"] - 1) < .03, (cpi, phase["recorded_cpi"])
CHECK

cp -r small.result moved.result
rm -rf moved.result/caches
cp -r large.result/caches moved.result
refuses "caches of another result" "is of another result" whatif --cache 2 moved.result
run other timeout -k 10 120 "$phasemux" simulate large.result -- "$programs/serial" 1
is "$(cat other.code)" 2 "another program is refused"
holds "because none of its phases is one of the result" grep -q 'no phase of the result is in the run' other.err

# instructions of the functions, counted by another tool
if have valgrind; then
	for name in stream sorted; do
		# callgrind counts each repetition of a string instruction, by which the C library copies much
		run "callgrind.$name" GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=100000000 on openmpi 1 valgrind --tool=callgrind --callgrind-out-file="$tmp/$name.callgrind" \
			--toggle-collect="$name" "$cached" 5 3072
	done
	holds "instructions of a burst are those that callgrind counts in its function, within 1%" "$python" - <<'CHECK'
import json, re
document = json.load(open("sizes.out"))
for name in ("stream", "sorted"):
    counted = int(re.search(r"^summary: (\d+)", open(name + ".callgrind").read(), re.M)[1]) / 5
    nearest = min((phase["instructions"] for phase in document["phases"]), key=lambda own: abs(own / counted - 1))
    print(name, counted, nearest, nearest / counted - 1)
    assert abs(nearest / counted - 1) < .01
CHECK
else
	skip "instructions of a burst are those that callgrind counts" "no valgrind"
fi
done_testing
