#!/bin/bash
# The sampled profile of a real program's phases beside what perf says of the same program.
. "$(dirname "$0")/lib.sh"

have perf || skip_all "perf is not installed"
have lmp || skip_all "LAMMPS is not installed"
have mpirun.openmpi || skip_all "Open MPI is not installed"
perf record -q -e cpu-clock:u -o "$tmp/try.data" true 2>/dev/null || skip_all "perf records nothing here"

melt() { on openmpi 1 "$@" lmp -in "$root/tools/melt.in" -log none -var steps 200; }
run perf melt perf record -q -e cpu-clock:u -c 2000000 -o "$tmp/perf.data"
perf report -i "$tmp/perf.data" --stdio -F overhead,dso,sym 2>/dev/null >"$tmp/perf.text"
preloaded melt PHASEMUX_SAMPLE=500 melt
json=$tmp/melt.result/report.json
holds "the report is as its schema says" report schema "$json"
holds "its phases name the functions that perf shows, with their shares" \
	report like_perf "$json" "$tmp/perf.text" liblammps lmp

done_testing
