#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Counters that fail, lie or are few, imitated by the scripted PMU. The program behaves as before, and no number
# of the report is impossible.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
program() { on "$mpi" 2 "$programs/phases.$mpi" -n 300 -x 5; }
true_phases() { report instructions "$1" 1500000 6000 300000 12000000; }
run bare program

# with NAME SETTINGS: checks what holds for every failure. All bursts are read, because otherwise the failure
# might not occur.
with() {
	scripted "$1" SCRIPTED_PMU="$2" PHASEMUX_BUDGET=none program
	json=$tmp/$1.result/report.json
	unchanged "$1" bare
	holds "$2: the report is as its schema says" report schema "$json"
	holds "$2: all computing time is accounted for" report accounting "$json"
}

with few counters=4
holds "4 counters: every event still has a value" report complete "$json"
holds "4 counters: the true phases" true_phases "$json"
holds "4 counters: no group is larger" "$python" -c '
import json, sys
assert max(len(g["events"]) for g in json.load(open(sys.argv[1]))["groups"]) <= 4' "$json"
with other processor=GenuineIntel-6-143
holds "another processor: the components sum" report breakdown "$json"
with unknown processor=Nobody-7-3
holds "an unknown processor: the report names it, and the generic model" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["model"] == "generic" and report["processor"].startswith("Nobody family 7 model 3"), report["processor"]
phases = [phase for phase in report["phases"] if phase["time_share"] > 0.05]
assert phases
for phase in phases:
    parts = {part["component"]: part["cpi"] for part in phase["cpi_breakdown"]}
    # it has no event of this kind, so nothing is said of it
    assert parts["back end stalled"] is None, parts
    assert abs(parts["front end stalled"] + parts["not stalled, or not known"] - phase["cpi"]) < 1e-6, parts' "$json"
holds "and so does the text" grep -q '^  model generic, ' "$tmp/unknown.result/report.txt"
with none hardware=0
holds "no hardware counters: no CPI is invented" report uncounted "$json"
with open_1 fail=open:1+:EACCES
holds "EACCES: no CPI is invented" report uncounted "$json"
holds "EACCES: the header says why" grep -qiE 'perf_event_paranoid|permi|seccomp' open_1.err
with open_few fail=open:40+:EMFILE
with read_once fail=read:400:EIO
# a counter in its error state, or on a processor that has gone offline: reads return nothing from some moment
# on
for how in short ENODEV; do
	with read_$how fail=read:400+:$how
	holds "reads that end in the middle ($how): what was read is of the true phases" "$python" -c '
import json, sys
phases = json.load(open(sys.argv[1]))["phases"]
assert phases
for phase in phases:
    mean = phase["counters"]["ex_ret_instr"]["mean"]
    assert min(abs(mean / true - 1) for true in (1.5e6, 6e3, 3e5, 12e6)) < 0.02, phase
' "$json"
	holds "reads that end in the middle ($how): the other bursts are lost, and counted" \
		report between "$json" lost/bursts 1 1e9
done
with ioctl fail=ioctl:60+:EINVAL
with map fail=map:1+:EPERM
with held held=3
with jump jump=97
holds "counters that jump: the true phases" true_phases "$json"
holds "counters that jump: bursts are lost, and counted" report between "$json" lost/bursts 1 1e9
with back back=97
holds "counters that go back: the true phases" true_phases "$json"
with noise noise=0.01
holds "noise: still the true phases" true_phases "$json"

done_testing
