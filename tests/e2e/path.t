#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Things that must not happen on the path of an intercepted call: an allocation, waiting for another rank, or a
# system call other than reads of the counters.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of million | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
million() { on "$mpi" 1 "$@" "$programs/million.$mpi"; }
million_times() { on "$mpi" 1 "$programs/million.$mpi" "$1"; }

# Rounds of learning come after 50, 100, 200, ... ms, and a sort in the C library allocates when rank 0 trains.
# A pass without a round is a pass between two rounds, or on a fast machine before the first. With a sanitizer a
# million calls take too long for such a pass.
calm() {
	if [ -n "$sanitizer" ]; then
		skip "$2" "with a sanitizer rounds fall into every pass"
	else
		"$@"
	fi
}
for pass in 1 2 3 4 5 6 7 8; do
	preloaded "pass$pass" PHASEMUX_OUTPUT="$tmp/pass$pass.result" million
	[ -n "$sanitizer" ] || grep -q '^allocations 0 ' "pass$pass.out" && break
done
calm holds "a million calls allocate nothing" grep '^allocations 0 ' "pass$pass.out"
holds "and all of them were seen" "$python" -c '
import json, sys
assert json.load(open(sys.argv[1]))["agent"]["calls"] >= 1000000' "pass$pass.result/report.json"

# The resources of MPI for the messages of rounds exist when MPI_Init returns, and a training has memory of its
# own. On rank 0, only the C library's sorts take some memory from the program's heap. A machine that reads
# nothing finishes a million calls too soon for a round.
had_rounds() { "$python" -c '
import json, sys
assert json.load(open(sys.argv[1]))["agent"]["rounds"] >= 3' "$1/report.json" 2>/dev/null; }
millions=1
for pass in 1 2 3 4 5 6; do
	preloaded "two$pass" PHASEMUX_OUTPUT="$tmp/two$pass" PHASEMUX_BUDGET=none \
		on "$mpi" 2 "$programs/million.$mpi" $millions
	had_rounds "$tmp/two$pass" && break
	millions=$((millions * 4))
done
holds "there are rounds in a run of two ranks" had_rounds "$tmp/two$pass"
calm holds "of which the one that does not train allocates nothing" \
	grep '^rank 1: allocations 0 ' "two$pass.out"
calm holds "and the one that does hardly anything" grep '^allocations [0-9]\{1,2\} ' "two$pass.out"

# Calls too fast to time each of them. Skipped calls are counted, and their time is not lost. On a busy machine
# calls do not seem to be fast. Some of them are in rests, of which only the number of calls is known.
passed() {
	holds "$1" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
agent = report["agent"]
millions, low, high = map(float, sys.argv[2:])
rested = report["not_observed"]["calls"]
share = (agent["passed_calls"] + rested) / agent["calls"]
assert agent["calls"] in (millions * 1e6 + 101, millions * 1e6 + 102), agent["calls"]
assert low <= share <= high, share
assert report["bursts"] + rested >= agent["calls"] - 12, (report["bursts"], rested)
assert 0 < report["compute_seconds"] < report["wall_seconds"], report["compute_seconds"]' \
		"$2/report.json" "$3" "$4" "$5"
}
preloaded many PHASEMUX_OUTPUT="$tmp/many" million_times 5
# At least a thousand calls are not skipped, however expensive each of them is.
passed "of five million calls most are skipped" "$tmp/many" 5 0.3 0.9998
holds "and the report says so" grep -q "Calls too short to time each\|Not observed, to keep the budget" \
	"$tmp/many/report.txt"
preloaded each PHASEMUX_OUTPUT="$tmp/each" PHASEMUX_BUDGET=none million_times 1
passed "without a budget, none is skipped" "$tmp/each" 1 0 0

# MPICH's calls in Fortran make calls in C. Each is one call, also if most calls are skipped.
for with in $(mpis_of polls); do
	preloaded "polls.$with" on "$with" 1 "$programs/polls.$with" 1000000
	holds "polls.$with: a call that makes another one is one call" report value \
		"$tmp/polls.$with.result/report.json" agent/calls 1000001
	holds "polls.$with: and most of them are skipped, or are in rests" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
by = report["agent"]["passed_calls"] + report["not_observed"]["calls"]
assert 100000 <= by <= 1000000, by' "$tmp/polls.$with.result/report.json"
done

if have strace && strace -o /dev/null true 2>/dev/null; then
	# Prints the names of the calls between the two marks.
	between() {
		awk '/write\(-1, "m", 1\)/ { inside = !inside; next }
			inside { sub(/\(.*/, ""); print $NF }' "$1" | sort | uniq -c
	}
	preloaded traced million strace -o "$tmp/trace" -e 'trace=all'
	between trace >between.txt
	calm holds "system calls in between: the counters' reads and switches alone" \
		"$python" -c '
import sys
rows = [line.split() for line in open("between.txt")]
others = {name: int(count) for count, name in rows if name not in ("read", "ioctl")}
# a training may come in between, with a few calls for its memory
assert sum(others.values()) <= 20, others
reads = sum(int(count) for count, name in rows)
assert reads < 100000, rows'
else
	skip "system calls in between: the counters' reads and switches alone" "strace is needed"
fi

if [ -x "$programs/absent.$mpi" ]; then
	preloaded absent on "$mpi" 2 "$programs/absent.$mpi" 1 4
	is "$(cat absent.code)" 0 "a rank stays away from MPI for 4 s: the program ends well"
	holds "and the other did not wait for it" "$python" -c '
import re
mine, other = map(float, re.findall(r"after ([0-9.]+) s", open("absent.out").read()))
assert other >= 4 and mine < other - 1, (mine, other)'
fi

done_testing
