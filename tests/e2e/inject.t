#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every call that phasemux makes fails in turn: at the start, in the middle, and from some moment on. With MPI
# it fails on all ranks, and on one. Without MPI it fails in programs with threads, and in one that is cut into
# slices. The program's output and exit code are the same. Either there is a report, or a line says why not, and
# `phasemux recover` makes it from what was counted. INJECT=40 tests/e2e/inject.t tries more moments.
#
# One case is not tried here: a single rank that cannot open its adapter. To the others it is a rank that was
# started without phasemux, which the roll call finds (roll.t).
. "$(dirname "$0")/lib.sh"

injector=$programs/fail_calls.so
[ -e "$injector" ] || skip_all "the injector was not built (it needs glibc 2.35)"
moments=${INJECT:-1}
export limit=60

# injected NAME VAR=VALUE...: runs $host, an array, with MPI's mpirun, or as a target
injected() {
	local name=$1

	shift
	rm -rf "$tmp/$name.result"
	set -- PHASEMUX_PMU="$scripted" PHASEMUX_OUTPUT="$name.result" \
		PHASEMUX_REPORT=text,json,html,csv,bursts PHASEMUX_SPOOL="$tmp/spool" "$@"
	if [ "$mpi" ]; then
		run "$name" LD_PRELOAD="$build/libphasemux.so:$injector:$beside" "$@" \
			on "$mpi" 2 "${host[@]}"
	else
		run "$name" LD_PRELOAD="$injector:$beside" "$@" \
			timeout "$limit" "$phasemux" run -- "${host[@]}"
	fi
}

# How elfutils 0.188 ends a process if it has no memory for a table of abbreviations (docs/promises.md, limits).
elfutils_aborts='dynamicsizehash_concurrent.c:.*Assertion `htab->table. failed'

# tried CALL N ERRNO [RANK]: prints what is wrong, and leaves the report in reports/
tried() {
	local name=tried what="$1:$2:$3"

	injected $name FAIL="$what" ${4:+FAIL_RANK=$4}
	if grep -q "$elfutils_aborts" $name.err; then
		echo "$what" >>aborts_in_elfutils
	elif ! cmp -s $name.code bare.code || ! cmp -s $name.out bare.out; then
		echo "$what${4:+ on rank $4}: code $(cat $name.code)"
		tail -n 3 $name.out $name.err
	elif [ -s $name.result/report.json ]; then
		mv $name.result/report.json "reports/$what${4:+:$4}.json"
	elif ! grep -q '^phasemux: ' $name.err; then
		# a message is written too, to a stderr that the agent examines first
		[ "$1" = write ] || [ "$1" = fstat ] || echo "$what${4:+ on rank $4}: no report, and no line"
	elif [ "$(find spool -name 'rank-*')" ]; then
		"$phasemux" recover --json "$tmp/spool" >"reports/$what${4:+:$4}:left.json" 2>problem ||
			{ echo "$what, recover:"; cat problem; }
	elif ! grep -qE '^phasemux: (off|.* there will be no report)' $name.err; then
		echo "$what${4:+ on rank $4}: neither a report nor what would make it"
	fi
	rm -rf spool
	mkdir spool
}

# Prints the errno of a call that fails.
error_of() {
	case $1 in
	malloc | calloc | realloc | strdup | mmap | vasprintf | newlocale | open_memstream) echo 12 ;; # ENOMEM
	open | openat | fopen | opendir | eventfd | fcntl | syscall) echo 24 ;;  # EMFILE
	write | posix_fallocate | mkdir | mkdirat | fclose | fflush) echo 28 ;;  # ENOSPC
	pthread_create) echo 11 ;;                                              # EAGAIN
	*) echo 5 ;;                                                            # EIO
	esac
}

# NAME COMMAND...: makes a case of each call that phasemux makes in this host
all_calls() {
	local name=$1 call count error at i problems moments=$moments

	# with a sanitizer, a run of MPI takes long: a call fails from the start on, or not at all
	[ -z "$sanitizer" ] || [ -z "$mpi" ] || moments=0
	shift
	host=("$@")
	if [ "$mpi" ]; then
		run bare on "$mpi" 2 "$@"
	else
		run bare "$@"
	fi
	rm -rf counts reports
	mkdir reports
	injected count FAIL=count FAIL_COUNTS="$tmp/counts"
	unchanged count bare
	for call in ${CALLS:-$(cut -d' ' -f1 counts | sort -u)}; do
		count=$(awk -v call="$call" '$1 == call && $2 > most { most = $2 } END { print most }' counts)
		error=$(error_of "$call")
		problems=$(
			tried $call 1+ $error
			for ((i = 1; i <= moments; i++)); do
				at=$((1 + i * count / (moments + 1)))
				[ $at = 1 ] || tried $call $at+ $error
				case $mpi:$call in
				*:dladdr | *:dlopen) ;; # a single rank has no adapter then
				?*:*) tried $call $at $error $((i % 2)) ;;
				esac
			done
		)
		is "$problems" "" "$name: $call fails"
	done
	holds "$name: the reports are as their schema says" report schema reports/*
}

mpi=$(mpis_of phases | head -n 1)
if [ "$mpi" ]; then
	all_calls "$mpi" "$programs/phases.$mpi" -n 20 -x 3
else
	skip "with MPI" "none is installed"
fi
mpi=
all_calls threads "$programs/posix_threads" 20
all_calls slices "$programs/serial" 1
if [ -n "$sanitizer" ]; then
	skip "OpenMP" "with a sanitizer it takes long, and its calls are those of threads"
elif [ -x "$programs/omp" ]; then
	OMP_NUM_THREADS=2 all_calls OpenMP "$programs/omp" 20
fi
[ ! -e aborts_in_elfutils ] || diag "ended by elfutils' own assertion: $(tr '\n' ' ' <aborts_in_elfutils)"
done_testing
