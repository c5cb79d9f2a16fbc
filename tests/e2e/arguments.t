#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The arguments of the calls of each rank (PHASEMUX_TRACE=calls), beside the log that the program itself makes of them
# (tests/programs/messages.c).
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of messages)
[ -n "$mpis" ] || skip_all "no MPI is installed"
# sanitizers look for other faults than a difference between two MPIs
[ -z "$sanitizer" ] || mpis=$(head -n 1 <<<"$mpis")

# messages NAME MPI RANKS STEPS WAYS [VAR=VALUE]...
messages() {
	local name=$1 rank

	preloaded "$name" PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none "${@:6}" \
		on "$2" "$3" "$programs/messages.$2" "$tmp/$name.log" "$4" "$5"
	is "$(cat "$name.code")" 0 "$name: the program ends as it would"
	for ((rank = 0; rank < $3; rank++)); do
		"$phasemux" trace --rank "$rank" --expand "$name.result" >"$name.list.$rank" || return
	done
	holds "$name: the trace has the same arguments" same_from_trace "$name" "$3"
}
# beside CHECK NAME RANKS
beside() {
	local rank

	for ((rank = 0; rank < $3; rank++)); do
		"$python" "$root/tests/e2e/arguments.py" "$1" "$2.list.$rank" "$2.log.$rank" \
			"$2.result/report.json" "$rank" || return
	done
}

for mpi in $mpis; do
	messages "all.$mpi" "$mpi" 4 40 hrcfd
	holds "$mpi: the calls of all ranks have the arguments that the program gave" beside whole "all.$mpi" 4
	holds "$mpi: the report is as its schema says" report schema "all.$mpi.result/report.json"
	messages "persistent.$mpi" "$mpi" 4 100 p
	holds "$mpi: and of persistent requests, what is made and started" beside whole "persistent.$mpi" 4
	messages "others.$mpi" "$mpi" 4 100 o
	holds "$mpi: and of files and neighbours, the sizes" beside whole "others.$mpi" 4
	messages "parts.$mpi" "$mpi" 4 90 v
	holds "$mpi: and of collectives whose parts differ, the sizes" beside whole "parts.$mpi" 4
done
mpi=$(head -n 1 <<<"$mpis")
name=all.$mpi

# the comparison finds an argument that is wrong
sed -i.kept '200,$s/ \([0-9]*\) bytes/ 1\1 bytes/' "$name.list.1"
holds "a list with wrong sizes is not that of the log" sh -c '! "$@"' - "$python" "$root/tests/e2e/arguments.py" \
	whole "$name.list.1" "$name.log.1"

# what is shown
"$phasemux" trace "$name.result" >tree.out
holds "the tree has the arguments beside the calls" \
	grep -Eq "MPI_Isend to rank-1\.\.rank\+1 or none, 8 bytes\.\.3.13 KiB, tag 10\.\.11 in exchange messages.c:[0-9]+" tree.out
"$phasemux" trace --rank 0 "$name.result" >tree.out
holds "with --rank, they are those of this rank" grep -Eq "MPI_Isend to rank\+1 or none, 8 bytes" tree.out
"$phasemux" trace --json "$name.result" >tree.json
holds "--json has them" "$python" - tree.json <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    structure = json.load(file)
paths = structure["arguments"]["paths"]
tokens = [token for one in structure["structures"] for token in one["text"] if token.get("call") == "MPI_Isend"]
assert all(paths[token["path"]]["call"] == "MPI_Isend" for token in tokens) and tokens
# all ranks have equal sizes, and so one sequence; the ends of the line have other peers than the ranks between them
sends = paths[tokens[0]["path"]]
assert [each["ranks"] for each in sends["bytes"]] == [4]
assert sorted(each["ranks"] for each in sends["to"]) == [1, 1, 2]
END

for each in $mpis; do
	messages window.$each "$each" 3 20 hw
	holds "$each: one-sided calls have their arguments, also of a window with the handle of another" beside whole window.$each 3
	messages threads.$each "$each" 3 20 t
	holds "$each: and calls in a communicator with the handle of one that another thread has freed" beside whole threads.$each 3
done

# more sizes than there is room for
messages bound "$mpi" 2 1500 d
holds "sizes at random: the first ones are known, and of all of them the range" beside bounded bound 2
holds "the tree says so" sh -c '"$0" trace "$1" | grep -q "only the start is kept"' "$phasemux" bound.result
# a file of unknown origin may repeat nothing without an end
"$python" - <<'END' bound.result/report.json endless.json
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
for path in report["structure"]["arguments"]["paths"]:
    for each in path.get("bytes", []):
        each["stream"] = [[10 ** 18, [[1, []]]]]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(report, file)
END
holds "a loop of no sizes ends" timeout 20 "$phasemux" trace --rank 0 --expand endless.json
# more parts of the order than there is room for: arguments belong to the calls that are listed
messages order "$mpi" 2 3000 x
holds "calls in a random order: the last ones have their arguments" beside end order 2
# calls in rests, and skipped ones
messages rests "$mpi" 2 20000 d PHASEMUX_BUDGET=0.0001%
holds "calls that were not observed: the others have their arguments" beside part rests 2

# a rank is killed: what is recovered has the first calls with their arguments
mkdir killed.spool
run killed LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/killed.result" PHASEMUX_SPOOL="$tmp/killed.spool" \
	PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none \
	on "$mpi" 2 "$programs/messages.$mpi" "$tmp/killed.log" 100000000 h 1500
holds "killed: it is recovered" sh -c '"$0" recover --json killed.spool >killed.json' "$phasemux"
holds "killed: the report is as its schema says" report schema killed.json
for rank in 0 1; do
	"$phasemux" trace --rank "$rank" --expand killed.json >killed.list.$rank
	holds "killed: the first calls of rank $rank have their arguments" "$python" "$root/tests/e2e/arguments.py" \
		start killed.list.$rank killed.log.$rank
done

# Fortran passes references
for flavour in mpif_h f08; do
	[ -x "$programs/solver_$flavour.$mpi" ] || { skip "Fortran ($flavour)" "no Fortran compiler"; continue; }
	preloaded "$flavour" PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/solver_$flavour.$mpi"
	"$phasemux" trace --rank 0 --expand "$flavour.result" >"$flavour.list"
	holds "Fortran ($flavour): the calls have their arguments" grep -q "^MPI_Isend to 1, 2048 bytes, tag 1 in" "$flavour.list"
done

# other settings
preloaded structure PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/messages.$mpi" log 10 h
holds "PHASEMUX_TRACE=structure: the report has no arguments" sh -c '! grep -q "\"arguments\"\|\"path\":" "$0"' \
	structure.result/report.json
mixed() {
	on "$mpi" 2 sh -c "[ \${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}} = 0 ] || export PHASEMUX_TRACE=structure
		exec $programs/messages.$mpi log 10 h"
}
preloaded differ PHASEMUX_TRACE=calls mixed
is "$(cat differ.code)" 0 "ranks with other settings: the program ends as it would"
holds "ranks with other settings: no rank keeps arguments" sh -c '! grep -q "\"arguments\"" "$0"' \
	differ.result/report.json
done_testing
