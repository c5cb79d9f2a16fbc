#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead that phasemux reports includes its start and its end, and no waiting for other ranks.
# Real time: how long a start and an end take.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
for mpi in $(mpis_of phases); do
	json=$tmp/$mpi.result/report.json
	scripted $mpi SCRIPTED_PMU=pause=80 on $mpi 2 "$programs/phases.$mpi" -n 100 -l 3
	holds "$mpi: the overhead has a start and an end" report account "$json"
	holds "$mpi: the first counter takes 80 ms to open, which is included" \
		report between "$json" agent/start_seconds 0.08 1e9
	holds "$mpi: it is the sum of its parts" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
agent = report["agent"]
parts = sum(agent["work"].values()) + report["threads"] * (agent["start_seconds"] + agent["end_seconds"])
assert abs(parts - agent["seconds"]) < 1e-6 and agent["work"]["reads"] > 0 and agent["work"]["calls"] > 0, agent
' "$json"
	holds "$mpi: rank 0 comes 3 s later to the end, which is not included" \
		report between "$json" agent/end_seconds 0 2.5
done
for mpi in $(mpis_of hybrid); do break; done
if [ -n "${mpi:-}" ] && [ -x "$programs/hybrid.$mpi" ]; then
	scripted threads SCRIPTED_PMU=pause=80 OMP_NUM_THREADS=3 on $mpi 2 "$programs/hybrid.$mpi"
	holds "threads: all of a process wait for its start and its end" \
		report between "$tmp/threads.result/report.json" agent/seconds 0.48 1e9
fi
done_testing
