#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The memory that phasemux reports is under 2 MiB for a process with one thread, and under 5 MiB with 16
# threads. Each of the 40 places of the program is a phase of its own, of which each thread has sums. The
# kernel's numbers for the process confirm it.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of crowd | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
grep -q Pss_Shmem /proc/self/smaps_rollup 2>/dev/null || skip_all "the kernel gives no such account"

# NAME BARE MIB: checks that NAME takes less than that. The kernel confirms it, except for the heap of the
# libraries that phasemux opens.
check() {
	holds "$1: under $3 MiB" report between "$tmp/$1.result/report.json" agent/bytes 300000 \
		$(($3 << 20))
	holds "$1: the process has no more than that" "$python" -c '
import json, re, sys
bare, with_us = (int(re.search(r"bytes (\d+)", open(name).read())[1]) for name in sys.argv[1:3])
said = json.load(open(sys.argv[3]))["agent"]["bytes"]
assert with_us - bare < said + (1 << 20), (bare, with_us, said)
' "$2.out" "$1.out" "$tmp/$1.result/report.json"
}

# a counter without a page of memory needs a descriptor above the limit
pages=1
[ "$(ulimit -H -n)" = unlimited ] || [ "$(ulimit -H -n)" -ge 4096 ] || pages=0

for threads in 1 16; do
	crowd() { on "$mpi" 1 "$programs/crowd.$mpi" $threads 15; }
	run "bare$threads" crowd
	preloaded "kernel$threads" crowd
	check "kernel$threads" "bare$threads" $((threads == 1 ? 2 : 5))
	if [ -e "$scripted" ]; then
		run "bare_scripted$threads" LD_PRELOAD="$scripted" SCRIPTED_PMU=spin=0.2 crowd
		# as many groups as a model of a processor has, and as many pages as the kernel takes for them
		scripted "scripted$threads" SCRIPTED_PMU=spin=0.2,pages=$pages crowd
		holds "scripted$threads: eight groups of counters" \
			grep -q '^  model zen5, .* 8 groups' "scripted$threads.result/report.txt"
		check "scripted$threads" "bare_scripted$threads" $((threads == 1 ? 2 : 5))
	fi
done

done_testing
