#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# PHASEMUX_TOGGLE: phasemux turns itself off and on while the program runs. What it counts is right, whatever
# was under way when it turned off and on. The rest is missing, and the report says so.
# Real time: lengths of stretches in which phasemux is off and on.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of phases)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# NAME LEAST MOST: checks that it was off for a part of the time in these limits. The bursts take no longer than
# the time that was observed.
half_observed() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
wall, off = report["wall_seconds"], report["toggle"]["off_seconds"]
assert float(sys.argv[2]) <= off / (wall + off) <= float(sys.argv[3]), (wall, off)
assert 0 < report["compute_seconds"] <= 1.001 * wall * report["threads"], report["compute_seconds"]
assert report["efficiency"]["parallel"] <= 1, report["efficiency"]' "$tmp/$1.result/report.json" "$2" "$3"
}

# NAME: checks that its stretches agree with the time it was off, and have calls. Bursts under way are lost as
# well, which may be a quarter of a stretch, and more on a busy machine.
stretches_agree() {
	"$python" -c '
import json, sys
toggle = json.load(open(sys.argv[1]))["toggle"]
off = [each for each in toggle["stretches"] if not each["on"]]
seconds = sum(each["seconds"] for each in off)
assert len(off) < len(toggle["stretches"]), len(off)
assert 0.95 * seconds <= toggle["off_seconds"] <= 2 * seconds, (seconds, toggle["off_seconds"])
assert sum(each["calls"] for each in toggle["stretches"]) > 0' "$tmp/$1.result/report.json"
}

# Runs of a made-up program, which makes calls at three speeds, and is slower by 2% while phasemux is on.
by_places() {
	PYTHONPATH=$root/tests/bench PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import random, statistics
import places
random.seed(1)
runs = []
for _ in range(9):
    of_run, at, stretches = random.gauss(1, 0.02), 0, []
    while at < 90000:
        on = random.random() < 0.5
        seconds = 1e-4 * (1 + at // 30000) * of_run * random.gauss(1, 0.01) * (1.02 if on else 1)
        calls = min(int(0.1 / seconds), 90000 - at)
        stretches.append({"seconds": calls * seconds, "calls": calls, "on": on})
        at += calls
    runs.append(stretches)
assert places.alike(runs)
slower = places.slower_by(runs)
error = statistics.stdev(slower) / 3
assert error < 0.003 and abs(statistics.mean(slower) - 0.02) < 5 * error, slower
runs[0][5]["calls"] += 1000
assert not places.alike(runs)'
}

# NAME COUNTS...: checks that each burst that was read counts as many instructions as one of COUNTS
exact() {
	cat "$tmp/$1.result"/bursts.*.csv >"$tmp/all.csv"
	"$python" -c '
import csv, sys
known = [float(count) for count in sys.argv[2:]]
rows = list(csv.DictReader(open(sys.argv[1])))
counts = [float(row["instructions"]) for row in rows]
wrong = [found for found in counts if not any(abs(found - count) <= 1e-9 * count for count in known)]
assert len(rows) > 200, len(rows)
assert not wrong, (len(wrong), wrong[:9])' "$tmp/all.csv" "${@:2}"
}

for mpi in $mpis; do
	name=turns.$mpi
	run "bare.$mpi" on "$mpi" 2 "$programs/phases.$mpi" -n 400 -x 5
	scripted "$name" PHASEMUX_TOGGLE=10ms PHASEMUX_BUDGET=none PHASEMUX_BURST_MIN=0ns \
		PHASEMUX_REPORT=json,bursts on "$mpi" 2 "$programs/phases.$mpi" -n 400 -x 5
	unchanged "$name" "bare.$mpi"
	holds "$name: the report is as its schema" report schema "$tmp/$name.result/report.json"
	holds "$name: it was off for a part of the time" half_observed "$name" 0.02 0.98
	holds "$name: every burst has its counts" exact "$name" 0 1500000 6000 300000 12000000
	holds "$name: each phase is found" \
		report instructions "$tmp/$name.result/report.json" 6000 300000 1500000 12000000
	run "$name.text" "$phasemux" report "$tmp/$name.result"
	holds "$name: the text says that it was off" grep -q 'off for the rest, in turns' "$name.text.out"

	# ten calls in ten milliseconds give no rate, and on a busy machine rates are steady only over longer
	# stretches
	for times in 1 5 20; do
		name=longer.$times.$mpi
		scripted "$name" PHASEMUX_TOGGLE=$((50 * times))ms on "$mpi" 2 "$programs/phases.$mpi" -n $((600 * times))
		report between "$tmp/$name.result/report.json" toggle/compared 1 1000 >/dev/null 2>&1 && break
	done
	holds "$name: stretches are compared" \
		report between "$tmp/$name.result/report.json" toggle/compared 1 1000
	holds "$name: and told" stretches_agree "$name"
done
for mpi in $mpis; do break; done

# The end comes at any moment, in a stretch that is on or off.
wrong=
for iterations in $(seq 20 39); do
	scripted "end" PHASEMUX_TOGGLE=10ms on "$mpi" 1 "$programs/phases.$mpi" -n "$iterations"
	report schema "$tmp/end.result/report.json" >"$tmp/end.why" || wrong+=" $iterations"
	rm -rf "$tmp/end.result"
done
is "$wrong" "" "there is a report whenever MPI_Finalize comes"

# A run of less than twice ten milliseconds has no whole stretch.
scripted short PHASEMUX_TOGGLE=1s on "$mpi" 1 "$programs/phases.$mpi" -n 1
holds "a run of less than a stretch has a report" report schema "$tmp/short.result/report.json"

if [ -x "$programs/hybrid.$mpi" ]; then
	scripted teams OMP_NUM_THREADS=2 PHASEMUX_TOGGLE=10ms PHASEMUX_BUDGET=none \
		on "$mpi" 2 "$programs/hybrid.$mpi" 300
	is "$(cat teams.out)" "hybrid: 300 iterations, sum 2" "ranks with threads do what they do"
	holds "and are observed for a part of the time" half_observed teams 0.02 0.98
	holds "with each phase" report instructions "$tmp/teams.result/report.json" 1500000 300000
else
	skip "ranks with threads" "not built"
fi

mkdir -p "$tmp/truth" "$tmp/killed.spool"
scripted killed PHASEMUX_TOGGLE=10ms PHASEMUX_SPOOL="$tmp/killed.spool" PHASEMUX_BUDGET=none \
	PHASEMUX_BURST_MIN=0ns on "$mpi" 3 "$programs/killed.$mpi" "$tmp/truth" 1 500000
"$phasemux" recover --json "$tmp/killed.spool" >killed.json 2>killed.why
holds "of a run that is killed, what was observed is recovered" report schema killed.json
holds "and it is known how long it was off" report between killed.json toggle/off_seconds 0.001 60

# The end comes in a stretch that is on or off at random, so in a thousandth of all cases all ten are on.
silent=
for again in $(seq 10); do
	mkdir "$tmp/aborted.spool"
	scripted aborted PHASEMUX_TOGGLE=10ms PHASEMUX_SPOOL="$tmp/aborted.spool" \
		on "$mpi" 1 "$programs/hazard.$mpi" mpi_abort
	grep -q "aborted; phasemux recover $tmp/aborted.spool" aborted.err || silent+=" $again"
	rm -rf "$tmp/aborted.spool"
done
is "$silent" "" "for a run that is aborted, a line says where its sums are"

told alone PHASEMUX_TOGGLE=10ms "$programs/serial" 1
holds "without MPI it stays on, and says so" \
	grep -q 'PHASEMUX_TOGGLE is for programs with MPI: phasemux stays on' alone.err
holds "and was never off" report value "$tmp/alone.result/report.json" toggle null

if "$python" -c 'import numpy' 2>/dev/null; then
	holds "of several runs, what one does is compared with others at the same place" by_places
else
	skip "several runs compared by places" "no NumPy"
fi

done_testing
