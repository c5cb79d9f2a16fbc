#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the user tells Open MPI's mpirun about the environment works under `phasemux run`, too.
. "$(dirname "$0")/lib.sh"

if [ ! -x "$programs/control.openmpi" ] || ! have mpirun.openmpi; then
	skip_all "no Open MPI is installed"
fi
printf '#!/bin/sh\n[ "$FOO" = 7 ] && [ "$BAR" = "a b;c" ] && exec "$@"\nexit 9\n' >needs
chmod +x needs
export FOO=7 BAR='a b;c'
program=(./needs "$programs/control.openmpi" 3 0 3)

# says NAME WORD...: runs mpirun with these options, with and without phasemux
says() {
	local name=$1

	shift
	run "$name.bare" on openmpi 2 "$@" "${program[@]}"
	run "$name" PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/spool" \
		timeout -k 10 60 "$phasemux" run -- mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 \
		"$@" "${program[@]}"
	unchanged "$name" "$name.bare"
	holds "$name: there is a report" report schema "$tmp/$name.result/report.json"
}

says nothing --mca btl_base_verbose 0
says exports -x FOO -x BAR
says values -x FOO=7 --mca btl_base_verbose 0
says list --mca mca_base_env_list 'FOO;BAR'
says ours -x PHASEMUX_OUTPUT -x LD_PRELOAD
OMPI_MCA_mca_base_env_list='FOO;BAR' says in_environment --mca btl_base_verbose 0

# a program of the name mpirun prints its arguments
mkdir bin
printf '#!/bin/sh\nprintf "%%s " "$@"; echo "list=$OMPI_MCA_mca_base_env_list"\n' >bin/mpirun
chmod +x bin/mpirun
told_mpirun() {
	PATH=$tmp/bin:$PATH run words "$@" PHASEMUX_SCHEME=time "$phasemux" run -- mpirun "${words[@]}"
	cat words.out
}
words=(-n 2 ./x)
is "$(told_mpirun)" "-n 2 ./x list=LD_PRELOAD;ASAN_OPTIONS;PHASEMUX_SCHEME" "the parameter, if the user gives nothing"
is "$(told_mpirun OMPI_MCA_mca_base_env_list=FOO)" "-n 2 ./x list=FOO;LD_PRELOAD;ASAN_OPTIONS;PHASEMUX_SCHEME" \
	"with the user's own list"
words=(-x FOO -n 2 ./x)
is "$(told_mpirun)" "-x LD_PRELOAD -x ASAN_OPTIONS -x PHASEMUX_SCHEME -x FOO -n 2 ./x list=" "options beside options"
run words PATH="$tmp/bin:$PATH" PHASEMUX_SCHEME=time "$phasemux" run -- timeout 9 mpirun -n 2 ./x -x
is "$(cat words.out)" "-x LD_PRELOAD -x ASAN_OPTIONS -x PHASEMUX_SCHEME -n 2 ./x -x list=" "an mpirun behind a timeout"
words=(-x PHASEMUX_SCHEME=space ./x)
is "$(told_mpirun)" "-x LD_PRELOAD -x ASAN_OPTIONS -x PHASEMUX_SCHEME=space ./x list=" \
	"except for variables that the user exports"
words=(--mca mca_base_env_list FOO ./x)
is "$(told_mpirun)" "--mca mca_base_env_list FOO;LD_PRELOAD;ASAN_OPTIONS;PHASEMUX_SCHEME ./x list=" \
	"the parameter among the words"
words=(-x LD_PRELOAD=other.so ./x)
told_mpirun >told.out
holds "a preload of the user in place of phasemux: a line says so" \
	grep -q 'mpirun is told -x LD_PRELOAD=other.so, which takes the place of phasemux' words.err

done_testing
