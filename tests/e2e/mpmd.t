#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job of several programs (MPMD) has one report, which names each program and its ranks.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of control)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# told_programs FILE: prints the report's programs, as "name arguments : ranks first last"
told_programs() {
	"$python" -c '
import json, os, sys
programs = json.load(open(sys.argv[1]))["programs"]
for p in programs or []:
    print(os.path.basename(p["command"][0]), *p["command"][1:], ":", p["ranks"], p["first_rank"], p["last_rank"])' "$1"
}

for mpi in $mpis; do
	one="$programs/control.$mpi"
	other="$programs/control_mpi.$mpi"
	# each program makes as many barriers as the others
	parts=("$one" 20 0 10 : -n 1 "$one" 20 0 5 report)
	wanted="control.$mpi 20 0 10 : 2 0 1
control.$mpi 20 0 5 report : 1 2 2"
	if [ -x "$other" ]; then
		parts+=(: -n 2 "$other" 20 0 10)
		wanted+="
control_mpi.$mpi 20 0 10 : 2 3 4"
	fi
	ranks=2
	run bare on "$mpi" "$ranks" "${parts[@]}"
	if [ "$(cat bare.code)" = 139 ]; then
		# mpirun of Open MPI 5.0.7 crashes on two programs (open-mpi/ompi issue 13303)
		# shellcheck disable=SC2016
		parts=(bash -c 'case $OMPI_COMM_WORLD_RANK in
			0 | 1) exec "$0" 20 0 10 ;; 2) exec "$0" 20 0 5 report ;; *) exec "$1" 20 0 10 ;; esac' "$one" "$other")
		ranks=3
		[ -x "$other" ] && ranks=5
		run bare on "$mpi" "$ranks" "${parts[@]}"
	fi
	is "$(cat bare.code)" 0 "$mpi: the programs end as they should"
	preloaded "$mpi" on "$mpi" "$ranks" "${parts[@]}"
	is "$(cat "$tmp/$mpi.code") $(sort "$tmp/$mpi.out")" "$(cat bare.code) $(sort bare.out)" \
		"$mpi: exit code and output"
	is "$(find "$tmp/$mpi.result" -name 'report*.json' | wc -l)" 1 "$mpi: one report"
	holds "$mpi: as its schema" report schema "$tmp/$mpi.result/report.json"
	is "$(told_programs "$tmp/$mpi.result/report.json")" "$wanted" "$mpi: it names each program and its ranks"
	holds "$mpi: so does the text" grep -q "^  rank 2: control.$mpi 20 0 5 report$" "$tmp/$mpi.result/report.txt"
	is "$(find "$tmp/spool" -type f | wc -l)" 0 "$mpi: nothing is left in the spool"
	is "$(told_programs "$tmp/$mpi.result/intermediate.json" 2>/dev/null | wc -l)" 0 \
		"$mpi: rank 2 writes no intermediate report"
	preloaded "same.$mpi" on "$mpi" 2 "$one" 3 0 3
	is "$(told_programs "$tmp/same.$mpi.result/report.json")" "" "$mpi: of one program there is no list"
done

done_testing
