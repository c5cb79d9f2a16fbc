#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One build serves the MPIs of three binary interfaces, under whatever name and in whatever place their library lies.
# What is not served is said with its reason.
. "$(dirname "$0")/lib.sh"

sources=$root/tests/programs
have readelf || skip_all "no binutils"
for adapter in openmpi mpich mpi-abi; do
	is "$(readelf -d "$build/libphasemux-$adapter.so" | grep -c 'NEEDED.*mpi')" 0 "the adapter $adapter is linked with no MPI"
done
is "$(cd "$root" && grep -rlE 'include *<mpi' agent tools sampling | sort | tr '\n' ' ')" \
	"$(printf 'tools/replay/program/%s.c ' made_calls pace_simulated pingpong replayer)" \
	"no mpi.h is needed to build phasemux, except for programs that the MPI's own compiler builds when they are run"

# values NAME ABI LIBRARY HEADERS...: those that phasemux has for an interface beside those of an mpi.h
values() {
	local name=$1 abi=$2 linked=$3

	holds "$name: the prototypes are those of its mpi.h" gcc -I"$root" "${@:4}" -D_GNU_SOURCE -DTHEIRS "-DABI_$abi" -Wl,--copy-dt-needed-entries \
		-Werror=incompatible-pointer-types "$sources/abi_values.c" "$linked" -ldl -o "$name.theirs"
	holds "$name: ours are compiled" gcc -I"$root" -D_GNU_SOURCE "-DABI_$abi" -Wl,--no-as-needed \
		"$sources/abi_values.c" "$root/agent/mpi/mpi_functions.c" "$linked" -ldl -o "$name.ours"
	"./$name.theirs" >"$name.theirs.values"
	"./$name.ours" >"$name.ours.values"
	holds "$name: it has values" grep -q '^MPI_COMM_WORLD ' "$name.theirs.values"
	is "$(diff "$name.theirs.values" "$name.ours.values")" "" "$name: each type and constant is that of its mpi.h"
}
for mpi in openmpi mpich; do
	if have "mpicc.$mpi" && have gcc; then
		linked=$(printf 'int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n' >init.c &&
			OMPI_CC=gcc MPICH_CC=gcc "mpicc.$mpi" init.c -o init && ldd init | sed -n 's/.*libmpi[^ ]* => \([^ ]*\).*/\1/p')
		values $mpi ${mpi^^} "$linked" $("mpicc.$mpi" -show | grep -oE ' -I[^ ]*')
	else
		skip "$mpi: the values of its mpi.h" "no compiler for it"
	fi
done
folder=/usr/lib/$(gcc -print-multiarch)
for headers in mpi_abi_mpich/include openmpi/include/standard_abi; do
	if [ -e "$folder/$headers/mpi.h" ] && [ -e "$folder/libmpi_abi.so.1" ]; then
		values "abi_of_${headers//\//_}" STANDARD "$folder/libmpi_abi.so.1" -I"$folder/$headers"
	else
		skip "the values of $headers/mpi.h" "no MPI has the ABI of MPI 5 here"
	fi
done

# Where the loader and mpirun of another MPI look
mkdir -p other/bin other/lib
printf '#!/bin/sh\n' >other/bin/mpirun
chmod +x other/bin/mpirun
echo library >other/lib/libmpi_gnu_91.so.12
echo library >other/lib/libmpi_abi.so.1
PATH=$PATH:$tmp/other/bin LD_LIBRARY_PATH=$tmp/nowhere run doctor "$phasemux" doctor
holds "doctor: all three are served" grep -q '^MPI *served: the ABI of MPI 5 (libmpi_abi), Open MPI, MPICH' doctor.out
tr -s ' \n' ' ' <doctor.out >doctor.words
holds "doctor: an MPI beside a mpirun" \
	grep -qE "libmpi_abi\): ($tmp/other/bin/../lib/libmpi_abi.so.1|[^ ]*libmpi_abi.so.1, and [1-9])" doctor.words
holds "doctor: one of the MPICH family" grep -qE 'Cray\): [^ ]*(libmpi_gnu_91|libmpich).so.12' doctor.words

have mpirun.mpich && have mpicc.mpich && have gcc && [ -x "$programs/phases.mpich" ] || {
	skip "MPICH under other names" "no MPICH"
	done_testing
}
include=$(mpicc.mpich -show | grep -oE ' -I[^ ]*')
mpich=$(ldd "$programs/phases.mpich" | sed -n 's/.*libmpich.so.12 => \([^ ]*\).*/\1/p')
run bare on mpich 2 "$programs/phases.mpich" -n 30

# builds NAME LIBRARY [FLAG]...: builds the program NAME with an MPI library that only a RUNPATH leads to
builds() {
	holds "$1: the program" gcc -O2 "${@:3}" "$sources/phases.c" "$sources/work.c" -o "$1" "$2" \
		-Wl,-rpath,"$(dirname "$2")" -Wl,--enable-new-dtags -pthread
}
# together NAME VERSION [VAR=VALUE]... COMMAND...: all ranks are in one report
together() {
	preloaded "$1" "${@:3}"
	unchanged "$1" bare
	holds "$1: a report" report schema "$1.result/report.json"
	holds "$1: of all ranks together" report value "$1.result/report.json" ranks 2
	is "$(grep -c '^phasemux: .*alone' "$1.err")" 0 "$1: no line about ranks that are alone"
	holds "$1: it names $2" grep -qF "2 ranks, " <(grep -F "$2" "$1.result/report.txt")
}
# alone NAME WHY [VAR=VALUE]... COMMAND...: the ranks report one by one, and one line says why
alone() {
	preloaded "$1" "${@:3}"
	unchanged "$1" bare
	is "$(sed -n "s/^phasemux: each rank on $(hostname) learns and reports alone: //p" "$1.err")" "$2" "$1: one line says why"
	is "$(ls "$1.result" | grep -c 'report.*json$')" 2 "$1: each rank has its report"
}

# MPICH in another place, which the loader does not find by its name
mkdir place
cp "$mpich" place/libmpich.so.12
builds placed "$tmp/place/libmpich.so.12" $include
is "$(ldd placed | grep -o "=> $tmp/place/libmpich.so.12")" "=> $tmp/place/libmpich.so.12" "it is loaded from there"
together placed MPICH on mpich 2 ./placed -n 30

# MPICH by the name that it has on a Cray. The new name replaces a long one that is not needed.
mkdir cray
"$python" -c '
import re, struct, sys
library = bytearray(open(sys.argv[1], "rb").read())
name = sys.argv[3].encode() + b"\0"
at, size, count = struct.unpack_from("<Q", library, 40)[0], *struct.unpack_from("<HH", library, 58)
sections = [struct.unpack_from("<IIQQQQII", library, at + i * size) for i in range(count)]
dynamic = next(s for s in sections if s[1] == 6)
strings = sections[dynamic[6]]
old = max(re.findall(rb"\0(P?MPI_[A-Za-z_]+)\0", library[strings[4]:strings[4] + strings[5]]), key=len)
assert len(old) >= len(name)
place = library.index(b"\0" + old + b"\0", strings[4]) + 1
library[place:place + len(name)] = name
for entry in range(dynamic[4], dynamic[4] + dynamic[5], 16):
    if struct.unpack_from("<Q", library, entry)[0] == 14:
        struct.pack_into("<Q", library, entry + 8, place - strings[4])
open(sys.argv[2], "wb").write(library)' "$mpich" cray/libmpi_gnu_123.so.12 libmpi_gnu_123.so.12
builds cray_program "$tmp/cray/libmpi_gnu_123.so.12" $include
is "$(readelf -d cray_program | grep -o '\[libmpi[^]]*\]')" "[libmpi_gnu_123.so.12]" "it asks for the name of Cray"
together cray MPICH on mpich 2 ./cray_program -n 30

# as Python opens it
if [ -x "$programs/late" ]; then
	builds late.so "$tmp/cray/libmpi_gnu_123.so.12" $include -shared -fPIC
	together late MPICH on mpich 2 "$programs/late" ./late.so -n 30
else
	skip "an MPI that is opened with RTLD_LOCAL" "tests/programs/late was not built"
fi

if [ -n "$sanitizer" ]; then
	skip "the ABI of MPI 5" "sanitizers refuse how the test's library opens MPICH (RTLD_DEEPBIND)"
	done_testing
fi
# The ABI of MPI 5, by a library that makes calls of MPICH. No package of Debian 12 has a real one.
mkdir abi
library() { gcc -O2 -Wall -D_GNU_SOURCE $include -shared -fPIC "$sources/abi_library.c" -Wl,-soname,"$1" -o "abi/$1"; }
holds "a library with the ABI of MPI 5" library libmpi_abi.so.1
builds abi_program "$tmp/abi/libmpi_abi.so.1" -I"$sources/abi"
run abi_bare on mpich 2 ./abi_program -n 30
unchanged abi_bare bare
together abi "MPICH Version 5.0.2" on mpich 2 ./abi_program -n 30
together abi_calls "MPICH Version 5.0.2" PHASEMUX_TRACE=calls on mpich 2 ./abi_program -n 30
holds "abi_calls: arguments of calls" grep -q '^MPI_Isend to 1, 8 bytes, tag 1 ' <("$phasemux" trace --rank 0 --expand abi_calls.result)
together abi_other "Open MPI v6.0.0" ABI_LIBRARY_VERSION="Open MPI v6.0.0, package: none" on mpich 2 ./abi_program -n 30

alone draft "its MPI (MPICH Version 4.3.1) has a draft of MPI 5's binary interface, with other values" \
	ABI_LIBRARY_VERSION=$'MPICH Version:      4.3.1\nMPICH Release date: none' on mpich 2 ./abi_program -n 30
alone next "its MPI (MPICH Version 5.0.2) has version 2.0 of the binary interface, not 1" \
	ABI_LIBRARY_ABI=2 on mpich 2 ./abi_program -n 30
holds "an MPI of no family" library libmpi_other.so.3
builds other_program "$tmp/abi/libmpi_other.so.3" -I"$sources/abi"
alone unknown "its MPI, $tmp/abi/libmpi_other.so.3, is none that phasemux serves" on mpich 2 ./other_program -n 30

done_testing
