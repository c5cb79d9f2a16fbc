#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes that a program without MPI forks. Those that compute are one run with the first one. They learn
# their phases together, and the last one that ends makes one report of all. Those that do not compute are left
# alone.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

line() { grep -nF -- "$1" "$root/tests/programs/forks.c" | head -n 1 | cut -d : -f 1; }

# NAME PROCESSES: checks what holds for each run
one_report() {
	local json=$tmp/$1.result/report.json

	is "$(ls "$tmp/$1.result")" $'report.html\nreport.json\nreport.txt\ntrace.json' "$1: one report, with its trace"
	holds "$1: as its schema says" report schema "$json"
	holds "$1: of all its processes" report value "$json" ranks "$2"
	holds "$1: phases, unclassified and short bursts are all computing time" report accounting "$json"
	is "$(find "$tmp/$1.spool" -mindepth 1)" "" "$1: no sums are left"
}

# two processes do each kind of work, and one of each two ends by _exit()
run apart.bare "$programs/forks" apart 4 40
told apart SCRIPTED_PMU=spin=0.5 "$programs/forks" apart 4 40
unchanged apart apart.bare
one_report apart 5
json=$tmp/apart.result/report.json
holds "apart: the two kinds of work are the phases" report instructions "$json" 18300000 100000000
holds "apart: each was sampled where it is done" report hot "$json" 18300000 scripted_in_triad 0.9
holds "apart: the other too" report hot "$json" 100000000 scripted_in_fma 0.9
holds "apart: every event has a value in both" report complete "$json"
holds "apart: the components sum to the CPI" report breakdown "$json"

# bursts between barriers that processes share
told together "$programs/forks" together 3 60
one_report together 4
json=$tmp/together.result/report.json
holds "together: the two kinds of work are the phases" report instructions "$json" 27450000 150000000
holds "together: each ends at its barrier" report source "$json" 27450000 \
	together "forks.c:$(line '/* after fma */')" together "forks.c:$(line '/* after triad */')"

# children that do nothing are not part of the run
run trivial.bare "$programs/forks" trivial 300
told trivial "$programs/forks" trivial 300
unchanged trivial trivial.bare
one_report trivial 1

# the parent does not wait: the process that ends last reports, or the sums of the others stay
told orphans "$programs/forks" orphans 2 1
is "$(cat "$tmp/orphans.code")" 0 "orphans: the first one ends as without phasemux"
while pgrep -f "$programs/forks orphans" >/dev/null; do sleep 0.1; done
run orphans.left "$phasemux" recover --json "$tmp/orphans.spool"
[ "$(ls "$tmp/orphans.result" 2>/dev/null | wc -l)-$(cat "$tmp/orphans.left.code")" = 4-1 ] ||
	[ "$(ls "$tmp/orphans.result" 2>/dev/null | wc -l)-$(cat "$tmp/orphans.left.code")" = 0-0 ]
ok $? "orphans: either a report, or what makes one"

# all processes are killed, and what they left makes one report
mkdir "$tmp/killed.spool"
run killed LD_PRELOAD="$beside" PHASEMUX_PMU="$scripted" PHASEMUX_OUTPUT="$tmp/killed.result" \
	PHASEMUX_SPOOL="$tmp/killed.spool" setsid -w "$phasemux" run -- "$programs/forks" apart 2 100000 &
for _ in $(seq 100); do
	sleep 1
	"$phasemux" recover --json "$tmp/killed.spool" >"$tmp/so_far" 2>/dev/null &&
		report value "$tmp/so_far" ranks 3 >/dev/null &&
		report instructions "$tmp/so_far" 18300000 100000000 >/dev/null && break
done
for pid in /proc/[0-9]*; do
	grep -qs "$tmp/killed.spool" "$pid/maps" && kill -9 "${pid##*/}"
done
wait
run recovered "$phasemux" recover --json "$tmp/killed.spool"
holds "killed: a report of the three" report value "$tmp/recovered.out" ranks 3
holds "killed: as its schema says" report schema "$tmp/recovered.out"
holds "killed: with the phases that they had" \
	report instructions "$tmp/recovered.out" 18300000 100000000
holds "killed: and where they were" report hot "$tmp/recovered.out" 18300000 scripted_in_triad 0.9
run killed.list "$phasemux" recover "$tmp/killed.spool"
holds "killed: as text too" grep -q '3 processes' "$tmp/killed.list.out"

done_testing
