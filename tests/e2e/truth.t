#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the report with a log of every burst of the same run, on programs whose behaviours are known.
# Real time: lengths of bursts, beside those of a log.
. "$(dirname "$0")/lib.sh"

bench=$build/tests/bench
[ -e "$bench/burst_log.so" ] || skip_all "the log of bursts was not built"
"$python" -c 'import numpy' 2>/dev/null || skip_all "no numpy"
mpis=$(mpis_of spmd)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# logged NAME MPI SHAPE: runs the shape with the log around the preload
logged() {
	run "$1" BURST_LOG="$tmp/$1.log" PHASEMUX_OUTPUT="$tmp/$1.result" \
		on_with_preload "$2" "$bench/burst_edge.so:$library:$bench/burst_log.so" "$programs/spmd.$2" "$3" 2
}
on_with_preload() {
	local mpi=$1

	export LD_PRELOAD=$2
	shift 2
	on "$mpi" 2 "$@"
}
beside() { "$python" "$root/tests/e2e/beside_log.py" "$1" "$2.out" "$tmp/$2.log" "$tmp/$2.result/report.json"; }

for mpi in $mpis; do
	name=alike.$mpi
	logged "$name" "$mpi" alike
	is "$(cat "$name.code")" 0 "$mpi: a program that is logged ends as it would"
	holds "$mpi: the log has every burst" beside complete "$name"
	holds "$mpi: the log has the processor time of each" beside processor_time "$name"
	holds "$mpi: the report has as many bursts" beside number "$name"
	holds "$mpi: and their time" beside time "$name"
	holds "$mpi: the log is not seen by the agent" beside places "$name"
done

mpi=$(head -n 1 <<<"$mpis")
for shape in setup discrete mixed polling differ changes wrapped grows; do
	logged "$shape" "$mpi" "$shape"
	is "$(cat "$shape.code")" 0 "$shape: the program ends as it would"
	holds "$shape: the log has every burst" beside complete "$shape"
	# many calls in a row are not timed individually, and the time between them may be polling or not
	if [ "$shape" != polling ]; then
		holds "$shape: the report has all bursts" beside number "$shape"
		holds "$shape: and their time" beside time "$shape"
	fi
	if ! beside quiet "$shape" >busy; then
		skip "$shape: what is a phase" "the machine is too busy: $(cat busy)"
		continue
	fi
	holds "$shape: bursts and time of each phase are those of the log" beside phases "$shape"
	holds "$shape: intervals hold what the log says" beside intervals "$shape"
	holds "$shape: little time is in no phase" beside left_out "$shape"
	[ "$shape" != grows ] || holds "$shape: the report says by how much bursts get longer" beside drift "$shape"
done

done_testing
