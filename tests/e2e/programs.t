#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The whole way on programs whose phases are known, with a scripted PMU: under each MPI, in C, Fortran and
# Python, under each scheme.
# Real time: lengths of bursts, and the load balance.
. "$(dirname "$0")/lib.sh"

# NAME COMMAND...: runs it with and without phasemux, and checks what every report must hold
whole_way() {
	local name=$1 json=$tmp/$1.result/report.json

	shift
	run "$name.bare" "$@"
	# with a sanitizer the agent takes several times as long, and the budget of a second leaves too few
	# reads
	scripted "$name" PHASEMUX_SCHEME=time-space ${sanitizer:+PHASEMUX_BUDGET=none} "$@"
	unchanged "$name" "$name.bare"
	holds "$name: the report is as its schema says" report schema "$json"
	holds "$name: phases, unclassified and short bursts are all computing time" \
		report accounting "$json"
	holds "$name: every event has a value in every large phase" report complete "$json"
	holds "$name: the components sum to the CPI" report breakdown "$json"
	holds "$name: the report is on stderr too" grep -qi 'phase' "$tmp/$name.err"
	holds "$name: and in report.txt, as it was on stderr" \
		is_part_of "$tmp/$name.result/report.txt" "$tmp/$name.err"
}

# NAME COMMAND...: checks that each scheme gives the phases of the run NAME
schemes() {
	local name=$1 scheme

	shift
	for scheme in time space random; do
		scripted "$name.$scheme" PHASEMUX_SCHEME=$scheme "$@"
		holds "$name: the same phases under $scheme" \
			report same "$tmp/$name.result/report.json" "$tmp/$name.$scheme.result/report.json"
	done
}

is_part_of() {
	"$python" -c 'import sys; sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())' "$@"
}

for mpi in $(mpis_of phases); do
	phases=(on $mpi 2 "$programs/phases.$mpi" -n 400)
	whole_way phases.$mpi "${phases[@]}"
	json=$tmp/phases.$mpi.result/report.json
	holds "phases.$mpi: the four phases that the program has" \
		report instructions "$json" 1500000 6000 300000 12000000
	holds "phases.$mpi: each with its own CPI" \
		report ipc "$json" 1500000:0.4579 6000:0.002004 300000:0.10573 12000000:6.579
	holds "phases.$mpi: the efficiency is a product" report efficiency "$json"
	for flavour in mpif_h mpi f08; do
		[ -x "$programs/solver_$flavour.$mpi" ] || continue
		whole_way solver_$flavour.$mpi on $mpi 2 "$programs/solver_$flavour.$mpi" 400
		holds "solver_$flavour.$mpi: its two phases" \
			report instructions "$tmp/solver_$flavour.$mpi.result/report.json" 300000 1500000
	done
done
# one program is enough, and none with a sanitizer: schemes differ only in arithmetic
[ -n "$sanitizer" ] || schemes phases.$mpi "${phases[@]}"

if "$python" -c 'import mpi4py, numpy' 2>/dev/null && have mpirun.openmpi; then
	jacobi=(on openmpi 2 "$python" "$root/tests/programs/jacobi.py" 200)
	whole_way jacobi "${jacobi[@]}"
	holds "jacobi: its one phase" \
		report instructions "$tmp/jacobi.result/report.json" 1500000
else
	skip "an MPI opened out of sight" "no mpi4py"
fi

# A rank's part of one phase is four times as long, which is enough even on a busy machine.
run imbalance.bare on openmpi 2 "$programs/phases.openmpi" -n 300 -c
scripted imbalance on openmpi 2 "$programs/phases.openmpi" -n 300 -c -b 300
unchanged imbalance imbalance.bare
holds "imbalance: the load balance tells it" \
	report between "$tmp/imbalance.result/report.json" efficiency/load_balance 0.4 0.9

done_testing
