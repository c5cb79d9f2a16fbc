#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the script adds to a page, used in a real browser, Debian's Chromium. The page without it is tested by page.t and
# browser.t.
. "$(dirname "$0")/lib.sh"

have chromium || skip_all "Chromium is not installed"
page() { "$python" "$root/tests/e2e/page.py" "$@"; }
controls() { "$python" -B "$root/tests/e2e/controls.py" "$@"; }

echo '<!DOCTYPE html><title>t</title><p>text</p>' >plain.html
run start timeout 120 "$python" "$root/tests/e2e/browser.py" check plain.html
grep -q 'processor time' start.out || skip_all "Chromium does not start here: $(tail -n 1 start.err)"

scripted cycles PHASEMUX_EVENTS=zen5 on openmpi 2 "$programs/phases.openmpi" -n 300 -c
json=cycles.result/report.json
# NAME REPORT
shows() { "$phasemux" report --html -o "$1.html" "$2"; }
shows cycles "$json"
for kind in big many hostile; do
	page $kind "$json" $kind.json
	shows $kind $kind.json
done

holds "tables are sorted" controls tables "$tmp/big.html"
holds "tables are filtered" controls filter "$tmp/big.html"
holds "the address keeps how tables are sorted and filtered" controls address "$tmp/big.html"
holds "dragging over bursts shows their phases alone" controls brush "$tmp/cycles.html"
holds "positions in the source are copied" controls copy "$tmp/cycles.html"
holds "figures show parts of their width" controls zoom "$tmp/big.html"

holds "Tab reaches each control" controls keys "$tmp/cycles.html"
holds "scripts off: all is there but the controls" controls off "$tmp/cycles.html"

# The comparison of a dropped result is that of the command.
scripted half PHASEMUX_EVENTS=zen5 on openmpi 2 "$programs/phases.openmpi" -n 300 -c -w 50
shows half half.result
# PAGE REPORT DROPPED
compares() {
	"$phasemux" compare --json "$2" "${3%.html}${4:-}" >wanted.json
	holds "$1 with $3: compared as by the command" controls drop "$1.html" "$3" wanted.json
}
compares cycles cycles.result half.result/report.json
compares cycles cycles.result half.html .result
compares cycles cycles.result hostile.json
compares big big.json many.json
echo '{' >torn.json
echo '[]' >other.json
echo '<p>' >other.html
echo '{"phasemux": 1}' >none.json
echo '{"phasemux": 1, "phases": [{"source": [null]}]}' >broken.json
holds "files that are no results are refused" controls refuse cycles.html torn.json other.json other.html none.json broken.json

# NAME REPORT COMPONENT PERCENT PHASE PERCENT PERCENT [balance]: the sliders compute what the command computes.
foresees() {
	"$phasemux" whatif --json --component "$3=0.$4" --phase "$5=0.$6" --communication "0.$7" ${8:+--balance} "$2" >wanted.json
	holds "$1: sliders for $3, phase $5, communication${8:+, $8}" \
		controls whatif "$1.html" wanted.json "$3" "$4" "$5" "$6" "$7" $8
}
foresees cycles cycles.result 'back end' 40 1 75 95 ''
foresees cycles cycles.result 'back end/memory' 25 3 50 40 balance
foresees big big.json 'back end' 10 2 90 60 ''
foresees many many.json 'front end' 50 4 35 05 balance

done_testing
