#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Call stacks of the kernel's samples: of a program whose stacks are known, with frame pointers and without, on its own,
# in two ranks and after a kill, as folded stacks and on the page.
# Real time: samples by processor time.
. "$(dirname "$0")/lib.sh"

stacks() { "$python" "$root/tests/e2e/stacks.py" "$@"; }

# NAME PROGRAM...: runs it below phasemux, and writes its folded stacks to NAME.folded
sampled() {
	local name=$1

	shift
	preloaded "$name" PHASEMUX_SAMPLE=500 timeout -k 10 100 "$phasemux" run -- "$@"
	run "$name.folded" "$phasemux" report --stacks "$tmp/$name.result"
}

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "phasemux does not know whether code of this processor keeps frame pointers" ;;
esac
sampled deep "$programs/deep" 1
json=$tmp/deep.result/report.json
report between "$json" samples/in_bursts 100 1000000 ||
	skip_all "the kernel does not sample here"
holds "the report is as its schema says" report schema "$json"
holds "its stacks are those of the program" stacks deep deep.folded.out 100
holds "the folded stacks have all samples" stacks folded "$json" deep.folded.out

sampled frameless "$programs/frameless" 1
holds "without frame pointers no caller is invented" stacks frameless frameless.folded.out 100

# killed
mkdir "$tmp/killed.spool"
run killed LD_PRELOAD="$library" PHASEMUX_SAMPLE=500 PHASEMUX_OUTPUT="$tmp/killed.result" PHASEMUX_SPOOL="$tmp/killed.spool" \
	timeout -k 10 100 "$phasemux" run -- "$programs/deep" 2 killed
run recovered "$phasemux" recover --json "$tmp/killed.spool"
cp recovered.out killed.json
run killed.folded "$phasemux" report --stacks killed.json
holds "killed: the stacks up to then" stacks deep killed.folded.out 100 || diag "$(cat killed.err recovered.err killed.folded.err)"
holds "killed: the report is as its schema says" report schema killed.json

# two ranks, whose addresses differ
mpi=$(mpis_of deep | head -n 1)
if [ -n "$mpi" ]; then
	preloaded ranks PHASEMUX_SAMPLE=500 on "$mpi" 2 "$programs/deep.$mpi" 1.5
	run ranks.folded "$phasemux" report --stacks ranks.result
	holds "two ranks: their stacks are one" stacks deep ranks.folded.out 200
	holds "two ranks: the folded stacks have all samples" stacks folded ranks.result/report.json ranks.folded.out
else
	skip "two ranks" "no MPI is installed"
fi

# names that would break the form, and reports without stacks
"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
phase = report["phases"][0]
phase["profile"]["stacks"] = {"whole": 1, "left_out": 2, "stacks": [
	{"frames": ["a;b", "operator new", None, "c\n1 7", ""], "line": "/x/y;z 1.c:3", "samples": 5}]}
report["phases"] = [phase]
json.dump(report, open("odd.json", "w"))
del phase["profile"]["stacks"]
json.dump(report, open("old.json", "w"))' "$json"
run odd "$phasemux" report --stacks odd.json
is "$(cat odd.out)" "phase 1;a,b;operator_new;[unknown];c_1_7;?;y,z_1.c:3 5
phase 1;[left_out] 2" "names that hold blanks and semicolons are safe"
run old "$phasemux" report --stacks old.json
is "$(cat old.code)" 1 "a report without stacks: 1"
holds "with a line" grep -q "no call stacks" old.err

# the page draws them
page() { "$phasemux" report --html -o "$1.html" "$2"; }
page deep "$json"
holds "the page has a figure of the stacks" grep -Eq "<title>solve: [678][0-9]% of the samples" deep.html
page old old.json
holds "the page of an older report has none" [ "$(grep -c "Call stacks" old.html)" -eq 0 ]
"$python" - "$json" hostile.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
phase = report["phases"][0]
names = ["<script>alert(1)</script>", "a\"b' &amp;", "N::" * 80, "\u202eodd", ""]
stacks = [{"frames": ["main", *(names[(i + k) % 5] for k in range(i % 40)), None, f"leaf{i}"],
           "line": f"<b>{i}.c:{i}", "samples": 1 + i * i % 97} for i in range(200)]
phase["profile"]["stacks"] = {"whole": 10, "left_out": 5, "stacks": stacks}
json.dump(report, open(sys.argv[2], "w"))
END
page hostile hostile.json
holds "names of any kind stay text" [ "$(grep -c "<script>alert" hostile.html)" -eq 0 ]
if have chromium; then
	holds "the figure is readable, also with many stacks, deep ones and any names" \
		"$python" "$root/tests/e2e/browser.py" check deep.html hostile.html 5
else
	skip "the figure is readable" "Chromium is not installed"
fi

done_testing
