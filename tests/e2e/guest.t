#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a program finds, waits for and leaves behind is the same with the agent, however the program came to its
# libraries. The cases are runtimes opened with RTLD_LOCAL, calls that no object defines, and constructors that
# wait for threads. Others are threads that are cancelled, tasks of each kind, and other C libraries.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# NAME COMMAND...: runs it alone, preloaded, and as a target of `phasemux run`
thrice() {
	local name=$1

	shift
	run "$name.bare" timeout 60 "$@"
	preloaded "$name.preloaded" timeout 60 "$@"
	unchanged "$name.preloaded" "$name.bare"
	told "$name.target" timeout 60 "$@"
	unchanged "$name.target" "$name.bare"
}

# ---- the real call ----

export OMP_NUM_THREADS=2
if [ -e "$programs/openmp_plugin.so" ]; then
	thrice local "$programs/opens" "$programs/openmp_plugin.so"
	is "$(cat local.bare.out)" "openmp_plugin.so: 24200000" "what the program itself expects"
	cat >opens.py <<-'PYTHON'
		import ctypes, sys
		library = ctypes.CDLL(sys.argv[1])
		library.fill()
		library.count()
		print(library.run())
	PYTHON
	thrice python "$python" opens.py "$programs/openmp_plugin.so"
else
	skip "OpenMP of a library that was opened" "no OpenMP"
fi
two=("$programs/own_runtime_user_3.so" "$programs/own_runtime_user_5.so")
thrice two "$programs/opens" "${two[@]}" "${two[@]}"
holds "two runtimes: each library has the one that it is linked with" \
	grep -q '^own_runtime_user_5.so: 1005$' two.preloaded.out
thrice one_after_the_other "$programs/opens" -c "${two[@]}" "${two[@]}" "${two[@]}"

for call in mpi fortran barrier lock region; do
	run $call.bare "$programs/unresolved" $call
	preloaded $call.preloaded "$programs/unresolved" $call
	unchanged $call.preloaded $call.bare
	holds "$call: the loader's own words" cmp $call.bare.err $call.preloaded.err
done
# Bound at the start, when the loader sees the preload's names. Without the agent the program would not start.
preloaded bound LD_BIND_NOW=1 "$programs/unresolved" region
is "$(cat bound.out)" "returned, and ran the body 1 times" \
	"a region without a runtime runs once, on the calling thread"
preloaded bound_barrier LD_BIND_NOW=1 "$programs/unresolved" barrier
is "$(cat bound_barrier.code)" 127 "any other call ends the process as the loader does"

# ---- whether there is an MPI or an OpenMP ----

# Without any of them, with an OpenMP that is loaded later, and with each MPI that is loaded later.
thrice asks "$programs/weak_names"
holds "asks: the loader's own words" cmp asks.bare.err asks.preloaded.err
for opened in libgomp.so.1 libmpi.so.40 libmpich.so.12; do
	run loads "$programs/weak_names" $opened
	grep -q "cannot open" loads.out && continue
	thrice asks.$opened "$programs/weak_names" $opened
	for mode in now lazy; do
		run asks.$opened.$mode.bare LD_BIND_NOW=${mode#lazy} "$programs/weak_names" $opened
		preloaded asks.$opened.$mode LD_BIND_NOW=${mode#lazy} "$programs/weak_names" $opened
		unchanged asks.$opened.$mode asks.$opened.$mode.bare
	done
done

# ---- the loader's lock ----

thrice constructor "$programs/opens" "$programs/constructor_waits.so"
is "$(cat constructor.bare.out)" "constructor_waits.so: 13" "each call was made"

# ---- cancellation ----

thrice cancelled "$programs/cancelled"
told cancelled.read PHASEMUX_BUDGET=none timeout 60 "$programs/cancelled"
unchanged cancelled.read cancelled.bare

# ---- tasks ----

if [ -x "$programs/task_kinds" ]; then
	thrice task_kinds "$programs/task_kinds"
	holds "task_kinds: there is a report" test -s task_kinds.target.result/report.txt
else
	skip "tasks of each kind" "no OpenMP"
fi

# ---- the rules of an intercepted call, over every row and form of the table ----

# Bytes of the stack that a call may need if it does not learn phases, and if it does.
stack=8192
stack_learning=16384
no_deeper() { awk -v most="$2" '/^stack/ { exit !($2 <= most) }' "$1"; }
if [ -z "$sanitizer" ]; then
	run rules.broken timeout 300 "$programs/rules" broken
	for rule in "enters the loader: dlsym" allocates "cancellation: read" "stack 3" \
		"floating-point environment: a flag"; do
		holds "the checker sees: $rule" grep -q "^$rule" rules.broken.out
	done
	scripted rules.read PHASEMUX_BUDGET=none timeout 300 "$programs/rules"
	preloaded rules.learning timeout 300 "$programs/rules"
	for how in read learning; do
		is "$(cat rules.$how.code)" 0 "rules.$how: every call was made"
		holds "rules.$how: there is a report" test -s rules.$how.result/report.txt
		for rule in "enters the loader" cancellation allocates "floating-point environment"; do
			holds "rules.$how: no call $rule" sh -c '! grep "^$1" "$2"' - "$rule" rules.$how.out
		done
	done
	holds "rules.read: no call needs more than $stack bytes of the stack" no_deeper rules.read.out $stack
	holds "rules.learning: no more than $stack_learning" no_deeper rules.learning.out $stack_learning
fi

# ---- floating-point exceptions that trap ----

# The program's threads, and those of the agent, start where an invalid operation ends the process.
for mpi in openmpi mpich; do
	for way in bare traps; do
		library_of=; [ $way = traps ] && library_of=:$library
		run traps.$mpi.$way PHASEMUX_OUTPUT="$tmp/traps.$mpi.result" PHASEMUX_SPOOL="$tmp/spool" \
			PHASEMUX_BUDGET=100% PHASEMUX_TOGGLE=20ms \
			on $mpi 2 env LD_PRELOAD="$programs/float_traps.so$library_of" "$programs/phases.$mpi" -n 60
	done
	if [ "$(cat traps.$mpi.bare.code)" = 0 ]; then
		is "$(cat traps.$mpi.traps.code)" 0 "$mpi, exceptions trap: the exit code"
		holds "$mpi, exceptions trap: there is a report" test -s traps.$mpi.result/report.txt
	else
		# which rank dies first, and so the launcher's exit code, differs from run to run
		skip "$mpi, exceptions trap: the exit code" "MPI_Init of this MPI itself makes such an exception"
		skip "$mpi, exceptions trap: there is a report" "MPI_Init of this MPI itself makes such an exception"
	fi
done
for program in "posix_threads 40" "forks together 2 5" "omp 20"; do
	name=${program%% *}
	[ -x "$programs/$name" ] || continue
	run traps.$name.bare LD_PRELOAD="$programs/float_traps.so" "$programs/"$program
	run traps.$name LD_PRELOAD="$programs/float_traps.so" \
		"$phasemux" run --output "$tmp/traps.$name.result" --spool "$tmp/spool" -- "$programs/"$program
	is "$(cat traps.$name.code)" "$(cat traps.$name.bare.code)" "$name, exceptions trap: the exit code"
	holds "$name, exceptions trap: there is a report" test -s traps.$name.result/report.txt
done

# ---- stderr that cannot be written ----

# Runs a program as a target whose stderr cannot be written. COMMAND gets the program and its arguments.
into() {
	local name=$1

	shift
	run "$name.bare" bash -c "$@"
	rm -f full both
	told "$name" bash -c "$@"
	unchanged "$name" "$name.bare"
	holds "$name: there is a report" test -s "$name.result/report.txt"
}

mkfifo unread
exec 7<>unread 8>unread
exec 7<&- # now the pipe has no reader
into nobody_reads 'exec "$0" "$@" 2>&8' "$programs/posix_threads" 20
exec 8>&-
# 128 KiB, which is the limit and is in use
into full 'head -c 131072 /dev/zero >full; ulimit -f 128; exec "$0" "$@" 2>>full' \
	"$programs/posix_threads" 20
is "$(stat -c %s full)" 131072 "full: the file is as long as it was"
# stdout is written after the report
into both 'head -c 131000 /dev/zero >both; ulimit -f 128; exec "$0" "$@" >>both 2>&1' \
	"$programs/posix_threads" 20
holds "both: what the program writes there has its room" grep -aq '20 iterations' both
if have mpirun.openmpi && [ -x "$programs/phases.openmpi" ]; then
	# shellcheck disable=SC2016
	unread=(on openmpi 2 bash -c
		'mkfifo unread.$$; exec 7<>unread.$$ 8>unread.$$; exec 7<&-; exec "$0" "$@" 2>&8'
		"$programs/phases.openmpi" -n 50)
	run mpi_nobody_reads.bare "${unread[@]}"
	scripted mpi_nobody_reads "${unread[@]}"
	is "$(cat mpi_nobody_reads.code)" "$(cat mpi_nobody_reads.bare.code)" "mpi_nobody_reads: the ranks end as ever"
	if [ "$(cat mpi_nobody_reads.bare.code)" = 0 ]; then
		holds "mpi_nobody_reads: there is a report" test -s mpi_nobody_reads.result/report.txt
	else
		skip "mpi_nobody_reads: there is a report" "this MPI itself writes there, which ends its ranks"
	fi
fi

# ---- another C library ----

if have musl-gcc; then
	printf '%s\n' '#include <pthread.h>' '#include <stdio.h>' \
		'static void *body(void *data) { return data; }' \
		'int main(void) { pthread_t thread; void *result = 0;' \
		'pthread_create(&thread, 0, body, &thread); pthread_join(thread, &result);' \
		'puts(result ? "joined" : "?"); return 3; }' >other.c
	holds "a program of musl is built" musl-gcc other.c -o other
	run other.bare ./other
	run other.preloaded LD_PRELOAD="$build/libphasemux.so" ./other
	unchanged other.preloaded other.bare
	holds "a program of musl: not a word" test ! -s other.preloaded.err
	run other.target "$phasemux" run --output "$tmp/other" -- ./other
	unchanged other.target other.bare
	holds "a program of musl, as a target: a line says why there is no report" \
		grep -q '^phasemux: off: the C library' other.target.err
else
	skip "a program of musl" "no musl-gcc"
fi

done_testing
