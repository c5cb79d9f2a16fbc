#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Another tool holds counters all the time, takes them for a while, and gives them back. A run is killed and
# recovered. The settings of the kernel forbid counting.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=2
# bursts of fdiv (0.8 ms) may count as short, and are not compared
sysctl -q kernel.perf_event_paranoid=2 kernel.perf_user_access=0

"$build/tests/machine/hold" 3 1000 >hold.out &
holder=$!
sleep 0.2
observed held "$programs/omp" 20
run doctor "$phasemux" doctor
kill $holder
wait $holder 2>/dev/null
is "$(cat hold.out)" "hold: 3 of 3 counters" "another tool holds three counters"
truth held alu=24000000 triad=1500000
in_report held "groups have the three counters that are left, and the one of cycles" \
	'max(len(g["events"]) for g in r["groups"]) == 4 and len(r["groups"]) == 7'
holds "doctor: three are held, and by whom" grep -qE '3 (of the )?counters are held' doctor.out
holds "doctor: the other tool" grep -qE 'hold \(pid [0-9]+\)' doctor.out

(sleep 0.3 && "$build/tests/machine/hold" 6 0.2 >hold.out) &
observed taken "$programs/omp" 40
wait
is "$(cat hold.out)" "hold: 6 of 6 counters" "another tool takes all counters in the middle of a run"
in_report taken "its bursts are lost" 'r["lost"]["bursts"] > 0'
truth taken alu=24000000 triad=1500000

mkdir killed.spool
PHASEMUX_SPOOL=$tmp/killed.spool "$phasemux" run --output killed.result -- "$programs/omp" 1000 >/dev/null 2>&1 &
sleep 1
kill -9 $!
wait 2>/dev/null
mkdir recovered.result
run recover "$phasemux" recover --json killed.spool/*
cp recover.out recovered.result/report.json
is "$(cat recover.code)" 0 "a killed run is recovered"
truth recovered alu=24000000 triad=1500000

as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }
chmod 777 . spool
for paranoid in 0 1 2; do
	sysctl -q kernel.perf_event_paranoid=$paranoid
	run user$paranoid as_user "$phasemux" run --output "$tmp/user$paranoid.result" --spool "$tmp/spool" -- \
		"$programs/omp" 20
	truth user$paranoid alu=24000000 triad=1500000
done
sysctl -q kernel.perf_event_paranoid=3
run user3 as_user "$phasemux" run --output "$tmp/user3.result" --spool "$tmp/spool" -- "$programs/omp" 20
holds "perf_event_paranoid=3, a user: a line says why nothing is counted" \
	grep -q 'sysctl kernel.perf_event_paranoid=2' user3.err
in_report user3 "the phases are found by time" 'len(r["phases"]) >= 3 and "INST_RETIRED" not in p["counters"]'
done_testing
