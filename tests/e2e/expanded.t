#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The calls of each rank, as `phasemux trace --expand` lists them, beside a log of all calls of the same run
# (tests/bench/burst_log.c).
. "$(dirname "$0")/lib.sh"

log=$build/tests/bench/burst_log.so
[ -e "$log" ] || skip_all "the log of bursts was not built"
have addr2line || skip_all "no addr2line"
mpis=$(mpis_of shapes)
[ -n "$mpis" ] || skip_all "no MPI is installed"

beside() { "$python" "$root/tests/e2e/expanded.py" "$1" "$tmp/$2.log" "$3" "$2.list.$3"; }
list() { "$phasemux" trace --rank "$2" --expand "$1.result" >"$1.list.$2"; }
# logged NAME MPI RANKS SHAPE STEPS [VAR=VALUE]...: runs the shape, and lists the calls of each rank
logged() {
	local name=$1 mpi=$2 ranks=$3 shape=$4 steps=$5 rank

	shift 5
	run "$name" LD_PRELOAD="$library:$log" BURST_LOG="$tmp/$name.log" PHASEMUX_OUTPUT="$tmp/$name.result" \
		PHASEMUX_SPOOL="$tmp/spool" PHASEMUX_TRACE=structure "$@" \
		on "$mpi" "$ranks" "$programs/shapes.$mpi" "$shape" "$steps"
	is "$(cat "$name.code")" 0 "$name: the program ends as it would"
	for ((rank = 0; rank < ranks; rank++)); do
		holds "$name: the calls of rank $rank are listed" list "$name" "$rank"
	done
	holds "$name: the trace lists the same ones" same_from_trace "$name" "$ranks"
}
# below NAME BYTES: the size of the trace, with a line that is at least that of a call
below() {
	local bytes

	bytes=$(wc -c <"$1.result/trace.json")
	echo "$bytes bytes"
	[ "$bytes" -gt 500 ] && [ "$bytes" -lt "$2" ]
}
# all CHECK NAME RANKS
all() {
	local rank

	for ((rank = 0; rank < $3; rank++)); do
		beside "$1" "$2" "$rank" || return
	done
}

for mpi in $mpis; do
	for each in multi_partition:2:50 conjugate_gradient:2:15 v_cycle:2:12 integer_sort:2:10 solver:2:40 \
		changes:2:200 disorder:2:100 workers:3:60 workers:16:30 uneven:6:60 wavefront:9:8; do
		IFS=: read -r shape ranks steps <<<"$each"
		name=$shape.$ranks.$mpi
		logged "$name" "$mpi" "$ranks" "$shape" "$steps" PHASEMUX_BUDGET=none
		holds "$name: they are those of the log, in the same order" all whole "$name" "$ranks"
	done
	# a few kilobytes, whatever the number of steps and ranks; from 9 ranks on, a grid has all kinds of places
	holds "wavefront.9.$mpi: its trace has less than 12 KB" below "wavefront.9.$mpi" 12000
	holds "conjugate_gradient.2.$mpi: its trace has less than 10 KB" below "conjugate_gradient.2.$mpi" 10000
	holds "multi_partition.2.$mpi: its trace has less than 10 KB" below "multi_partition.2.$mpi" 10000
done

mpi=$(head -n 1 <<<"$mpis")
# the comparison finds a call too many, too few, or at another place
broken() {
	name=solver.2.$mpi
	cp "$name.list.0" whole.list
	sed "$2" whole.list >"$name.list.0"
	holds "a list $1 is not that of the log" sh -c '! "$@"' - "$python" "$root/tests/e2e/expanded.py" \
		true "$tmp/$name.log" 0 "$name.list.0"
	mv whole.list "$name.list.0"
}
broken "that lacks a call" 100d
broken "with a call too many" 100p
broken "with two calls the other way round" '/Waitall/{N;s/\(.*\)\n\(.*\)/\2\n\1/}'
broken "with calls of another rank's number" '$d'

# more parts than there is room for
logged full "$mpi" 2 disorder 3000 PHASEMUX_BUDGET=none
holds "no room: the list has the last calls, and says how many are before them" all holes full 2
# calls in rests
logged rests "$mpi" 2 solver 6000 PHASEMUX_BUDGET=0.0001%
holds "calls that were not observed: the lists have all others at their place" all true rests 2
holds "and say how many there were" grep -q "^# about [0-9]* calls, " rests.list.0 rests.list.1
# counts that have no room
logged counts "$mpi" 1 solver 14000 PHASEMUX_BUDGET=none
holds "counts that vary too often: the list ends where they are lost, and says so" all ends counts 1
# phasemux is off part of the time
logged toggled "$mpi" 2 solver 1200 PHASEMUX_BUDGET=none PHASEMUX_TOGGLE=50ms
holds "turned off for some time: the list ends there, and says so" all ends toggled 2

# a rank is killed: what is recovered is the start of the same calls
recover() { "$phasemux" recover --json "$tmp/$1.spool" >"$1.json"; }
# starts NAME RANK: the calls of the rank are the first ones of the solver, and all of them but the last
starts() {
	local calls

	"$phasemux" trace --rank "$2" --expand "$1.json" >"$1.list.$2" || return
	tail -n 1 "$1.list.$2" | grep -q "^# the run did not end by itself" || return
	sed -i '$d' "$1.list.$2"
	calls=$(wc -l <"$1.list.$2")
	echo "$calls calls"
	[ "$calls" -gt 100 ] && head -n "$calls" counts.list.0 | sed 's/^#.*//' | cmp - "$1.list.$2"
}
for mpi in $mpis; do
	name=killed.$mpi
	mkdir "$name.spool"
	run "$name" LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/$name.spool" \
		PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none \
		on "$mpi" 2 "$programs/shapes.$mpi" solver 1000000 1500
	holds "$name: it is recovered" recover "$name"
	holds "$name: the report is as its schema says" report schema "$name.json"
	for rank in 0 1; do
		holds "$name: the list has the first calls of rank $rank" starts "$name" $rank
	done
done
mpi=$(head -n 1 <<<"$mpis")

is "$("$phasemux" trace --expand solver.2."$mpi".result >/dev/null 2>&1; echo $?)" 2 "--expand needs a rank"
"$phasemux" trace --rank 2 --expand solver.2."$mpi".result >none.out 2>none.err
is "$?" 1 "a rank that the job does not have is refused"
holds "with a line that says so" grep -q "rank 2 is not known" none.err
is "$("$phasemux" trace --rank 1 solver.2."$mpi".result | head -n 1 | cut -d, -f1)" "2 ranks" \
	"--rank shows the structure of a rank that is not the first one"
done_testing
