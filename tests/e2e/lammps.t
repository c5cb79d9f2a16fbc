#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on an unmodified real program, with the counters of this machine if it has any.
# Real time: lengths of bursts.
. "$(dirname "$0")/lib.sh"

have lmp || skip_all "LAMMPS is not installed"
have mpirun.openmpi || skip_all "Open MPI is not installed"

json=$tmp/melt.result/report.json
# STEPS: every 20th step rebuilds the lists of neighbours on each rank, which is a phase of its own
melt() { on openmpi 4 lmp -in "$root/tools/melt.in" -log none -var steps "$1"; }
preloaded melt PHASEMUX_SCHEME=time-space melt 400
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
	preloaded other PHASEMUX_SCHEME=space melt 400
	holds "the same phases under another scheme" report same "$json" other.result/report.json
else
	skip "every event has a value in every large phase" "no hardware counters here"
	skip "the components sum to the CPI" "no hardware counters here"
	skip "the same phases under another scheme" "no hardware counters here"
	holds "no CPI is invented" report uncounted "$json"
fi

# Counters that follow the processor time: they are virtual, but bursts have their real length. A phase of 80
# bursts is too short for eight groups on a busy machine. With a sanitizer the agent takes several times as
# long, so the run is shorter there and all bursts are read.
if [ -n "$sanitizer" ]; then
	scripted scripted PHASEMUX_BUDGET=none SCRIPTED_PMU=auto=triad melt 1000
else
	scripted scripted SCRIPTED_PMU=auto=triad melt 1600
fi
json=$tmp/scripted.result/report.json
is "$(cat scripted.code)" 0 "scripted: LAMMPS ends as it should"
holds "scripted: all computing time is accounted for" report accounting "$json"
holds "scripted: every event has a value in every large phase" report complete "$json"
holds "scripted: the components sum to the CPI" report breakdown "$json"

# One rank reads for the others (docs/leads.md). Its loops have inner loops, and the lists of neighbours come once in 20 steps.
if [ -n "$sanitizer" ]; then
	skip "leads: the ranks know their loops" "they are told apart too late in a short run"
else
	scripted leads SCRIPTED_PMU=auto=triad PHASEMUX_LEADS=1 melt 600
	holds "leads: the ranks know their loops" report between "$tmp/leads.result/report.json" leads/time_share 0.25 1
fi

# The true counts of the same binary, in an emulator. They show whether another scheme gives the same phases.
if [ -n "$sanitizer" ]; then
	skip "emulated: the same phases under another scheme" \
		"an emulator of a sanitizer's memory takes all that there is"
elif can_emulate; then
	for scheme in time-space space; do
		emulated emulated.$scheme PHASEMUX_SCHEME=$scheme PHASEMUX_BUDGET=none \
			4 "$(command -v lmp)" -in "$root/tools/melt.in" -log none \
			-var steps 400 -var cells 8
		json=$tmp/emulated.$scheme.result/report.json
		is "$(cat emulated.$scheme.code)" 0 "emulated, $scheme: LAMMPS ends as it should"
		holds "emulated, $scheme: all computing time is accounted for" \
			report accounting "$json"
		holds "emulated, $scheme: the components sum to the CPI" report breakdown "$json"
	done
	# 20 steps rebuild the lists; if one rank's are a phase of their own, they are too few for eight groups
	holds "emulated: every event has a value in every large phase" \
		report complete "$tmp/emulated.time-space.result/report.json" 4
	holds "emulated: the same phases under another scheme" \
		report same "$tmp/emulated.time-space.result/report.json" "$json"
else
	skip "emulated: the same phases under another scheme" "no emulator with plugins here"
fi

done_testing
