#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Things that production programs do around MPI. Each hazard's output and exit code are the same with and
# without the preload, and are what the program expects.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of hazard)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# Each run has a spool of its own, which shows afterwards which run left its sums. A repeated run starts with an
# empty one.
spooled() {
	local how=$1 name=$2

	shift 2
	rm -rf "$tmp/$name.spool"
	mkdir "$tmp/$name.spool"
	$how "$name" PHASEMUX_SPOOL="$tmp/$name.spool" "$@"
}

# observe HOW NAME HAZARD [VAR=VALUE]...
observe() {
	local how=$1 name=$2 hazard=$3 ranks=2 again

	shift 3
	# if two ranks end so, MPICH kills the one that it finds still alive, and the code is 0 or 9, also without
	# phasemux
	[ "$hazard.$mpi" = no_finalize.mpich ] && ranks=1
	spooled "$how" "$name" "$@" on $mpi $ranks "$programs/hazard.$mpi" "$hazard"
	# In these hazards MPICH sometimes sees the connection close before the ranks have ended. It reports a bad end
	# then, and the other rank's signal is its own. On a busy machine with phasemux this happens in 1 of 40 or 50
	# runs, because closing the counters takes some time.
	for again in 1 2; do
		[[ $hazard.$mpi = no_finalize.mpich || $hazard.$mpi = abort.mpich ]] &&
			! cmp -s "$name.code" "$hazard.$mpi.bare.code" &&
			spooled "$how" "$name" "$@" on $mpi $ranks "$programs/hazard.$mpi" "$hazard"
	done
}

# MPICH prints a process number for a rank that was killed, which is not the program's output.
plain() { sed -i 's/PID [0-9]*/PID/' "$tmp/$1.out"; }
same() { cmp -s "$tmp/$1.code" "$tmp/$2.code" && cmp -s "$tmp/$1.out" "$tmp/$2.out"; }

# varies BARE COMMAND...: whether this program, without phasemux, does not always end as in the run BARE. MPICH 4.2
# sometimes kills ranks that still do something after MPI_Finalize.
varies() {
	local bare=$1 again

	shift
	for again in 1 2 3 4 5 6 7 8; do
		run again "$@"
		plain again
		same again "$bare" || return 0
	done
	return 1
}

# same_end NAME BARE COMMAND...
same_end() {
	plain "$1"
	plain "$2"
	if ! same "$1" "$2" && varies "${@:2}"; then
		skip "$1: the exit code and output of $2" "it does not always end so with this MPI alone"
	else
		unchanged "$1" "$2"
	fi
	holds "$1: nothing unexpected" sh -c '! grep "NOT AS EXPECTED" "$1"' - "$tmp/$1.out"
}

for mpi in $mpis; do
	export limit=120
	for hazard in $("$programs/hazard.$mpi"); do
		name=$hazard.$mpi
		if [ "$sanitizer $hazard" = "tsan threads_left" ]; then
			skip "$name" "the sanitizer has a thread of its own"
			continue
		fi
		[ "$name" = no_finalize.mpich ] && ranks=1 || ranks=2
		run "$name.bare" on $mpi $ranks "$programs/hazard.$mpi" "$hazard"
		observe preloaded "$name" "$hazard"
		same_end "$name" "$name.bare" on $mpi $ranks "$programs/hazard.$mpi" "$hazard"
	done
	# With several groups to count there is also the thread that changes them. All work looks like long bursts to it.
	hazards="fork spawn threads thread_forks signals exit no_finalize"
	# the rest would take minutes with a sanitizer
	[ -n "$sanitizer" ] || hazards+=" vfork close_counters few_descriptors leave_calls exec quick_exit _exit after_finalize"
	for hazard in $hazards; do
		name=$hazard.$mpi.scripted
		observe scripted "$name" "$hazard" SCRIPTED_PMU=strict=1,auto=triad PHASEMUX_SAMPLE=1000
		[ "$hazard.$mpi" = no_finalize.mpich ] && ranks=1 || ranks=2
		same_end "$name" "$hazard.$mpi.bare" on $mpi $ranks "$programs/hazard.$mpi" "$hazard"
		holds "$name: no child uses its parent's counters" \
			sh -c '! grep "forked child uses" "$1"' - "$name.err"
	done
	# It exists only if there is something to change, and is the only one.
	if [ "$sanitizer" != tsan ]; then
		threads=$(grep -o '^[0-9]* threads' "threads_left.$mpi.bare.out")
		for settings in "1 PHASEMUX_SCHEME=time" "0 PHASEMUX_SCHEME=none" "0 PHASEMUX_SCHEME=space" \
			"0 PHASEMUX_SAMPLE=0" "0 PHASEMUX_DISABLE=1"; do
			name="threads_left.$mpi.${settings#* }"
			observe scripted "$name" threads_left "${settings#* }"
			is "$(grep -o '^[0-9]* threads' "$name.out")" "$((${threads% *} + ${settings% *})) threads" \
				"$mpi, ${settings#* }: ${settings% *} threads more"
		done
	fi
	for program in exceptions json_host; do
		[ -x "$programs/$program.$mpi" ] || continue
		run $program.$mpi.bare on $mpi 2 "$programs/$program.$mpi"
		spooled preloaded $program.$mpi on $mpi 2 "$programs/$program.$mpi"
		same_end $program.$mpi $program.$mpi.bare on $mpi 2 "$programs/$program.$mpi"
	done

	# A second profiler, after phasemux and before it. One before it calls PMPI itself, so that phasemux
	# does not see the calls that the profiler intercepts, except for the last one.
	profiler=$programs/profiler.$mpi.so
	run profiler.$mpi.bare LD_PRELOAD="$profiler" on $mpi 2 "$programs/phases.$mpi" -n 100
	for order in "$library:$profiler" "$profiler:$library"; do
		name=profiler.$mpi.$([ "${order%%:*}" = "$library" ] && echo after || echo before)
		spooled run $name LD_PRELOAD="$order" PHASEMUX_OUTPUT="$tmp/$name.result" \
			on $mpi 2 "$programs/phases.$mpi" -n 100
		unchanged $name profiler.$mpi.bare
		holds "$name: phasemux reports too" report schema $name.result/report.json
	done

	# MPI that is loaded late, and with RTLD_LOCAL.
	run late.$mpi.bare on $mpi 2 "$programs/late" "$programs/phases.$mpi.so" -n 100 -x 5
	spooled preloaded late.$mpi on $mpi 2 "$programs/late" "$programs/phases.$mpi.so" -n 100 -x 5
	unchanged late.$mpi late.$mpi.bare
	holds "late.$mpi: has its report" report schema late.$mpi.result/report.json
done

# Every run that reached MPI_Finalize has a report, whatever came after it.
for mpi in $mpis; do
	for hazard in exit quick_exit _exit exec after_finalize; do
		holds "$hazard.$mpi: what ended after MPI_Finalize has its report" \
			test -s "$tmp/$hazard.$mpi.result/report.json"
	done
done

# Models write what they say to a file of each rank.
for mpi in $mpis; do
	holds "close_stderr.$mpi: the report is on the stderr that the rank had" grep -q '^Results: ' "$tmp/close_stderr.$mpi.err"
done

# On two ranks, 10 calls were left without a return, and 400 returned. The time after the former is in no burst.
for mpi in $mpis; do
	holds "leave_calls.$mpi: the bursts after a call that never returned are counted" \
		report between "$tmp/leave_calls.$mpi.result/report.json" bursts 800 804
done

# Only runs that did not end by themselves, or never called MPI_Finalize, have left their sums.
for mpi in $mpis; do
	printf '%s\n' {abort,mpi_abort,no_finalize,signal}.$mpi no_finalize.$mpi.scripted
done >leave
is "$(find . -name 'rank-*' | sed 's|^\./||; s|\.spool/.*||' | sort -u)" "$(sort leave)" \
	"what ended by itself has left nothing"

done_testing
