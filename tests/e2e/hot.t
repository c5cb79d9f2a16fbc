#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sampled profile of a real program's phases, compared with what perf shows of the same program.
# Real time: shares of processor time, beside those of perf.
. "$(dirname "$0")/lib.sh"

have perf || skip_all "perf is not installed"
have lmp || skip_all "LAMMPS is not installed"
have mpirun.openmpi || skip_all "Open MPI is not installed"
perf record -q -e cpu-clock:u -o "$tmp/try.data" true 2>/dev/null || skip_all "perf records nothing here"

root_flag=$([ "$(id -u)" -eq 0 ] && echo --allow-run-as-root)
# long enough for two thousand samples in phases, so that 5% is four times the random error
melt() { on openmpi 1 "$@" lmp -in "$root/tools/melt.in" -log none -var steps 600; }
# In one run, because the time of a function depends on what else the machine does. A burst takes 1 to 2.5 s of
# processor time, of which the kernel's buffer has room for 680 samples.
preloaded melt PHASEMUX_SAMPLE=250 melt perf record -q -e cpu-clock:u -c 2000000 -o "$tmp/perf.data"
perf report -i "$tmp/perf.data" --stdio -F overhead,dso,sym 2>/dev/null >"$tmp/perf.text"
json=$tmp/melt.result/report.json
holds "the report is as its schema says" report schema "$json"
holds "LAMMPS melt: its phases name the functions that perf shows, with their shares" \
	report like_perf "$json" "$tmp/perf.text" liblammps lmp

# a metal, in two ranks, with the input of the benchmark
if [ -e /usr/share/lammps/potentials/Cu_u3.eam ]; then
	PYTHONPATH=$root/tests/bench "$python" -c 'import programs; print(programs.EAM)' >in.eam
	preloaded eam PHASEMUX_SAMPLE=500 perf record -q -e cpu-clock:u -c 2000000 -o "$tmp/eam.data" \
		mpirun.openmpi --oversubscribe ${root_flag:-} -n 2 lmp -in "$tmp/in.eam" -log none
	perf report -i "$tmp/eam.data" --stdio -F overhead,dso,sym 2>/dev/null >"$tmp/eam.text"
	holds "LAMMPS EAM: its phases name the functions that perf shows, with their shares" \
		report like_perf "$tmp/eam.result/report.json" "$tmp/eam.text" liblammps lmp
else
	skip "LAMMPS EAM" "no lammps-data"
fi

done_testing
