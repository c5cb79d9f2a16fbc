#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of the reports in tests/data/pages show what is kept of them there, so that a change of a page is seen in a
# diff. `tests/e2e/golden.py make build/phasemux` keeps what they show now.
. "$(dirname "$0")/lib.sh"

pages=$root/tests/data/pages
golden() { "$python" -B "$root/tests/e2e/golden.py" "$@"; }

for report in "$pages"/*/report.json; do
	name=$(basename "$(dirname "$report")")
	holds "$name: the report is one" "$python" -B "$root/tests/e2e/report.py" schema "$report"
done
golden compare "$phasemux" >differences
ok $? "the pages show what is kept of them" || diag "$(cat differences)"
sed -n 's/.*{ "[a-z]*", "\(.*\)", page_.*/== \1/p; s/.*{ "[a-z]*", "\(.*\)", write_.*/== \1/p' "$root/agent/page/page.c" >views
is "$(wc -l <views)" "$(grep -c '^	{ "' "$root/agent/page/page.c")" "the titles of all views are found"
is "$(sort -u "$pages"/*.txt | grep -cxFf views)" "$(wc -l <views)" "each view is kept"
holds "what is kept is small" test "$(cat "$pages"/*.txt | wc -c)" -lt 100000

# changed WHAT FROM TO LINE: with a changed report, the comparison fails and shows the line
changed() {
	rm -rf pages
	cp -r "$pages" pages
	sed -i "s/$2/$3/" pages/counted/report.json
	run changed golden compare "$phasemux" pages
	is "$(cat changed.code)" 1 "$1: a difference"
	holds "$1: it is shown" grep -qE "$4" changed.out
}
changed "a number" '"wall_seconds": [0-9.]*' '"wall_seconds": 77' '^\+run \| 2 ranks, 77\.0 s'
changed "a word" '"scheme": "[a-z-]*"' '"scheme": "another"' '^\+counting \| .*scheme another'

# What is not kept.
"$phasemux" report --html -o as_is.html "$pages/counted"
sed 's/<style>/<style>p { color: red; }/; s/ \([xy]\|cx\|cy\)="[^"]*"/ \1="1"/g' as_is.html >styled.html
golden show as_is.html >as_is.txt
golden show styled.html >styled.txt
holds "the style and places are not kept" cmp as_is.txt styled.txt
holds "and this is a page of another style" test "$(cmp as_is.html styled.html)"
done_testing
