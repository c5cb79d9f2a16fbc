#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux doctor and events, on machines that the scripted PMU imitates.
. "$(dirname "$0")/lib.sh"

[ -x "$phasemux" ] || skip_all "no command was built"
[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# says NAME SETTINGS CODE PATTERN...: checks what doctor prints about a machine, and its exit code
says() {
	local name=$1 settings=$2 code=$3 pattern

	shift 3
	run "$name" env PHASEMUX_PMU="$scripted" SCRIPTED_PMU="$settings" "$phasemux" doctor
	is "$(cat "$name.code")" "$code" "'$settings': exit code $code"
	for pattern; do
		holds "'$settings': says '$pattern'" grep -qE "$pattern" "$name.out"
	done
	holds "'$settings': fits 100 columns" sh -c '! grep -qE "^.{101}" "$1"' - "$name.out"
	holds "'$settings': no stray word on stderr" test ! -s "$name.err"
}
says usual '' 0 '5 counters count. 6 open' 'zen5: .* groups' 'a read costs .* [un]s'
says whole counters=6 0 '^counters +6 counters count$'
says watched counters=6,held=1 0 '5 counters count' '1 of the counters .* held by other processes or the kernel'
says taken counters=4,opens=4,held=4 0 'none: counters open, but the kernel gives none to phasemux'
says dead counters=0 0 'none: counters open but count nothing'
says none hardware=0 0 'none: .*no hardware counters' 'software events can be counted'
says one counters=1,opens=1 0 '1 counter counts: too few'
says filtered fail=open:1+:EPERM 1 'seccomp' 'time alone'
says other processor=GenuineIntel-6-143 0 'table spr'
says unknown processor=Nobody-1-1 0 'no table'
holds "no counters: 'counters count' is not said" sh -c '! grep -q "counters count" none.out'

run pattern env PHASEMUX_PMU="$scripted" "$phasemux" events brn
is "$(cat pattern.code)" 0 "events with a pattern"
holds "only what matches" sh -c '[ -s "$1" ] && ! cut -d" " -f1 "$1" | grep -qvi brn' - pattern.out
run absent env PHASEMUX_PMU="$scripted" "$phasemux" events no_such_event
is "$(cat absent.code)" 1 "events without a match: 1"
holds "and the pattern is named" grep -q no_such_event absent.err
# one of the calls that try the model's events fails
for call in {110..180}; do
	run refused env PHASEMUX_PMU="$scripted" SCRIPTED_PMU=fail=open:$call:ENOENT "$phasemux" doctor
	grep -q '1 event of the model is not' refused.out && break
done
holds "an event that this processor refuses is in no group" \
	grep -qE '^CPI model +zen5: 23 events in [0-9]+ groups' refused.out
holds "and the doctor says so" grep -q '1 event of the model is not available' refused.out
run misused "$phasemux" doctor please
is "$(cat misused.code)" 2 "doctor takes no argument: 2"
run broken env PHASEMUX_PMU=/nonexistent.so "$phasemux" doctor
is "$(cat broken.code)" 2 "counters that cannot be loaded: 2"
holds "and they are named" grep -q '/nonexistent.so' broken.err

done_testing
