#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux replay` makes the calls of a recorded run again: its own structure has the same calls with the same arguments, in
# the same order. What cannot be replayed is refused before anything is started.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of messages)
[ -n "$mpis" ] || skip_all "no MPI is installed"
[ -z "$sanitizer" ] || mpis=$(head -n 1 <<<"$mpis")
helper() { "$python" "$root/tests/e2e/replay.py" "$@"; }
settings=(PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none)

# launcher MPI RANKS: sets words, the launcher without a program
launcher() {
	words=(timeout -k 10 "${limit:-120}" "mpirun.$1")
	[ "$1" = openmpi ] && words+=(--oversubscribe)
	[ "$1" = openmpi ] && [ "$(id -u)" -eq 0 ] && words+=(--allow-run-as-root)
	words+=(-n "$2")
}
# recorded NAME MPI RANKS COMMAND...
recorded() {
	preloaded "$1" "${settings[@]}" on "$2" "$3" "${@:4}"
	is "$(cat "$1.code")" 0 "$1: the program ends as it would"
}
# replayed NAME MPI RANKS: replays a run, and records the replay as NAME.again. All replays of an MPI share one program
replayed() {
	launcher "$2" "$3"
	run "$1.replay" "$phasemux" replay --json --output "$tmp/of.$2" "$1.result" -- env LD_PRELOAD="$library" "${settings[@]}" \
		PHASEMUX_OUTPUT="$tmp/$1.again.result" PHASEMUX_SPOOL="$tmp/spool" "${words[@]}"
	is "$(cat "$1.replay.code")" 0 "$1: it is replayed" || diag "$(cat "$1.replay.err")"
}
listed() { "$phasemux" trace --rank "$2" --expand "$1.result" | sed -E 's/ (in [^ ]+ )?[^ ]+(:[0-9]+|\+0x[0-9a-f]+)$//'; }
# same NAME RANKS: each rank makes the calls of the run, and two of the replay itself
same() {
	local rank

	for ((rank = 0; rank < $2; rank++)); do
		listed "$1" "$rank" >"$1.list" && listed "$1.again" "$rank" >"$1.again.list" || return
		[ "$(wc -l <"$1.list")" -gt 2 ] || return
		helper calls "$1.list" "$1.again.list" || return
	done
}

for mpi in $mpis; do
	for each in multi_partition:2:5 wavefront:4:3 workers:4:10 uneven:3:8; do
		IFS=: read -r shape ranks steps <<<"$each"
		# the second MPI needs no other order of calls
		[ "$mpi" = mpich ] && [ "$shape" != workers ] && [ "$(wc -w <<<$mpis)" -gt 1 ] && continue
		name=$shape.$mpi
		recorded "$name" "$mpi" "$ranks" "$programs/shapes.$mpi" "$shape" "$steps"
		replayed "$name" "$mpi" "$ranks"
		holds "$name: the replay makes the same calls" same "$name" "$ranks"
		holds "$name: it says how near its time is" helper times "$name.replay.out" "$name.result/report.json"
	done
	name=messages.$mpi
	recorded "$name" "$mpi" 4 "$programs/messages.$mpi" "$tmp/$name.log" 12 hrfdx
	replayed "$name" "$mpi" 4
	holds "$name: the replay makes the same calls" same "$name" 4
	holds "$name: all of them" helper all "$name.replay.out"
done

mpi=$(head -n 1 <<<"$mpis")
name=uneven.$mpi
run words "$phasemux" replay --check "$name.result"
is "$(cat words.code)" 0 "--check runs nothing"
holds "and says that the calls can be replayed" grep -q "^All [0-9]* recorded calls can be made again" words.out
holds "it fits into 100 columns" [ "$(wc -L <words.out)" -le 100 ]

# calls that are not replayed are counted
name=sort.$mpi
recorded "$name" "$mpi" 2 "$programs/shapes.$mpi" integer_sort 4
run words "$phasemux" replay --check "$name.result"
holds "parts whose sizes are not recorded: said" grep -q "8 MPI_Alltoallv: made without data" words.out
name=halves.$mpi
recorded "$name" "$mpi" 4 "$programs/messages.$mpi" "$tmp/$name.log" 20 c
replayed "$name" "$mpi" 4
holds "communicators of the program that are no copies: left out, and said" \
	helper otherwise "$name.replay.out" MPI_Comm_split:unsupported MPI_Allreduce:communicator MPI_Bcast:unknown_arguments
name=sizes.$mpi
recorded "$name" "$mpi" 2 "$programs/messages.$mpi" "$tmp/$name.log" 1200 hd
replayed "$name" "$mpi" 2
holds "sizes that are not recorded: their mean, and room for it" helper means "$name.replay.out"
recorded open.$mpi "$mpi" 2 "$programs/asks.$mpi" 2
run words "$phasemux" replay --check open.$mpi.result
is "$(cat words.code)" 0 "requests that end in MPI_Test are no obstacle" || diag "$(cat words.err)"

# refused NAME WORDS ARGUMENT...
refused() {
	run refused "$phasemux" replay "${@:3}"
	is "$(cat refused.code)" 2 "$1 is refused" || diag "$(cat refused.err)"
	holds "$1: the message says why" grep -q -- "$2" refused.err
}
name=uneven.$mpi
launcher "$mpi" 2
refused "another number of ranks" "started the replay with 2 ranks, and the recorded run had 3" "$name.result" -- "${words[@]}"
refused "a replay without a launcher" "^usage: phasemux replay" "$name.result"
refused "a seed that is no number" "^phasemux: --seed x: a whole number from 0" --seed x "$name.result" -- true
preloaded plain.$mpi PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/shapes.$mpi" solver 5
refused "a trace without arguments" "no arguments of calls, and a replay needs a run with PHASEMUX_TRACE=calls" \
	--check plain.$mpi.result
preloaded off.$mpi PHASEMUX_TRACE=off on "$mpi" 2 "$programs/shapes.$mpi" solver 5
refused "a run without a structure" "no structure of calls, and a replay needs a run with PHASEMUX_TRACE=calls" \
	--check off.$mpi.result
for trace in structure calls; do
	mkdir "$trace.spool"
	run "killed.$trace" LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/killed.$trace.result" \
		PHASEMUX_SPOOL="$tmp/$trace.spool" PHASEMUX_BUDGET=none PHASEMUX_TRACE=$trace \
		on "$mpi" 2 "$programs/messages.$mpi" "$tmp/killed.log" 10000000 h 500
	"$phasemux" recover --json "$trace.spool" >"killed.$trace.json" 2>/dev/null
done
refused "a killed run without arguments" "no arguments of calls" --check killed.structure.json
# what each rank has left ends somewhere else, as a rule
run refused "$phasemux" replay --check killed.calls.json
holds "a killed run is refused, unless what is left of its ranks fits together" \
	grep -q "the run did not end by itself, and the last calls of its ranks are missing\|^The calls of the 2 ranks fit" \
	refused.err refused.out
# edited HOW: leaves edited/report.json, the messages with a change
edited() {
	mkdir -p edited
	helper edit "messages.$mpi.result/report.json" "$1" >edited/report.json
}
edited tag
refused "a message that no rank receives" "cannot be replayed: MPI_.* waits for a message that no rank sends" --check edited
edited order
refused "collectives in another order" "cannot be replayed: MPI_Barrier .*call [0-9]* of rank [0-9]*.*MPI_Allreduce" \
	--check edited
edited size
refused "collectives of unequal size" "cannot be replayed: MPI_Allgather bytes 24 .* is another collective than .* 25" \
	--check edited
name=persistent.$mpi
recorded "$name" "$mpi" 2 "$programs/waits.$mpi" "$tmp/$name.log" 40 p
helper edit "$name.result/report.json" start >edited/report.json
refused "a start of a persistent request that was not made" \
	"cannot be replayed: MPI_Start request 77 (call [0-9]* of rank 0) starts a persistent request that was not made" --check edited
edited counts
refused "a structure that is not valid" "its structure of calls is not valid" --check edited
run broken "$phasemux" replay --check "$root/README.md"
is "$(cat broken.code)" 1 "a file that is no report: 1"
run none "$phasemux" replay --mpicc /nonexistent "$name.result" -- "${words[@]}"
is "$(cat none.code)" 1 "a compiler that is missing: 1"
holds "and the message says which option names it" grep -q "with --mpicc" none.err

# The check does not go through all rounds of a long run, if they come again.
recorded long.$mpi "$mpi" 2 "$programs/shapes.$mpi" integer_sort 1000
walked() {
	"$python" "$root/tests/bench/growth.py" "long.$mpi.result/report.json" "$1" >long.json
	"$phasemux" replay --check --json long.json >long.out && "$python" -c 'import json
found = json.load(open("long.out"))
print(int(found["walked"]), found["calls"] > 5 * float("'"$1"'") * 1000)'
}
few=$(walked 1)
is "$(walked 1000)" "$few" "a check of a million steps goes through as many calls as one of a thousand"
holds "which are few" [ "${few%% *}" -lt 1000 ] || diag "$few"

# the plan of calls that do not fit together, which the command has refused
edited tag
launcher "$mpi" 4
run refused "$phasemux" replay edited -- "${words[@]}"
run stuck "${words[@]}" "$tmp/of.$mpi"/replayer-* edited/replay/plan "$tmp/stuck" 1 0 4 0
holds "a replay without progress ends" [ "$(cat stuck.code)" -ne 0 ]
holds "and says which call waits" grep -q "makes no progress in MPI_" stuck.err

for ((change = 0; change < 40; change++)); do
	helper edit "messages.$mpi.result/report.json" "$change" >changed.json
	timeout 60 "$phasemux" replay --check changed.json >/dev/null 2>changed.err
	code=$?
	[ $code -le 2 ] || break
done
is "$((code > 2 ? code : 0))" 0 "reports with a number changed are replayed or refused"
done_testing
