#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each phase says how it is distributed over the ranks, of a run that ends and of one that is killed. In one phase, the
# three ranks execute 1, 2.5 and 4 times as many instructions as the first one, so that its balance is 2.5 / 4.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of phases)
[ -n "$mpis" ] || skip_all "no MPI is installed"
uneven=(3 2 0.625)

for mpi in $mpis; do
	command=(on "$mpi" 3 "$programs/phases.$mpi" -n 100 -c -b 300)
	scripted "$mpi" PHASEMUX_BUDGET=none "${command[@]}"
	json=$tmp/$mpi.result/report.json
	holds "$mpi: the balance of each phase" report balance "$json" "${uneven[@]}"
	holds "$mpi: as its schema" report schema "$json"
	id=$("$python" -c 'import json, sys
print(*[p["id"] for p in json.load(open(sys.argv[1]))["phases"] if (p["instructions_balance"] or 1) < 0.9])' "$json")
	holds "$mpi: the text says which phase is worth being balanced" \
		grep -q "^  phase $id loses most time to imbalance: rank 2 computes .* the mean of 3 ranks is " \
		"$tmp/$mpi.result/report.txt"
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

# A report of a version without these keys.
"$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
for phase in report["phases"]:
    for key in "ranks", "slowest_rank", "rank_seconds", "load_balance", "instructions_balance", "ipc_balance", "imbalance_share":
        del phase[key]
json.dump(report, open(sys.argv[2], "w"))' "$json" "$tmp/older.json"
holds "an older report opens" "$phasemux" report --text "$tmp/older.json"
is "$("$phasemux" report --text "$tmp/older.json" | grep -c 'imbalance\|load balance')" 1 \
	"it says nothing of phases' balance, only of that of the run"

scripted alone on "$mpi" 1 "$programs/phases.$mpi" -n 100
is "$(grep -c 'imbalance\|in the mean' "$tmp/alone.result/report.txt")" 0 "one rank has no balance"

done_testing
