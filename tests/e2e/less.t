#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The machine offers less than usual, or a setting is invalid. The program runs as without phasemux, and one
# line says what is wrong and what to change.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
program() { on "$mpi" 2 "$@" "$programs/phases.$mpi" -n 150 -x 5; }
run bare program

# Prints the number of phasemux's lines on stderr.
lines_of() { grep -c '^phasemux: ' "$tmp/$1.err"; }

# ---- no counters ----
for errno in EPERM EACCES ENOSYS; do
	preloaded $errno program "$programs/no_perf" $errno
	unchanged $errno bare
	holds "$errno from a filter: the report is as its schema says" \
		report schema $errno.result/report.json
	holds "$errno from a filter: phases from time, no CPI is invented" \
		report uncounted $errno.result/report.json
	holds "$errno from a filter: all computing time is accounted for" \
		report accounting $errno.result/report.json
	holds "$errno from a filter: the header says why" \
		grep -qiE 'seccomp|container|perf_event_open|permission|not permitted' $errno.err
done

if ! counts_hardware; then
	preloaded bare_machine program
	unchanged bare_machine bare
	holds "no hardware counters: no CPI is invented" \
		report uncounted bare_machine.result/report.json
	holds "no hardware counters: the header says why" \
		grep -qi 'no hardware counters\|virtual machine' bare_machine.err
else
	skip "no hardware counters" "this machine has some"
fi

# The setting that forbids counters, as it looks on such a machine, in a mount namespace of the test.
echo 4 >forbidding
if unshare -m mount --bind forbidding /proc/sys/kernel/perf_event_paranoid 2>/dev/null; then
	scripted paranoid SCRIPTED_PMU=fail=open:1+:EACCES program unshare -m sh -c '
		mount --bind forbidding /proc/sys/kernel/perf_event_paranoid && exec "$@"' -
	unchanged paranoid bare
	holds "perf_event_paranoid 4: no CPI is invented" report uncounted paranoid.result/report.json
	holds "perf_event_paranoid 4: the setting to change is named" \
		grep -q 'perf_event_paranoid=2' paranoid.err
else
	skip "perf_event_paranoid 4: the setting to change is named" "this takes root"
fi

# ---- no /proc, as in a folder that became the root (chroot) ----
if [ -n "$sanitizer" ]; then
	skip "without /proc: a report" "the sanitizer needs it"
elif unshare -m umount -l /proc 2>/dev/null; then
	run no_proc PHASEMUX_OUTPUT="$tmp/no_proc.result" PHASEMUX_SPOOL="$tmp/spool" \
		unshare -m sh -c 'umount -l /proc && exec "$@"' - "$phasemux" run -- "$programs/posix_threads" 20
	run no_proc.alone "$programs/posix_threads" 20
	unchanged no_proc no_proc.alone
	holds "without /proc: a report" report schema no_proc.result/report.json
else
	skip "without /proc: a report" "this takes root"
fi

# ---- invalid settings: one line, phasemux is off, the program runs ----
refused() {
	local name=$1 setting=$2 word=$3

	preloaded "$name" "$setting" program
	unchanged "$name" bare
	is "$(lines_of "$name")" 1 "$setting: one line for the whole job"
	holds "$setting: the line names it" grep -q "^phasemux: .*$word" "$tmp/$name.err"
	holds "$setting: no result" test ! -e "$tmp/$name.result"
	run "$name.run" "$phasemux" run "--$(tr 'A-Z_' 'a-z-' <<<"${setting%%=*}" | sed 's/phasemux-//')=${setting#*=}" \
		-- touch "$tmp/$name.started"
	is "$(cat "$name.run.code")" 2 "phasemux run refuses $setting with 2"
	holds "phasemux run: the line names it" grep -q -e "$word" "$tmp/$name.run.err"
	holds "phasemux run: nothing was started" test ! -e "$tmp/$name.started"
}
refused scheme PHASEMUX_SCHEME=sideways sideways
holds "the allowed schemes are named" grep -q 'time-space.*random' scheme.err
refused quantum PHASEMUX_QUANTUM=soon soon
refused budget PHASEMUX_BUDGET=-3% -3%
refused report PHASEMUX_REPORT=poem poem
refused cluster_by PHASEMUX_CLUSTER_BY=colour colour

# ---- an event that this processor does not have: a warning, and the other events are counted ----
preloaded event PHASEMUX_EVENTS=task-clock,no_such_event program
unchanged event bare
holds "an unknown event is named" grep -q '^phasemux: .*no_such_event' event.err

# ---- off ----
preloaded disabled PHASEMUX_DISABLE=1 program
unchanged disabled bare
is "$(lines_of disabled)" 0 "PHASEMUX_DISABLE=1: not a word"
holds "PHASEMUX_DISABLE=1: no result" test ! -e disabled.result

# ---- missing parts of phasemux ----
mkdir lonely
cp "$build"/libphasemux.so "$build"/libphasemux-core.so lonely/
preloaded adapter LD_PRELOAD="$tmp/lonely/libphasemux.so:$runtime" program
unchanged adapter bare
holds "no adapter: it says that each rank is alone" grep -q '^phasemux: .*alone' adapter.err
for number in "" -2; do
	holds "no adapter: a rank reports" report schema "adapter.result/report$number.json"
	holds "no adapter: for itself" report value "adapter.result/report$number.json" ranks 1
done
rm lonely/libphasemux-core.so
preloaded core LD_PRELOAD="$tmp/lonely/libphasemux.so:$runtime" program
unchanged core bare
holds "no core: it is named" grep -q '^phasemux: off: .*libphasemux-core.so' core.err

# A single rank has no core, and the others do not wait for it.
if have mpirun.openmpi && [ -x "$programs/phases.openmpi" ]; then
	# by the rank, because mpirun of Open MPI 5.0.7 crashes on two programs (open-mpi/ompi issue 13303)
	alone() {
		# shellcheck disable=SC2016
		on openmpi 2 env PRELOAD_0="$1" PRELOAD_1="$2" bash -c \
			'preload=PRELOAD_$OMPI_COMM_WORLD_RANK; exec env LD_PRELOAD="${!preload}" "$0" "$@"' \
			"$programs/phases.openmpi" -n 150 -x 5
	}
	cp "$build"/libphasemux-openmpi.so lonely/
	for rank in 0 1; do
		run rank$rank.bare alone "" ""
		[ $rank = 0 ] && set -- "$tmp/lonely" "$build" || set -- "$build" "$tmp/lonely"
		run rank$rank PHASEMUX_OUTPUT="$tmp/rank$rank.result" \
			alone "$1/libphasemux.so:$runtime" "$2/libphasemux.so:$runtime"
		unchanged rank$rank rank$rank.bare
		is "$(lines_of rank$rank)" 1 "rank $rank alone has no core: one line"
		holds "rank $rank alone has no core: it is named" \
			grep -q '^phasemux: off: .*libphasemux-core.so' rank$rank.err
	done
else
	skip "one rank alone" "this takes Open MPI"
fi

# ---- a full disk ----
if unshare -m mount -t tmpfs -o size=4k none "$tmp/lonely" 2>/dev/null; then
	preloaded full PHASEMUX_OUTPUT="$tmp/lonely/result" program unshare -m sh -c "
		mount -t tmpfs -o size=8k none '$tmp/lonely' && exec \"\$@\"" -
	unchanged full bare
	holds "a full disk is named" grep -qi '^phasemux: .*no space' full.err
else
	skip "a full disk is named" "this takes root"
fi

# ---- a folder that cannot be written ----
preloaded nowhere PHASEMUX_OUTPUT=/proc/nowhere program
unchanged nowhere bare
holds "a folder that cannot be made is named" grep -q '^phasemux: .*/proc/nowhere' nowhere.err
kept=$(sed -n 's/^phasemux: phasemux recover \(.*\) makes the report$/\1/p' nowhere.err)
"$phasemux" recover --json --remove "$kept" >kept.json
holds "and the report is made of what is kept" report schema kept.json

done_testing
