#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whole runs whose instructions are known: MPI with all schemes, OpenMP, POSIX threads, forks, long bursts.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=2
sysctl -q kernel.perf_event_paranoid=2 kernel.perf_user_access=0

# Only alu is compared of the MPI program, because the first burst of chase makes its list and may be taken for triad.
# Bursts of fdiv (0.8 ms) may be too short for what a read costs here.
for mpi in openmpi mpich; do
	preloaded $mpi on $mpi 2 "$programs/phases.$mpi" -n 20
	is "$(cat $mpi.code)" 0 "$mpi: the program ends well"
	truth $mpi alu=12000000
	in_report $mpi "no burst is lost" 'r["lost"]["bursts"] == 0'
	in_report $mpi "15 events take turns in groups of six beside the cycles" \
		'len(r["groups"]) == 3 and len(p["counters"]) == 15'
done
in_report mpich "the processor's name" 'r["processor"] == "Arm Neoverse N1"'
in_report mpich "a warning names the events that the machine accepts and never counts" \
	'any("INST_SPEC" in w and "LD_SPEC" in w and "not available" in w for w in r["warnings"])'
in_report mpich "their 0 is not reported as measured" \
	'not p["counters"]["INST_SPEC"]["observed"] and p["counters"]["INST_SPEC"]["mean"] is None'
preloaded list PHASEMUX_EVENTS=CPU_CYCLES,INST_RETIRED,INST_SPEC,BR_RETIRED,LD_SPEC,ST_SPEC,VFP_SPEC,r8 \
	on mpich 2 "$programs/phases.mpich" -n 12
in_report list "every event of a list has its turns" \
	'len(r["groups"]) > 1 and all(c["observed"] for c in p["counters"].values())'
in_report list "an event that has two names is counted once, with a warning" \
	'any("r8 is the same event as INST_RETIRED" in w for w in r["warnings"])'
# The kernel ignores the bits of a raw code above 0xffff, so these are instructions and cycles again, under numbers
# that the agent takes for other events. Each has the count of its own, in whichever group and place it is.
copies=
for copy in 1 2 3 4 5 6; do
	copies+=${copies:+,}r${copy}0008,r${copy}0011
done
preloaded copies PHASEMUX_EVENTS=$copies PHASEMUX_BUDGET=none on mpich 2 "$programs/phases.mpich" -n 20
is "$(cat copies.code)" 0 "copies: the program ends well"
holds "copies: each of twelve, in three groups, has the count of its event" "$python" -c '
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
p = max(r["phases"], key=lambda p: p["time_share"])
one, wrong = p["counters"]["instructions"]["mean"], 0
for name, counter in p["counters"].items():
    want = 1 if name.endswith("8") or name == "instructions" else 2
    got = counter["mean"] / one if counter["observed"] else 0
    print(f"{name}: {got:.6f} for each instruction, want {want}")
    wrong += abs(got - want) > 0.001
sys.exit(wrong or len(r["groups"]) != 3 or len(p["counters"]) != 14)' copies.result/report.json
for scheme in time space random adaptive; do
	preloaded $scheme PHASEMUX_SCHEME=$scheme on mpich 2 "$programs/phases.mpich" -n 12
	truth $scheme alu=12000000
done
sysctl -q kernel.perf_user_access=1
preloaded user_level on mpich 2 "$programs/phases.mpich" -n 12
truth user_level alu=12000000
sysctl -q kernel.perf_user_access=0

# Ten bursts of 0.2 s, in which groups change. Besides, with reads at user level, shorter bursts that are read whole.
preloaded few PHASEMUX_BUDGET=none on mpich 2 "$programs/few.mpich" ten 0 20
is "$(cat few.code)" 0 "few: the program ends well"
in_report few "a slice is 10 ms, and 5 M instructions" \
	'4.7e6 < p["counters"]["INST_RETIRED"]["mean"] < 5.3e6 and abs(p["cpi"] - 2) < 0.004'
in_report few "groups change within the long bursts" 'r["agent"]["switches"] > r["agent"]["reads"]'
in_report few "no burst and no sample is lost" 'r["lost"]["bursts"] == 0 and r["samples"]["lost"] == 0'
sysctl -q kernel.perf_user_access=1
preloaded few_user_level PHASEMUX_BUDGET=none on mpich 2 "$programs/few.mpich" cycles 0 20
truth few_user_level fma=40000000 fma=16000000 alu=4800000
in_report few_user_level "no burst and no sample is lost" 'r["lost"]["bursts"] == 0 and r["samples"]["lost"] == 0'
sysctl -q kernel.perf_user_access=0

observed omp "$programs/omp" 20
truth omp alu=24000000 triad=1500000
observed threads "$programs/posix_threads" 40
truth threads triad=1500000
in_report threads "no burst is lost" 'r["lost"]["bursts"] == 0'
# the bursts of fma take more than 0.1 s and are cut into slices, so only those of triad are compared
observed forks "$programs/forks" together 2 3
is "$(cat forks.code)" 0 "forks: the program ends well"
truth forks triad=27450000
observed serial "$programs/serial" 1
is "$(cat serial.code)" 0 "serial: the program ends well"
in_report serial "slices by the kernel's samples, none lost" \
	'r["samples"]["slices"] > 50 and r["samples"]["lost"] == 0'
in_report serial "a sample each 10 ms, whichever group counts" \
	'0.95 < r["samples"]["in_bursts"] / (100 * r["wall_seconds"]) < 1.02'
in_report serial "a slice is 10 ms, and 5 M instructions" \
	'4.7e6 < p["counters"]["INST_RETIRED"]["mean"] < 5.3e6 and abs(p["cpi"] - 2) < 0.004'
done_testing
