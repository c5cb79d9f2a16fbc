#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# On the kernel of RHEL 8 (Linux 4.18), which refuses newer fields of perf_event_open, everything is counted and sampled.
# On one that is too old, the program runs, and the reason is told. The scripted PMU refuses what these kernels do not know.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"

# observed NAME SETTINGS
observed() {
	scripted "$1" SCRIPTED_PMU="$2" PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/phases.$mpi" -n 80
	holds "$1: a report" report schema "$1.result/report.json"
}
# facts NAME: prints the model, the ranks, and the counters of all phases
facts() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
counters = {name for phase in report["phases"] for name in phase["counters"]}
print(report["model"], report["ranks"], *sorted(counters))' "$1.result/report.json"
}
run bare on "$mpi" 2 "$programs/phases.$mpi" -n 80
observed newest spin=1
observed rhel8 kernel=4.18
unchanged rhel8 bare
facts newest >facts
holds "counters are read" grep -q '^zen5 2 [a-z]' facts
is "$(facts rhel8)" "$(cat facts)" "Linux 4.18: the counters of the newest kernel"
observed old kernel=4.0
unchanged old bare
holds "Linux 4.0: the report says why nothing was counted" grep -q 'or is older than Linux 4.1' <(tr -s ' \n' ' ' <old.result/report.txt)
is "$(facts old)" "time 2" "and has times alone"
run doctor PHASEMUX_PMU="$scripted" SCRIPTED_PMU=kernel=4.0 "$phasemux" doctor
holds "Linux 4.0: so does doctor" grep -q 'or is older than Linux 4.1' <(tr -s ' \n' ' ' <doctor.out)

done_testing
