#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux watch: the report of a run that still runs.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpi=$(mpis_of killed | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"

once() { "$phasemux" watch --once "$@" >once.out 2>once.err; }
# shows WHAT [PID|DIR]: watch --once shows it
shows() { once "${@:2}" && grep -q "$1" once.out; }
# Prints the processes whose sums are in this spool.
ranks_of() { grep -l "$tmp/$1.spool/" /proc/[0-9]*/maps 2>/dev/null | cut -d/ -f3; }
not() { ! "$@"; }

# a run that goes on until it is killed
mkdir -p forever.truth forever.spool
export limit=200
scripted forever PHASEMUX_SPOOL="$tmp/forever.spool" PHASEMUX_BUDGET=none \
	on "$mpi" 2 "$programs/killed.$mpi" "$tmp/forever.truth" 99 1 1000 &
shell=$!
holds "watch --once DIR shows the phases of a run that runs" eventually shows "^    1 .*%" forever.spool
holds "and its ranks" grep -q "2 of its 2 ranks are on this node" once.out
holds "and its program" grep -q "killed.$mpi" once.out
holds "it does not say that the run was recovered" not grep -q "recovered" once.out
holds "of the process that started it, too" shows "2 of its 2 ranks" $shell
once $$.5
is $? 1 "a folder that does not exist: 1"
sleep 300 &
once $!
is $? 1 "a process without such a run: 1"
kill $!
holds "and it says so" grep -q "no run with phasemux runs in this process" once.err
calls() { od -An -tu8 forever.truth/truth.0 | tr -d ' '; }
beyond() { [ "$(calls)" -gt "$1" ]; }
holds "the run goes on" eventually beyond "$(calls)"
first_phase() { once forever.spool && grep "^    1 " once.out; }
moved() { [ "$(first_phase)" != "$1" ]; }
holds "a later look shows other numbers" eventually moved "$(first_phase)"
files=$(cd forever.spool && find . -name 'rank-*' -printf '%p %s %m\n' | sort)
for i in 1 2 3; do once forever.spool; done
is "$(cd forever.spool && find . -name 'rank-*' -printf '%p %s %m\n' | sort)" "$files" "the files of the run are as before"
"$phasemux" watch forever.spool >watch.out 2>watch.err &
watch=$!
twice() { [ "$(grep -c "the run has not ended" watch.out)" -ge 2 ]; }
holds "without --once it shows the run again" eventually twice
kill -KILL $(ranks_of forever)
wait $watch
is $? 0 "and it ends when the run is killed"
holds "and it says what makes the report" grep -q "phasemux recover" watch.err
wait $shell
once forever.spool
is $? 1 "what a killed run has left is no run that runs"

# a run that ends by itself, and is stopped meanwhile, so that it does not end too soon
mkdir -p ends.spool
run bare on "$mpi" 2 "$programs/phases.$mpi" -n 200 -x 5
scripted ends PHASEMUX_SPOOL="$tmp/ends.spool" PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/phases.$mpi" -n 200 -x 5 &
shell=$!
two() { [ "$(ranks_of ends | wc -l)" = 2 ]; }
holds "the run has started" eventually two
stopped=$(ranks_of ends)
kill -STOP $stopped
holds "a run that is stopped is shown" shows "2 of its 2 ranks" ends.spool
"$phasemux" watch ends.spool >watch.out 2>watch.err &
watch=$!
holds "until it ends" eventually grep -q "the run has not ended" watch.out
kill -CONT $stopped
wait $watch
is $? 0 "then it ends, too"
wait $shell
holds "and it says where the report is" grep -qF "the run has ended; its report is in $tmp/ends.result" watch.err
unchanged ends bare
holds "the report is there" report schema ends.result/report.json

done_testing
