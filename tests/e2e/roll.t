#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Some ranks of a job have no agent. The others find this out within seconds, and run on without theirs. The
# program of each rank receives from any source with any tag, and notices a message that is not its own.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of anyone)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# Removes the preload from the ranks of the list WITHOUT.
cat >pick <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
case " $WITHOUT " in *" $rank "*) unset LD_PRELOAD ;; esac
exec "$@"
END
chmod +x pick

# Limit of a run in seconds. The agent waits for 12, and the rest is for a busy machine.
bound=120

# lacking MPI RANKS RESULT WITHOUT: starts a run
lacking() {
	preloaded "$3" WITHOUT="$4" limit=$bound on "$1" "$2" ./pick "$programs/anyone.$1" &
}

# says NAME WHICH SIZE: checks for one line of the agent, which names the ranks
says() {
	is "$(grep -c '^phasemux: ' "$1.err")" 1 "$1: one line"
	holds "$1: the line names rank $2" \
		grep -q "^phasemux: off: .* rank $2 of $3: .*preload phasemux in all ranks or in none" "$1.err"
	holds "$1: no result" test ! -e "$1.result"
}

for mpi in $mpis; do
	run $mpi.bare on $mpi 4 "$programs/anyone.$mpi"
	run $mpi.bare.20 on $mpi 20 "$programs/anyone.$mpi"
	lacking $mpi 4 $mpi.first "0"
	lacking $mpi 4 $mpi.middle "1"
	lacking $mpi 4 $mpi.last "3"
	lacking $mpi 4 $mpi.others "0 1 3"
	# three levels of the tree, and ranks whose parent is missing
	lacking $mpi 20 $mpi.inner "0 1 7"
	preloaded $mpi.late on $mpi 4 "$programs/anyone.$mpi" 2 5 &
	wait
	for name in first middle last others late; do
		unchanged $mpi.$name $mpi.bare
	done
	unchanged $mpi.inner $mpi.bare.20
	says $mpi.first 0 4
	says $mpi.middle 1 4
	says $mpi.last 3 4
	says $mpi.others "0-1, 3" 4
	says $mpi.inner "0-1, 7" 20
	holds "$mpi: a rank that is late in MPI_Init is observed" \
		report value $mpi.late.result/report.json ranks 4
done

done_testing
