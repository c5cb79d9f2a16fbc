#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which request a call waits for (PHASEMUX_TRACE=calls), beside the log that the program itself makes of it
# (tests/programs/waits.c, waits.F90), and in a replay.
# Real time: how many calls are observed with a tiny budget.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of waits)
[ -n "$mpis" ] || skip_all "no MPI is installed"
[ -z "$sanitizer" ] || mpis=$(head -n 1 <<<"$mpis")
settings=(PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none)

# waits NAME MPI RANKS PROGRAM STEPS WAYS: records a run, and lists the calls of its ranks
waits() {
	local rank

	preloaded "$1" "${settings[@]}" on "$2" "$3" "$programs/$4.$2" "$tmp/$1.log" "${@:5}"
	is "$(cat "$1.code")" 0 "$1: the program ends as it would"
	for ((rank = 0; rank < $3; rank++)); do
		"$phasemux" trace --rank "$rank" --expand "$1.result" >"$1.list.$rank" || return
	done
}
helper() { "$python" "$root/tests/e2e/replay.py" "$@"; }
# beside NAME RANKS: the lists are the logs
beside() {
	local rank

	for ((rank = 0; rank < $2; rank++)); do
		"$python" "$root/tests/e2e/arguments.py" whole "$1.list.$rank" "$1.log.$rank" || return
	done
}
# replayed NAME MPI RANKS: replays a run, and records the replay as NAME.again
replayed() {
	local words=(timeout -k 10 120 "mpirun.$2")

	[ "$2" = openmpi ] && words+=(--oversubscribe)
	[ "$2" = openmpi ] && [ "$(id -u)" -eq 0 ] && words+=(--allow-run-as-root)
	run "$1.replay" "$phasemux" replay --json --output "$tmp/of.$2" "$1.result" -- env LD_PRELOAD="$library" "${settings[@]}" \
		PHASEMUX_OUTPUT="$tmp/$1.again.result" PHASEMUX_SPOOL="$tmp/spool" "${words[@]}" -n "$3"
	is "$(cat "$1.replay.code")" 0 "$1: it is replayed" || diag "$(cat "$1.replay.err")"
}
# listed NAME RANK [CUT]: its calls, without their places. CUT: and without what CUT removes
listed() { "$phasemux" trace --rank "$2" --expand "$1.result" | sed -E "s/ (in [^ ]+ )?[^ ]+(:[0-9]+|\+0x[0-9a-f]+)$//; $3"; }
# again NAME RANKS [CUT]: each rank of the replay makes the calls of the run, with the same requests
again() {
	local rank

	for ((rank = 0; rank < $2; rank++)); do
		listed "$1" "$rank" "${3:-}" >"$1.list" && listed "$1.again" "$rank" "${3:-}" >"$1.again.list" || return
		helper calls "$1.list" "$1.again.list" || return
	done
}

for mpi in $mpis; do
	waits "orders.$mpi" "$mpi" 2 waits 20 nhaftoz
	holds "$mpi: the calls wait for the requests for which the program waits" beside "orders.$mpi" 2
	holds "$mpi: the report is as its schema says" report schema "orders.$mpi.result/report.json"
	holds "$mpi: the trace has the same requests" same_from_trace "orders.$mpi" 2
	waits "again.$mpi" "$mpi" 2 waits 20 nhaoz
	replayed "again.$mpi" "$mpi" 2
	holds "$mpi: the replay waits for the same requests" again "again.$mpi" 2
	waits "large.$mpi" "$mpi" 2 waits 5 nhaz 20000
	replayed "large.$mpi" "$mpi" 2
	holds "$mpi: also of large messages" again "large.$mpi" 2
	waits "some.$mpi" "$mpi" 2 waits 20 s 20000
	holds "$mpi: and those that end in MPI_Waitsome" beside "some.$mpi" 2
	replayed "some.$mpi" "$mpi" 2
	# how many have ended when the replay looks depends on its times
	holds "$mpi: which the replay calls as often" again "some.$mpi" 2 "s/^(MPI_Waitsome) .*/\1/"
	# those that were freed, or have ended in MPI_Test, are open until the replay ends
	replayed "orders.$mpi" "$mpi" 2
	holds "$mpi: and makes all calls but those that free requests" helper otherwise "orders.$mpi.replay.out" \
		MPI_Request_free:unsupported
	is "$("$python" -c 'import json, sys; print(len(json.load(sys.stdin)["otherwise"]))' <"orders.$mpi.replay.out")" 1 \
		"$mpi: and no others"
	waits "copies.$mpi" "$mpi" 2 waits 20 m
	holds "$mpi: and those of which the program has copied the handles" beside "copies.$mpi" 2
	waits "persistent.$mpi" "$mpi" 2 waits 20 p
	holds "$mpi: and persistent ones" beside "persistent.$mpi" 2
	replayed "persistent.$mpi" "$mpi" 2
	holds "$mpi: which the replay makes, starts and waits for as the program does" again "persistent.$mpi" 2
	holds "$mpi: all of them" helper all "persistent.$mpi.replay.out"
	waits "many.$mpi" "$mpi" 2 waits 2 ln
	holds "$mpi: more requests than are followed are not known, and those behind them are" beside "many.$mpi" 2
	waits "collectives.$mpi" "$mpi" 4 waits 20 cn
	holds "$mpi: and nonblocking collectives" beside "collectives.$mpi" 4
	for flavour in mpi f08; do
		[ -x "$programs/waits_$flavour.$mpi" ] || { skip "Fortran ($flavour)" "no Fortran compiler"; continue; }
		waits "$flavour.$mpi" "$mpi" 2 "waits_$flavour" 20
		holds "$mpi: Fortran ($flavour): the calls wait for the requests for which the program waits" beside "$flavour.$mpi" 2
	done
done

mpi=$(head -n 1 <<<"$mpis")
# the comparison finds another request
sed 's/^MPI_Wait request 2 back/MPI_Wait request 3 back/' "orders.$mpi.list.0" >other.list
holds "a list with another request is not that of the log" sh -c '! "$@"' - "$python" "$root/tests/e2e/arguments.py" \
	whole other.list "orders.$mpi.log.0"
"$phasemux" trace "orders.$mpi.result" >tree.out
holds "the tree has the range of each call" grep -Eq "MPI_Wait request 1\.\.12 back in wait_for_newest waits.c:[0-9]+" tree.out
holds "and of calls that wait for several" grep -Eq "MPI_Waitall 6 requests, from 12 back, 2 apart in wait_for_halves" tree.out

# calls that were not observed may have opened requests
of_rests() { "$python" "$root/tests/e2e/arguments.py" "$1" "rests.list.$2" "rests.log.$2"; }
for attempt in 1 2 3; do
	preloaded rests PHASEMUX_TRACE=calls PHASEMUX_BUDGET=0.0001% on "$mpi" 2 "$programs/waits.$mpi" \
		"$tmp/rests.log" 4000 nh
	for rank in 0 1; do
		"$phasemux" trace --rank "$rank" --expand rests.result >"rests.list.$rank"
	done
	# on a busy machine, all that is observed may lie behind calls that were not
	of_rests few 0 >/dev/null || of_rests few 1 >/dev/null || break
	[ "$attempt" = 3 ] || rm -rf rests.result rests.log.*
done
diag "$attempt runs"
for rank in 0 1; do
	holds "calls that were not observed: what is known of the others is right" of_rests part "$rank"
done
done_testing
