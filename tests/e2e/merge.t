#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux recover --merge: the nodes of a killed job make one report, and each adds its ranks.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"

# killed NAME: kills a run of 4 ranks, whose sums are left in NAME.spool
killed() {
	local pids pid

	mkdir "$1.spool"
	preloaded "$1" limit=60 PHASEMUX_SPOOL="$tmp/$1.spool" PHASEMUX_SCHEME=time \
		on "$mpi" 4 env SLURM_JOB_ID=77 SLURM_STEP_ID=3 SLURM_STEP_NUM_NODES="${nodes:-2}" \
		"$programs/phases.$mpi" -n 1000000 &
	for _ in $(seq 300); do
		[ "$(find "$1.spool" -name 'rank-*' | wc -l)" -eq 4 ] && break
		sleep 0.1
	done
	sleep 1
	# only the processes that have the spool open
	for pid in /proc/[0-9]*; do
		grep -qs "$tmp/$1.spool" "$pid/maps" && kill -9 "${pid##*/}"
	done
	wait
	folder=$(find "$1.spool" -mindepth 2 -type d)
	results=$tmp/$1.result/step.3
	json=$results/report.json
}

killed job
is "$(ls "$folder" | wc -l)" 4 "a killed run leaves the sums of its ranks"
# half of the ranks are on another node
mkdir -p other/run
mv "$folder"/rank-[13] other/run
run first "$phasemux" recover --merge "$folder"
is "$(cat first.code first.out)" 0 "the first node merges"
holds "its ranks are in a report in the folder of the step" report value "$json" recovered/ranks 2
holds "that says which are missing" report value "$json" recovered/missing '"1,3"'
is "$(find job.spool -mindepth 1)" "" "and nothing of the run is left on the node"
run second "$phasemux" recover --merge other/run
is "$(cat second.code second.out)" 0 "the second node merges"
holds "the report is now of all" report value "$json" recovered/ranks 4
holds "as its schema says" report schema "$json"
holds "with the job" report value "$json" job/id '"77"'
is "$(ls "$results")" $'report.html\nreport.json\nreport.txt\ntrace.json' "and it is one report, with nothing beside it"

nodes=1
killed alone
rm "$folder"/rank-2
printf 'not a rank' >"$folder/rank-0"
run alone2 "$phasemux" recover --merge "$folder"
holds "one node: damaged and missing ranks are left out" report value "$json" recovered/missing '"0,2"'
is "$(ls "$results")" $'report.html\nreport.json\nreport.txt\ntrace.json' "one node: nothing is kept for others"

run nothing "$phasemux" recover --merge "$tmp"
is "$(cat nothing.code)" 1 "nothing to merge: 1"
run absent "$phasemux" recover --merge /nonexistent
holds "a folder that is not there is named" grep -q /nonexistent absent.err
run two "$phasemux" recover --merge a b
is "$(cat two.code)" 2 "two folders: 2"

done_testing
