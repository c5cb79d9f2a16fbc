#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Pcontrol and PHASEMUX_START: the program says which of its parts are observed.
# Real time: the agent follows a change within a stretch of the program.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of control)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# bursts_of NAME: prints the number of bursts for each number of instructions in order, without bursts that are
# nearly empty
bursts_of() {
	cat "$tmp/$1.result"/bursts.*.csv | "$python" -c '
import collections, csv, sys
rows = csv.DictReader(line for i, line in enumerate(sys.stdin) if not i or not line.startswith("rank"))
count = collections.Counter(round(float(row["instructions"])) for row in rows)
print(*(f"{size}:{count[size]}" for size in sorted(count) if size > 1000))'
}

# controlled NAME COMMAND...
controlled() {
	scripted "$1" PHASEMUX_BUDGET=none PHASEMUX_BURST_MIN=0ns PHASEMUX_REPORT=text,json,bursts "${@:2}"
}

# controlled_until WANT NAME COMMAND...: the same. On a busy machine the agent's helper may be preempted while it changes
# the group, and then a burst is not read. So it runs up to three times, until its bursts are those of WANT.
controlled_until() {
	local want=$1 name=$2

	shift 2
	for _ in 1 2 3; do
		rm -rf "$tmp/$name.result"
		controlled "$name" "$@"
		[ "$(bursts_of "$name")" != "$want" ] || break
	done
}

paused_between() { report between "$tmp/$1.result/report.json" paused/seconds "$2" "$3"; }

for mpi in $mpis; do
	for form in control control_mpi control_f08; do
		name=$form.$mpi
		if [ ! -x "$programs/$name" ]; then
			skip "$name" "not built"
			continue
		fi
		run bare on "$mpi" 2 "$programs/$name" 40 60 80
		controlled_until "1500000:160 6000000:80" "$name" on "$mpi" 2 "$programs/$name" 40 60 80
		unchanged "$name" bare
		holds "$name: the report is as its schema" report schema "$tmp/$name.result/report.json"
		is "$(bursts_of "$name")" "1500000:160 6000000:80" "$name: what is paused is not observed, all else is"
		holds "$name: the report says for how long it was paused" paused_between "$name" 0.01 60
		holds "$name: the text says it, too" \
			grep -q 'Paused by the program (MPI_Pcontrol):' "$tmp/$name.result/report.txt"
	done

	controlled_until "6000000:20" never on "$mpi" 2 "$programs/control.$mpi" 10 0 0 on
	is "$(bursts_of never)" "6000000:20" "$mpi: a program that never resumes has what was before"
	controlled_until "1500000:100" start PHASEMUX_START=paused on "$mpi" 2 "$programs/control.$mpi" 30 40 50
	is "$(bursts_of start)" "1500000:100" "$mpi: with PHASEMUX_START=paused there is nothing until it resumes"
	controlled nothing PHASEMUX_START=paused on "$mpi" 2 "$programs/control.$mpi" 3 4 5 on
	is "$(cat nothing.code) $(bursts_of nothing)" "0 " "$mpi: or nothing at all"
	holds "$mpi: and then a report of nothing" report schema "$tmp/nothing.result/report.json"
	controlled_until "1500000:60 6000000:20" both on "$mpi" 2 "$programs/control.$mpi" 10 20 30 once
	is "$(bursts_of both)" "1500000:60 6000000:20" "$mpi: two threads that pause pause once"

	name=report.$mpi
	controlled_until "1500000:800 6000000:200" "$name" on "$mpi" 2 "$programs/control.$mpi" 100 10 200 report
	is "$(bursts_of "$name")" "1500000:800 6000000:200" "$name: the run goes on after it"
	holds "$name: there is an intermediate report" report schema "$tmp/$name.result/intermediate.json"
	holds "$name: it has what was done before" report value "$tmp/$name.result/intermediate.json" ranks 2
	holds "$name: and no more" report between "$tmp/$name.result/intermediate.json" bursts 500 700
	holds "$name: with its pause" \
		report between "$tmp/$name.result/intermediate.json" paused/seconds 0.001 60
	holds "$name: it is said where it is" grep -q "an intermediate report is in $tmp/$name.result" "$name.err"
	holds "$name: and it is a text, too" grep -q 'parallel efficiency' "$tmp/$name.result/intermediate.txt"
	holds "$name: the report at the end is of all" \
		report between "$tmp/$name.result/report.json" bursts 1000 1300
done
for mpi in $mpis; do break; done

# one rank alone
one='if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then exec env PHASEMUX_START=paused "$@"; fi; exec "$@"'
controlled differ on "$mpi" 2 sh -c "$one" sh "$programs/control.$mpi" 10 0 0 on
is "$(cat differ.code)" 0 "where ranks start differently, the program ends as ever"
holds "and there is a report" report schema "$tmp/differ.result/report.json"

controlled toggled PHASEMUX_TOGGLE=10ms on "$mpi" 2 "$programs/control.$mpi" 10 20 30
holds "with PHASEMUX_TOGGLE it changes nothing, and a line says so" \
	grep -q 'MPI_Pcontrol(0) changes nothing with PHASEMUX_TOGGLE' toggled.err
told alone PHASEMUX_START=paused "$programs/serial" 1
holds "a program without MPI counts, and a line says so" \
	grep -q 'PHASEMUX_START=paused is for programs with MPI' alone.err
holds "it has a report" report schema "$tmp/alone.result/report.json"

done_testing
