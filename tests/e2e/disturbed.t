#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A process is stopped and continued, or its threads are moved between processors, in the middle of bursts. The
# counts are those of the program's work, and the time is not longer than the run.
# Real time: processor time, beside what the kernel says.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

for how in stop move; do
	run $how.bare "$programs/posix_threads" 150
	run $how LD_PRELOAD="$beside" PHASEMUX_PMU="$scripted" PHASEMUX_OUTPUT="$tmp/$how.result" \
		"$python" "$root/tests/e2e/disturb.py" $how $how.used \
		"$phasemux" run -- "$programs/posix_threads" 150
	unchanged $how $how.bare
	json=$how.result/report.json
	holds "$how: it happened" sh -c 'read -r times used <"$1" && [ "$times" -ge 1 ]' - $how.used
	holds "$how: the report is as its schema says" report schema $json
	holds "$how: all computing time is accounted for" report accounting $json
	# If the process was stopped, one kind of burst may have lasted for most of the time. In the few bursts
	# without the program's work, its first thread makes and joins the others. If the consumer lags, one of
	# its bursts holds the work of two, so the test compares the median. A phase whose bursts were mostly
	# read before the model was known has no deciles, so the test compares its mean.
	holds "$how: no phase but the true ones" "$python" -c '
import json, sys
phases = [phase for phase in json.load(open(sys.argv[1]))["phases"] if phase["bursts"] >= 20]
assert phases
for phase in phases:
    counter = phase["counters"]["ex_ret_instr"]
    typical = counter["deciles"][4] if "deciles" in counter else counter["mean"]
    assert min(abs(typical / true - 1) for true in (24e6, 1.5e6, 3e5)) < 0.03, (phase["id"], counter)
' $json

	# the kernel's own counters, which count time on a processor
	run $how.time LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/$how.time.result" \
		PHASEMUX_EVENTS=task-clock "$python" "$root/tests/e2e/disturb.py" $how $how.used \
		"$phasemux" run -- "$programs/serial" 8
	is "$(cat $how.time.code)" 0 "$how: a program of one long burst ends as it should"
	holds "$how: its report is as its schema says" report schema $how.time.result/report.json
	holds "$how: its time on a processor is no more than the kernel gave it" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
times, used = map(float, open(sys.argv[2]).read().split())
seconds = sum(phase["bursts"] * phase["counters"]["task-clock"]["mean"] * 1e-9
              for phase in report["phases"])
assert times >= 1 and 0 < seconds <= used * 1.02 + 0.02, (times, seconds, used)
' $how.time.result/report.json $how.used
done

# two ranks that compute on one processor: each has it for half of its time
mpi=$(mpis_of spmd | head -n 1)
if [ -n "$mpi" ] && have taskset; then
	one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	run shared LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/shared.result" \
		on "$mpi" 2 "$phasemux" run -- taskset -c "$one" "$programs/spmd.$mpi" alike 1
	is "$(cat shared.code)" 0 "shared: two ranks on one processor end as they should"
	share=$(sed -n 's/.*bursts had a processor for \([0-9]*\).*/\1/p' shared.result/report.txt)
	ok $((${share:-0} < 5 || ${share:-100} > 75)) "shared: the report says how much of the time they had it" ||
		diag "$share; $(head shared.result/report.txt)"
else
	skip "shared: two ranks on one processor" "no MPI or no taskset"
fi

done_testing
