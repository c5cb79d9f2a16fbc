#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with threads, with and without MPI: phases, their places, their threads. Also which processes under
# `phasemux run` are targets.
# Real time: how long threads are idle.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# Prints the line of a source with this text.
line() { grep -nF -- "$2" "$root/tests/programs/$1" | head -n 1 | cut -d : -f 1; }

# NAME THREADS COMMAND...: checks what holds for each of them
whole() {
	local name=$1 threads=$2 json=$tmp/$1.result/report.json

	shift 2
	run "$name.bare" OMP_NUM_THREADS=2 "$@"
	told "$name" OMP_NUM_THREADS=2 "$@"
	unchanged "$name" "$name.bare"
	holds "$name: the report is as its schema says" report schema "$json"
	holds "$name: phases, unclassified and short bursts are all computing time" \
		report accounting "$json"
	holds "$name: its threads" report value "$json" threads "$threads"
}

# The places of the OpenMP program are in GCC's outlined functions.
if [ -x "$programs/omp" ]; then
	whole omp.gcc 2 "$programs/omp" 150
	json=$tmp/omp.gcc.result/report.json
	holds "omp.gcc: the four phases that the program has" \
		report instructions "$json" 24000000 1500000 300000 6000
	holds "omp.gcc: the first region is a phase" report source "$json" 1500000 \
		main._omp_fn.0 "omp.c:$(line omp.c 'work("triad"')" \
		main._omp_fn.0 "omp.c:$(line omp.c 'work("triad"')"
	holds "omp.gcc: the second region's first half is one" report source "$json" 300000 \
		main._omp_fn.1 "omp.c:$(line omp.c '/* second region */')" \
		main._omp_fn.1 "omp.c:$(line omp.c 'pragma omp barrier')"
	holds "omp.gcc: the serial part is one" report source "$json" 24000000 \
		main "omp.c:$(line omp.c '/* second region */')" \
		main "omp.c:$(line omp.c '/* first region */')"
	whole omp.long.gcc 2 "$programs/omp" 8 long
	holds "omp.long.gcc: two kinds of work, cut into slices" report instructions \
		"$tmp/omp.long.gcc.result/report.json" 18300000 100000000
	holds "omp.long.gcc: the first is that of its region" report source \
		"$tmp/omp.long.gcc.result/report.json" 18300000 \
		main._omp_fn.0 "omp.c:$(line omp.c 'work("triad"')" \
		main._omp_fn.0 "omp.c:$(line omp.c 'work("triad"')"
	whole omp_tasks 2 "$programs/omp_tasks" 150
	holds "omp_tasks: the two kinds of tasks" report instructions \
		"$tmp/omp_tasks.result/report.json" 1500000 300000
else
	skip "OpenMP of GCC" "not built"
fi

if have clang && clang -fopenmp -g -O2 -I"$root/tests/programs" "$root/tests/programs/omp.c" \
	"$root/tests/programs/work.c" -ldl -o "$tmp/omp.clang" 2>"$tmp/clang.err"; then
	whole omp.clang 2 "$tmp/omp.clang" 150
	json=$tmp/omp.clang.result/report.json
	holds "omp.clang: the four phases that the program has" \
		report instructions "$json" 24000000 1500000 300000 6000
	holds "omp.clang: the first region is a phase" report source "$json" 1500000 \
		main "omp.c:$(line omp.c '/* first region */')" \
		main "omp.c:$(line omp.c '/* first region */')"
	# clang has a copy of the loop's first iteration, one of eight here, with places of its own
	whole omp.long.clang 2 PHASEMUX_CLUSTER_BY=instructions,ipc "$tmp/omp.clang" 8 long
	holds "omp.long.clang: two kinds of work, cut into slices" report instructions \
		"$tmp/omp.long.clang.result/report.json" 18300000 100000000
else
	skip "OpenMP of Clang" "no clang, or no OpenMP for it"
fi

whole posix_threads 5 "$programs/posix_threads" 150
json=$tmp/posix_threads.result/report.json
holds "posix_threads: the three phases that the program has" \
	report instructions "$json" 24000000 1500000 300000
holds "posix_threads: one between barriers" report source "$json" 300000 \
	worker "posix_threads.c:$(line posix_threads.c '/* after triad */')" \
	worker "posix_threads.c:$(line posix_threads.c '/* after fdiv */')"
holds "posix_threads: one between condition waits" report source "$json" 24000000 \
	consumer "posix_threads.c:$(line posix_threads.c '/* for an item */')" \
	consumer "posix_threads.c:$(line posix_threads.c '/* for an item */')"

# Threads that end at the same time wait for each other in a library that the agent uses.
ended= runs=20
[ -z "$sanitizer" ] || runs=5
for ((i = 0; i < runs; i++)); do
	limit=30 told together "$programs/end_together"
	[ "$(cat together.code together.out)" = $'0\nended' ] || ended+="run $i: $(cat together.code) "
done
is "$ended" "" "threads that end at the same time: the program ends, each time"
holds "threads that end at the same time: the report is as its schema says" \
	report schema "$tmp/together.result/report.json"

# Threads live for a short time, and later ones take their places.
# NAME LEFT_OUT THREADS WAVES...: checks that the program behaves as without the agent, and that all threads
# except LEFT_OUT are observed.
short() {
	local name=$1 left=$2 threads=$3

	shift 3
	run "$name.bare" "$programs/short_threads" "$@"
	told "$name" PHASEMUX_THREADS=$threads "$programs/short_threads" "$@"
	unchanged "$name" "$name.bare"
	holds "$name: the report is as its schema says" report schema "$tmp/$name.result/report.json"
	holds "$name: phases, unclassified and short bursts are all computing time" \
		report accounting "$tmp/$name.result/report.json"
	holds "$name: its threads" report value "$tmp/$name.result/report.json" \
		threads $(($1 * $2 + 1 - left))
	holds "$name: those that are not observed" report value "$tmp/$name.result/report.json" \
		not_observed/threads $left
}

# NAME: prints the greatest memory of the program, in KiB.
memory_of() { sed -n 's/^KiB: \([0-9]*\),.*/\1/p' "$tmp/$1.err"; }

short crowd 0 1024 2 200 1000000 meet
short in_turn 0 1024 40 1 2000000
json=$tmp/in_turn.result/report.json
# the main thread waits while another one computes
holds "in_turn: there are two at a time" report between "$json" threads_mean 1.2 2.1
holds "in_turn: a thread that ended is not idle" report between "$json" efficiency/parallel 0.3 0.9
# of 20 at a time nine and the main thread are observed
short beyond 22 10 2 20 2000000 meet
holds "beyond: what is not known of them is how long they computed" \
	report between "$tmp/beyond.result/report.json" not_observed/threads_processor_seconds 0.01 60
holds "beyond: the text says so" \
	grep -q '^Not observed: 22 threads, which had a processor for' "$tmp/beyond.result/report.txt"
many=100000
[ -z "$sanitizer" ] || many=5000
short few 0 1024 1000 1 1000
short many 0 1024 $many 1 1000
if [ -n "$sanitizer" ]; then
	skip "many: memory" "a sanitizer keeps what threads had"
else
	[ $(($(memory_of many) - $(memory_of few))) -lt 4096 ]
	ok $? "many: $many threads take no more memory than 1,000 do" ||
		diag "$(memory_of many) KiB, $(memory_of few) KiB"
fi

# Another tool, behind phasemux, is called as without it.
run between.bare "$programs/posix_threads" 20
told between LD_PRELOAD="$programs/between.so:$beside" "$programs/posix_threads" 20
unchanged between between.bare
holds "another tool between phasemux and the C library sees the program's waits" \
	grep -q 'between: was called' between.err

mpis=$(mpis_of hybrid)
for mpi in $mpis; do
	name=hybrid.$mpi
	run "$name.bare" OMP_NUM_THREADS=2 on $mpi 2 "$programs/hybrid.$mpi" 150
	scripted "$name" OMP_NUM_THREADS=2 on $mpi 2 "$programs/hybrid.$mpi" 150
	unchanged "$name" "$name.bare"
	json=$tmp/$name.result/report.json
	holds "$name: the report is as its schema says" report schema "$json"
	holds "$name: its ranks" report value "$json" ranks 2
	holds "$name: their threads" report value "$json" threads 4
	holds "$name: the phases that the program has" report instructions "$json" 1500000 300000
	holds "$name: its efficiency is that of MPI times that of threads" report levels "$json"

	# no thread of the rank that reports does the second kind of work
	scripted "long.$name" OMP_NUM_THREADS=2 on $mpi 2 "$programs/hybrid.$mpi" 10 long
	json=$tmp/long.$name.result/report.json
	holds "long.$name: the report is as its schema says" report schema "$json"
	holds "long.$name: its threads" report value "$json" threads 4
	holds "long.$name: two kinds of work, cut into slices" \
		report instructions "$json" 18300000 100000000
	holds "long.$name: each was sampled where it is done" report hot "$json" 18300000 scripted_in_triad 0.9
	holds "long.$name: also that of another rank" report hot "$json" 100000000 scripted_in_fma 0.9
	holds "long.$name: and how it evolves is known" report fold "$json" 100000000 ex_ret_instr
done

# Targets are the command that was to run, the program that a launcher like timeout starts, and programs with
# OpenMP that a command starts. No other process is a target.
left() { find "$tmp/$1.result" -name 'report*.json' 2>/dev/null | wc -l; }

told launched timeout 60 env A=b bash -c "'$programs/posix_threads' 20"
is "$(left launched)" 1 "a program behind a launcher that waits for it is a target"
told became env A=b nice "$programs/posix_threads" 20
is "$(left became)" 1 "one that a launcher becomes is"
if [ -x "$programs/omp" ]; then
	told script OMP_NUM_THREADS=2 bash -c "ls / >/dev/null; '$programs/omp' 20; '$programs/omp' 20; :"
	is "$(left script)" 2 "in a script: the two that use OpenMP"
fi
told list bash -c 'ls /; true'
is "$(left list)" 0 "a script and an ordinary program leave nothing"
run unset LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/unset.result" "$programs/posix_threads" 20
is "$(left unset)" 0 "without the command, a program without MPI is no target"
told rank PMI_RANK=0 "$programs/posix_threads" 20
is "$(left rank)" 0 "nor is a process that was started as a rank, before MPI_Init"
told serial /usr/bin/env sort /etc/passwd
is "$(cat "$tmp/serial.code")" 0 "a program without any call runs to its end"

done_testing
