#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The structure of the calls, on programs whose loops are known (tests/programs/shapes.c).
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of shapes)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# structure NAME CHECK [ARGUMENT]...
structure() { "$python" "$root/tests/e2e/structure.py" "$2" "$1.result/report.json" "$1.out" "${@:3}"; }
# shape MPI RANKS SHAPE STEPS [VAR=VALUE]...
shape() {
	preloaded "$3.$1" PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none "${@:5}" on "$1" "$2" "$programs/shapes.$1" "$3" "$4"
	is "$(cat "$3.$1.code")" 0 "$1, $3: the program ends as it would"
	holds "$1, $3: the report is as its schema says" report schema "$3.$1.result/report.json"
}
# sanitizers look for other faults than a difference between two MPIs
[ -z "$sanitizer" ] || mpis=$(head -n 1 <<<"$mpis")
for mpi in $mpis; do
	for each in multi_partition:50:50 conjugate_gradient:15:15 v_cycle:12:12 integer_sort:10:10 solver:40:40 changes:200:10; do
		IFS=: read -r name steps rounds <<<"$each"
		shape "$mpi" 2 "$name" "$steps"
		holds "$mpi, $name: all ranks have one structure" structure "$name.$mpi" alike 2
		holds "$mpi, $name: it has all calls" structure "$name.$mpi" calls
		holds "$mpi, $name: $rounds iterations" structure "$name.$mpi" iterations "$rounds"
		holds "$mpi, $name: the time of the calls and bursts is that of the run" structure "$name.$mpi" time
		holds "$mpi, $name: the text says so" grep -q "^ *$rounds iterations of" "$name.$mpi.result/report.txt"
		holds "$mpi, $name: no other call is said to come back" structure "$name.$mpi" recurs_not
	done
	shape "$mpi" 2 disorder 100
	holds "$mpi, disorder: no iteration is invented" structure disorder."$mpi" iterations 0
	holds "$mpi, disorder: no call is said to come back" structure disorder."$mpi" recurs_not
	holds "$mpi, disorder: it has all calls" structure disorder."$mpi" calls
	holds "$mpi, disorder: the text says so" grep -q "no iteration" disorder."$mpi".result/report.txt
	# rounds that differ do not fold, and have a call in common
	shape "$mpi" 2 adaptive 300
	holds "$mpi, adaptive: the norm at the end of each round is found" structure adaptive."$mpi" recurs MPI_Allreduce 300 7
	holds "$mpi, adaptive: it has all calls" structure adaptive."$mpi" calls
	is "$(tr -s " \n" " " <adaptive."$mpi".result/report.txt | grep -o "no loop of calls has .* of the time, but .* iterations of" |
		sed -E 's/[0-9.]+/N/g')" \
		"no loop of calls has half of the time, but MPI_Allreduce in norm comes back after about N calls, N% more regularly than at random: about N iterations of" \
		"$mpi, adaptive: the text says so"
	shape "$mpi" 3 workers 60
	holds "$mpi, workers: the master has a structure of its own" structure workers."$mpi" first_alone
	holds "$mpi, workers: no phase is counted per iteration, because the iterations differ" \
		report per_iteration workers."$mpi".result/report.json null
	# some of the workers get three pieces of work or more, and others one or two
	rm -r workers."$mpi".result
	shape "$mpi" 16 workers 40
	holds "$mpi, workers: 15 workers have one structure" structure workers."$mpi" groups 1 15
	shape "$mpi" 4 uneven 60
	holds "$mpi, uneven: ranks that differ in inner steps have one structure" structure uneven."$mpi" alike 4
	holds "$mpi, uneven: it has all calls" structure uneven."$mpi" calls
	holds "$mpi, uneven: 60 iterations" structure uneven."$mpi" iterations 60
done

mpi=$(head -n 1 <<<"$mpis")
# phasemux trace
tree() { "$phasemux" trace "$@" >tree.out 2>tree.err; }
tree multi_partition."$mpi".result
is $? 0 "phasemux trace shows a structure"
holds "with the iteration" grep -q "^ .* 50 x { the iteration" tree.out
holds "and the calls in it" grep -Eq "^ .* 6   MPI_Irecv in copy_faces shapes.c:[0-9]+" tree.out
tree --rank 1 workers."$mpi".result/report.json
is "$(grep -c "from rank" tree.out)" 1 "--rank shows one structure"
tree adaptive."$mpi".result
holds "a call that comes back is named" grep -q "no loop that is the iteration, but MPI_Allreduce in norm comes back after about" tree.out
tree --json multi_partition."$mpi".result
holds "--json is JSON" "$python" -m json.tool tree.out /dev/null
tree --rank x multi_partition."$mpi".result
is "$?" 2 "an invalid rank is refused"
# the ranks of a grid: corners, edges, inside
shape "$mpi" 9 wavefront 8
holds "wavefront: each place of a grid has a structure" structure wavefront."$mpi" groups 1 1 1 1 1 1 1 1 1
holds "wavefront: 8 iterations" structure wavefront."$mpi" iterations 8
# tests/bench/run structure finds iterations that are wrong, and loops within them
# figures NAME LOOPS: whether all structures have the iterations, and these loops within them, by the benchmark
figures() {
	PYTHONPATH=$root/tests/bench PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import json, sys
import structure
with open(sys.argv[1], encoding="utf-8") as file:
    found = json.load(file)["structure"]["structures"]
loops = tuple(map(int, sys.argv[2].split(",")))
right = [structure.rounds_are_right(structure.Shape(0, loops), each, loops[0]) for each in found]
sys.exit(not right or not all(right))' "$1.$mpi.result/report.json" "$2"
}
other() { ! figures "$@"; }
for each in conjugate_gradient:15,25 wavefront:8 solver:40 disorder:0; do
	holds "the benchmark finds the loops of ${each/:/: }" figures "${each%:*}" "${each#*:}"
done
for each in conjugate_gradient:15,24 conjugate_gradient:14,25 conjugate_gradient:15,25,2 wavefront:7 disorder:1; do
	holds "and not those of ${each/:/: }" other "${each%:*}" "${each#*:}"
done
# 64 ranks have nine kinds of places as well, and their trace is as long as that of 16
if [ -n "$sanitizer" ]; then
	skip "64 ranks" "sanitizers take too much memory"
else
	for ranks in 16 64; do
		rm -rf wavefront."$mpi".result
		shape "$mpi" "$ranks" wavefront 20
		cp wavefront."$mpi".result/trace.json trace."$ranks".json
	done
	holds "wavefront, 64 ranks: nine structures" structure wavefront."$mpi" groups 1 1 1 1 6 6 6 6 36
	holds "wavefront, 64 ranks: 20 iterations" structure wavefront."$mpi" iterations 20
	is "$(grep -o "^ *[0-9]* iterations of" wavefront."$mpi".err | sort | uniq | tr -s " ")" " 20 iterations of" \
		"wavefront, 64 ranks: which the screen shows"
	# what differs are digits: of ranks, and of times
	holds "wavefront, 64 ranks: the trace has less than 25 KB, and is at most a tenth longer than that of 16 ranks" "$python" -c '
import os, sys
few, many = (os.path.getsize(f"trace.{ranks}.json") for ranks in (16, 64))
print(few, many)
sys.exit(not 500 < many < min(25000, 1.1 * few))'
fi
# a killed run has the call that comes back as well
mkdir killed.spool
run killed LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/killed.result" PHASEMUX_SPOOL="$tmp/killed.spool" \
	PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/shapes.$mpi" adaptive 1000000 3000
holds "a killed run is recovered" sh -c '"$1" recover --json killed.spool >killed.json' - "$phasemux"
holds "it names the call that comes back" "$python" -c '
import json
for structure in json.load(open("killed.json"))["structure"]["structures"]:
    found = structure["recurrence"]
    assert found["call"] == "MPI_Allreduce" and 6 < found["mean_calls"] < 8, found
    assert abs(found["rounds"] * found["mean_calls"] * structure["ranks"] / structure["calls"] - 1) < 0.2, found'
# calls that are skipped or not observed leave the structure true
preloaded skipped PHASEMUX_TRACE=structure PHASEMUX_BUDGET=0.1% on "$mpi" 2 "$programs/shapes.$mpi" solver 2000
holds "calls that were not observed: it still has all calls" structure skipped calls
preloaded usual on "$mpi" 2 "$programs/shapes.$mpi" solver 40
holds "the structure is kept by default" structure usual calls
preloaded off PHASEMUX_TRACE=off on "$mpi" 2 "$programs/shapes.$mpi" solver 40
holds "PHASEMUX_TRACE=off: there is no structure" structure off none
tree off.result
is "$?" 1 "phasemux trace says that a report has no structure"
holds "and how to get one" grep -q PHASEMUX_TRACE=structure tree.err
holds "the text says nothing of it" sh -c '! grep -q "^Structure" off.result/report.txt'
# mostly calls whose order is not known
"$python" - "disorder.$mpi.result/report.json" unknown.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
for structure in report["structure"]["structures"]:
    structure["unobserved_calls"] = round(0.9 * structure["calls"])
json.dump(report, open(sys.argv[2], "w"))
END
run unknown "$phasemux" report unknown.json
is "$(grep -A 2 '^Structure' unknown.out | sed 's/[0-9]\+/N/g' | tail -n +2)" \
	"  no iteration is known: the order of N of N calls is not known" \
	"calls in unknown order: the text shows no pieces of the structure"
# ranks whose settings differ
mixed() { on "$mpi" 2 sh -c "[ \${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}} = 0 ] || export PHASEMUX_TRACE=off; exec $programs/shapes.$mpi solver 40"; }
preloaded differ PHASEMUX_TRACE=structure mixed
is "$(cat differ.code)" 0 "ranks with other settings: the program ends as it would"
holds "ranks with other settings: no rank keeps a structure" structure differ none
done_testing
