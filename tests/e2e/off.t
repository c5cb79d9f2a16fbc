#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# After the agent has turned itself off at its start, it holds nothing in the program except its libraries. The
# program has as many descriptors as without the agent. It has no mapping of counters, of the spool, or of the
# memory that processes share.
. "$(dirname "$0")/lib.sh"

injector=$programs/fail_calls.so
[ -e "$injector" ] || injector=

# Mappings of the agent, by their names in /proc/self/maps.
agents='perf_event|memfd:scripted-pmu|/dev/zero|/rank-[0-9]'

# attached NAME [VAR=VALUE]...: makes the target of `phasemux run` list its descriptors and its mappings
attached() {
	local name=$1

	shift
	told "$name" PHASEMUX_REPORT=json "$@" find /proc/self/fd -type l -printf '%l\n'
	told "$name.maps" PHASEMUX_REPORT=json "$@" cat /proc/self/maps
}

# off NAME MESSAGE: checks that the agent is off
off() {
	holds "$1: one line says that the agent is off" grep -qE "^phasemux: off: $2" "$1.err"
	is "$(grep -c . "$1.out")" "$(grep -c . bare.out)" "$1: as many descriptors as without the agent" ||
		diag "$(cat "$1.out")"
	is "$(grep -E "$agents" "$1.maps.out")" "" "$1: no mapping of the agent"
	is "$(find "$1.spool" "$1.maps.spool" -type f)" "" "$1: no spool"
}

run bare find /proc/self/fd -type l -printf '%l\n'
attached on
holds "what is looked for is there while the agent is on" grep -qE "$agents" on.maps.out
attached group PHASEMUX_SCHEME=none PHASEMUX_GROUP=99
off group 'invalid value PHASEMUX_GROUP'
if [ "$injector" ]; then
	beside=$injector:$beside
	for call in pthread_key_create:1 pthread_key_create:2 pthread_atfork:1; do
		attached "$call" FAIL="$call:12"
		off "$call" 'a rank of the job has no memory'
	done
else
	skip "calls that fail" "the injector was not built (it needs glibc 2.35)"
fi

# held MPI NAME [VAR=VALUE]...: makes both ranks list what they hold after MPI_Init, in NAME.held.0 and
# NAME.held.1
held() {
	local mpi=$1 name=$2

	shift 2
	run "$name" LD_PRELOAD="$library:${injector:+$injector:}$scripted" PHASEMUX_PMU="$scripted" PHASEMUX_REPORT=json \
		PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/spool" "$@" \
		on "$mpi" 2 "$programs/held.$mpi" "$tmp/$name.held"
}

for mpi in $(mpis_of held); do
	held "$mpi" "$mpi"
	holds "$mpi: what is looked for is there while the agent is on" grep -q 'memfd:scripted-pmu' "$mpi.held.0"
	held "$mpi" "$mpi.group" PHASEMUX_SCHEME=none PHASEMUX_GROUP=99
	[ -z "$injector" ] || held "$mpi" "$mpi.key" FAIL=pthread_key_create:1:12 FAIL_RANK=1
	for case in group ${injector:+key}; do
		holds "$mpi, $case: one line says that the agent is off" \
			grep -q '^phasemux: off: ' "$mpi.$case.err"
		is "$(grep -E 'memfd:scripted-pmu|/rank-[0-9]' "$mpi.$case.held".?)" "" \
			"$mpi, $case: no rank holds a counter or a spool"
	done
done
done_testing
