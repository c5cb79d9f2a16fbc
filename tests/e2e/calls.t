#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of intercepted MPI calls has a row for every procedure of each MPI that was found. The numbers of
# arguments in C and in Fortran are right. A procedure without a row is left alone for a reason.
. "$(dirname "$0")/lib.sh"

table=$root/agent/boundary/mpi_calls.def
left_alone=$root/tests/data/mpi_left_alone
compare() { "$python" "$root/tests/mpi_table.py" "$@"; }

found=
for mpi in openmpi mpich; do
	have mpicc.$mpi || continue
	found=1
	compilers=(mpicc.$mpi)
	have mpif90.$mpi && compilers+=(mpif90.$mpi)
	holds "$mpi: each procedure has its row, or a reason to have none" \
		compare "$table" "$left_alone" "$build/libphasemux.so" "${compilers[@]}"
	# the comparison itself is tested: it finds each kind of error in one row
	for change in 's/(Comm_spawn, comm_spawn, 8, 11/(Comm_spawn, comm_spawn, 8, 10/' \
		's/(Send, send, 6/(Send, send, 5/' '/MPI_CALL(Recv,/d' \
		's/(Bcast, bcast, 5, 6/(Bcast, bcast, 5, 7/'; do
		sed "$change" "$table" >changed.def
		compare changed.def "$left_alone" "$build/libphasemux.so" "${compilers[@]}" >changed.out
		is $? 1 "$mpi: is found: $change"
	done
done
[ -n "$found" ] || skip_all "no MPI is installed"

done_testing
