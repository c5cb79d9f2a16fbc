#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux is built where no MPI is installed. The programs of all MPIs that are installed here have right reports with
# this build.
. "$(dirname "$0")/lib.sh"

[ -n "$(mpis_of phases)" ] || skip_all "no MPI is installed"
have cmake && have gcc || skip_all "no cmake or no gcc"

# A PATH with all commands except those of an MPI
mkdir bin empty
for command in /usr/bin/*; do
	[[ ${command##*/} == *[Mm][Pp][Ii]* || ${command##*/} == orte* ]] || ln -s "$command" bin/
done
# As root, the folders of the MPIs are hidden as well.
cat >hidden <<'END'
#!/bin/bash
for folder in /usr/lib/*/openmpi /usr/lib/*/mpich /usr/include/*/mpi* /usr/include/*/openmpi; do
	[ ! -d "$folder" ] || mount --bind "$EMPTY" "$folder" || exit 3
done
exec env PATH="$BIN" "$@"
END
chmod +x hidden
if unshare -m true 2>/dev/null; then
	without() { EMPTY=$tmp/empty BIN=$tmp/bin unshare -m "$tmp/hidden" "$@"; }
else
	without() { PATH=$tmp/bin "$@"; }
fi
run compilers without bash -c 'command -v mpicc mpirun mpicc.openmpi mpicc.mpich'
is "$(cat compilers.out)" "" "no compiler and no launcher of an MPI is found"
echo '#include <mpi.h>' >header.c
run header without gcc -fsyntax-only header.c
is "$(cat header.code)" 1 "and no mpi.h"

# What runs in a program. It is built fast, because only what it does is looked at.
holds "it is configured" without cmake -S "$root" -B built -DPHASEMUX_PROGRAMS=OFF -DCMAKE_BUILD_TYPE=Debug \
	-DCMAKE_C_FLAGS_DEBUG=-O0
holds "and built" without cmake --build built -j 2 --target phasemux_preload phasemux_core \
	phasemux_adapter_openmpi phasemux_adapter_mpich phasemux_adapter_mpi-abi
is "$(cd built && ls libphasemux*.so | grep -v source | tr '\n' ' ')" \
	"libphasemux-core.so libphasemux-mpi-abi.so libphasemux-mpich.so libphasemux-openmpi.so libphasemux.so " \
	"with the preload, the core and all adapters"
is "$(find built -name '*.d' -exec grep -lE '/mpi\.h' {} +)" "" "no source used an mpi.h"

library=$tmp/built/libphasemux.so
for mpi in $(mpis_of phases); do
	run "bare.$mpi" on "$mpi" 3 "$programs/phases.$mpi" -n 100 -x 5
	scripted "$mpi" on "$mpi" 3 "$programs/phases.$mpi" -n 100 -x 5
	json=$mpi.result/report.json
	unchanged "$mpi" "bare.$mpi"
	holds "$mpi: a report" report schema "$json"
	holds "$mpi: of all ranks together" report value "$json" ranks 3
	holds "$mpi: computing time is accounted for" report accounting "$json"
	holds "$mpi: of all bursts between calls" report value "$json" bursts 2406
	holds "$mpi: with the phases of the program" report instructions "$json" 1500000 6000 300000 12000000
	is "$(grep -c '^phasemux: .*\(alone\|off\)' "$mpi.err")" 0 "$mpi: no line about what does not work"
done

done_testing
