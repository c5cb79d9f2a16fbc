#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An installed tree, and one that was moved afterwards, work at their place.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
program() { on "$mpi" 2 "$@" "$programs/phases.$mpi" -n 150 -x 5; }
run bare program

holds "cmake --install" cmake --install "$build" --prefix "$tmp/prefix"
preload=$(find "$tmp/prefix" -name libphasemux.so)
command=$(find "$tmp/prefix" -path '*/bin/phasemux')
libraries=${preload%/*}
scripts=prefix/share/phasemux/slurm
holds "the preload is installed" test -f "$preload"
holds "the command is installed" test -x "$command"
holds "nothing of the tests is installed" \
	sh -c '! find "$1" | grep -E "test_|scripted|programs/"' - "$tmp/prefix"
is "$(cd "$libraries" && echo lib*.so)" libphasemux.so "what only phasemux opens is in a folder of its own"
for file in LICENSE CHANGELOG.md README.md docs/promises.md; do
	holds "$file is installed" cmp "prefix/share/doc/phasemux/$file" "$root/$file"
done
holds "the manuals are installed" test -s prefix/share/man/man1/phasemux.1 -a -s prefix/share/man/man1/phasemux-run.1 -a -s prefix/share/man/man8/phasemux-slurm.8
is "$(grep -rlI -e /usr/local -e "$root" -e '@[A-Z_]*@' --exclude-dir=doc --exclude=README.md prefix)" "" \
	"no text names the default place, the sources or a variable of the build"
if [ -e "$build/phasemux-spank.so" ]; then
	is "$(sed -n 's/^optional //p' "$scripts/plugstack.conf.example")" "$libraries/slurm/phasemux-spank.so" \
		"the example for plugstack.conf names the plugin"
else
	skip "the example for plugstack.conf names the plugin" "no slurm/spank.h when phasemux was built"
fi
is "$(sed -n 's/^Prolog=//p' "$scripts/slurm.conf.example")" "$tmp/$scripts/prolog.sh" \
	"the example for slurm.conf names the prologue"
if have pkg-config; then
	is "$(readlink -m "$(pkg-config --with-path="$libraries/pkgconfig" --variable=preload phasemux)")" "$preload" \
		"pkg-config tells where the preload is"
else
	skip "pkg-config tells where the preload is" "no pkg-config"
fi

# A package is installed below another folder, which no file may name.
holds "with DESTDIR" env DESTDIR="$tmp/stage" cmake --install "$build" --prefix /opt/phasemux
is "$(cd stage/opt/phasemux && find . | sort)" "$(cd prefix && find . | sort)" "DESTDIR: the same files"
is "$(grep -rl "$tmp" stage)" "" "DESTDIR: no file names it"

# works WHERE PRELOAD COMMAND
works() {
	run "$1" LD_PRELOAD="$2:$runtime" PHASEMUX_OUTPUT="$tmp/$1.result" program
	unchanged "$1" bare
	holds "$1: the preload reports" report schema "$1.result/report.json"
	holds "$1: the ranks together, through the adapter" report value "$1.result/report.json" ranks 2
	if [ -e "$build/libphasemux-source.so" ]; then
		holds "$1: lines of the source" grep -q 'phases.c:[0-9]' "$1.result/report.txt"
	else
		skip "$1: lines of the source" "built without elfutils"
	fi
	run "$1.run" LD_PRELOAD="$runtime" program "$3" run --output="$tmp/$1.run.result" --
	is "$(cat "$1.run.code")" 5 "$1: the command runs a program"
	holds "$1: and finds the preload" report schema "$1.run.result/report.json"
	run "$1.doctor" "$3" doctor
	is "$(grep -E '^(emulated|MPI)' "$1.doctor.out")" "$(grep -E '^(emulated|MPI)' build.doctor.out)" \
		"$1: doctor finds the adapters and the emulator as in the build tree"
	run "$1.task" SLURM_STEP_ID=0 PHASEMUX_SCHEME=time \
		"${3%/bin/phasemux}/share/phasemux/slurm/task_prolog.sh"
	is "$(cat "$1.task.out")" "export LD_PRELOAD=$2" "$1: the task prologue of Slurm finds the preload"
}
run build.doctor "$phasemux" doctor
holds "doctor says which MPI is served" grep -q 'served: ' build.doctor.out
works installed "$preload" "$command"

# As on a file system that is mounted read-only, at another place.
mv prefix elsewhere
chmod -R a-w elsewhere
state() { find elsewhere -printf '%p %s %T@\n' | sort; }
before=$(state)
works moved "${preload/prefix/elsewhere}" "${command/prefix/elsewhere}"
is "$(state)" "$before" "nothing was written to the installed tree"
chmod -R u+w elsewhere

# the command builds the program that replays from the sources in the tree
run traced LD_PRELOAD="${preload/prefix/elsewhere}:$runtime" PHASEMUX_OUTPUT="$tmp/traced.result" PHASEMUX_TRACE=calls \
	PHASEMUX_BUDGET=none program
if have "mpicc.$mpi"; then
	flags=()
	[ "$mpi" = openmpi ] && flags=(--oversubscribe)
	[ "$mpi" = openmpi ] && [ "$(id -u)" -eq 0 ] && flags+=(--allow-run-as-root)
	run replay "${command/prefix/elsewhere}" replay traced.result -- timeout 120 "mpirun.$mpi" "${flags[@]}" -n 2
	is "$(cat replay.code)" 0 "moved: a run is made again" || diag "$(cat replay.err)"
else
	skip "moved: a run is made again" "no mpicc.$mpi"
fi

done_testing
