#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With PHASEMUX_LEADS, a few ranks read counters while all repeat a loop of calls. The ranks of the program differ in how much
# they do, the loop changes every 40 steps, and some bursts come only once.
# Real time: in how many steps of the program its ranks vote and check.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of leads)
[ -n "$mpis" ] || skip_all "no MPI is installed"
mpi=${mpis%%$'\n'*}

# observe NAME [VAR=VALUE]... : runs the program, in which each burst is read unless leads read for its rank.
observe() {
	local name=$1

	shift
	scripted "$name" PHASEMUX_BUDGET=none PHASEMUX_REPORT=text,json,bursts "$@" \
		on "$mpi" 4 "$programs/leads.$mpi" "${steps:-1500}" ${killed:-} ${longer:-}
}
leads() { "$python" "$root/tests/e2e/leads.py" "$@"; }

observe every PHASEMUX_TRACE=structure
observe all PHASEMUX_TRACE=structure PHASEMUX_LEADS=all
every=$tmp/every.result all=$tmp/all.result one=$tmp/one.result
# On a busy machine ranks may report different loops, because they report at different moments.
for attempt in 1 2 3; do
	rm -rf "$one"
	observe one PHASEMUX_LEADS=1 LEADS_READS="$tmp/one.reads"
	leads who "$every" "$one" 1 >/dev/null && break
done

unchanged one every
for run in every all one; do
	holds "$run: as its schema" report schema "$tmp/$run.result/report.json"
done
is "$("$python" -c 'import json, sys; print(*(json.load(open(name))["leads"] for name in sys.argv[1:]))' \
	"$every/report.json" "$all/report.json")" "None None" "without leads, the report has none"
is "$(grep -c '^Leads' "$all/report.txt")" 0 "and the text does not name any"

holds "ranks that are no leads read no counter" leads reads "$every" "$one"
holds "once the leads are known, spared ranks do not read the PMU at all" leads still "$tmp/one.reads" "$one"
holds "and take no samples" leads samples "$every" "$one"
holds "all reads as without the setting" report value "$all/report.json" agent/reads \
	"$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["agent"]["reads"])' "$every/report.json")"
holds "one rank leads the loop of all" leads who "$every" "$one" 1
# The first 50 ms have no round, and ranks leave L twice in 40 steps.
holds "most of the time is in such loops" report between "$one/report.json" leads/time_share 0.7 0.999
holds "and most of the calls" "$python" -c 'import json, sys
of = json.load(open(sys.argv[1]))
print(of["leads"], of["agent"]["calls"])
sys.exit(not (0.6 * of["agent"]["calls"] < of["leads"]["calls"] < of["agent"]["calls"]) or of["leads"]["left"] < 1)' "$one/report.json"
holds "ranks also vote between the trainings" report between "$one/report.json" agent/rounds \
	"$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["agent"]["rounds"] + 2)' "$every/report.json")" 40
holds "all ranks read what comes only once" leads change "$every" "$one" 3000 11
holds "no burst is lost" leads lost "$every" "$one"
holds "the counters are those of all ranks" leads agree "$every" "$one"
holds "spared ranks check their arguments, which do not change" report between one.result/report.json leads/checks 10 10000
is "$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["leads"]["differing_checks"])' "$one/report.json")" 0 \
	"and no check differs"
holds "which the text says" grep -q "checked the arguments of their calls [0-9]* times: they were as" "$one/report.txt"
for trace in structure calls; do
	killed=-1 longer=900 observe longer.$trace PHASEMUX_LEADS=1 PHASEMUX_TRACE=$trace LEADS_READS="$tmp/longer.$trace.reads"
	holds "longer messages ($trace): checks find them" report between longer.$trace.result/report.json leads/differing_checks 2 10000
	holds "longer messages ($trace): then spared ranks read again, and later they do not" \
		leads again "longer.$trace.reads" longer.$trace.result 900
	holds "which the text says" grep -q "checked the arguments of their calls [0-9]* times: in [0-9.]*% of these they were not as" \
		longer.$trace.result/report.txt
done
holds "the text says so" grep -q \
	"^Leads (PHASEMUX_LEADS=1): in [0-9.]*% of the time, ranks repeated loops" "$one/report.txt"
holds "and names the leads" grep -q "In a loop of 4 ranks, counters are read in rank [0-3]\.$" "$one/report.txt"

# A sweep over a grid of 4 x 4 ranks has nine kinds of ranks: four corners, four edges, and those inside.
nine="1 1 1 1 2 2 2 2 4"
# clustered NAME CLUSTERS TRACE PROGRAM [ARGUMENT]... : runs it on 16 ranks, again if a busy machine delays some of them too much.
clustered() {
	local name=$1 clusters=$2 trace=$3 attempt

	shift 3
	for attempt in 1 2 3; do
		rm -rf "$tmp/$name.result"
		scripted "$name" PHASEMUX_BUDGET=none PHASEMUX_LEADS=1 PHASEMUX_TRACE="$trace" \
			SCRIPTED_PMU="${pmu:-}" on "$mpi" 16 "$programs/$1.$mpi" "${@:2}"
		leads clusters "$tmp/$name.result" - $clusters >/dev/null && return
	done
}
clustered sweep "$nine" structure wavefront 400
holds "sweep: nine clusters with a lead each" leads clusters "$tmp/sweep.result" - $nine
holds "sweep: as its schema" report schema "$tmp/sweep.result/report.json"
is "$(grep -o "^ *[0-9]* iterations of" sweep.err | sort | uniq | tr -s " ")" " 400 iterations of" \
	"sweep: the screen shows the right number of iterations"
holds "sweep: the text has them" grep -q "they were in 9 clusters by the loops that they repeat:$" "$tmp/sweep.result/report.txt"

# If all ranks make all calls, some of them to MPI_PROC_NULL, only the peers tell them apart.
clustered alike 16 structure wavefront 400 --peers
holds "calls alone: one cluster" leads clusters "$tmp/alike.result" - 16
clustered peers "$nine" calls wavefront 400 --peers
holds "with peers: nine clusters" leads clusters "$tmp/peers.result" - $nine
holds "with peers: as its schema" report schema "$tmp/peers.result/report.json"
holds "with peers: the text has them" grep -q "In a loop of 4 ranks with the same peers, counters are read in rank [0-9]*\.$" \
	"$tmp/peers.result/report.txt"

# In a torus all ranks have the same relative peers, also where the ranks start again with 0.
pmu=auto=triad clustered torus 16 calls shapes multi_partition 400
holds "a torus: one cluster" leads clusters "$tmp/torus.result" - 16

# What 16 ranks do is a trace of a few kilobytes, with the arguments of the calls as well.
below() { echo "$(wc -c <"$1") bytes" && [ "$(wc -c <"$1")" -lt "$2" ]; }
holds "sweep: its trace has less than 25 KB" below "$tmp/sweep.result/trace.json" 25000
holds "with peers: its trace has less than 25 KB" below "$tmp/peers.result/trace.json" 25000
holds "a torus: its trace has less than 10 KB" below "$tmp/torus.result/trace.json" 10000

# With auto, all ranks read while they are few.
observe auto PHASEMUX_LEADS=auto
is "$("$python" -c 'import json, sys
of = json.load(open(sys.argv[1]))["leads"]
print(of["setting"], of["spared_bursts"])' "$tmp/auto.result/report.json")" "auto 0" "auto: of four ranks, all read"

# A killed run says how many bursts were spared. It does not know the leads.
mkdir "$tmp/killed.spool"
killed=1490 observe killed PHASEMUX_LEADS=1 PHASEMUX_SPOOL="$tmp/killed.spool"
"$phasemux" recover --json "$tmp/killed.spool" >"$tmp/killed.json"
holds "killed: as its schema" report schema "$tmp/killed.json"
holds "killed: bursts were spared" report between "$tmp/killed.json" leads/spared_bursts 100 100000

holds "killed: the counters are those of all ranks" leads agree "$every" "$tmp/killed.json"

done_testing
