#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux run --stop-after`: a program is ended after a time or a number of iterations, and its report is made of what was
# observed. A program that ends before is as without it.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
mkdir sums
limited() { # NAME LIMIT COMMAND...
	local name=$1 limit=$2

	shift 2
	run "$name" "$phasemux" run --stop-after "$limit" --spool "$tmp/sums" --output "$tmp/$name.result" -- "$@"
}
# Checks what is left of a run: processes, by a word of their command, and sums.
nothing_left() { # NAME WORD
	is "$(pgrep -fc -- "$2")" 0 "$1: no process is left"
	is "$(ls "$tmp/sums")" "" "$1: no sums are left"
}

for value in 0 -1 soon '' 0i i -5i 1.5i 5iteration 20x; do
	limited invalid "$value" /bin/true
	is "$(cat invalid.code)" 2 "invalid value '$value': exit code 2"
	holds "and a line that says what is allowed" grep -q 'stop-after.*a number of seconds' invalid.err
done
run untraced "$phasemux" run --stop-after 5i --trace off -- /bin/true
is "$(cat untraced.code)" 2 "iterations without a trace: exit code 2"
holds "and a line that says what they need" grep -q 'needs --trace structure' untraced.err

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
limited loopless 5i sh -c 'echo out; exit 7'
is "$(cat loopless.code) $(cat loopless.out)" "7 out" "a program without iterations runs to its end"
holds "and a line says so" grep -q '^phasemux: the program ran to its end, because no loop' loopless.err
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
	holds "ranks: it says when they were stopped" grep -q '^  stopped by --stop-after, 3.00 s after' ranks.result/report.txt
	limited rounds 20i "${word[@]}" "$programs/phases.$mpi" -n 1000003
	is "$(cat rounds.code)" 0 "20 iterations: exit code 0"
	holds "20 iterations: a line says that the program was ended" \
		grep -qE '^phasemux: the program was ended after [0-9]+ iterations \(' rounds.err
	holds "20 iterations: so does the head of the report" \
		grep -qE '^  stopped by --stop-after when each rank had made [0-9]+ iterations' rounds.result/report.txt
	holds "20 iterations: the report is as its schema says" report schema rounds.result/report.json
	holds "20 iterations: the ranks had made as many, and the structure has them" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
stopped = report["recovered"]["stopped"]["iterations"]
found = min(s["iteration"]["rank_rounds"][0] for s in report["structure"]["structures"])
print(stopped, found)
sys.exit(not 20 <= stopped <= found)' rounds.result/report.json
	nothing_left rounds 'phases.* -n 1000003'
	limited fewer 100000iterations "${word[@]}" "$programs/phases.$mpi" -n 20 -x 5
	is "$(cat fewer.code)" 5 "ranks with fewer iterations: the exit code"
	holds "and a line says that they ran to their end" grep -q '^phasemux: the program ran to its end, because' fewer.err
	limited whole 60 "${word[@]}" "$programs/phases.$mpi" -n 20 -x 5
	is "$(cat whole.code)" 5 "ranks that end before: the exit code"
	holds "and the report" grep -qE '^  2 ranks, ' whole.result/report.txt
	nothing_left whole 'phases.* -n 20 -x 5'
else
	skip "ranks" "no MPI"
fi
done_testing
