#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux validate --counters emulated: the estimates of a multiplexed run beside the truth of the same run, which
# is recorded at every read.
# Real time: enough bursts of each phase within the run.
. "$(dirname "$0")/lib.sh"

[ -z "$sanitizer" ] || skip_all "an emulator of a sanitizer's memory takes all that there is"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulator is of x86-64 alone"

refuses "no such core model" sideways validate --counters emulated --core sideways -- /bin/true
refuses "a core model without the emulator" usage validate --core in-order -- /bin/true
mkdir "$tmp/empty"
run nothing "$phasemux" validate --replay "$tmp/empty"
is "$(cat nothing.code)" 1 "a folder without runs: 1"
holds "and it is named" grep -q "empty: no run of these schemes" nothing.err

takes_plugins || skip_all "no qemu-x86_64 that takes plugins is installed"
counted=$programs/counted.openmpi
[ -x "$counted" ] && have mpirun.openmpi || skip_all "no Open MPI"

run first "$phasemux" validate --counters emulated --scheme time-space --share 0.98 --output kept --json -- \
	mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$counted" 60
is "$(cat first.code)" 0 "a program is run in the emulator"
holds "all of its bursts are recorded" sh -c '! grep -q "not recorded" first.err'
cat >judge.py <<'END'
"""Judges a result: judge.py RESULT KEY, where KEY names a check."""
import json
import sys

result = json.load(open(sys.argv[1]))
run, replay = (part["schemes"]["time-space"] for part in (result, result["replay"]))
relevant = [cell for cell in run["counters"] if cell["relevance"] > .01]


def cells():
    """The three loops have phases, and each has the 16 counters that are not in every group."""
    assert result["core"] == "out-of-order" and result["phases"] >= 3, result["phases"]
    assert len(run["counters"]) == 16 * result["phases"], len(run["counters"])
    assert run["observed"] == replay["observed"] == 1, (run["observed"], replay["observed"])


def errors():
    """The bars of docs/validation.md."""
    for part in run, replay:
        assert 0 < part["mean_weighted_error"] < .001, part["mean_weighted_error"]
        assert part["max_weighted_error"] < .02, part["max_weighted_error"]


def intervals():
    """Most intervals hold the truth, and each class of counter has some."""
    assert set(replay["classes"]) == {"cycles", "misses", "instructions"}, replay["classes"].keys()
    inside = [cell["coverage"] for cell in relevant]
    assert sum(inside) >= .8 * len(inside), inside


def truth():
    """A loop of divisions, and one in which a quarter of the instructions are loads from memory."""
    most = {name: max(cell["relevance"] for cell in run["counters"] if cell["counter"] == name)
            for name in ("divisions", "loads", "l3_misses")}
    assert .2 < most["divisions"] <= .26, most
    assert most["loads"] < .26 and .2 < most["l3_misses"] <= .26, most


globals()[sys.argv[2]]()
END
judge() { "$python" judge.py "$@"; }
holds "every phase and counter is judged" judge first.out cells
holds "estimates are within the bars" judge first.out errors
holds "intervals hold the truth" judge first.out intervals
holds "the truth is that of the loops" judge first.out truth

# A group's number of events does not show in the instructions of its bursts.
holds "bursts of every group have as many instructions" "$python" -c '
import csv, glob, json
phases = json.load(open("kept/time-space/report.json"))["phases"]
lines = [line for name in sorted(glob.glob("kept/time-space/bursts.*.csv")) for line in open(name)]
rows = [row for row in csv.DictReader(lines) if row["prototype"]]
judged = 0
for phase in phases:
    least = {}
    for row in rows:
        if int(row["prototype"]) in phase["prototypes"]:
            group = tuple(name for name in row if row[name] == "")
            least[group] = min(least.get(group, 1 << 62), int(row["instructions"]))
    if phase["bursts"] >= 40:
        judged += len(least) == 3
        assert max(least.values()) - min(least.values()) < 10, (phase["id"], least)
assert judged >= 2, judged'

run again "$phasemux" validate --replay kept --scheme time-space --share 0.98 --json
is "$(cat again.out)" "$(cat first.out)" "the runs that are kept give the same numbers"
run text "$phasemux" validate --replay kept --scheme time-space --trials 20
holds "the text says what the truth is" \
	grep -q '^emulated (core model out-of-order): 1 runs, each with all counts of its bursts recorded' text.out
holds "it has a row for each class of counter, of the run and of the replay" \
	sh -c '[ "$(grep -cE "^time-space +(cycles|misses|instructions) " text.out)" = 6 ]'
holds "it fits 100 columns" sh -c '! grep -qE "^.{101}" text.out'

# An estimate that is 5% off is found. A phase of few bursts may lack the counters of a group.
cp kept/time-space/report.json report.json
"$python" -c '
import json
report = json.load(open("report.json"))
phase = max(report["phases"], key=lambda phase: phase["counters"]["l3_misses"]["mean"] or 0)
for counter in "loads", "memory_cycles":
    phase["counters"][counter]["mean"] *= 1.05
json.dump(report, open("kept/time-space/report.json", "w"))'
run scaled "$phasemux" validate --replay kept --scheme time-space --share 0.98 --json
holds "estimates that are 5% off are stated as such, and their intervals do not hold the truth" "$python" -c '
import json
cells = json.load(open("scaled.out"))["schemes"]["time-space"]["counters"]
for name in "loads", "memory_cycles":
    cell = max((cell for cell in cells if cell["counter"] == name), key=lambda cell: cell["relevance"])
    assert .03 < cell["relative_error"] < .07 and cell["coverage"] == 0, cell'
is "$(judge scaled.out errors >/dev/null 2>&1; echo $?)" 1 "and they are not within the bars"
cp report.json kept/time-space/report.json

# Bursts whose records are missing are not part of the truth, and the user is told.
truncate -s $(($(stat -c %s kept/time-space.reads) / 2)) kept/time-space.reads
run cut "$phasemux" validate --replay kept --scheme time-space --share 0.98 --json
holds "bursts without records are counted" grep -qE '[0-9]+ of [0-9]+ bursts were not recorded' cut.err
rm kept/time-space.reads
run gone "$phasemux" validate --replay kept --scheme time-space
is "$(cat gone.code)" 1 "a run without records: 1"
holds "and the file is named" grep -q 'time-space.reads' gone.err
done_testing
