#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With PHASEMUX_TRACE=off and PHASEMUX_LEADS=all, no call is folded, no loop is followed, and no rank votes: nothing of the
# code that does so runs, so that it cannot change a result. Callgrind counts what runs.
. "$(dirname "$0")/lib.sh"

have valgrind || skip_all "valgrind is needed"
have nm || skip_all "nm is needed"
[ -z "$sanitizer" ] || skip_all "valgrind does not run sanitizers"
[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpi=$(mpis_of shapes | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"

# What keeps the structure, its arguments and their images, what votes, and what makes the reads of a rank stand for others.
objects=$(cd "$build" && find cluster agent -name '*.c.o' | grep -E \
	'/(loops|streams|leads|iterations|structures|requests|recurrence)/|/bursts/structure\.|/call_arguments\.|_image\.c|/report/parts/structure\.' |
	grep -v spool_image | sed "s:^:$build/:")" unread_stand_for"

# counted NAME [VAR=VALUE]...
counted() {
	local name=$1

	scripted "$name" PHASEMUX_REPORT=text,json "${@:2}" on "$mpi" 4 valgrind --tool=callgrind \
		--callgrind-out-file="$tmp/$name.callgrind.%p" "$programs/shapes.$mpi" conjugate_gradient 30
	is "$(cat "$name.code")" 0 "$name: the program ends as it would"
	holds "$name: it has its report" report schema "$name.result/report.json"
}
# ran CHECK NAME
ran() { "$python" "$root/tests/e2e/without_structure.py" "$1" libphasemux-core.so "$2".callgrind.* -- $objects; }

for budget in none 1; do
	counted off.$budget PHASEMUX_TRACE=off PHASEMUX_LEADS=all PHASEMUX_BUDGET=${budget/1/1%}
	holds "PHASEMUX_TRACE=off PHASEMUX_LEADS=all, budget $budget: nothing of it runs" ran none off.$budget
done
is "$("$python" -c 'import json, sys
of = json.load(open(sys.argv[1]))
print(of["leads"], of["structure"])' off.none.result/report.json)" "None None" "the report has neither structure nor leads"

counted on PHASEMUX_TRACE=calls PHASEMUX_LEADS=1 PHASEMUX_BUDGET=none
holds "with both settings, it runs" ran some on
holds "and would be found" sh -c '! "$@"' - "$python" "$root/tests/e2e/without_structure.py" none libphasemux-core.so \
	on.callgrind.* -- $objects
done_testing
