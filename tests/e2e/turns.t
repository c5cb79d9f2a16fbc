#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every kind of call for counting fails in turn, at start and later. The program's output and exit code are the
# same as without phasemux, and there is a report.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
# MPICH if both are installed, because it starts a single process much faster.
mpi=$(mpis_of phases | tail -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
# One rank without mpirun, which is a valid start of an MPI program.
run bare "$programs/phases.$mpi" -n 20 -x 5
if ! grep -q '1 ranks' bare.out; then
	skip_all "an MPI program does not start without mpirun here"
fi

for call in open:EIO read:EIO read:short ioctl:EIO close:EIO map:EIO; do
	wrong=
	for nth in 1 2 3 5 8 12 17 30 40 50 66 90 130 200 400; do
		scripted turn PHASEMUX_BUDGET=none \
			SCRIPTED_PMU="spin=0.05,fail=${call%:*}:$nth:${call#*:}" \
			"$programs/phases.$mpi" -n 20 -x 5
		cmp -s turn.out bare.out && cmp -s turn.code bare.code &&
			report schema turn.result/report.json >/dev/null || wrong+=" $nth"
		rm -rf turn.result
	done
	is "$wrong" "" "${call%:*} fails with ${call#*:}, in turn: the program is as it was, and reported"
done

done_testing
