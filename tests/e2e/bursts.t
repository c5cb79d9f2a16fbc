#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# PHASEMUX_REPORT=bursts: the files of the ranks, one after the other, are one table of the bursts that were
# read.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of phases | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
program() { on "$mpi" 2 "$programs/phases.$mpi" -n 150 -x 5; }

run bare program
preloaded bursts PHASEMUX_REPORT=json,bursts PHASEMUX_BUDGET=none program
unchanged bursts bare
cat bursts.result/bursts.*.csv >all.csv
holds "one table: a header, rows of as many columns, each burst once, of both ranks, and phases by their prototypes" "$python" -c '
import csv, json, sys
rows = list(csv.DictReader(open("all.csv")))
report = json.load(open("bursts.result/report.json"))
assert {row["task"] for row in rows} == {"0", "1"}
assert all(None not in row and None not in row.values() for row in rows)
assert all(int(row["begin_ns"]) <= int(row["end_ns"]) for row in rows)
for task in "01":
    begins = [int(row["begin_ns"]) for row in rows if row["task"] == task]
    assert len(begins) == len(set(begins))
for phase in report["phases"]:
    # bursts for which no place was left are in the table without a prototype
    claimed = sum(row["prototype"] != "" and int(row["prototype"]) in phase["prototypes"] for row in rows)
    assert claimed == phase["read"], (claimed, phase)
read = sum(phase["read"] for phase in report["phases"])
assert read <= len(rows) <= report["bursts"], (read, len(rows), report["bursts"])
named = {event for group in report["groups"] for event in group["events"]}
assert len(rows[0]) == 5 + len(named), rows[0]'
if "$phasemux" 2>/dev/null --help | grep -qw cluster; then
	run clustered "$phasemux" cluster --output=clustered all.csv
	is "$(cat clustered.code)" 0 "phasemux cluster reads it"
else
	skip "phasemux cluster reads it" "this command has no cluster"
fi

# The limit of short bursts is known when most of the program has run. With a sanitizer, which makes the agent
# slow, bursts of 600 instructions are no longer short, and are a phase.
if [ -e "$scripted" ]; then
	scripted preamble PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/phases.$mpi" -n 300 -s 30000
	holds "bursts that were read before it was known that they are short are of no phase" \
		report long "$tmp/preamble.result/report.json"
	holds "they are short, as the others" report accounting "$tmp/preamble.result/report.json"
else
	skip "short bursts at the beginning" "no scripted PMU was built"
fi

done_testing
