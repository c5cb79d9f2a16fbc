#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How much iterations vary, on programs whose iterations vary in a known way (tests/programs/shapes.c), beside a log of all
# bursts of the same run (tests/bench/burst_log.c).
# Real time: how many bursts other programs delay so much that they are no large phase.
. "$(dirname "$0")/lib.sh"

bench=$build/tests/bench
[ -e "$bench/burst_log.so" ] || skip_all "the log of bursts was not built"
mpis=$(mpis_of shapes)
[ -n "$mpis" ] || skip_all "no MPI is installed"
[ -z "$sanitizer" ] || skip_all "a sanitizer delays bursts"

# logged NAME MPI SHAPE STEPS: runs the shape on two ranks. Bursts of one place are one phase, except those that are delayed.
# If a busy machine delays the start of the program much more than the rest, the report is silent, and it runs again.
logged() {
	local attempt

	for attempt in 1 2 3; do
		rm -rf "$1.result"
		log_shape "$@"
		spread known "$1.result/report.json" >"$1.known" && break
	done
	diag "$1: $attempt runs"
	is "$(cat "$1.code")" 0 "$1: the program ends as it would"
	holds "$1: the report is as its schema says" report schema "$1.result/report.json"
	holds "$1: all large phases are known" spread known "$1.result/report.json"
}
log_shape() {
	run "$1" LD_PRELOAD="$bench/burst_edge.so:$library:$bench/burst_log.so" BURST_LOG="$tmp/$1.log" \
		PHASEMUX_OUTPUT="$tmp/$1.result" PHASEMUX_SPOOL="$tmp/spool" PHASEMUX_BUDGET=none \
		PHASEMUX_CLUSTER_BY=callpath on "$2" 2 "$programs/shapes.$2" "$3" "$4"
}
spread() { "$python" "$root/tests/e2e/spread.py" "$@"; }
# how text tells by how much a time varies
varies=' \(standard deviation [0-9.]+%, [0-9.]+ [mun]?s to [0-9.]+ [mun]?s in a sample\)'

# NAME PATTERN: checks that the text of the report has it, whose lines may be broken anywhere
says() { tr -s ' \n' ' ' <"$1.result/report.txt" | grep -Eq " $2"; }

# of NAME CHECK [CALL]
of() { spread "$2" "$1.result/report.json" "$tmp/$1.log" "${3:-}"; }

for mpi in $mpis; do
	# a phase whose bursts are two to six in an iteration
	logged "solver.$mpi" "$mpi" solver 110
	holds "solver.$mpi: the inner phase varies as in the log" of "solver.$mpi" phase MPI_Allreduce
	holds "solver.$mpi: the iteration varies as in the log" of "solver.$mpi" iteration
	holds "solver.$mpi: the text says so" says "solver.$mpi" "110 iterations of [^(]*$varies, with"
	holds "solver.$mpi: so it does of the phase" says "solver.$mpi" \
		"per iteration of a rank: [0-9.]+ bursts, [^(]*$varies"
	# always 24 bursts of one phase
	logged "steady.$mpi" "$mpi" conjugate_gradient 60
	holds "steady.$mpi: the iteration varies as in the log" of "steady.$mpi" iteration
done

mpi=$(head -n 1 <<<"$mpis")
# more iterations than are kept
logged long "$mpi" solver 2000
holds "a long run: at most 128 of a rank are kept" "$python" -c '
import json, sys
of = json.load(open(sys.argv[1]))["structure"]["structures"][0]["iteration"]["seconds"]
sys.exit(not 100 <= of["measured"] <= 256)' long.result/report.json

# a run that is killed keeps its sample; of two ranks that are killed the texts often end differently
mkdir "$tmp/killed.spool"
preloaded killed PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none PHASEMUX_SPOOL="$tmp/killed.spool" \
	on "$mpi" 1 "$programs/shapes.$mpi" solver 100000 1500
recover() { "$phasemux" recover --json "$tmp/killed.spool" >killed.json; }
holds "a killed run can be recovered" recover
holds "killed: the report is as its schema says" report schema killed.json
holds "killed: the iteration is known" spread kept killed.json

# no iteration, and ranks that do different things
for each in disorder:2:100 workers:3:60; do
	IFS=: read -r name ranks steps <<<"$each"
	preloaded "$name" PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" "$ranks" "$programs/shapes.$mpi" "$name" "$steps"
	holds "$name: nothing is said" spread silent "$name.result/report.json"
done
done_testing
