#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of phasemux in a real browser, Debian's Chromium: on wide and narrow screens, light, dark, and on paper. What
# stands on the pages is tested by page.t and compare.t.
. "$(dirname "$0")/lib.sh"

have chromium || skip_all "Chromium is not installed"
browser() { "$python" "$root/tests/e2e/browser.py" "$@"; }
page() { "$python" "$root/tests/e2e/page.py" "$@"; }

echo '<!DOCTYPE html><title>t</title><p>text</p>' >plain.html
run start timeout 120 "$python" "$root/tests/e2e/browser.py" check plain.html
grep -q 'processor time' start.out || skip_all "Chromium does not start here: $(tail -n 1 start.err)"

# NAME ARGUMENT...: makes NAME.html by a command of phasemux, to look at
pages=()
shows() {
	"$phasemux" "$2" --html -o "$1.html" "${@:3}"
	pages+=("$1.html")
}

# NAME MARKUP REASON...: a page that the check has to refuse for these reasons
refuses() {
	local name=$1 reason

	sed "s|</main>|$2</main>|" cycles.html >"$1.html"
	run "$1" browser check "$1.html"
	is "$(cat "$1.code")" 1 "$1: is refused"
	shift 2
	for reason; do
		holds "$name: $reason" grep -q "$reason" "$name.out"
	done
}

scripted cycles PHASEMUX_EVENTS=zen5 PHASEMUX_TRACE=structure on openmpi 2 "$programs/phases.openmpi" -n 300 -c
scripted half PHASEMUX_EVENTS=zen5 on openmpi 2 "$programs/phases.openmpi" -n 300 -c -w 50
preloaded time PHASEMUX_COUNTERS=hardware PHASEMUX_EVENTS=task-clock on openmpi 2 "$programs/phases.openmpi" -n 100 -c
json=cycles.result/report.json
shows cycles report "$json"
shows time report time.result
for kind in big many hostile old; do
	page $kind "$json" $kind.json
	shows $kind report $kind.json
done
# Columns of all widths, of which some are cut off.
"$python" - "$json" widths.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
shares = [0.17, 0.105, 0.101, 0.1, 0.066, 0.065, 0.06, 0.05, 0.04, 0.028, 0.027, 0.026, 0.021, 0.02, 0.018, 0.015, 0.01]
least, most = (choose(report["phases"], key=lambda phase: phase["cpi"]) for choose in (min, max))
report["phases"] = [dict(most if 0.05 < share < 0.101 else least, id=180 + i, time_share=share)
                    for i, share in enumerate(shares)]
json.dump(report, open(sys.argv[2], "w"))
END
shows widths report widths.json
shows compared compare cycles.result half.result
shows unlike compare time.result half.result
shows large compare big.json many.json
shows names compare cycles.result hostile.json
holds "${#pages[@]} pages are readable, and nothing is loaded" browser check "${pages[@]}"

# The check can fail.
long=$(printf '%080d' 0)
refuses faults '<svg width="100%" height="40"><text y="20">a label<\/text><text x="9" y="22">another<\/text><\/svg>\
<svg width="100%" height="40"><text x="97%" y="20">leaves at the right<\/text><\/svg>\
<img src="http:\/\/localhost:9\/x.png"><script>document.title = 1<\/script>\
<p><font color="#999999">pale<\/font><\/p><details><summary>more<\/summary><p hidden>folded<\/p><\/details>' \
	'overlaps "a label": another' 'leaves the page: leaves at' 'asks for http://localhost:9/x.png' \
	'the browser says: .*script' '1280 : contrast .*: pale' 'print: folded on paper: folded'
refuses wide "<table><tr><td class=\"n\">$long<\\/td><\\/tr><\\/table>" '400 : the page is wider than its window'
echo '<!DOCTYPE html><title>t</title><p>text</p><script>missing()</script>' >fails.html
run fails browser check fails.html
holds "fails: a script that fails is found" grep -q 'the script fails: ReferenceError' fails.out
run slow browser check cycles.html 0.001
holds "slow: a page that takes long is refused" grep -q 'of processor time, more than' slow.out

done_testing
