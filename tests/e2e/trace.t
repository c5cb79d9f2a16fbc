#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The trace of a run, which is a file beside the report (docs/trace-format.md). expanded.t and arguments.t compare the calls
# that it lists with those of the report.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of shapes | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
solver() { preloaded "$1" PHASEMUX_BUDGET=none "${@:2}" on "$mpi" 2 "$programs/shapes.$mpi" solver 40; }

solver usual
is "$(ls usual.result)" $'report.html\nreport.json\nreport.txt\ntrace.json' "a run has a trace beside its report"
"$phasemux" trace usual.result >whole.tree
"$phasemux" trace --rank 1 --expand usual.result >whole.list
holds "which is less than a tenth of it" sh -c '[ $(($(wc -c <"$0") * 10)) -lt "$(wc -c <"$1")" ]' \
	usual.result/trace.json usual.result/report.json
mkdir alone && cp usual.result/trace.json alone
"$phasemux" trace alone >alone.tree
is $? 0 "phasemux trace shows it without the report"
# all but the times, which have three digits in the trace, and so also whether a range of them is wide enough to be shown
names() { sed 's/[0-9.]* [mun]*s\b\(\.\.\)*//g; s/  *$//; s/  */ /g; s/ bursts\( calls\)\{0,1\}$//; s/ calls$//' "$1"; }
is "$(names alone.tree)" "$(names whole.tree)" "with the same loops, calls and phases"
holds "and times" grep -Eq "^ .*[0-9.]+ [mun]s +40 x \{ the iteration" alone.tree
"$phasemux" trace --rank 1 --expand alone | cmp - whole.list
is "${PIPESTATUS[*]}" "0 0" "and lists the same calls"
"$phasemux" trace --prv -o alone.prv alone
is "$?-$(grep -c '^2:' alone.prv)" "0-$("$phasemux" trace --prv -o whole.prv usual.result; grep -c '^2:' whole.prv)" \
	"and writes the same events for Paraver"
run shown "$phasemux" report alone/trace.json
is "$(cat shown.code)" 1 "other commands refuse a trace"
holds "and say which one shows it" grep -q "it is a trace, which .phasemux trace. shows" shown.err

# the second run in a folder has a pair of files of its own, also if one file of the first is gone
rm usual.result/report.*
solver usual
is "$(ls usual.result)" $'report-2.html\nreport-2.json\nreport-2.txt\ntrace-2.json\ntrace.json' "a second run has a second trace"

solver text PHASEMUX_REPORT=text
is "$(ls text.result)" "report.txt" "without a report as JSON, there is no trace"
solver off PHASEMUX_TRACE=off
is "$(ls off.result)" $'report.html\nreport.json\nreport.txt' "PHASEMUX_TRACE=off: there is none"

# a run that has not ended, as far as it has come
mkdir live.spool
preloaded live PHASEMUX_SPOOL="$tmp/live.spool" PHASEMUX_BUDGET=none PHASEMUX_TRACE=calls \
	on "$mpi" 2 "$programs/shapes.$mpi" solver 1000000 &
shell=$!
live() { "$phasemux" trace --rank 1 --expand live.result >live.list 2>live.err && [ "$(wc -l <live.list)" -gt "$1" ]; }
holds "phasemux trace lists the calls of a run that has not ended" eventually live 300
is "$(tail -n 1 live.list)" "# the run has not ended: its later calls are missing" "and says that there will be more"
holds "and how many of its ranks are here" grep -q "^phasemux: the run has not ended; 2 of its 2 ranks are on this machine$" live.err
cp live.list early.list
holds "a later look has more calls" eventually live "$(wc -l <early.list)"
"$phasemux" trace "$tmp/nowhere/../live.result" >/dev/null 2>live.tree.err
is $? 1 "a folder that does not exist, and is that of no run: 1"
"$phasemux" trace live.result >live.tree 2>live.tree.err
holds "the tree is shown as well" grep -q "MPI_Allreduce [0-9]* bytes" live.tree
is "$(ls live.result 2>/dev/null)" "" "nothing is written in the folder of the results"
kill -KILL $(grep -l "$tmp/live.spool/" /proc/[0-9]*/maps 2>/dev/null | cut -d/ -f3)
wait $shell
"$phasemux" recover --trace live.spool >live.json
"$phasemux" trace --rank 1 --expand live.json >late.list
# prefix SHORT LONG: the calls of the first list are the start of the second one
prefix() { head -n -1 "$1" | cmp - <(head -n "$(($(wc -l <"$1") - 1))" "$2"); }
holds "what was listed first are the first calls of the later list" prefix early.list live.list
holds "and of what the killed run has left" prefix live.list late.list
"$phasemux" trace live.result >/dev/null 2>&1
is $? 1 "a killed run is none that has not ended"

# a killed run
mkdir killed.spool
run killed LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/killed.result" PHASEMUX_SPOOL="$tmp/killed.spool" PHASEMUX_BUDGET=none \
	on "$mpi" 2 "$programs/shapes.$mpi" solver 1000000 700
run recovered "$phasemux" recover --json killed.spool
run traced "$phasemux" recover --trace killed.spool
is "$(cat recovered.code traced.code)" $'0\n0' "what a killed run leaves has a trace"
for form in recovered traced; do
	"$phasemux" trace --rank 1 --expand $form.out >$form.list
done
is "$(tail -n 1 traced.list)" "# the run did not end by itself: its last calls are missing" "which says that it was killed"
holds "and has the calls of the report" cmp recovered.list traced.list
run merged "$phasemux" recover --merge "$(find killed.spool -mindepth 1 -name 'rank-*' -printf '%h\n' | head -n 1)"
is "$(cat killed.result/trace.json)" "$(cat traced.out)" "--merge writes it beside the report"
done_testing
