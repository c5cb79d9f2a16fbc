#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that make phasemux expensive. What is not observed is counted, and the report says so. It also says
# if the budget could not be kept.
# Real time: what calls cost, as a share of the run.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of strain | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
strain() { on "$mpi" 1 "$programs/strain.$mpi" "$@"; }

# of NAME CODE: checks that Python's CODE is true of the report
of() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1] + "/report.json"))
text = " ".join(open(sys.argv[1] + "/report.txt").read().split())
agent, rests, paths = report["agent"], report["not_observed"], report["call_paths"]
assert eval(sys.argv[2]), (agent, rests, paths)' "$tmp/$1.result" "$2"
}

# Calls from too many places to be skipped.
preloaded places PHASEMUX_BUDGET=0.1% strain places 3000000
is "$(cat places.code)" 0 "three million calls from 64 places: the program ends well"
holds "every call is counted" of places '3000000 <= agent["calls"] <= 3000010'
holds "to keep the budget, the thread rested" of places '0 < rests["calls"] < 3000000'
holds "for a part of the time" of places '0 < rests["time_share"] < 1'
holds "the report says so" of places '"Not observed, to keep the budget" in text'
holds "what was done in it is estimated: more than twice what was observed" of places \
	'report["polling"]["bursts"] > 2 * (agent["calls"] - rests["calls"])'

# Without a budget everything is observed, and no budget is exceeded.
preloaded free PHASEMUX_BUDGET=none strain places 300000
holds "without a budget, no thread rests" of free 'rests["calls"] == 0 and rests["seconds"] == 0'
holds "and nothing is over it" of free \
	'agent["budget"] is None and agent["over_budget"] is None and "was not kept" not in text'

# Start and end take milliseconds, which is over the budget of a very short run.
preloaded short PHASEMUX_BUDGET=0.01% strain calls 1000
holds "a budget that cannot be kept: the report says so" of short \
	'agent["share"] > 1.1 * agent["budget"] and "The budget of 0.01% was not kept" in text'
holds "and what for" of short \
	'agent["over_budget"] == "start and end" and "because the run was short" in text'

# Calls from each of 100,000 call paths, several times.
preloaded paths PHASEMUX_BUDGET=none strain paths 1000000
holds "of 100,000 call paths a bounded number is kept" of paths '1000 < paths["kept"] <= 3072'
holds "the calls by others are counted" of paths '100000 < paths["merged_calls"] < 1000000'
holds "and said" of paths '"Call paths: " in text'

run bare strain communicators 20000
preloaded communicators strain communicators 20000
is "$(cat communicators.code)" "$(cat bare.code)" "10,000 communicators: the program ends as without"
holds "every call is counted" of communicators '40000 <= agent["calls"] <= 40010'

preloaded threads strain threads 1000000
is "$(cat threads.code)" 0 "1,000 threads: the program ends well"
holds "as many are observed as there is room for" of threads 'report["threads"] + report["not_observed"]["threads"] == 1001'

again() { "$phasemux" report "$tmp/places.result" | grep "Not observed, to keep the budget"; }
holds "a report that is shown again says what was not observed" again

done_testing
