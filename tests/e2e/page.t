#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `phasemux report --html` and PHASEMUX_REPORT=html: it says what report.txt says, holds report.json, is safe with any names, and
# needs no script, no network and no other file. What its script adds is tested by controls.t.
. "$(dirname "$0")/lib.sh"

page() { "$python" "$root/tests/e2e/page.py" "$@"; }

# xmllint knows the elements of HTML 4 only. PAGE
is_html() {
	! xmllint --html --noout "$1" 2>&1 | grep 'error :' | grep -vE 'Tag [a-z]+ invalid$'
}

smaller_than() { [ "$(stat -c %s "$2")" -lt "$1" ] || stat -c '%s bytes' "$2"; [ "$(stat -c %s "$2")" -lt "$1" ]; }

# NAME REPORT: makes $tmp/NAME.html, and checks what each page must hold
sound() {
	holds "$1: a page" "$phasemux" report --html -o "$tmp/$1.html" "$2"
	holds "$1: is sound, loads nothing, and runs nothing but its own script" page sound "$tmp/$1.html"
	holds "$1: has no characters that change how others are shown" page clean "$tmp/$1.html"
	holds "$1: holds the report" page data "$tmp/$1.html" "$2"
	if have xmllint; then
		holds "$1: xmllint reads it" is_html "$tmp/$1.html"
	else
		skip "$1: xmllint reads it" "no xmllint"
	fi
}

# NAME: checks the page of the run NAME
whole() {
	local json=$tmp/$1.result/report.json

	sound "$1" "$json"
	"$phasemux" report "$json" >"$tmp/$1.txt"
	holds "$1: says what the text says" page same "$tmp/$1.html" "$tmp/$1.txt"
	holds "$1: is below 500 KB" smaller_than 500000 "$tmp/$1.html"
}

scripted cycles PHASEMUX_EVENTS=zen5 on openmpi 2 "$programs/phases.openmpi" -n 300 -c
whole cycles
json=$tmp/cycles.result/report.json
holds "cycles: has the times of its ranks" page text "$tmp/cycles.html" "computes longest," "rank 0 rank 1 A column for each"
holds "cycles: has the date and the host" page text "$tmp/cycles.html" "start started 20" "Z on $(hostname)"
holds "cycles: has single bursts" page text "$tmp/cycles.html" "instructions of a burst" "bursts, drawn at random." \
	"Rings: what the prototypes of a phase reach." "phase 4:"
holds "cycles: has the trainings" page text "$tmp/cycles.html" "When the phases were known" "Each column is a training of rank 0"
holds "cycles: the trainings are in order, and the last one knows each phase" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
rounds = report["rounds"]
assert len(rounds) > 1 and rounds[0]["kept"] is None, rounds
assert [one["seconds"] for one in rounds] == sorted(one["seconds"] for one in rounds), rounds
assert rounds[-1]["phases"] >= len(report["phases"]), rounds
' "$json"
holds "cycles: the sample has bursts of each phase" "$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
sample, phases = report["sample"], {phase["id"]: phase for phase in report["phases"]}
numbers = {(prototype["number"], prototype["phase"]) for prototype in sample["prototypes"]}
assert numbers == {(number, id) for id, phase in phases.items() for number in phase["prototypes"]}, numbers
assert set(sample["phase"]) >= set(phases), sample["phase"]
assert len({len(sample[key]) for key in ("phase", "nanoseconds", "instructions", "ipc_millionths")}) == 1
for id, instructions, ipc in zip(sample["phase"], sample["instructions"], sample["ipc_millionths"]):
    if id:
        assert abs(instructions / phases[id]["counters"]["ex_ret_instr"]["mean"] - 1) < 0.01, (id, instructions)
        assert abs(ipc / 1e6 / phases[id]["ipc"] - 1) < 0.01, (id, ipc)
' "$json"
holds "cycles: names are links to their meaning" "$python" -c '
import re, sys
page = open(sys.argv[1]).read()
ids = set(re.findall(" id=\"([^\"]*)\"", page))
for kind in ("metric", "event", "term", "component"):
    links = set(re.findall(f"<a (?:class=\"term\" )?href=\"#({kind}-[^\"]*)\"", page))
    assert links and links <= ids, (kind, links - ids)
names = set(re.findall("<th scope=\"row\"[^>]*>([a-zA-Z][^<]*)</th><td", page[page.index("id=\"phase-1\""):page.index("id=\"bursts\"")]))
assert not names, names
' "$tmp/cycles.html"
holds "cycles: a metric has its meaning, its unit, its formula and its events" page text "$tmp/cycles.html" \
	"branch mispredicts Branches that the predictor got wrong. Branches that depend on data can become selections or sorted data. In per 1000 instr: 1000 * ex_ret_brn_misp / ex_ret_instr" \
	"ex_ret_brn_misp branches retired, mispredicted" \
	"front end cycles: de_no_dispatch_per_slot.no_ops_from_frontend / 8" "bandwidth what is left of front end"
holds "cycles: each metric of a model is in the glossary" "$python" -c '
import glob, json, re, sys
terms = set(re.findall(r"\| \*\*(.*?)\*\* \|", open(sys.argv[1] + "/docs/glossary.md").read().split("## Metrics")[1].split("## ")[0]))
used = {metric["name"] for name in glob.glob(sys.argv[1] + "/multiplex/models/*.json") for metric in json.load(open(name)).get("metrics", [])}
assert terms == used, terms ^ used
' "$root"
holds "cycles: phases have the colours of all other views" grep -q '<pattern id="c2".*fill="#d55e00"' "$tmp/cycles.html"
holds "cycles: has a verdict" page text "$tmp/cycles.html" "of the ranks' time is computation."
preloaded time PHASEMUX_COUNTERS=hardware PHASEMUX_EVENTS=task-clock on openmpi 2 "$programs/phases.openmpi" -n 100 -c
whole time
holds "time: says that cycles are missing, and shows the time" \
	page text "$tmp/time.html" "No cycles per instruction." "Share of the computing time" "duration of a burst" "A row for each phase"
"$python" - "$tmp/time.result/report.json" lacking.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
for phase in report["phases"]:
    phase["counters"]["task-clock"]["mean"] = 0.5e9 * phase["duration_seconds"]["mean"]
json.dump(report, open(sys.argv[2], "w"))
END
sound lacking lacking.json
holds "lacking: says that the ranks had no processor, and what to do" page text "$tmp/lacking.html" \
	"Bursts had a processor for only 50.0% of their time" "processor time bursts had one for 50.0% of their time" \
	"Start fewer ranks, bind each one"
scripted structure PHASEMUX_TRACE=structure on openmpi 2 "$programs/phases.openmpi" -n 300 -c
whole structure
holds "structure: has the structure of the calls" page text "$tmp/structure.html" "Structure of the calls of all ranks:"

# At exit, of the same document.
scripted exit PHASEMUX_EVENTS=zen5 PHASEMUX_REPORT=json,html on openmpi 2 "$programs/phases.openmpi" -n 300 -c
is "$(ls exit.result)" $'report.html\nreport.json\ntrace.json' "at exit: the page, the report and its trace"
sound exit exit.result/report.json
holds "at exit: it is the page of that report" cmp exit.html exit.result/report.html
told alone.bare PHASEMUX_DISABLE=1 "$programs/posix_threads" 20
told alone PHASEMUX_REPORT=html "$programs/posix_threads" 20
unchanged alone alone.bare
is "$(ls alone.result)" report.html "at exit: the page alone"
is "$(cat alone.err)" "" "at exit: nothing is printed"
# The report is shorter than the limit, the page is longer.
told full PHASEMUX_REPORT=text,html bash -c 'ulimit -f 32; exec "$0" "$@"' "$programs/posix_threads" 20
unchanged full alone.bare
is "$(ls full.result)" report.txt "no room for the page: the text is there, and no part of a page"
holds "no room for the page: says so" grep -q "^phasemux: .*/report.html cannot be written: File too large$" full.err

if have w3m; then
	run w3m w3m -dump -cols 100 "$tmp/cycles.html"
	holds "a browser for terminals shows the verdict" grep -q "of the ranks' time is computation" "$tmp/w3m.out"
	holds "and the table of phases" grep -qE '^ +1 +[0-9.]+% ' "$tmp/w3m.out"
	holds "and the components" grep -qE '^ +back end +[0-9]\.[0-9]{3} ' "$tmp/w3m.out"
else
	skip "a browser for terminals" "no w3m"
fi

# Reports of any size, of any origin, and of older versions.
page big "$json" big.json
sound big big.json
holds "big: is below 2 MB, with a reserve" smaller_than 1950000 "$tmp/big.html"
holds "big: each phase is on it" page text "$tmp/big.html" "10000 ranks" "phase 1:" "200 <0.1%"
holds "big: the hosts are on it" page text "$tmp/big.html" "on more than 512 hosts: node0000 (16 ranks), node0001 (16)" \
	"the first 64, by name node0000: 16 ranks, the first is 0 node0001: 16 ranks, the first is 16" "node0063: 16 ranks, the first is 1008"
holds "big: the times of its ranks are on it" page text "$tmp/big.html" "up to 10% of the ranks" "up to 100% of the ranks" \
	"shortest longest Deciles of the ranks' computing time"
page many "$json" many.json
sound many many.json
holds "many: is below 500 KB" smaller_than 500000 "$tmp/many.html"
holds "many: the times of each rank are on it" page text "$tmp/many.html" \
	"Rank 200 computes longest, 7.00 s, and rank 100 shortest, 1.00 s; the mean is 3.0" \
	"The times of 1 of the ranks are not known." "rank 200 7.00 s 87.5% 3.00 s" "rank 300 not known not known" \
	"rank 511: computing 4.00 s, in MPI 3.00 s"
page hostile "$json" hostile.json
sound hostile hostile.json
holds "hostile: names are text" page text "$tmp/hostile.html" '</script><script>alert(1)</script>' \
	'"><img src=x onerror=alert(1)>' '%s%n%d' '<!--'
page old "$json" old.json
sound old old.json
for key in $("$python" -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(*sorted({*report, *report["phases"][0]} - {"phasemux", "phases", "id", "time_share", "counters"}))' "$json"); do
	page "without:$key" "$json" without.json
	holds "without $key: a page" "$phasemux" report --html -o without.html without.json
	holds "without $key: is sound" page sound without.html
done

# Rows of phases with one place are told apart.
"$python" - "$json" alike.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
first, second = report["phases"] = report["phases"][:2]
second["source"] = [dict(first["source"][0], share=0.75)]
second["duration_seconds"] = dict(first["duration_seconds"], mean=0.1 * first["duration_seconds"]["mean"])
json.dump(report, open(sys.argv[2], "w"))
END
sound alike alike.json
holds "alike: the rows say in what they differ" grep -q '(75%)<br><small>the short ones, .* (phase 1 has the same place)<' \
	"$tmp/alike.html"

# What is not known is never shown as 0.
"$python" - "$json" unknown.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
for phase in report["phases"]:
    for i, component in enumerate(phase["cpi_breakdown"]):
        component["ci95"] = None
        component["cpi"] = None if i % 2 else 97654.321
json.dump(report, open(sys.argv[2], "w"))
END
sound unknown unknown.json
holds "unknown: says so" page text "$tmp/unknown.html" "too few bursts of each group for a breakdown"
holds "unknown: does not say that the run was long enough for it" page text "$tmp/unknown.html" \
	"No component of the large phases is known. A longer run is needed."
holds "unknown: has no value without an interval" \
	bash -c '! sed "s/<script.*//" "$1" | grep -qF 97654' - "$tmp/unknown.html"

# The verdict. SHARES ERRORS [TIMES]: retiring, front end and back end have these shares of the CPI, in phases that have
# these shares of the time. All time is computation.
verdict() {
	"$python" - "$json" verdict.json "$@" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
report["efficiency"] = {"parallel": 1, "load_balance": 1, "communication": 1}
shares, errors = json.loads(sys.argv[3]), json.loads(sys.argv[4])
times = json.loads(sys.argv[5]) if len(sys.argv) > 5 else [0.8]
breakdown = [{"component": name, "level": 0, "cpi": 2 * share, "ci95": 2 * error}
             for name, share, error in zip(("retiring", "front end", "back end"), shares, errors)]
report["phases"] = [dict(report["phases"][0], id=1 + i, time_share=time, cpi=2, cpi_breakdown=breakdown)
                    for i, time in enumerate(times)]
json.dump(report, open(sys.argv[2], "w"))
END
	"$phasemux" report --html -o verdict.html verdict.json
}
verdict '[0.5, 0.1, 0.4]' '[0.01, 0.01, 0.01]'
holds "verdict: the largest loss, and not what is work" page text verdict.html \
	"The largest loss is back end in phase 1: 32.0% +-0.8% of the time (40.0% of the phase) ; the next is front end"
verdict '[0.4, 0.29, 0.31]' '[0.01, 0.02, 0.02]'
holds "verdict: no winner where intervals overlap" page text verdict.html \
	"the intervals do not tell which is larger, are back end in phase 1: 24.8%" "and front end in phase 1: 23.2%"
verdict '[0.5, 0.1, 0.4]' '[0.01, 0.01, 0.01]' '[0.3, 0.5]'
holds "verdict: a component counts in all phases" page text verdict.html \
	"back end: 32.0% +-0.8% of the time, most of it in phase 2 (40.0% of that phase)"
verdict '[0.97, 0.01, 0.02]' '[0.001, 0.001, 0.001]'
holds "verdict: no loss" page text verdict.html "No loss of 5% of the time or more is known."

# Invalid requests.
refuses() {
	local name=$1 code=$2 message=$3

	shift 3
	run "$name" "$phasemux" report --html "$@"
	is "$(cat "$tmp/$name.code")" "$code" "$name: the exit code"
	holds "$name: says what is wrong" grep -q "$message" "$tmp/$name.err"
	is "$(cat "$tmp/$name.out")" "" "$name: no page"
}

echo '{' >torn.json
echo '{"phasemux": 2, "phases": []}' >newer.json
echo '[]' >other.json
mkdir -p empty steps/step.0 steps/step.1
cp "$json" steps/step.0/ && cp "$json" steps/step.1/
refuses torn 1 'torn.json: line' torn.json
refuses newer 1 'a report of version 2' newer.json
refuses other 1 'not a report of phasemux' other.json
refuses empty 1 'no report.json in it' empty
refuses missing 1 'No such file' nowhere
refuses several 1 'choose one with --step' steps
refuses unwritable 1 'nowhere/page.html: No such file' -o nowhere/page.html "$json"
refuses full 1 '/dev/full: No space left' -o /dev/full "$json"
refuses both 2 '^usage: phasemux report' --job 1 "$json"
refuses fold 2 '^usage: phasemux report' --fold 1 "$json"
run standard "$phasemux" report --html "$json"
holds "without -o the page goes to the standard output" cmp standard.out "$tmp/cycles.html"

done_testing
