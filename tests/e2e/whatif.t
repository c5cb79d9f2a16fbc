#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `phasemux whatif` foresees is what happens: a program is run, asked about, changed, and run again.
# Real time: how long a program runs, beside the time that was foreseen.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of spmd | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
helper() { "$python" "$root/tests/e2e/whatif.py" "$@"; }

# shaped NAME SHAPE WORK [alike]: runs a shape of spmd.c whose bursts sleep, so that its times are known
shaped() {
	preloaded "$1" PHASEMUX_CLUSTER_BY=duration,callpath on "$mpi" 2 "$programs/spmd.$mpi" "$2" 1.5 "${@:3}"
	is "$(cat "$1.code")" 0 "$1: the program ends as it would"
	helper quiet "$3" "${4:-uneven}" "$1.out" "$1.result/report.json" >"$1.busy" 2>&1
}

# asked NAME RUN OPTION...: leaves the answers about a run in NAME.json
asked() {
	"$phasemux" whatif --json "${@:3}" "$2.result" >"$1.json" 2>"$1.err"
	is $? 0 "$1: whatif answers"
}

# foreseen SHAPE FUNCTION WHICH: halves the function's work, and balances it. WHICH: the time that is right for this shape
foreseen() {
	local shape=$1 half balanced

	shaped "$shape" "$shape" 1
	shaped "$shape.half" "$shape" 0.5
	shaped "$shape.alike" "$shape" 1 alike
	mapfile -t half < <(helper options "$shape.result/report.json" "$2" --phase=N=0.5)
	mapfile -t balanced < <(helper options "$shape.result/report.json" "$2" --balance=N)
	asked "$shape.half" "$shape" "${half[@]}"
	asked "$shape.alike" "$shape" "${balanced[@]}"
	if [ -s "$shape.busy" ]; then
		skip "$shape: bursts that sleep are told apart by how long they take" "the machine is too busy"
	else
		holds "$shape: bursts that sleep are told apart by how long they take" helper alike "$shape.result/report.json"
	fi
	for change in half alike; do
		cat "$shape.busy" "$shape.$change.busy" >busy
		if [ -s busy ]; then
			skip "$shape.$change: as foreseen" "the machine is too busy: $(tail -n 1 busy)"
			continue
		fi
		holds "$shape.$change: as foreseen" \
			helper near "$shape.$change.json" "$3" "$shape.$change.result/report.json"
	done
}

# Ranks that wait after each phase, also if another rank is the slowest in each of them; and ranks that do not.
foreseen uneven correct least
foreseen across ahead least
foreseen loose ahead_alone most

# communicates SHAPE WHICH...: messages in a quarter of their time. WHICH: the times that are right for this shape
communicates() {
	local which

	shaped "$1" "$1" 1
	shaped "$1.quick" "$1" 0.25
	asked "$1.quick" "$1" --communication 0.25
	cat "$1.busy" "$1.quick.busy" >busy
	for which in "${@:2}"; do
		if [ -s busy ]; then
			skip "$1.quick: as foreseen ($which)" "the machine is too busy: $(tail -n 1 busy)"
		else
			holds "$1.quick: as foreseen ($which)" \
				helper near "$1.quick.json" "$which" "$1.quick.result/report.json"
		fi
	done
}

# A rank that never waits, ranks that wait for each other in turn, and ranks that need not wait.
communicates carrying least most
communicates turning most
communicates hurrying least
run said "$phasemux" whatif --communication 0.5 turning.result
holds "communication: the table has it" grep -q "^communication in half its time  *[0-9.]* .*%" said.out
holds "communication: says what is known of it" grep -q "Communication takes .*: no rank is in calls for less" <(tr -s "\n " " " <said.out)
holds "communication: its bounds are in the JSON" "$python" -c 'import json, sys
found = json.load(open(sys.argv[1]))
assert 0 < found["communication_seconds"]["least"] < found["communication_seconds"]["most"] < found["wall_seconds"], found' turning.quick.json

run words "$phasemux" whatif uneven.result
is "$(cat words.code)" 0 "without options: single changes"
holds "the first words are a sentence that answers" grep -q "^One single change of the program brings most: with " words.out
holds "the table follows" grep -q "^change  *wall time  *saved  *speedup$" words.out
holds "it fits into 100 columns" [ "$(wc -L <words.out)" -le 100 ]
holds "it says that nothing was measured" grep -q "estimates from the report alone, and not measured" words.out
run two "$phasemux" whatif --phase 1=0.5 --cpu 2 uneven.result
holds "two changes are answered each and both" grep -q "^all of these " two.out
holds "in one sentence" grep -q " With phase 1 in half its time and a processor 2 times as fast, the run would take " <(tr "\n" " " <two.out)

# refused WHAT WORDS ARGUMENT...: whatif does not answer, and says why in one line
refused() {
	refuses "$1" "$2" whatif "${@:3}"
	is "$(wc -l <"$tmp/refuses.err")" 1 "$1: it is one line"
}
refused "an unknown phase" "no phase 77; the phases of this result: 1, " --phase 77=0.5 uneven.result
refused "a phase without a factor" "^phasemux: --phase 1: NUMBER=FACTOR" --phase 1 uneven.result
refused "a factor below 0" "^phasemux: --phase 1=-2: NUMBER=FACTOR" --phase 1=-2 uneven.result
refused "a processor of speed 0" "^phasemux: --cpu 0: " --cpu 0 uneven.result
refused "communication without a factor" "^phasemux: --communication x: a factor from 0 to 1000" --communication x uneven.result
refused "a phase that is none" "^phasemux: --balance x: nothing, or the number of a phase" --balance=x uneven.result
helper edit uneven.result/report.json older >older.json
refused "a result of an older version" "older.json: .*without the time of the ranks in each phase; run" older.json
on_page() { "$phasemux" report --html "$1" | grep -cE '<h2 id="outlook-title">|<p>One single change of the program brings most: '; }
is "$(on_page uneven.result)" 2 "the page has the change that brings most"
is "$(on_page older.json)" 0 "the page of an older version does not have it"
helper edit uneven.result/report.json empty >empty.json
refused "a result without phases" "empty.json: this result has no phase" empty.json
run serial "$phasemux" run --output=alone.result -- "$programs/plain"
if [ -e alone.result/report.json ]; then
	refused "the balance of one process" "the run has only one process" --balance alone.result
	refused "the communication of one process" "communication: the run has only one process" --communication 0 alone.result
fi
helper edit uneven.result/report.json many >many.json
run many "$phasemux" whatif many.json
holds "the deciles of many ranks are enough" grep -q "^all computing balanced between ranks" many.out

helper edit uneven.result/report.json missing >missing.json
run missing "$phasemux" whatif --balance missing.json
holds "a rank that left nothing is taken to be like the others" grep -q "^1 of 2 ranks left their times" missing.out
holds "all ranks then compute as long" grep -q " which each rank then " <(tr "\n" " " <missing.out)

if [ ! -e "$scripted" ] || [ -z "$(mpis_of phases)" ]; then
	skip "components" "no scripted PMU was built"
	done_testing
fi
command=(on "$mpi" 3 "$programs/phases.$mpi" -n 60 -c -b 300)
scripted counted PHASEMUX_BUDGET=none "${command[@]}"
refused "an unknown component" "no component 'x'; those of this result: .*back end/memory" --component x=0.5 counted.result
refused "a component and its part" "'back end/memory' is in 'back end'" --component 'back end=0.5' \
	--component 'back end/memory=0.5' counted.result
components=()
while read -r name; do
	components+=(--component "$name=0.5")
done < <("$phasemux" whatif --component x=1 counted.result 2>&1 | sed 's/.*result: //; s/, /\n/g' | grep -v /)
mapfile -t phases < <(helper halved counted.result/report.json)
asked components counted "${components[@]}"
asked phases counted "${phases[@]}"
holds "what components save is added" helper same components.json phases.json

mkdir killed.spool
scripted killed PHASEMUX_BUDGET=none PHASEMUX_SPOOL="$tmp/killed.spool" "${command[@]}" -k 50
"$phasemux" recover --json killed.spool >killed.json 2>/dev/null
run recovered "$phasemux" whatif --balance killed.json
is "$(cat recovered.code)" 0 "a killed run has answers"
holds "they say what they are about" grep -q "The run did not end by itself: all times are of the part" recovered.out

done_testing
