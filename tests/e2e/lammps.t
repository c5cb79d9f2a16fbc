#!/bin/bash
# The main job on an unmodified real program, with this machine's own counters if it has any.
. "$(dirname "$0")/lib.sh"

have lmp || skip_all "LAMMPS is not installed"
have mpirun.openmpi || skip_all "Open MPI is not installed"

json=$tmp/melt.result/report.json
melt() { on openmpi 4 lmp -in "$root/tools/melt.in" -log none -var steps 400; }
preloaded melt PHASEMUX_SCHEME=time-space melt
is "$(cat melt.code)" 0 "LAMMPS ends as it should"
holds "the melt is the same" grep -q '^Total # of neighbors' melt.out
holds "the report is as its schema says" report schema "$json"
holds "phases, unclassified and short bursts are all computing time" report accounting "$json"
holds "it has phases" report phases "$json" 1 12
holds "it tells the ranks" report value "$json" ranks 4
holds "stderr ends with the report" grep -q LAMMPS\\\|lmp melt.err
if counts_hardware; then
	holds "every event has a value in every large phase" report complete "$json"
	holds "the components sum to the CPI" report breakdown "$json"
	preloaded other PHASEMUX_SCHEME=space melt
	holds "the same phases under another scheme" report same "$json" other.result/report.json
else
	skip "every event has a value in every large phase" "no hardware counters here"
	skip "the components sum to the CPI" "no hardware counters here"
	skip "the same phases under another scheme" "no hardware counters here"
	holds "no CPI is invented" report uncounted "$json"
fi

# Counters that follow the processor time: instructions per burst are then as unsteady as time is.
for scheme in time-space time; do
	scripted scripted.$scheme PHASEMUX_SCHEME=$scheme SCRIPTED_PMU=auto=triad melt
	json=$tmp/scripted.$scheme.result/report.json
	is "$(cat scripted.$scheme.code)" 0 "scripted, $scheme: LAMMPS ends as it should"
	holds "scripted, $scheme: all computing time is accounted for" report accounting "$json"
	holds "scripted, $scheme: every event has a value in every large phase" \
		report complete "$json"
	holds "scripted, $scheme: the components sum to the CPI" report breakdown "$json"
done
holds "scripted: the same phases under another scheme, as far as time repeats itself" \
	report same "$json" scripted.time-space.result/report.json 0.15

done_testing
