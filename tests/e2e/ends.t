#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs without MPI as targets. However they end, and whatever processes they make, they behave as without
# phasemux. A program that ends by itself has a report, of the one process that is the target.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# observed NAME KIND [VAR=VALUE]...
observed() {
	local name=$1 kind=$2

	shift 2
	mkdir -p "$tmp/$name.spool"
	run "$name" LD_PRELOAD="$library:$scripted" PHASEMUX_PMU="$scripted" PHASEMUX_REPORT=json \
		PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/$name.spool" "$@" \
		timeout 60 "$phasemux" run -- "$programs/ends" "$kind"
}

# NAME FILE BURSTS: checks that the report has all bursts of the process and its threads, and no others. Two
# threads wait for each other 200 times, once or twice, with some bursts before and after.
has_all() {
	report schema "$1" && report between "$1" bursts "$2" $(($2 + 8))
}

for kind in $("$programs/ends"); do
	run "$kind.bare" timeout 60 "$programs/ends" "$kind"
	observed "$kind" "$kind" PHASEMUX_BUDGET=none
	unchanged "$kind" "$kind.bare"
	holds "$kind: nothing unexpected" sh -c '! grep "NOT AS EXPECTED" "$1"' - "$kind.out"
	is "$(cat "$kind.err")" "$(cat "$kind.bare.err")" "$kind: and no word about it"
	case $kind in
	clone | clone3 | shared_clone | daemon) bursts=800 ;;
	*) bursts=400 ;;
	esac
	case $kind in
	_exit | exec)
		"$phasemux" recover --json "$tmp/$kind.spool" >$kind.json
		holds "$kind: its sums are there" report between $kind.json bursts $((bursts - 40)) $((bursts + 8))
		;;
	*)
		holds "$kind: its report, with all its bursts" has_all $kind.result/report.json $bursts
		is "$(ls $kind.result)" $'report.json\ntrace.json' "$kind: one report, with its trace"
		is "$(find $kind.spool -type f)" "" "$kind: no sums are left"
		;;
	esac
done

# A program that runs with the rights of another user, into which the loader preloads nothing.
if [ "$(id -u)" -eq 0 ] && have setpriv; then
	mkdir theirs && chmod 755 "$tmp" && chmod 777 theirs
	cp "$programs/plain" theirs/ && chmod 4755 theirs/plain
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	run setuid.bare as_nobody theirs/plain 10
	run setuid LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/theirs/result" as_nobody theirs/plain 10
	unchanged setuid setuid.bare
	if as_nobody test -r "$library"; then
		run setuid PHASEMUX_OUTPUT="$tmp/theirs/result" \
			as_nobody "$phasemux" run -- "$tmp/theirs/plain" 10
		unchanged setuid setuid.bare
	fi
	is "$(ls theirs)" plain "a set-user-id program is no target"
else
	skip "a set-user-id program is no target" "only root can make one for another user"
fi

done_testing
