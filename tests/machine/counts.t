#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Counts of known loops, with and without reading at user level, and what the doctor says of the machine.
. "$(dirname "$0")/lib.sh"

for access in 0 1; do
	sysctl -q kernel.perf_user_access=$access
	run counts$access "$build/tests/machine/test_counts"
	sed 's/^/# /' counts$access.out
	is "$(cat counts$access.code)" 0 "known loops, kernel.perf_user_access=$access"
	run doctor$access "$phasemux" doctor
	sed 's/^/# /' doctor$access.out
	tr -s ' \n' ' ' <doctor$access.out >told$access # as one line
done
holds "user access off: nothing is skipped but the reads at user level" \
	[ "$(grep -c '# SKIP' counts0.out)" = 1 ]
holds "user access on: nothing is skipped" [ "$(grep -c '# SKIP' counts1.out)" = 0 ]

holds "doctor: the processor's name, and that it is virtual" \
	grep -q '^processor Arm Neoverse N1 (ARM family 65 model 3340), in a virtual machine ' told0
holds "doctor: six counters" grep -q ' counters 6 counters count ' told0
holds "doctor: the model, whose groups hold six events beside the cycles" \
	grep -q ' neoverse-n1: 15 events in 3 groups of at most 7 ' told0
holds "doctor: who has nothing to do with counters holds none" grep -q 'no other process holds' told0
holds "doctor: how reads become cheap" grep -q 'sysctl kernel.perf_user_access=1' told0
holds "doctor: reads at user level" grep -q 'by mrs, the cheaper way' told1
is "$(grep -c perf_user_access told1)" 0 "doctor: no advice that is followed already"
done_testing
