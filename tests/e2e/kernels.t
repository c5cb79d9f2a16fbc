#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kernels of similar length are phases of their own, with and without counters. A kernel that many functions
# call is one phase.
# Real time: lengths of bursts.
. "$(dirname "$0")/lib.sh"

sweeps="compute_rhs x_solve y_solve z_solve"
twelve="ideal_gas viscosity calc_dt pdv revert accelerate flux_calc advec_cell_x advec_cell_y
	advec_mom_x advec_mom_y reset_field"

# kernels HOW SHAPE ITERATIONS BURSTS FUNCTION...: checks that each function is a phase of BURSTS bursts
kernels() {
	local how=$1 shape=$2 iterations=$3 bursts=$4 name=$2-$1-$mpi events=auto within=0.02
	shift 4

	# without counters, the noise of a busy machine shows in the bursts
	[ "$how" = scripted ] || events=task-clock within=0.1
	$how "$name" PHASEMUX_BUDGET=none PHASEMUX_EVENTS=$events \
		on $mpi 2 "$programs/kernels.$mpi" "$shape" "$iterations"
	holds "$name: $# phases of $bursts bursts" \
		report kernels "$tmp/$name.result/report.json" "$bursts" $within "$@"
}

for mpi in openmpi mpich; do
	[ -x "$programs/kernels.$mpi" ] || { skip "kernels.$mpi" "it was not built"; continue; }
	for how in preloaded scripted; do
		kernels $how sweeps 250 500 $sweeps
		kernels $how twelve 100 200 $twelve
		kernels $how callers 500 1000 solver
	done
done

done_testing
