#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux run --stop-after`: a program is ended after a time, and its report is made of what was observed. A program
# that ends before is as without it.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
mkdir sums
limited() { # NAME SECONDS COMMAND...
	local name=$1 seconds=$2

	shift 2
	run "$name" "$phasemux" run --stop-after "$seconds" --spool "$tmp/sums" --output "$tmp/$name.result" -- "$@"
}
# Checks what is left of a run: processes, by a word of their command, and sums.
nothing_left() { # NAME WORD
	is "$(pgrep -fc -- "$2")" 0 "$1: no process is left"
	is "$(ls "$tmp/sums")" "" "$1: no sums are left"
}

for value in 0 -1 soon ''; do
	limited invalid "$value" /bin/true
	is "$(cat invalid.code)" 2 "invalid value '$value': exit code 2"
	holds "and a line that says what is allowed" grep -q 'stop-after.*a number of seconds' invalid.err
done

# without MPI: the processes that a program has forked are ended, too
limited forks 2.5 "$programs/forks" together 2 100000007
is "$(cat forks.code)" 0 "forks: exit code 0"
holds "forks: a line says that the program was ended" grep -q '^phasemux: the program was ended after 2.5 s' forks.err
holds "forks: the report has the processes" grep -qE '^  3 processes, ' forks.result/report.txt
holds "forks: it is shown" grep -qE '^  3 processes, ' forks.err
is "$(cat forks.out)" "" "forks: stdout is the program's"
nothing_left forks 'forks together 2 100000007'

run before "$phasemux" run --stop-after 60 --spool "$tmp/sums" --output before.result -- \
	sh -c 'echo out; echo error >&2; exit 7'
is "$(cat before.code) $(cat before.out)" "7 out" "a program that ends before keeps its exit code and its output"
run signalled "$phasemux" run --stop-after 60 --spool "$tmp/sums" --output signalled.result -- sh -c 'kill -9 $$'
is "$(cat signalled.code)" 137 "and the number of the signal that ended it"
run absent "$phasemux" run --stop-after 60 --spool "$tmp/sums" -- "$tmp/absent"
is "$(cat absent.code)" 127 "a command that does not exist"

if [ -n "$mpi" ]; then
	word=(mpirun."$mpi" -n 2)
	[ "$mpi" != openmpi ] || word+=(--oversubscribe)
	[ "$mpi" != openmpi ] || [ "$(id -u)" != 0 ] || word+=(--allow-run-as-root)
	limited ranks 3 "${word[@]}" "$programs/phases.$mpi" -n 1000003
	is "$(cat ranks.code)" 0 "ranks: exit code 0"
	holds "ranks: the report has both" grep -qE '^  2 ranks, ' ranks.result/report.txt
	holds "ranks: the report is as its schema says" report schema ranks.result/report.json
	is "$(grep -c 'phasemux recover' ranks.err)" 0 "ranks: no line says that the report is still to be made"
	nothing_left ranks 'phases.* -n 1000003'
	limited whole 60 "${word[@]}" "$programs/phases.$mpi" -n 20 -x 5
	is "$(cat whole.code)" 5 "ranks that end before: the exit code"
	holds "and the report" grep -qE '^  2 ranks, ' whole.result/report.txt
	nothing_left whole 'phases.* -n 20 -x 5'
else
	skip "ranks" "no MPI"
fi
done_testing
