#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose time lies in few long bursts have a breakdown for each large phase, because the group changes
# within such a burst. Bursts that are not long stay whole.
# Real time: samples at the times at which the kernel promises them.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of few)
[ -n "$mpis" ] || skip_all "no MPI is installed"
shapes="ten assembly cycles"
# with a sanitizer one is enough
[ -z "$sanitizer" ] || shapes=cycles

# phases_of SHAPE: the number of phases with long bursts for a second
phases_of() { [ "$1" = assembly ] && echo 2 || echo 1; }

for mpi in $mpis; do
	for shape in $shapes; do
		name=$shape.$mpi
		# a call each 10 ms: all counters of each kind of work are known exactly
		scripted "$name.truth" SCRIPTED_PMU=spin=0.2 PHASEMUX_BUDGET=none \
			on "$mpi" 2 "$programs/few.$mpi" $shape 10
		scripted "$name" SCRIPTED_PMU=noise=0.05,ran=1 on "$mpi" 2 "$programs/few.$mpi" $shape
		json=$tmp/$name.result/report.json
		is "$(cat "$name.code")" 0 "$name: the program ends well"
		holds "$name: the report is as its schema says" report schema "$json"
		holds "$name: phases, unclassified and short bursts are all computing time" \
			report accounting "$json"
		holds "$name: every event has a value in every large phase" report complete "$json"
		holds "$name: each large phase has a breakdown, with intervals that cover the truth" \
			report explained "$json" "$tmp/$name.truth.result/report.json" "$(phases_of $shape)"
	done
	shapes=cycles # bursts are cut without MPI's help: with another MPI one is enough
	holds "cycles.$mpi: bursts that are not long are whole" \
		report instructions "$tmp/cycles.$mpi.result/report.json" 18300000 200000000

	# without counters, with more samples in a burst than the kernel and the agent have room for
	preloaded "one_group.$mpi" PHASEMUX_EVENTS=task-clock PHASEMUX_SAMPLE=4000 PHASEMUX_BUDGET=none \
		on "$mpi" 2 "$programs/few.$mpi" assembly 0 200
	holds "one_group.$mpi: almost all bursts are in phases" \
		report between "$tmp/one_group.$mpi.result/report.json" unclassified/time_share 0 0.05
done

done_testing
