#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where in the run the phases lie: phases that follow each other do so in the timeline, whose bins add up to the time of each
# phase. So it is if the run is killed, if ranks differ, if the agent is off for a time, and without MPI.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of spmd)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# bursts are told apart by their calls, whatever else the machine does
by=(PHASEMUX_CLUSTER_BY=duration,callpath)

for mpi in $mpis; do
	preloaded "$mpi" "${by[@]}" PHASEMUX_REPORT=text,json,html on "$mpi" 2 "$programs/spmd.$mpi" changes 2
	json=$tmp/$mpi.result/report.json
	holds "$mpi: the report is as its schema says" report schema "$json"
	holds "$mpi: the bins add up to the times of the report" report timeline "$json"
	holds "$mpi: phases are in the half of the run in which they are executed" report in_turn "$json" prestart_ late_
	is "$(grep -c '<section id="timeline"' "$tmp/$mpi.result/report.html")" 1 "$mpi: the page has the figure"
done

mkdir "$tmp/killed.spool"
scripted killed PHASEMUX_SPOOL="$tmp/killed.spool" on "$mpi" 3 "$programs/phases.$mpi" -n 50 -c -b 100 -k 45
"$phasemux" recover --json "$tmp/killed.spool" >"$tmp/killed.json"
holds "killed: the report is as its schema says" report schema "$tmp/killed.json"
holds "killed: the bins add up to the times of the report" report timeline "$tmp/killed.json" 0.3

preloaded differ "${by[@]}" on "$mpi" 2 "$programs/spmd.$mpi" differ 1
holds "ranks that differ: the bins add up" report timeline "$tmp/differ.result/report.json"
holds "ranks that differ: each is a group" report value "$tmp/differ.result/report.json" timeline/groups/1/ranks 1

preloaded off "${by[@]}" PHASEMUX_TOGGLE=100ms on "$mpi" 2 "$programs/spmd.$mpi" changes 1.5
holds "the agent off for a time: the bins add up" report timeline "$tmp/off.result/report.json"
holds "the agent off for a time: that is in the timeline" report off "$tmp/off.result/report.json"

told threads "$programs/posix_threads" 30
holds "threads without MPI: the bins add up" report timeline "$tmp/threads.result/report.json" 0

# times FROM UNTIL: prints what the text says if the first phase is executed in these bins of 100 alone.
times() {
	"$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
timeline, id = report["timeline"], report["phases"][0]["id"]
timeline.update(seconds=1, bin_seconds=0.01, bins=100)
for group in timeline["groups"]:
    for phase in group["phases"]:
        phase["microseconds"] = [int(phase["id"] != id or int(sys.argv[2]) <= b < int(sys.argv[3])) for b in range(100)]
json.dump(report, open(sys.argv[4], "w"))' "$json" "$1" "$2" "$tmp/times.json"
	"$phasemux" report --text "$tmp/times.json" | grep -o '95% of its time is .*'
}
is "$(times 0 10)" "95% of its time is in the first 10.0% of the run" "the text says that a phase comes first"
is "$(times 80 100)" "95% of its time is in the last 20.0% of the run" "or last"
is "$(times 40 50)" "95% of its time is between 40.0% and 50.0% of the run" "or in between"
is "$(times 20 90)" "" "and nothing if it takes most of the run"

# A report of a version without it.
"$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
del report["timeline"]
json.dump(report, open(sys.argv[2], "w"))' "$json" "$tmp/older.json"
holds "an older report opens as text" "$phasemux" report --text "$tmp/older.json"
holds "and as a page" "$phasemux" report --html -o "$tmp/older.html" "$tmp/older.json"
is "$(grep -c '"timeline"\|#timeline' "$tmp/older.html")" 0 "which has no timeline"

done_testing
