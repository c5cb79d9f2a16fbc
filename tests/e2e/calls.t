#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of intercepted MPI calls has a row for every procedure of each MPI that was found. The numbers of
# arguments in C and in Fortran are right, and so are those of mpi_arguments.def. A procedure without a row is left
# alone for a reason.
. "$(dirname "$0")/lib.sh"

table=$root/agent/boundary/mpi_calls.def
arguments=$root/agent/boundary/mpi_arguments.def
left_alone=$root/tests/data/mpi_left_alone
compare() { "$python" "$root/tests/mpi_table.py" "$@"; }

found=
for mpi in openmpi mpich; do
	have mpicc.$mpi || continue
	found=1
	compilers=(mpicc.$mpi)
	have mpif90.$mpi && compilers+=(mpif90.$mpi)
	holds "$mpi: each procedure has its row, or a reason to have none" \
		compare "$table" "$arguments" "$left_alone" "$build/libphasemux.so" "${compilers[@]}"
	# the comparison itself is tested: it finds each kind of error in one row
	for change in 's/(Comm_spawn, comm_spawn, 8, 11/(Comm_spawn, comm_spawn, 8, 10/' \
		's/(Send, send, 6/(Send, send, 5/' '/MPI_CALL(Recv,/d' \
		's/(Bcast, bcast, 5, 6/(Bcast, bcast, 5, 7/'; do
		sed "$change" "$table" >changed.def
		compare changed.def "$arguments" "$left_alone" "$build/libphasemux.so" "${compilers[@]}" >changed.out
		is $? 1 "$mpi: is found: $change"
	done
	for change in 's/(Isend, TO(4)/(Isend, TO(5)/' 's/BYTES(5, 6), AT_ROOT(2, 3)/BYTES(5, 3), AT_ROOT(2, 6)/' \
		's/(Barrier, COMM(1))/(Barrier, COMM(2))/' 's/(Scan, BYTES(3, 4), COMM(6))/(Scan, BYTES(3, 4))/'; do
		sed "$change" "$arguments" >changed.def
		compare "$table" changed.def "$left_alone" "$build/libphasemux.so" "${compilers[@]}" >changed.out
		is $? 1 "$mpi: is found: $change"
	done
done
[ -n "$found" ] || skip_all "no MPI is installed"

done_testing
