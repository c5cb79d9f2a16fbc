#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux compare: what the difference between two runs comes from, of real runs, of edited reports, and of older ones.
# Real time: the time that differences of work, waiting and the balance of load explain.
. "$(dirname "$0")/lib.sh"

# NAME CODE ARGUMENT...: compares to NAME.compared and NAME.txt, with this exit code; -: any
compare() {
	local name=$1 code=$2 got

	shift 2
	"$phasemux" compare --json -o "$name.compared" "$@" 2>"$name.err"
	got=$?
	[ "$code" = - ] || is $got "$code" "$name: the exit code"
	"$phasemux" compare "$@" >"$name.txt" 2>>"$name.err"
	is "$(cat "$name.err")" "" "$name: nothing on stderr"
	is "$(awk 'length > 100' "$name.txt")" "" "$name: the text has at most 100 columns"
	"$phasemux" compare --html -o "$name.html" "$@" 2>>"$name.err"
	holds "$name: the page is sound, and loads and runs nothing" page sound "$name.html"
	holds "$name: it holds the comparison" page data "$name.html" "$name.compared"
	holds "$name: it says what the text says" same_words "$name"
	holds "$name: it is as its schema says" report comparison "$name.compared"
	holds "$name: the causes sum to the difference" \
		says "$name" 'close(sum(c["seconds"] for c in d["causes"]), d["wall_seconds"]["difference"])'
}

page() { "$python" "$root/tests/e2e/page.py" "$@"; }

# NAME: the page has each difference and each sentence that the text has
same_words() {
	local words=()

	mapfile -t words < <(grep -oE '(not told apart \(\+- [^)]*\)|[-+][0-9.]+( k| M|) \+- [^(]*[a-zA-Z]*( \([-+0-9.]+%\))?|^The wall time.*|(from|to) MPI_.*)' \
		"$1.txt" | sed 's/ *[-+]*$//')
	[ ${#words[@]} -gt 5 ] && page text "$1.html" "${words[@]}"
}

# NAME CONDITION: of the comparison NAME.compared, in Python. d: the document
says() {
	"$python" - "$1.compared" "$2" <<'END'
import json, math, sys
d = json.load(open(sys.argv[1]))
close = lambda one, other: math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
phases = d["phases"]
share = lambda side, kept: sum(p["seconds"][side] for p in kept) / sum(p["seconds"][side] for p in phases)
both = [p for p in phases if p["status"] == "both"]
if not eval(sys.argv[2]):
    print(sys.argv[2], json.dumps(d, indent=1)[:3000])
    sys.exit(1)
END
}

# FROM TO PYTHON: edits a report d
edit() {
	"$python" - "$@" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))
END
}

phases() { on openmpi 2 "$programs/phases.openmpi" -n 300 -c "$@"; }

# One phase does half of its work: 6 million instructions a burst less, in each of 300 bursts of a rank.
scripted whole PHASEMUX_EVENTS=zen5 phases
scripted again PHASEMUX_EVENTS=zen5 phases
scripted half PHASEMUX_EVENTS=zen5 phases -w 50
compare half - whole.result half.result
halved='[p for p in both if p["instructions_per_burst"]["before"] > 5e6]'
holds "half: the phase is found again" says half "len($halved) == 1"
holds "half: by its place" says half "$halved[0]['matched_by'] == 'place'"
holds "half: its instructions are half, told apart" says half \
	"abs($halved[0]['instructions_per_burst']['difference'] + 6e6) < 1e5 and $halved[0]['instructions_per_burst']['told_apart']"
holds "half: its CPI is not told apart" says half "$halved[0]['cpi']['told_apart'] is False"
holds "half: nor is any component" says half \
	"not any(c['told_apart'] for c in $halved[0]['cpi_breakdown'])"
holds "half: the other phases do the same work" says half \
	'not any(p["instructions_per_burst"]["told_apart"] for p in both if p["instructions_per_burst"]["before"] < 5e6)'
if [ -n "$sanitizer" ]; then
	skip "half: work is a cause, told apart" "reads are so expensive with a sanitizer that the budget pays for few"
else
	holds "half: work is a cause, told apart" says half \
		'[c for c in d["causes"] if c["cause"] == "work" and c["told_apart"] and c["seconds"] < 0]'
	holds "half: the text says so" grep -qE '^  work \(instructions\) +-[0-9.]+ \+- [0-9.]+ m?s +-*$' half.txt
fi
holds "half: the text names the phase's cause" grep -q 'because of work (instructions) -' half.txt
holds "half: the text says what is equal" grep -qE '^ +CPI +0\.1[0-9]+ +0\.1[0-9]+ +not told apart' half.txt
holds "half: a note says what one run on each side cannot tell" grep -q 'One run on each side' half.txt

compare same - whole.result again.result
holds "same: phases that go on have nearly all time" says same \
	'share("before", both) > 0.95 and share("after", both) > 0.95'
holds "same: no work and no component is told apart" says same \
	'not any(c["told_apart"] for c in d["causes"] if c["cause"] in ("work", "component"))'
holds "same: without runs on one side the wall time has no interval" says same \
	'd["wall_seconds"]["ci95"] is None and d["intervals"] == "bursts"'

# Another CPI in one component, by which all of the time differs.
edit whole.result/report.json slow.json '
for phase in d["phases"]:
    for c in phase["cpi_breakdown"]:
        if c["component"] == "back end":
            c["cpi"] += phase["cpi"]
    for c in phase["counters"].values():
        c["mean"] *= 2
        break
    phase["cpi"] *= 2
    phase["ipc"] /= 2
    phase["duration_seconds"]["mean"] *= 2
useful = d["efficiency"]["parallel"] * d["wall_seconds"]
d["wall_seconds"] += useful
d["compute_seconds"] *= 2
d["efficiency"]["parallel"] = 2 * useful / d["wall_seconds"]'
compare slow - whole.result slow.json
holds "slow: the back end is the largest cause" says slow \
	'max(d["causes"], key=lambda c: c["seconds"])["component"] == "back end"'
holds "slow: it has all of the computing time's difference in phases" says slow \
	'0.9 < max(c["seconds"] for c in d["causes"]) / sum(p["seconds"]["difference"] for p in phases) < 1.1'

# Worse: NAME FACTOR... makes runs whose wall time, and times of ranks, are those of whole.result times a factor
runs_of() {
	local name=$1 factor i=0

	shift
	for factor; do
		i=$((i + 1))
		edit whole.result/report.json "$name$i.json" "
d['wall_seconds'] *= $factor
d['compute_seconds'] *= $factor
for phase in d['phases']:
    phase['duration_seconds'] = {'mean': phase['duration_seconds']['mean'] * $factor, 'sd': 0, 'ci95': 0}
    phase['time_share_ci95'] = 0"
	done
}
runs_of base 1 1.01 0.99
runs_of worse 1.2 1.21 1.19
runs_of near 1.04 1.05 1.03
base=(--base base1.json --base base2.json --base base3.json)
compare worse 3 "${base[@]}" worse1.json worse2.json worse3.json
holds "worse: it is told apart, and said" says worse 'd["worse"] and d["wall_seconds"]["told_apart"]'
holds "worse: with an interval of the runs" says worse \
	'd["intervals"] == "runs" and 0.02 < d["wall_seconds"]["ci95"] / d["wall_seconds"]["before"] < 0.03'
holds "worse: so does the text" grep -q 'wall time is longer: .* worse by more than 5%' worse.txt
compare one 3 "${base[@]}" worse1.json
holds "one: a single run has a wider interval" says one '0.04 < d["wall_seconds"]["ci95"] / d["wall_seconds"]["before"] < 0.08'
compare near 0 "${base[@]}" near1.json near2.json near3.json
holds "near: told apart, within the threshold" says near 'not d["worse"] and d["wall_seconds"]["told_apart"]'
compare near1 3 --threshold 1% "${base[@]}" near1.json near2.json near3.json
compare near2 3 --threshold=0.01 "${base[@]}" near1.json near2.json near3.json
compare better 0 --base worse1.json --base worse2.json --base worse3.json base1.json base2.json
compare self 0 base1.json base1.json
holds "self: nothing is told apart" says self 'not any(c["told_apart"] for c in d["causes"])'
runs_of wide 1 1.5 0.7
compare wide 0 --base wide1.json --base wide2.json --base wide3.json worse1.json worse2.json
holds "wide: what varies more from run to run is not told apart" says wide 'd["wall_seconds"]["told_apart"] is False'
run steps "$phasemux" compare base1.json worse1.json base1.json
is "$(cat steps.code)" 3 "of several steps, one is worse"
is "$(grep -c '^The wall time is' steps.out)" 2 "each step is compared"

# Without counters: time alone, of a real program.
if have lmp && have mpirun.openmpi; then
	for run in 1 2; do
		preloaded melt$run PHASEMUX_COUNTERS=hardware PHASEMUX_EVENTS=task-clock \
			on openmpi 2 lmp -in "$root/tools/melt.in" -log none -var steps 200 -var cells 12
	done
	compare melt - melt1.result melt2.result
	holds "melt: phases that go on have nearly all time" says melt \
		'share("before", both) > 0.9 and share("after", both) > 0.9'
	holds "melt: the parts are the number and the duration of bursts" says melt \
		'{"bursts", "duration"} < {c["cause"] for c in d["causes"]} and not any("CPI" in c["cause"] for c in d["causes"])'
	holds "melt: no CPI is invented" says melt 'all(p["cpi"]["before"] is None for p in phases)'
else
	skip "LAMMPS" "not installed"
fi

# Reports of older versions, and of any origin.
edit whole.result/report.json old.json '
d = {"phasemux": 1, "phases": [{key: phase[key] for key in ("id", "time_share", "counters")} for phase in d["phases"]]}'
"$phasemux" compare --json -o old.out old.json whole.result 2>old.err
is $? 0 "old: a report of the least keys"
for key in $("$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(*sorted({*report, *report["phases"][0]} - {"phasemux", "phases", "id", "time_share", "counters"}))' whole.result/report.json); do
	edit whole.result/report.json without.json "
d.pop('$key', None)
for phase in d['phases']: phase.pop('$key', None)"
	"$phasemux" compare --threshold 1e9 without.json whole.result >without.txt 2>without.err
	is "$?" 0 "without $key: is compared"
done
edit whole.result/report.json hostile.json '
for phase in d["phases"]:
    for pair in phase["source"]:
        pair["from_function"] = "\x1b[31m<b>%s%n" + "x" * 5000'
"$phasemux" compare whole.result hostile.json >hostile.txt
holds "hostile: a name cannot control the terminal" bash -c '! grep -qF "$(printf "\033")" hostile.txt'
"$phasemux" compare --html -o hostile.html whole.result hostile.json
holds "hostile: the page is sound" page sound hostile.html
holds "hostile: names are text" page text hostile.html '?[31m<b>'
is "$(awk 'length > 100' hostile.txt | grep -vc xxxx)" 0 "hostile: the lines are as long as others"

# 200 phases on each side, of 10,000 ranks.
page big whole.result/report.json big.json
edit big.json bigger.json '
for i, phase in enumerate(d["phases"]):
    phase["time_share"] *= 1 + i % 7 / 10
    for pair in phase["source"]:
        pair["from_function"] += str(i)'
edit bigger.json big.json '
for phase in d["phases"]:
    phase["time_share"] /= 2
    for c in phase["cpi_breakdown"]: c["cpi"] = c["cpi"] and 1.1 * c["cpi"]'
compare big - big.json bigger.json
holds "big: all phases are matched" says big 'len(both) == 200'
holds "big: the page is below 2 MB" [ "$(stat -c %s big.html)" -lt 2000000 ]

# Tables of bursts are compared as before, without intervals.
"$phasemux" cluster --quiet --output table "$root/tests/data/small.csv"
run table "$phasemux" compare table table
holds "tables: phases are matched" grep -q 'phases that go on hold 100.00%' table.out
run mixed "$phasemux" compare table whole.result
is "$(cat mixed.code)" 0 "tables: beside a report"

refused() { # NAME CODE MESSAGE ARGUMENT...
	local name=$1 code=$2 message=$3

	shift 3
	run "$name" "$phasemux" compare "$@"
	is "$(cat "$name.code")" "$code" "$name: the exit code"
	holds "$name: says what is wrong" grep -q -- "$message" "$name.err"
}
echo '[]' >other.json
mkdir -p steps/step.0 steps/step.1
cp whole.result/report.json steps/step.0/ && cp whole.result/report.json steps/step.1/
refused nothing 2 '^usage: phasemux compare'
refused alone 2 '^usage: phasemux compare' whole.result
refused three 2 '^usage: phasemux compare' --json whole.result whole.result whole.result
refused threshold 2 "threshold" --threshold much whole.result whole.result
refused negative 2 "threshold" --threshold -5% whole.result whole.result
refused pages 2 '^usage: phasemux compare' --html whole.result whole.result whole.result
refused options 2 'a table of bursts has no intervals' --json table whole.result
refused missing 1 'No such file' nowhere whole.result
refused strange 1 'not a report of phasemux' other.json whole.result
refused several 1 'several results' steps whole.result
refused unwritable 1 'nowhere/x: No such file' -o nowhere/x whole.result whole.result
refused full 1 '/dev/full: No space left' -o /dev/full whole.result whole.result

done_testing
