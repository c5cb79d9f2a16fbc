#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux validate --replay: its results for bursts whose counters are all known. If TRACES is set (a folder of
# folders with a .prv each), recorded traces are tested, too.
. "$(dirname "$0")/lib.sh"

[ -x "$phasemux" ] || skip_all "no command was built"

# Two phases on four unequal ranks. BRANCHES follows instructions, STALL_CYC follows cycles, and MISSES follows
# neither.
cat >make.py <<'END'
import random
random.seed(5)
print("task,begin_ns,end_ns,cycles,instructions,BRANCHES,STALL_CYC,MISSES,half,cluster")
for task in range(4):
    now = 0
    for i in range(400):
        phase = 1 + i % 2
        ins = int(2e6 * phase * (1 + .05 * task) * random.gauss(1, .01))
        cyc = int(ins * random.gauss(1.2, .05))
        row = [task, now, now + cyc // 3, cyc, ins, int(.2 * ins * random.gauss(1, .002)),
               int(.5 * cyc * random.gauss(1, .005)), int(.01 * ins * random.gauss(1, .1)), .5, phase]
        print(",".join(map(str, row)))
        now += cyc // 3 + 100000
END
"$python" make.py >bursts.csv

run text "$phasemux" validate --replay bursts.csv --trials 50
is "$(cat text.code)" 0 "a table of bursts is replayed"
for scheme in time-space time space random adaptive; do
	holds "the table has a row for $scheme" grep -qE "^$scheme +[0-9.]+%" text.out
done
holds "what is no count is left out, and said" grep -q 'half.*left out' text.err
holds "it fits 100 columns" sh -c '! grep -qE "^.{101}" text.out'

run json "$phasemux" validate --replay bursts.csv --trials 200 --json
holds "the estimates are better than plain means, and the intervals hold the truth" "$python" -c '
import json
result = json.load(open("json.out"))["schemes"]
assert set(result) == {"time-space", "time", "space", "random", "adaptive"}, result.keys()
for name, scheme in result.items():
    assert 0 < scheme["mean_weighted_error"] <= scheme["max_weighted_error"] < .02, (name, scheme)
    if name != "space":
        assert scheme["mean_weighted_error"] < scheme["plain_mean_weighted_error"], (name, scheme)
    assert scheme["coverage"] is None or scheme["coverage"] >= .9, (name, scheme)
    assert len(scheme["counters"]) == 6, scheme["counters"]'
run same "$phasemux" validate --replay bursts.csv --trials 200 --json
is "$(cat same.out)" "$(cat json.out)" "the same seed gives the same numbers"
run part "$phasemux" validate --replay bursts.csv --trials 50 --read 0.2 --scheme random --json
holds "a fifth of the bursts is enough to say something" "$python" -c '
import json
scheme, = json.load(open("part.out"))["schemes"].values()
assert scheme["coverage"] >= .9 and scheme["observed"] == 1, scheme'

# RARE is in two bursts of a phase. If a group's bursts have none of them, then no interval is stated, as in a report.
"$python" -c '
import csv
rows = list(csv.DictReader(open("bursts.csv")))
for i, row in enumerate(rows):
    row["RARE"] = 5000 if i in (100, 700) else 0
with open("rare.csv", "w") as file:
    table = csv.DictWriter(file, rows[0].keys())
    table.writeheader()
    table.writerows(rows)'
run rare "$phasemux" validate --replay rare.csv --scheme time-space,random --json
holds "where none of a group's bursts had an event, no interval is stated" "$python" -c '
import json
for name, scheme in json.load(open("rare.out"))["schemes"].items():
    cells = [cell for cell in scheme["counters"] if cell["counter"] == "RARE" and cell["relevance"] > 0]
    assert len(cells) == 1 and .1 < cells[0]["stated"] < .9, cells
    assert cells[0]["coverage"] >= .9, cells'

refuses "no file" usage validate
refuses "no such scheme" sideways validate --replay bursts.csv --scheme sideways
refuses "a share above 1" 1.5 validate --replay bursts.csv --read 1.5
refuses "a quantum without a unit" 10 validate --replay bursts.csv --quantum 10
cut -d, -f1-5 bursts.csv >bare.csv
refuses "nothing to hide" counter validate --replay bare.csv
cut -d, -f1-3,6 bursts.csv >short.csv
refuses "no cycles" cycles validate --replay short.csv
run missing "$phasemux" validate --replay nowhere.csv
is "$(cat missing.code)" 1 "a file that is not there: 1"

# Real runs, whose true counts the scripted PMU knows.
if [ -e "$scripted" ] && [ -e "$programs/phases.openmpi" ]; then
	validated_text() {
		LD_PRELOAD="$beside" PHASEMUX_PMU="$scripted" SCRIPTED_PMU="${SCRIPTED:-}" \
			"$phasemux" validate --scheme time-space "$@"
	}
	validated() { validated_text --json "$@"; }
	program=(mpirun.openmpi --allow-run-as-root --oversubscribe -np 2)
	export PHASEMUX_EVENTS=generic
	run runs validated -- "${program[@]}" "$programs/phases.openmpi" -n 100
	is "$(cat runs.code)" 0 "a program is run for every group and scheme"
	holds "where counts are exact there is next to no error" "$python" -c '
import json
scheme = json.load(open("runs.out"))["schemes"]["time-space"]
assert scheme["observed"] > .9 and scheme["mean_weighted_error"] < .002, scheme
assert scheme["coverage"] >= .9, scheme'
	run once validated_text -n 1 -- "${program[@]}" "$programs/phases.openmpi" -n 30
	holds "with one run each, noise is not known, and the text says how to measure it" \
		grep -q -- '-n 2' once.out
	SCRIPTED=noise=0.05
	run twice validated -n 3 -- "${program[@]}" "$programs/phases.openmpi" -n 30
	holds "equal runs are judged as the schemes are, each by the others" "$python" -c '
import json
root = json.load(open("twice.out"))
noise, scheme = root["noise"], root["schemes"]["time-space"]
assert list(root["schemes"]) == ["time-space"], root["schemes"].keys()
assert 0 < noise["mean_weighted_error"] <= noise["max_weighted_error"], noise
own = {(c["phase"], c["counter"]): c["weighted_error"] for c in noise["counters"]}
judged = [c for c in scheme["counters"] if (c["phase"], c["counter"]) in own]
# one of the four phases may be missing in a run on a busy machine, and its few bursts may be two phases
assert len(judged) >= .5 * len(scheme["counters"]) > 0, (len(judged), len(scheme["counters"]))
for cell in judged:
    assert cell["noise"] == own[cell["phase"], cell["counter"]], cell
left = [max(0, c["weighted_error"] - c["noise"]) for c in judged]
assert abs(scheme["mean_beyond_noise"] - sum(left) / len(left)) < 1e-12, scheme
relevant = [x for x, c in zip(left, judged) if c["relevance"] > .01]
assert abs(scheme["max_beyond_noise"] - max(relevant)) < 1e-12, scheme
assert scheme["mean_beyond_noise"] < sum(c["weighted_error"] for c in judged) / len(judged), scheme
stated = [c for c in judged if c["stated"] > 0]
for cell in stated:
    inside = cell["coverage_beyond_noise"]
    assert cell["coverage"] <= inside <= 1, cell
    if inside == cell["stated"] == 1: # in each run
        assert cell["weighted_error"] <= cell["weighted_half_width"] + cell["noise"], cell
shares = [c["coverage_beyond_noise"] for c in stated]
assert min(shares) <= scheme["coverage_beyond_noise"] <= max(shares), scheme
assert scheme["coverage"] <= scheme["coverage_beyond_noise"], scheme
assert noise["coverage"] is None, noise'
	run table validated_text -n 2 -- "${program[@]}" "$programs/phases.openmpi" -n 30
	holds "the table has a row for equal runs" grep -qE '^equal runs +[0-9.]+%' table.out
	holds "and it fits 100 columns" sh -c '! grep -qE "^.{101}" table.out'
	run broken validated -- "${program[@]}" "$tmp/no-such-program"
	is "$(cat broken.code)" 1 "a program that cannot run: 1"
	holds "and it is named" grep -q mpirun broken.err
	unset PHASEMUX_EVENTS SCRIPTED
else
	skip "real runs" "no scripted PMU, or no Open MPI"
fi

found=0
for trace in "${TRACES:-none}"/*/*.prv*; do
	[ -e "$trace" ] || continue
	found=1
	name=$(basename "$(dirname "$trace")")
	for read in 1 0.2; do
		run trace "$phasemux" validate --replay "$trace" --burst-min 50us --read "$read" --json
		holds "$name, $read read: no worse than plain means, and honest intervals" \
			"$python" -c '
import json
for name, scheme in json.load(open("trace.out"))["schemes"].items():
    assert scheme["mean_weighted_error"] <= 1.05 * scheme["plain_mean_weighted_error"], name
    assert scheme["coverage"] is None or scheme["coverage"] >= .8, (name, scheme["coverage"])'
	done
done
[ $found = 1 ] || skip "recorded traces" "TRACES names no folder that has any"
done_testing
