#!/bin/bash
# Valgrind finds no error of ours in a target, and no leak at its end.
. "$(dirname "$0")/lib.sh"

have valgrind || skip_all "valgrind is needed"
[ -e "$scripted" ] || skip_all "no scripted PMU was built"
grind=(valgrind --leak-check=full --show-leak-kinds=all --num-callers=30 --xml=yes
	--xml-file="$tmp/valgrind.%p.xml")

# ground NAME COMMAND...: cases
ground() {
	local name=$1

	shift
	rm -f "$tmp"/valgrind.*.xml
	scripted "$name" PHASEMUX_REPORT=text,json,csv,bursts "$@"
	holds "$name: no error, and no leak" "$python" "$root/tests/e2e/valgrind.py" valgrind.*.xml
	holds "$name: has its report" report schema "$name.result/report.json"
}

for mpi in $(mpis_of phases); do
	ground "$mpi" on "$mpi" 2 "${grind[@]}" "$programs/phases.$mpi" -n 30
done
for program in posix_threads omp ends; do
	[ -x "$programs/$program" ] || continue
	ground $program "$phasemux" run -- "${grind[@]}" "$programs/$program" \
		$([ $program = ends ] && echo return || echo 20)
done
done_testing
