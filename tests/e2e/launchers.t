#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A command before a program becomes the program, or starts it. There is one report, of the program, and no sums
# are left.
. "$(dirname "$0")/lib.sh"

[ -e "$programs/plain" ] || skip_all "no program was built"
cp "$programs/plain" program
printf '#!/bin/sh\nexec ./program "$@"\n' >shell_script
printf '#!/usr/bin/perl\nexec "./program", @ARGV;\n' >perl_script
printf '#!%s\nimport os, sys\nos.execv("./program", ["./program"] + sys.argv[1:])\n' "$python" >python_script
chmod +x shell_script perl_script python_script
run bare ./program 10

# through NAME WORD...: runs the program by these words
through() {
	local name=$1 result

	if ! have "$2" || ! "${@:2}" /bin/true >"$name.without" 2>&1; then
		skip "$name" "it is not here, or does not run"
		return
	fi
	mkdir "$name.spool"
	run "$name" PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/$name.spool" \
		timeout -k 10 60 "$phasemux" run -- "${@:2}" ./program 10
	unchanged "$name" bare
	result=$(find "$name.result" -name 'report*.json' 2>/dev/null)
	is "$("$python" -c 'import json, sys
print(*(json.load(open(name))["command"][0] for name in sys.argv[1:]))' $result)" ./program \
		"$name: one report, of the program"
	is "$(find "$name.spool" -type f)" "" "$name: no sums are left"
	is "$(grep -c "^phasemux: no report" "$name.err")" 0 "$name: no line says that there is none"
}

through nice nice -n 1
through env env A=1
through prlimit prlimit --nofile=200
through choom choom -n 0 --
through timeout timeout 50
through flock flock lock
through time /usr/bin/time -o times
[ "$(id -u)" -ne 0 ] || through runuser runuser -u root --
through timeout_flock env timeout 50
through unbuffer unbuffer
through unshare unshare -r
through unshare_child unshare -r --fork
through perl_exec perl -e 'exec @ARGV'
for script in shell perl python; do
	run $script.bare ./${script}_script 10
	mkdir $script.spool
	run $script PHASEMUX_OUTPUT="$tmp/$script.result" PHASEMUX_SPOOL="$tmp/$script.spool" \
		"$phasemux" run -- ./${script}_script 10
	unchanged $script $script.bare
	is "$(find $script.result -name 'report*.json' | wc -l) $(find $script.spool -type f)" "1 " \
		"a script ($script) that becomes the program: one report, and no sums are left"
	run waits_$script PHASEMUX_OUTPUT="$tmp/waits_$script.result" PHASEMUX_SPOOL="$tmp/$script.spool" \
		"$phasemux" run -- timeout 50 ./${script}_script 10
	is "$(find waits_$script.result -name 'report*.json' | wc -l) $(find $script.spool -type f) $(grep -c "^phasemux: no report" waits_$script.err)" \
		"1  0" "and after a launcher that waits: no line says that there is none"
done

# nothing is observed
said="^phasemux: no report: nothing that this command started was observed"
# silent NAME COMMAND...; spoken NAME COMMAND...
under_run() { run "$1" PHASEMUX_OUTPUT="$tmp/$1.result" PHASEMUX_SPOOL="$tmp/spool" "$phasemux" run -- "${@:2}"; }
spoken() { under_run "$@"; is "$(grep -c "$said" "$1.err")" 1 "$1: a line says that nothing was observed"; }
silent() { under_run "$@"; is "$(grep -c "$said" "$1.err")" 0 "$1: no line says so"; }
spoken shell_alone sh -c 'cat program >/dev/null; exit 3'
is "$(cat shell_alone.code)" 3 "shell_alone: its exit code"
spoken timeout_alone timeout 50 sh -c 'cat program >/dev/null; exit 3'
spoken timeout_twice timeout 50 timeout 40 sh -c 'cat program >/dev/null; exit 3'
spoken bash_alone bash -c '(exit 4)'
is "$(cat bash_alone.code)" 4 "bash_alone: its exit code"
silent observed timeout 50 ./program 10
silent becomes sh -c 'exec ./program 10'
silent disabled env PHASEMUX_DISABLE=1 sh -c 'PHASEMUX_DISABLE=1 true'
SLURM_JOB_NUM_NODES=2 silent on_hosts sh -c 'cat program >/dev/null'

# what is observed is killed
cat >killer <<'END'
#!/bin/sh
"$@" &
sleep 1
kill -9 $!
wait
END
chmod +x killer
if [ -x "$programs/omp" ]; then
	ended="^phasemux: no report: all processes that were observed have ended early"
	export OMP_NUM_THREADS=2
	under_run killed sh -c "./killer $programs/omp 100000; exit 5"
	is "$(cat killed.code) $(grep -c "^phasemux: " killed.err) $(grep -c "$ended" killed.err)" "5 1 1" \
		"killed: a line says that there is no report"
	holds "killed: and recover makes it" "$phasemux" recover --remove "$tmp/spool"
	under_run one_of_two sh -c "./killer $programs/omp 100000; $programs/omp 10"
	is "$(grep -c "$ended" one_of_two.err)" 0 "one of two is killed: no line says so"
	"$phasemux" recover --remove "$tmp/spool" >one_of_two.out
	unset OMP_NUM_THREADS
else
	skip "what is observed is killed" "no OpenMP here"
fi
PHASEMUX_DISABLE=1 silent off sh -c 'cat program >/dev/null'
for mpi in openmpi mpich; do
	if [ ! -x "$programs/phases.$mpi" ] || ! have "mpirun.$mpi"; then
		skip "$mpi" "not installed"
		continue
	fi
	as_root=()
	[ "$mpi" = openmpi ] && as_root=(--allow-run-as-root --oversubscribe)
	silent "ranks.$mpi" "mpirun.$mpi" "${as_root[@]}" -n 2 "$programs/phases.$mpi" -n 20
	silent "timeout.$mpi" timeout 50 "mpirun.$mpi" "${as_root[@]}" -n 2 "$programs/phases.$mpi" -n 20
	silent "script.$mpi" sh -c '"$@"; true' sh "mpirun.$mpi" "${as_root[@]}" -n 2 "$programs/phases.$mpi" -n 20
	spoken "no_mpi.$mpi" "mpirun.$mpi" "${as_root[@]}" -n 2 ./program 10
	silent "hosts.$mpi" timeout 50 sh -c '"$@"; true' sh \
		"mpirun.$mpi" "${as_root[@]}" -host localhost -n 1 ./program 10
	silent "hosts.$mpi" "mpirun.$mpi" "${as_root[@]}" -host localhost -n 1 ./program 10
done

# A command that makes a terminal and records what appears there. The agent's text is no part of it.
# recorded NAME COMMAND: the output and the exit code are those without the agent, and the report is on stderr.
recorded() {
	run "$1.bare" script -qec "$2" "$1.bare.log"
	under_run "$1" script -qec "$2" "$1.log"
	unchanged "$1" "$1.bare"
	is "$(sed '1d;/^Script done/d' "$1.log")" "$(sed '1d;/^Script done/d' "$1.bare.log")" \
		"$1: what is recorded is as without the agent"
	is "$(grep -c '^phasemux: ' "$1.err") $(tail -1 "$1.err")" "1 Results: $tmp/$1.result" \
		"$1: the report follows on the launcher's stderr, and no other line"
}
if have script; then
	export SHELL=/bin/sh
	recorded script "exec ./program 10"
	for mpi in openmpi mpich; do
		if [ ! -x "$programs/phases.$mpi" ] || ! have "mpirun.$mpi"; then
			skip "ranks below script, $mpi" "not installed"
			continue
		fi
		as_root=
		[ "$mpi" = openmpi ] && as_root="--allow-run-as-root --oversubscribe"
		recorded "script_ranks.$mpi" "mpirun.$mpi $as_root -n 2 $programs/phases.$mpi -n 20"
	done
	under_run script_file script -qec "exec ./program 10 2>own.err" /dev/null
	is "$(tail -1 own.err) $(wc -l <script_file.err)" "Results: $tmp/script_file.result 0" \
		"below script, a program whose stderr is a file has its report there"
	has_sums() { [ -n "$(find "$tmp/spool" -type f)" ]; }
	# the program lives on without its terminal
	cat >hangs_up <<-'END'
		#!/bin/sh
		trap '' HUP
		exec ./program 3000
	END
	chmod +x hangs_up
	under_run script_killed sh -c 'echo $$ >script.pid; exec script -qec "exec ./hangs_up" /dev/null' &
	eventually has_sums
	kill -KILL "$(cat script.pid)"
	wait
	holds "script is killed: the report is written" eventually test -s script_killed.result/report.txt
	is "$(find "$tmp/spool" -type f)" "" "and no sums are left"
else
	skip "script" "not installed"
fi

# sums of an earlier process of the same number, which was killed, belong to that process
mkdir other.spool
run other PHASEMUX_OUTPUT="$tmp/other.result" PHASEMUX_SPOOL="$tmp/other.spool" \
	timeout -s KILL 2 "$phasemux" run -- "$programs/serial" 1000
kept=$(find other.spool -type f | wc -l)
run after PHASEMUX_OUTPUT="$tmp/after.result" PHASEMUX_SPOOL="$tmp/other.spool" "$phasemux" run -- ./program 10
is "$kept $(find other.spool -type f | wc -l)" "1 1" "what another process has left stays"

done_testing
