#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each phase says how it is distributed over the ranks and the iterations, of a run that ends and of one that is killed. In one phase, the
# three ranks execute 1, 2.5 and 4 times as many instructions as the first one, so that its balance is 2.5 / 4.
# Real time: which rank computes longest.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of phases)
[ -n "$mpis" ] || skip_all "no MPI is installed"
uneven=(3 2 0.625)

# least_balanced FILE: prints how the text begins to name what loses most time to imbalance. On a busy machine, ranks that
# were preempted may make that another phase than the uneven one.
least_balanced() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
def lost(of):
    return of["ranks"] * (of["rank_seconds"]["most"] - of["rank_seconds"]["mean"])
def candidate(phase):
    together = phase.get("together")
    return together if together and together["phases"][0] == phase["id"] else phase
of = max(map(candidate, report["phases"]), key=lost)
ids = of.get("phases", [of.get("id")])
which = ("phases " if len(ids) > 1 else "phase ") + ", ".join(map(str, ids[:-1])) + " and " * (len(ids) > 1) + str(ids[-1])
if lost(of) >= 0.01 * report["threads_mean"] * report["wall_seconds"]:
    loses, slowest = "lose" if len(ids) > 1 else "loses", of["slowest_rank"]
    print(f"  {which} {loses} most time to imbalance: rank {slowest} computes ")' "$1"
}

for mpi in $mpis; do
	command=(on "$mpi" 3 "$programs/phases.$mpi" -n 100 -c -b 300)
	scripted "$mpi" PHASEMUX_BUDGET=none "${command[@]}"
	json=$tmp/$mpi.result/report.json
	holds "$mpi: the balance of each phase" report balance "$json" "${uneven[@]}"
	holds "$mpi: as its schema" report schema "$json"
	holds "$mpi: the efficiency of each phase" report phase_efficiency "$json" "$tmp/$mpi.result/report.txt"
	is "$(grep -o '^  phase.* imbalance: rank [0-9]* computes ' "$tmp/$mpi.result/report.txt")" \
		"$(least_balanced "$json")" "$mpi: the text says which phase is worth being balanced"
	holds "$mpi: and what the phase is" \
		grep -q "^      load balance .* (instructions 62.5%, IPC 100.0%): .* in rank 2, .* in the mean$" \
		"$tmp/$mpi.result/report.txt"

	mkdir "$tmp/killed.spool"
	scripted "$mpi.killed" PHASEMUX_BUDGET=none PHASEMUX_SPOOL="$tmp/killed.spool" "${command[@]}" -k 90
	"$phasemux" recover --json "$tmp/killed.spool" >"$tmp/killed.json"
	holds "$mpi, killed: the balance of each phase" report balance "$tmp/killed.json" "${uneven[@]}"
	holds "$mpi, killed: as its schema" report schema "$tmp/killed.json"
	rm -r "$tmp/killed.spool"
done

# If one rank has four times as much work as the others, its bursts are a phase of their own, and only both phases together
# show the balance (1 + 1 + 4) / 3 / 4.
command=(on "$mpi" 3 "$programs/phases.$mpi" -n 100 -c -b 300 -o)
scripted apart PHASEMUX_BUDGET=none "${command[@]}"
holds "one slow rank: its phase and that of the others have a balance" \
	report together "$tmp/apart.result/report.json" 3 2 0.5
holds "one slow rank: as its schema" report schema "$tmp/apart.result/report.json"
is "$(grep -o '^  phase.* imbalance: rank [0-9]* computes ' "$tmp/apart.result/report.txt")" \
	"$(least_balanced "$tmp/apart.result/report.json")" "one slow rank: the text names what is worth being balanced"
holds "one slow rank: the text has both phases together" \
	grep -q "^      only in rank 2; phases [1-9].* and [1-9] together: load balance " "$tmp/apart.result/report.txt"
mkdir "$tmp/apart.spool"
scripted apart.killed PHASEMUX_BUDGET=none PHASEMUX_SPOOL="$tmp/apart.spool" "${command[@]}" -k 90
"$phasemux" recover --json "$tmp/apart.spool" >"$tmp/killed.json"
holds "one slow rank, killed: so is it" report together "$tmp/killed.json" 3 2 0.5

# What a rank does of each phase in an iteration.
scripted iterations PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/phases.$mpi" -n 100 -c
holds "an iteration has a burst of each phase" report per_iteration "$tmp/iterations.result/report.json" 1
holds "iterations: as its schema" report schema "$tmp/iterations.result/report.json"
is "$(grep -c '^      per iteration of a rank: 1.0 bursts, ' "$tmp/iterations.result/report.txt")" 4 "so says the text"

# If the phases of different ranks have different places, nothing tells which of them belong together.
"$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
for phase in report["phases"]:
    phase.pop("together", None)
    phase["rank_seconds"]["most"] = phase["rank_seconds"]["mean"]
    phase["time_share"] = 0.5 if phase["ranks"] == 1 else 0.01
report["efficiency"] = {"parallel": 0.54, "load_balance": 0.6, "communication": 0.9}
json.dump(report, open(sys.argv[2], "w"))' "$tmp/apart.result/report.json" "$tmp/places.json"
holds "different places: the text says that it is between phases" \
	grep -q "^ *imbalance costs 36.0% of the run, most of it between ranks that execute different phases: .* only in rank 2" \
	<("$phasemux" report --text "$tmp/places.json" | tr '\n' ' ' | tr -s ' ' | sed 's/imbalance costs/\n&/')

# A report of a version without these keys.
"$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
for phase in report["phases"]:
    for key in "ranks", "slowest_rank", "rank_seconds", "load_balance", "instructions_balance", "ipc_balance", "imbalance_share", "together", "efficiency":
        phase.pop(key, None)
json.dump(report, open(sys.argv[2], "w"))' "$json" "$tmp/older.json"
holds "an older report opens" "$phasemux" report --text "$tmp/older.json"
is "$("$phasemux" report --text "$tmp/older.json" | grep -c 'imbalance\|load balance')" 1 \
	"it says nothing of phases' balance, only of that of the run"

scripted alone on "$mpi" 1 "$programs/phases.$mpi" -n 100
is "$(grep -c 'imbalance\|in the mean' "$tmp/alone.result/report.txt")" 0 "one rank has no balance"

done_testing
