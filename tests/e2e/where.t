#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where phases are: functions and lines, behind the program's own wrappers, for every way to build a program. It
# may be position independent or not, compiled by either compiler, stripped, or with its debug information in
# another file.
# Real time: samples at the times at which the kernel promises them.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
[ -e "$build/libphasemux-source.so" ] || skip_all "built without elfutils"

# Prints the line of a source with this text.
line() { grep -nF -- "$2" "$root/tests/programs/$1" | head -n 1 | cut -d : -f 1; }

triad=$(line wrapped.c '/* after triad */')
fdiv=$(line wrapped.c '/* after fdiv */')
alu=$(line wrapped.c '/* after alu */')

# NAME COMMAND...: runs wrapped, and checks its three phases by line
wrapped_by_line() {
	local name=$1 json=$tmp/$1.result/report.json

	shift
	scripted "$name" "$@"
	holds "$name: triad runs from main to advance" report source "$json" 1500000 \
		main "wrapped.c:$alu" advance "wrapped.c:$triad"
	holds "$name: fdiv runs from advance to relax" report source "$json" 300000 \
		advance "wrapped.c:$triad" relax "wrapped.c:$fdiv"
	holds "$name: alu runs from relax to main" report source "$json" 24000000 \
		relax "wrapped.c:$fdiv" main "wrapped.c:$alu"
}

for mpi in $(mpis_of wrapped); do
	wrapped_by_line wrapped.$mpi on $mpi 2 "$programs/wrapped.$mpi" 150
	for end in "from MPI_Sendrecv in main wrapped.c:$alu" "to +MPI_Sendrecv in advance wrapped.c:$triad"; do
		holds "wrapped.$mpi: stderr names call, function, line and wrapper" grep -qE \
			"^ +$end \(exchange\)" "$tmp/wrapped.$mpi.err"
	done
done

# The other cases use one MPI.
for mpi in $(mpis_of wrapped); do break; done
[ -n "${mpi:-}" ] || skip_all "no MPI"
sources=$root/tests/programs

# NAME FLAG...: builds wrapped again
make_wrapped() {
	local name=$1

	shift
	OMPI_CC="${cc:-gcc}" MPICH_CC="${cc:-gcc}" mpicc.$mpi -I"$sources" "$@" "$sources/wrapped.c" \
		"$sources/work.c" -ldl -o "$tmp/$name"
}

for cc in gcc clang; do
	have $cc || { skip "built by $cc" "no $cc"; continue; }
	for flags in "-O2 -no-pie" "-O0" "-O3 -fomit-frame-pointer" "-O2 -gdwarf-4"; do
		name="$cc $flags"
		make_wrapped "$cc" -g $flags 2>"$tmp/make.err" ||
			{ skip "$name" "it cannot build that"; continue; }
		wrapped_by_line "$name" on $mpi 2 "$tmp/$cc" 150
	done
done
cc=gcc

if [ -x "$programs/twins.$mpi" ]; then
	scripted together PHASEMUX_CLUSTER_BY=instructions,ipc on $mpi 2 "$programs/twins.$mpi" 150
	holds "clustered by counts alone, places that count alike are one phase" \
		report instructions "$tmp/together.result/report.json" 1500000
	for by in auto instructions,ipc,callpath; do
		scripted apart-$by PHASEMUX_CLUSTER_BY=$by on $mpi 2 "$programs/twins.$mpi" 150
		holds "clustered by $by, they are two" \
			report instructions "$tmp/apart-$by.result/report.json" 1500000 1500000
	done
fi

OMPI_CC=gcc MPICH_CC=gcc mpicc.$mpi -I"$sources" -g -O2 "$sources/merged.c" "$sources/work.c" -ldl \
	-o "$tmp/merged"
if [ "$(nm "$tmp/merged" | grep " sweep_" | cut -d " " -f 1 | uniq | wc -l)" = 1 ]; then
	preloaded merged on $mpi 2 "$tmp/merged" 150
	for sweep in sweep_x sweep_y sweep_z; do
		holds "functions that the compiler made one are told apart: $sweep" \
			grep -q "$sweep" "$tmp/merged.result/report.txt"
	done
else
	skip "functions that the compiler made one" "it did not"
fi

make_wrapped apart -g -O2
objcopy --only-keep-debug "$tmp/apart" "$tmp/apart.debug"
objcopy --strip-debug --add-gnu-debuglink="$tmp/apart.debug" "$tmp/apart"
wrapped_by_line "debug information apart" on $mpi 2 "$tmp/apart" 150

make_wrapped symbols -O2
scripted symbols on $mpi 2 "$tmp/symbols" 150
holds "symbols alone: functions" report source "$tmp/symbols.result/report.json" 1500000 \
	main main+0x advance advance+0x

make_wrapped stripped -g -O2
strip "$tmp/stripped"
scripted stripped on $mpi 2 "$tmp/stripped" 150
holds "stripped: the program and the offset" report source "$tmp/stripped.result/report.json" \
	300000 "" stripped+0x "" stripped+0x

if [ -x "$programs/solver_f08.$mpi" ]; then
	scripted solver on $mpi 2 "$programs/solver_f08.$mpi" 200
	holds "Fortran: the program's name and its lines" \
		report source "$tmp/solver.result/report.json" 300000 \
		solver "solver.F90:$(line solver.F90 'call MPI_Isend(old(1, rows)' | awk '{print $1 + 1}')" \
		solver "solver.F90:$(line solver.F90 'call MPI_Waitall')"
fi

# Libraries that are unloaded. Places in them have their own names, or none if another library was loaded at the
# same address.
first=$programs/first_plugin.so second=$programs/second_plugin.so

# NAME TIMES LIBRARIES...: checks that the program ran, and that its plugins were at the same address each time
plugins() {
	local name=$1

	shift
	run "$name.bare" "$programs/opens" "$@"
	told "$name" PHASEMUX_BUDGET=none PHASEMUX_CLUSTER_BY=duration "$programs/opens" "$@"
	unchanged "$name" "$name.bare"
	[ "$(grep '^run:' "$name.err" | sort -u | wc -l)" -eq 1 ]
}

# NAME FUNCTION: prints how many lines of the report name it
names() { grep -c "$2" "$1.result/report.txt"; }

if [ -e "$first" ] && plugins unloaded -c "$first" "$first"; then
	holds "unloaded: what is gone has its name" test "$(names unloaded first_function)" -gt 0
	for how in -c -k; do
		if plugins other$how $how "$first" "$second"; then
			is "$(names other$how first_function) $(names other$how second_function)" "0 0" \
				"other$how: nothing has the name of what came to lie there, or had been there"
			holds "other$how: its caller is known" grep -q 'from .* in main opens.c:' \
				"other$how.result/report.txt"
		else
			skip "other$how: two libraries at one address" "they lay at two"
		fi
	done
	cp "$first" copy.so
	if plugins changed -c "$tmp/copy.so" "$tmp/copy.so"; then
		holds "changed: it has its name while its file is there" \
			test "$(names changed first_function)" -gt 0
	fi
else
	skip "libraries that are unloaded" "they are not there, or lay at two addresses"
fi

done_testing
