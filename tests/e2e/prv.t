#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Paraver trace of a structure of calls (`phasemux trace --prv`), beside the list of the calls, and as `phasemux
# cluster` reads it.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of shapes | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"

same() { "$python" "$root/tests/e2e/prv.py" "$1" "$2" "$1.list"; }
# traced NAME RANKS SHAPE STEPS [VAR=VALUE]...: runs the shape, and writes its trace and the lists of its calls
traced() {
	local name=$1 ranks=$2 shape=$3 steps=$4 rank

	shift 4
	preloaded "$name" PHASEMUX_TRACE=structure "$@" on "$mpi" "$ranks" "$programs/shapes.$mpi" "$shape" "$steps"
	is "$(cat "$name.code")" 0 "$name: the program ends as it would"
	for ((rank = 0; rank < ranks; rank++)); do
		"$phasemux" trace --rank "$rank" --expand "$name.result" >"$name.list.$rank"
	done
	holds "$name: the trace is written" "$phasemux" trace --prv -o "$name.prv" "$name.result"
	holds "$name: it has the calls of each rank, in order" same "$name" "$ranks"
}
traced uneven 4 uneven 40 PHASEMUX_BUDGET=none
traced workers 5 workers 30 PHASEMUX_BUDGET=none
traced full 2 disorder 1000 PHASEMUX_BUDGET=none
traced rests 2 solver 6000 PHASEMUX_BUDGET=0.0001%
holds "rests: some calls are not known" grep -q "^# about [0-9]* calls" rests.list.0 rests.list.1
traced counts 1 solver 14000 PHASEMUX_BUDGET=none

holds "counts: nor are the last ones" grep -q "^# about [0-9]* more calls" counts.list.0

# what a rank computes and calls takes as long as the structure says
holds "phases have the colours of the page" grep -qx '101 *{213,94,0}' uneven.pcf
colours_of_states() { sed -n '/^STATES_COLOR$/,/^$/s/ .*//p' "$1" | awk '$1 <= 15'; }
is "$(colours_of_states uneven.pcf)" "" "states keep the colours of Paraver"
holds "the value of a phase has its name" grep -qx '101 *Phase 1' uneven.pcf
holds "the trace is clustered" "$phasemux" cluster --quiet --cluster-by duration --burst-min 0us --output clusters uneven.prv
calls=$(cat uneven.list.* | wc -l)
bursts=$(tail -n +2 clusters/bursts.csv | wc -l)
holds "each call has a burst before it, except the first one of a rank" [ "$bursts" = $((calls - 4)) ]
length() { "$python" -c '
import json, sys
def seconds(body):
    return sum(seconds(token["body"]) if "body" in token else token["count"] *
               (token["burst_seconds"]["mean"] + token["call_seconds"]["mean"]) for token in body)
with open("uneven.result/report.json") as file:
    [one] = json.load(file)["structure"]["structures"]
with open("uneven.prv") as file:
    last = {}
    for line in file:
        if line.startswith("1:"):
            fields = line.split(":")
            last[fields[3]] = int(fields[6])
whole, traced = seconds(one["text"]), sum(last.values()) * 1e-9
print(whole, traced)
sys.exit(abs(whole - traced) > 1e-3 * whole)'; }
holds "all ranks together take as long as their structure" length
# phasemux cluster finds the phases again, by the durations that the trace has: bursts of a phase are in one cluster, and
# phases whose lengths differ by more than a tenth are in unlike ones
scripted again PHASEMUX_EVENTS=zen5 PHASEMUX_BUDGET=none on openmpi 2 "$programs/phases.openmpi" -n 100 -c
holds "again: the trace is written" "$phasemux" trace --prv -o again.prv again.result
holds "again: it is clustered" "$phasemux" cluster --quiet --cluster-by duration --burst-min 10us --output found again.prv
found() { "$python" -c '
import collections, csv, json, sys
phases = {}
for line in open("again.prv"):
    fields = line.strip().split(":")
    if fields[0] == "2":
        phases.update(((int(fields[3]) - 1, int(fields[5])), int(value) - 100)
                      for kind, value in zip(fields[6::2], fields[7::2]) if kind == "90000010" and value != "0")
means = {phase["id"]: phase["duration_seconds"]["mean"] for phase in json.load(open("again.result/report.json"))["phases"]
         if phase["time_share"] > 0.05}
time = collections.Counter()
for row in csv.DictReader(open("found/bursts.csv")):
    phase = phases.get((int(row["task"]), int(row["begin_ns"])))
    if phase in means:
        time[phase, row["cluster"]] += int(row["end_ns"]) - int(row["begin_ns"])
best = {one: max((cluster for other, cluster in time if other == one), key=lambda cluster: time[one, cluster])
        for one in means}
share = sum(time[one, best[one]] for one in best) / sum(time.values())
mixed = [(one, other) for one in means for other in means if means[one] > 1.1 * means[other] and best[one] == best[other]]
print(means, dict(time), best, share, mixed)
sys.exit(len(means) < 2 or len(set(best.values())) < 2 or mixed != [] or share < 0.95)'; }
holds "again: its clusters are the phases" found
# a trace that lacks a call, or has one twice, is not the list
broken() {
	for file in prv pcf row; do
		cp uneven.$file broken.$file
	done
	cp uneven.list.0 broken.list.0; cp uneven.list.1 broken.list.1; cp uneven.list.2 broken.list.2; cp uneven.list.3 broken.list.3
	sed -i "$1" broken.list.2
	! same broken 4
}
holds "a call too few is found" broken 30d
holds "and a call too many" broken 30p

"$phasemux" trace --prv --rank 1 -o one uneven.result
is "$(cut -d: -f4 one.prv | tail -n +3 | sort -u)" 2 "--rank writes the calls of one rank"
(mkdir here && cd here && "$phasemux" trace --prv ../uneven.result)
holds "without a name it is trace.prv" cmp here/trace.prv uneven.prv
"$phasemux" trace --prv --json uneven.result >two.out 2>&1
is "$?" 2 "--prv and --json are refused together"
"$phasemux" trace --prv -o none/such.prv uneven.result >none.out 2>&1
is "$?" 1 "a file that cannot be written is refused"
holds "with its name" grep -q "none/such.prv" none.out
done_testing
