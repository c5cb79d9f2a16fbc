# SPDX-License-Identifier: BSD-3-Clause
# Code that the end-to-end tests share: TAP, and running a program with and without the preload. Each
# tests/e2e/*.t sources it. Tests run from anywhere, in a folder of their own ($tmp). PHASEMUX_BUILD: the folder
# of the build, if it is not build/. PHASEMUX_SANITIZER=asan or tsan: the build is build-asan/ or build-tsan/,
# and the host programs are those of build/. A finding of the sanitizer is a case that fails.
#
#	ok STATUS NAME            passed when STATUS is 0
#	is GOT WANT NAME          passed when they are equal
#	holds NAME COMMAND...     passed when COMMAND ends with 0; otherwise its output is shown
#	skip NAME REASON          a case that cannot run here
#	done_testing              the last line
#
#	run NAME [VAR=VALUE]... COMMAND...
#	                          leaves $tmp/NAME.out, NAME.err and NAME.code; COMMAND may be a function
#	preloaded NAME [VAR=VALUE]... COMMAND...
#	                          like run, under the preload, with the results in $tmp/NAME.result/
#	scripted NAME [VAR=VALUE]... COMMAND...
#	                          like preloaded, with the scripted PMU in the kernel's place
#	told NAME [VAR=VALUE]... COMMAND...
#	                          like scripted, but as a target by `phasemux run`, with its sums in
#	                          $tmp/NAME.spool/
#	refuses WHAT WORDS ARGUMENT...
#	                          checks that phasemux ends with 2, and that its message has WORDS
#	unchanged NAME OTHER      checks that the output and the exit code of two runs are the same
#	on MPI RANKS COMMAND...   runs it under an MPI's mpirun (openmpi, mpich)
#	eventually COMMAND...     waits up to 30 s until COMMAND ends with 0
#	emulated NAME [VAR=VALUE]... RANKS PROGRAM [ARGUMENT]...
#	                          like preloaded, under Open MPI and an emulator whose true counts the
#	                          scripted PMU shows, and NAME.counts.PID holds
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${PHASEMUX_BUILD:-$root/build}
programs=$root/build/tests/programs
sanitizer=${PHASEMUX_SANITIZER:-}
# Library that must be preloaded right after phasemux; "": there is none.
runtime=
if [ -n "$sanitizer" ]; then
	build=$root/build-$sanitizer
	runtime=:$(gcc -print-file-name=lib$sanitizer.so)
elif [ -d "$build/tests/programs" ]; then
	programs=$build/tests/programs
fi
library=$build/libphasemux.so$runtime
runtime=${runtime#:}
phasemux=$build/phasemux
scripted=$build/tests/libscripted-pmu.so
beside=${runtime:+$runtime:}$scripted # for `phasemux run`, which puts phasemux first
python=/usr/bin/python3

# The settings of the caller do not reach the tests.
for variable in ${!PHASEMUX_*}; do
	unset "$variable"
done
unset LD_PRELOAD variable
export OMP_NUM_THREADS=1 LC_ALL=C
# Open MPI's mpirun would wait for two seconds whenever a program ends with another exit code than 0.
export OMPI_MCA_odls_base_sigkill_timeout=0
# The limit of most systems. Descriptors of the agent are above it, if the hard limit allows.
[ "$(ulimit -S -n)" = unlimited ] || [ "$(ulimit -S -n)" -gt 1024 ] && ulimit -S -n 1024

tmp=$(mktemp -d "${TMPDIR:-/tmp}/phasemux-test.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
if [ -n "$sanitizer" ]; then
	# Findings are cases of done_testing, not exit codes. The leaks are MPI's, and so is what the host
	# programs do with memory, because they were built without a sanitizer. A fork belongs to the program.
	findings=log_path=$tmp/finding:exitcode=0
	# Open MPI 4.1's mpirun reads a message that its other thread has freed (pmix_server_log_fn).
	echo interceptor_via_lib:libopen-rte.so >"$tmp/.theirs"
	export ASAN_OPTIONS=$findings:verify_asan_link_order=0:detect_leaks=0:intercept_tls_get_addr=0
	ASAN_OPTIONS+=:suppressions=$tmp/.theirs
	export UBSAN_OPTIONS=$findings:print_stacktrace=1
	# The sanitizer sees that the program takes a lock, because phasemux intercepts that, but not that it
	# releases it. A process that ends by _exit() joins no thread.
	export TSAN_OPTIONS=$findings:ignore_noninstrumented_modules=1:report_mutex_bugs=0
	# a process with threads waits at its exit, by default for a second, for what they still do
	TSAN_OPTIONS+=:die_after_fork=0:report_thread_leaks=0:atexit_sleep_ms=20
	# MPI's own hooks for memory run before the sanitizer knows a thread.
	export UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none OMPI_MCA_memory=^patcher
fi
mkdir "$tmp/spool" # for runs without a spool of their own, which leave their sums there if they are killed
cd "$tmp" || exit 1

tap_count=0
tap_failed=0
last_run= # name of the last program that `run` started

ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		echo "# ${0##*/}: not ok $tap_count - $2" >&2
		last_run_said
		tap_failed=$((tap_failed + 1))
	fi
	return "$1"
}

# last_run_said: prints on stderr how the last program that `run` started ended, and the end of its stderr
last_run_said() {
	[ -n "$last_run" ] || return
	diag "the last run ($last_run) ended with $(cat "$tmp/$last_run.code"); its stderr ends with:"
	diag "$(tail -n 5 "$tmp/$last_run.err")"
}

# Prints on stderr, which prove shows.
diag() { sed 's/^/# /' <<<"$*" | head -n 40 >&2; }

is() {
	[ "$1" = "$2" ]
	ok $? "$3" || diag "got:  $1"$'\n'"want: $2"
}

holds() {
	local name=$1 output status

	shift
	output=$("$@" 2>&1)
	status=$?
	ok $((status != 0)) "$name" || diag "$output"
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

done_testing() {
	if [ -n "$sanitizer" ]; then
		cat "$tmp"/finding.* >"$tmp/findings" 2>/dev/null
		[ ! -s "$tmp/findings" ]
		ok $? "the sanitizer ($sanitizer) finds nothing" || sed 's/^/# /' "$tmp/findings" >&2
	fi
	echo "1..$tap_count"
	exit $((tap_failed > 0))
}

# Skips what follows; after cases that ran, these count.
skip_all() {
	if [ "$tap_count" -gt 0 ]; then
		skip "the rest" "$1"
		done_testing
	fi
	echo "1..0 # SKIP $1"
	exit 0
}

run() {
	local name=$1

	shift
	# the outer stderr is that of the shell, for its messages about killed processes
	{
		(
			while [[ $1 == [A-Za-z_]*=* ]]; do
				export "${1?}"
				shift
			done
			"$@"
		) >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null
	} 2>/dev/null
	echo $? >"$tmp/$name.code"
	last_run=$name
}

preloaded() {
	local name=$1

	shift
	run "$name" LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/$name.result" \
		PHASEMUX_SPOOL="$tmp/spool" "$@"
}

refuses() {
	local what=$1 words=$2

	shift 2
	run refuses "$phasemux" "$@"
	is "$(cat "$tmp/refuses.code")" 2 "$what: exit code 2"
	holds "$what: the message says what is wrong, or what is allowed" grep -q -e "$words" "$tmp/refuses.err"
}

unchanged() {
	is "$(cat "$tmp/$1.code")" "$(cat "$tmp/$2.code")" "$1: the exit code of $2"
	holds "$1: byte for byte the output of $2" cmp "$tmp/$1.out" "$tmp/$2.out"
}

on() {
	local mpi=$1 ranks=$2 flags=()

	shift 2
	if [ "$mpi" = openmpi ]; then
		flags=(--oversubscribe)
		[ "$(id -u)" -eq 0 ] && flags+=(--allow-run-as-root)
	fi
	timeout -k 10 "${limit:-300}" "mpirun.$mpi" "${flags[@]}" -n "$ranks" "$@"
}

have() { command -v "$1" >/dev/null; }

# Prints the MPIs for which NAME was built. With a sanitizer it is one alone, because the agent is the same with all MPIs,
# except for its adapter: MPICH with the address sanitizer, Open MPI with the thread sanitizer.
mpis_of() {
	local mpi mpis=(openmpi mpich)

	[ "$sanitizer" != asan ] || mpis=(mpich openmpi)
	for mpi in "${mpis[@]}"; do
		[ -x "$programs/$1.$mpi" ] && have "mpirun.$mpi" && echo $mpi && [ -n "$sanitizer" ] && break
	done
}

scripted() {
	local name=$1

	shift
	run "$name" LD_PRELOAD="$library:$scripted" PHASEMUX_PMU="$scripted" \
		PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/spool" "$@"
}

told() {
	local name=$1 settings=()

	shift
	while [[ $1 == [A-Za-z_]*=* ]]; do
		settings+=("$1")
		shift
	done
	mkdir -p "$tmp/$name.spool"
	run "$name" LD_PRELOAD="$beside" PHASEMUX_PMU="$scripted" PHASEMUX_SPOOL="$tmp/$name.spool" \
		PHASEMUX_OUTPUT="$tmp/$name.result" "${settings[@]}" \
		timeout -k 10 "${limit:-300}" "$phasemux" run -- "$@"
}

emulated() {
	local name=$1 settings=() ranks

	shift
	while [[ $1 == [A-Za-z_]*=* ]]; do
		settings+=("$1")
		shift
	done
	ranks=$1
	shift
	preloaded "$name" EMULATED="$tmp/$name.counts" PHASEMUX_BUILD="$build" "${settings[@]}" \
		on openmpi "$ranks" "$root/tests/pmu/emulate" "$@"
}

# Tells whether there is a QEMU that takes plugins at all. One that is linked statically does not.
takes_plugins() { have qemu-x86_64 && qemu-x86_64 -help | grep -q '^-plugin '; }

can_emulate() {
	[ "$(uname -m)" = x86_64 ] && have qemu-x86_64 && have mpirun.openmpi &&
		qemu-x86_64 -plugin "$build/tests/libemulated-counts.so,prefix=$tmp/can_emulate" \
			/bin/true 2>/dev/null
}

# Tells whether hardware events can be counted here at all.
counts_hardware() {
	[ -e "$phasemux" ] && "$phasemux" doctor 2>/dev/null | grep -qE '^counters +[0-9]+ counters count'
}

eventually() {
	local i

	for ((i = 0; i < 300; i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

report() { "$python" "$root/tests/e2e/report.py" "$@"; }

# same_from_trace NAME RANKS: the trace of a run lists the calls of each rank that its report lists (NAME.list.RANK)
same_from_trace() {
	local rank

	for ((rank = 0; rank < $2; rank++)); do
		"$phasemux" trace --rank "$rank" --expand "$1.result/trace.json" | cmp - "$1.list.$rank" || return
	done
}
