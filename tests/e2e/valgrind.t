#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Valgrind finds no error of phasemux in a target, and no leak at its end.
. "$(dirname "$0")/lib.sh"

have valgrind || skip_all "valgrind is needed"
[ -e "$scripted" ] || skip_all "no scripted PMU was built"
grind=(valgrind --leak-check=full --show-leak-kinds=all --num-callers=30 --xml=yes
	--xml-file="$tmp/valgrind.%p.xml")

# ground NAME COMMAND...: runs it under valgrind, and checks errors and leaks
ground() {
	local name=$1

	shift
	rm -f "$tmp"/valgrind.*.xml
	scripted "$name" PHASEMUX_REPORT=text,json,html,csv,bursts "$@"
	holds "$name: no error, and no leak" "$python" "$root/tests/e2e/valgrind.py" valgrind.*.xml
	holds "$name: has its report" report schema "$name.result/report.json"
}

for mpi in $(mpis_of phases); do
	ground "$mpi" on "$mpi" 2 "${grind[@]}" "$programs/phases.$mpi" -n 30
done
for mpi in $(mpis_of hybrid | head -n 1); do
	ground hybrid OMP_NUM_THREADS=2 on "$mpi" 2 "${grind[@]}" "$programs/hybrid.$mpi" 20
done
# without MPI: threads, tasks, slices and the thread that looks after them
while read -r program arguments; do
	[ -x "$programs/$program" ] || continue
	ground $program OMP_NUM_THREADS=2 "$phasemux" run -- "${grind[@]}" "$programs/$program" $arguments
done <<END
posix_threads 20
omp 20
omp_tasks 20
ends return
serial 1
END
done_testing
