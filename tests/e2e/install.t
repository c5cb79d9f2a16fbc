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
holds "the preload is installed" test -f "$preload"
holds "the command is installed" test -x "$command"
holds "nothing of the tests is installed" \
	sh -c '! find "$1" | grep -E "test_|scripted|programs/"' - "$tmp/prefix"

# works WHERE PRELOAD COMMAND
works() {
	run "$1" LD_PRELOAD="$2:$runtime" PHASEMUX_OUTPUT="$tmp/$1.result" program
	unchanged "$1" bare
	holds "$1: the preload reports" report schema "$1.result/report.json"
	run "$1.run" LD_PRELOAD="$runtime" program "$3" run --output="$tmp/$1.run.result" --
	is "$(cat "$1.run.code")" 5 "$1: the command runs a program"
	holds "$1: and finds the preload" report schema "$1.run.result/report.json"
	run "$1.doctor" "$3" doctor
	holds "$1: doctor finds the adapters" grep -qi 'mpi' "$1.doctor.out"
}
works installed "$preload" "$command"
mv prefix elsewhere
works moved "${preload/prefix/elsewhere}" "${command/prefix/elsewhere}"

done_testing
