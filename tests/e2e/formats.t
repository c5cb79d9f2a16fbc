#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The forms of a result that other tools read (`phasemux report`), and their description in docs/report.md.
. "$(dirname "$0")/lib.sh"

formats() { "$python" "$root/tests/e2e/formats.py" "$@"; }
holds "docs/report.md describes each key of the schema" formats keys

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || { skip "results in other forms" "no MPI is installed"; done_testing; }
[ -e "$scripted" ] || { skip "results in other forms" "no scripted PMU was built"; done_testing; }
scripted counted PHASEMUX_BUDGET=none PHASEMUX_REPORT=json,bursts on "$mpi" 2 "$programs/phases.$mpi" -n 150 -x 5
preloaded timed PHASEMUX_TRACE=off PHASEMUX_BUDGET=none PHASEMUX_EVENTS=task-clock on "$mpi" 3 "$programs/phases.$mpi" -n 150 -x 5
mv counted.result counted
mv timed.result timed
is "$(ls -d counted/report.json timed/report.json | wc -l)" 2 "there are two results, one of them without counters"

# long tables
all=run,phases,counters,breakdown,metrics,ranks,source
run tables "$phasemux" report --csv=$all counted timed/report.json
is "$(cat tables.code)" 0 "report --csv=TABLE,... of two results"
holds "the rows have the values of the reports" formats tables tables.out counted timed
"$phasemux" report --csv=$all,bursts -o all.csv counted
is $? 0 "the table of the bursts, with -o"
holds "it has each burst that was read, with its phase" formats bursts all.csv counted
holds "docs/report.md describes all columns and tables" formats columns all.csv
run none "$phasemux" report --csv=bursts timed
is "$(cat none.code)" 1 "a result without a table of bursts: 1"
holds "and what would make it have one" grep -q "timed: .*PHASEMUX_REPORT=json,bursts" none.err
cp -r counted cut
sed -i '$s/,[^,]*$//' cut/bursts.000001.csv
run cut "$phasemux" report --csv=bursts cut
is "$(cat cut.code)" 1 "a table of bursts that is cut: 1"
holds "with the line" grep -q "cut/bursts.*: line $(cat cut/bursts.*.csv | wc -l): expected" cut.err
for list in phases,unknown "" phases,; do
	run refused "$phasemux" report --csv="$list" counted
	is "$(cat refused.code)" 2 "--csv=$list is refused"
done
holds "with the names of the tables" grep -q "phases, counters" refused.err
formats program phases.py
reads_tables() { "$python" phases.py <tables.out; }
run program reads_tables
is "$(grep -c "^counted: \|^timed: " program.out) $(cat program.code)" "2 0" "the program of docs/report.md reads the tables"
is "$(grep -c "of the computing time" program.out)" "$("$python" -c '
import json
print(sum(len(json.load(open(f"{run}/report.json"))["phases"]) for run in ("counted", "timed")))')" "and finds all phases"

# the JSON of TALP
talp() { # RESULT KIND
	"$phasemux" report --talp -o "$1.talp" "$1" && formats talp "$1.talp" "$1" "$2"
}
holds "the JSON of TALP has the efficiencies of the report" talp counted mpi
holds "also without counters" talp timed mpi
preloaded teams OMP_NUM_THREADS=2 PHASEMUX_BUDGET=none PHASEMUX_REPORT=json,bursts on "$mpi" 2 "$programs/hybrid.$mpi" 150
mv teams.result teams
holds "also of ranks with threads" talp teams hybrid
run threads OMP_NUM_THREADS=2 "$phasemux" run --output=threads -- "$programs/omp" 20
holds "also without MPI" talp threads none
formats hosts counted/report.json hosts
"$phasemux" report --talp hosts.blocks.json >blocks.talp
"$phasemux" report --talp hosts.turns.json >turns.talp
holds "the load balance within hosts and between them, if it is known where each rank ran" formats between blocks.talp turns.talp
run several "$phasemux" report --talp counted timed
is "$(cat several.code)" 1 "--talp is of one result"

# the trace for Perfetto
perfetto() { "$python" "$root/tests/e2e/perfetto.py" "$@"; }
"$phasemux" report --perfetto -o bursts.trace counted
is $? 0 "report --perfetto of a result with a table of bursts"
holds "each burst is a slice with its phase and its counters" perfetto bursts bursts.trace counted
"$phasemux" report --perfetto -o teams.trace teams
holds "also of ranks with threads" perfetto bursts teams.trace teams
head -c -5 bursts.trace >cut.trace
perfetto bursts cut.trace counted >/dev/null 2>&1
is $? 1 "a trace that is cut is found"
preloaded shaped PHASEMUX_TRACE=structure PHASEMUX_BUDGET=none on "$mpi" 4 "$programs/shapes.$mpi" uneven 40
for rank in 0 1 2 3; do
	"$phasemux" trace --rank $rank --expand shaped.result >calls.$rank
done
"$phasemux" report --perfetto -o calls.trace shaped.result
is $? 0 "report --perfetto of a result with the structure of the calls"
holds "it has the calls of each rank, as long as they are in the mean" \
	perfetto calls calls.trace shaped.result calls.0 calls.1 calls.2 calls.3
run neither "$phasemux" report --perfetto -o neither.trace timed
is "$(cat neither.code)" 1 "a result with neither of both: 1"
holds "with what would make it have one" grep -q "REPORT=json,bursts.*TRACE=structure" neither.err
if have protoc; then
	protoc --proto_path="$root/tests/data" --decode=subset.Trace perfetto.proto <bursts.trace >decoded
	is $? 0 "protoc decodes the trace"
	holds "and knows all of it" perfetto decoded decoded "$(perfetto bursts bursts.trace counted)"
else
	skip "protoc decodes the trace" "protobuf-compiler is not installed (tools/install-needed formats)"
fi

done_testing
