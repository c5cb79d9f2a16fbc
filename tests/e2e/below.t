#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program with neither MPI nor OpenMP that a shell or another launcher starts below `phasemux run`: it is observed once
# it computes, and behaves as without phasemux whatever it does before, at and after that moment.
. "$(dirname "$0")/lib.sh"

[ -e "$programs/below" ] || skip_all "no program was built"
cp "$programs/below" program
said="^phasemux: no report: nothing that this command started was observed"
export PHASEMUX_REPORT=json

# observed NAME COMMAND...: runs it under phasemux run
observed() {
	mkdir -p "$1.spool"
	run "$1" ${runtime:+LD_PRELOAD="$runtime"} PHASEMUX_OUTPUT="$tmp/$1.result" PHASEMUX_SPOOL="$tmp/$1.spool" \
		timeout -k 10 120 "$phasemux" run -- "${@:2}"
}

# under NAME COMMAND...: runs it alone and under phasemux run
under() {
	run "$1.alone" "${@:2}"
	observed "$@"
}

# Prints the commands of the reports of NAME, in their order.
reported() {
	"$python" -c 'import json, sys
for name in sys.argv[1:]:
    print(*json.load(open(name))["command"], end=";")' $(find "$1.result" -name 'report*.json' 2>/dev/null | sort -r)
}

# left NAME: the files in its spool
left() { find "$1.spool" -type f | wc -l; }

# observes NAME COMMANDS COMMAND...: one report for each of the COMMANDS, and nothing is left
observes() {
	under "$1" "${@:3}"
	unchanged "$1" "$1.alone"
	is "$(reported "$1") $(left "$1") $(grep -c "$said" "$1.err")" "$2 0 0" "$1: the reports, and nothing is left"
}

# ---- launchers ----

printf '#!/bin/sh\n./program ends 200\nexit $?\n' >script
printf 'run:\n\t@./program ends 200 && true || exit 3\n' >makefile
chmod +x script
observes bash "./program ends 200;" bash -c './program ends 200; exit $?'
if [ "$sanitizer" != tsan ]; then # where each takes seconds
	observes dash "./program ends 200;" dash -c './program ends 200; exit $?'
	observes script "./program ends 200;" sh -c './script; exit $?'
	observes two "./program ends 200;./program ends_quickly 200;" bash -c './program ends 200; ./program ends_quickly 200; exit $?'
	observes beside "./program ends 200;" bash -c './program ends; ./program ends 200; ./program ends; ls program; exit 3'
	observes below_timeout "./program ends 200;" bash -c 'timeout 50 ./program ends 200; exit $?'
	observes becomes "./program ends 200;" bash -c 'env A=1 nice -n 1 ./program ends 200; exit $?'
	have make && observes make "./program ends 200;" make -f makefile run
	have xargs && observes xargs "./program ends 200;" sh -c 'echo 200 | xargs ./program ends; exit $?'
	[ -z "$sanitizer" ] && have faketime && observes faketime "./program ends 200;" faketime 1d ./program ends 200
	have perf && perf stat true 2>/dev/null && observes perf "./program ends 200;" perf stat -o stat ./program ends 200
	observes interpreter "$python -c sum(i for i in range(10 ** 7));" \
		sh -c "'$python' -c 'sum(i for i in range(10 ** 7))'; exit \$?"
	printf 'import os\nsum(i for i in range(10 ** 7))\nos.execv("./program", ["./program", "ends", "200"])\n' >computes.py
	observes predecessor "./program ends 200;" sh -c "'$python' computes.py; exit \$?"
fi

# In a batch script of Slurm, all processes have the variables of its only task. Ranks of a step may open MPI later.
SLURM_JOB_ID=7 SLURM_PROCID=0 observes batch_script "./program ends 200;" bash -c './program ends 200; exit $?'
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_STEP_ID=4294967290 observes interactive_step "./program ends 200;" \
	bash -c './program ends 200; exit $?'

# ---- programs that start others ----

# below_program NAME COMMAND...: a program that the command's program starts is observed, and no other file is left
below_program() {
	under "$1" "${@:2}"
	unchanged "$1" "$1.alone"
	is "$(reported "$1" | grep -c "\./program ends 200;") $(left "$1")" "1 0" "$1: the report, and nothing is left"
}

starts='import os; os.spawnl(os.P_WAIT, "./program", "./program", "ends", "200")'
below_program driver "$python" -S -c "$starts"
below_program driver_below_shell bash -c "'$python' -S -c '$starts'; exit 3"
have perl && below_program perl perl -e 'exit(system("./program ends 200; exit \$?") >> 8)'

# An interpreter that starts itself with a script is observed.
printf 'sum(i for i in range(10 ** 7))\n' >computes_only.py
under script_of_script "$python" -S -c "import os, sys; os.spawnl(os.P_WAIT, sys.executable, 'python', 'computes_only.py')"
is "$(reported script_of_script | grep -c "python computes_only.py;")" 1 "a script that a script starts: its report"

# ---- what is not observed ----

# nothing NAME COMMAND...: no report, nothing is left, and the line says so
nothing() {
	under "$1" "${@:2}"
	unchanged "$1" "$1.alone"
	is "$(reported "$1") $(left "$1") $(grep -c ^phasemux: "$1.err") $(grep -c "$said" "$1.err")" " 0 1 1" \
		"$1: no report, and nothing is left"
}

nothing short bash -c "for i in \$(seq $([ -n "$sanitizer" ] && echo 10 || echo 200)); do ./program ends; done; exit \$?"
nothing system bash -c 'seq 1500000 | sort -R >/dev/null; exit 3'
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_STEP_ID=0 nothing rank bash -c './program ends 200; exit $?'
[ -n "$sanitizer" ] || # which takes so long to start Python that it counts as computing
	nothing python_worker sh -c "'$python' -S -c 'import os, sys; os.spawnl(os.P_WAIT, sys.executable, \"python\", \"-c\", \"sum(i for i in range(10 ** 7))\")'; exit 3"
nothing worker bash -c './program starts_itself; exit $?'
if [ -z "$sanitizer" ]; then # which brings another allocator
	cp "$programs/below_allocator" allocator
	nothing own_allocator bash -c './allocator ends 200; exit $?'
fi
PHASEMUX_DISABLE=1 under disabled bash -c './program ends 200; exit $?'
is "$(reported disabled) $(left disabled)" " 0" "disabled: no report, and nothing is left"
if [ -z "$sanitizer" ]; then # which needs more memory
	under no_threads bash -c 'ulimit -v 30000; ./program ends 200; exit $?'
	unchanged no_threads no_threads.alone
fi

# ---- what programs do before, at and after the moment ----

# The agent is opened after some 50 ms, within some 10 ms.
DELAYS=${DELAYS:-${sanitizer:+56}}
for thing in ends ends_at_once ends_quickly ends_by_signal becomes_another forks forks_often forks_and_ends forks_a_moment \
	first_thread_ends only_thread_ends first_thread_is_cancelled changes_user changes_environment; do
	if [ "$sanitizer" = tsan ] && [[ $thing = *_thread_* || $thing = forks* ]]; then
		skip "$thing" "the sanitizer has a thread of its own, with which the process goes on, or has forked with threads"
		continue
	fi
	differ=
	run "$thing.alone" bash -c "./program $thing 200; exit \$?"
	for ms in 1 ${DELAYS:-50 52 54 56 58 60 64} 200; do
		name=$thing.$ms
		observed "$name" bash -c "./program $thing $ms; exit \$?"
		cmp -s "$name.out" "$thing.alone.out" && cmp -s "$name.code" "$thing.alone.code" || differ+=" $ms"
		case $thing in ends|ends_quickly|forks*|*_thread_ends|changes*) [ "$(left "$name")" = 0 ] || differ+=" $ms left" ;; esac
		[ "$(find "$name.result" -name 'report*.json' 2>/dev/null | wc -l)" -le 1 ] || differ+=" $ms reports"
	done
	is "$differ" "" "$thing: as without phasemux, at most one report"
	case $thing in ends|ends_quickly|forks|*_thread_ends|changes*)
		is "$(reported "$thing.200")" "./program $thing 200;" "$thing: the report" ;;
	esac
done

# An agent that starts slowly, in the constructor of a library that holds a lock of its own. A fork waits for it, because its
# child would wait for ever for that lock when it ends.
if [ -z "$sanitizer" ] && [ -e "$programs/slow_barriers.so" ]; then
	LD_PRELOAD="$programs/slow_barriers.so" observes slow_start "./program forks 150;" bash -c './program forks 150; exit $?'
	is "$(grep -c '^slow_barriers: ' slow_start.err)" 1 "slow_start: the agent started slowly"
fi

under after_exit bash -c './program ends_at_once 200; exit $?'
is "$(left after_exit)" 1 "ends_at_once: its sums are left"
holds "and recover makes the report" "$phasemux" recover --remove "$tmp/after_exit.spool"
if [ "$sanitizer" = tsan ]; then
	skip "namespace" "the sanitizer has a thread of its own, with which the kernel refuses one"
elif unshare -U true 2>/dev/null; then
	for ms in 1 90; do
		under "namespace.$ms" bash -c "./program enters_namespace $ms; exit \$?"
		unchanged "namespace.$ms" "namespace.$ms.alone"
		is "$(reported "namespace.$ms")$(left "namespace.$ms")" "./program enters_namespace $ms;0" \
			"namespace.$ms: the report"
	done
fi

if [ "$(printf '%s\n' 5.9 "$(uname -r)" | sort -V | head -n 1)" = 5.9 ]; then
	observes descriptors "./program opens_files 20;" bash -c './program opens_files 20; exit $?'
	is "$(cat descriptors.out)" "hardly ever" "descriptors: have the numbers that they have alone"
else
	skip descriptors "this kernel (before 5.9) gives a thread no descriptors of its own"
fi

# ---- programs that close stderr ----

# prints NAME COMMAND...: the report is on stderr, although the program closes it
prints() {
	PHASEMUX_REPORT=text under "$@"
	unchanged "$1" "$1.alone"
	is "$(grep -cE '^phasemux: program closes_stderr|^Results: ' "$1.err")" 2 "$1: the report is on stderr"
}

prints closes_file ./program closes_stderr 1
prints closes_file_early ./program closes_stderr_early 1
prints closes_file_below bash -c './program closes_stderr_early 1; exit $?'
prints closes_pipe bash -c './program closes_stderr 1 2>&1 | cat >&2; exit 3'

# ---- other ways to become a target ----

if [ -x "$programs/omp" ]; then
	cp "$programs/omp" omp
	OMP_NUM_THREADS=2 observes openmp "./omp 10;" bash -c './omp 10; exit $?'
fi
for mpi in $(mpis_of phases); do
	cp "$programs/phases.$mpi" .
	observes "$mpi" "./phases.$mpi -n 20;" bash -c "./phases.$mpi -n 20; exit \$?"
	is "$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["mpi"] != "no MPI")' "$mpi.result/report.json" 2>&1)" \
		True "$mpi: with MPI"
done

done_testing
