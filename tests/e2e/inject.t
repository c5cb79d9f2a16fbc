#!/bin/bash
# Every call that phasemux makes fails in turn, at the start, in the middle, and from some moment on;
# on all ranks, and on one. The program's output and exit code are the same, and either there is a
# report, or a line says why not. INJECT=40 tests/e2e/inject.t tries more moments.
#
# Not tried: a rank alone that cannot open the core or its adapter. The others then wait for it in
# their first collective, as they would for a rank that never calls MPI_Init.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
injector=$programs/fail_calls.so
[ -e "$injector" ] || skip_all "the injector was not built (it needs glibc 2.35)"
program() { on "$mpi" 2 "$programs/phases.$mpi" -n 60 -x 3; }
export limit=60

# injected NAME VAR=VALUE...
injected() {
	local name=$1

	shift
	rm -rf "$tmp/$name.result"
	run "$name" LD_PRELOAD="$library:$injector:$scripted" PHASEMUX_PMU="$scripted" \
		PHASEMUX_OUTPUT="$name.result" PHASEMUX_REPORT=text,json,csv,bursts \
		PHASEMUX_SPOOL="$tmp/spool" "$@" program
}

# tried CALL N ERRNO [RANK]: says what is wrong.
tried() {
	local name=tried what="$1:$2:$3"

	injected $name FAIL="$what" ${4:+FAIL_RANK=$4}
	if [ "$(cat $name.code)" != 3 ] || ! cmp -s $name.out bare.out; then
		echo "$what${4:+ on rank $4}: code $(cat $name.code)"
		tail -n 3 $name.out $name.err
	elif [ -s $name.result/report.json ]; then
		report schema $name.result/report.json >problem || { echo "$what:"; cat problem; }
	elif ! grep -q '^phasemux: ' $name.err; then
		# a message is a write too, to a stderr that is looked at first
		[ "$1" = write ] || [ "$1" = fstat ] || echo "$what${4:+ on rank $4}: no report, and no line"
	fi
}

run bare program
injected count FAIL=count FAIL_COUNTS="$tmp/counts"
unchanged count bare
moments=${INJECT:-1}
for call in ${CALLS:-$(cut -d' ' -f1 counts | sort -u)}; do
	count=$(awk -v call="$call" '$1 == call && $2 > most { most = $2 } END { print most }' counts)
	case $call in
	malloc | calloc | realloc | strdup | mmap | vasprintf | newlocale | open_memstream) error=12 ;;   # ENOMEM
	open | openat | fopen | opendir | eventfd | fcntl | syscall) error=24 ;;     # EMFILE
	write | posix_fallocate | mkdir | mkdirat | fclose | fflush) error=28 ;;     # ENOSPC
	*) error=5 ;;                                    # EIO
	esac
	problems=$(
		tried $call 1+ $error
		for ((i = 1; i <= moments; i++)); do
			at=$((1 + i * count / (moments + 1)))
			[ $at = 1 ] || tried $call $at+ $error
			case $call in
			dladdr | dlopen) ;; # a rank alone has no core then
			*) tried $call $at $error $((i % 2)) ;;
			esac
		done
	)
	is "$problems" "" "$call fails"
done
done_testing
