#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages: each command has one, with all options that the command reads, and formatters find nothing wrong.
. "$(dirname "$0")/lib.sh"

pages=$build/man1
if ! [ -d "$pages" ]; then
	skip_all "a build for another processor has no manual pages of commands"
fi
"$phasemux" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort >commands
holds "there are commands" [ "$(wc -l <commands)" -gt 10 ]
is "$(cd "$pages" && ls | sed 's/^phasemux-\(.*\)\.1$/\1/')" "$(cat commands)" "each command has a page, and nothing else has one"

# The completions are made from the tables by which commands read their options.
"$phasemux" completions fish >tables
# shown PAGE: the page as its reader sees it, without fonts
shown() { sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\e/\\/g' "$1"; }
for command in $(cat commands); do
	page=$pages/phasemux-$command.1
	shown "$page" >page
	sed -n "s/^complete .*_from $command' -l \([a-z-]*\).*/--\1/p" tables | sort >options
	# what stands below .TP
	grep -A 1 '^\.TP' page | grep -oE '(^|, |\|)--[a-z-]+' | grep -oE -- '--.*' | sort -u >described
	is "$(cat described)" "$(cat options)" "$command: the page describes the options that it reads"
	"$phasemux" $command --help >help
	is "$(sed -n '/^\.SH SYNOPSIS/,/^\.fi/p' page | grep -v '^\.')" \
		"$(sed '/^$/q' help | sed 's/^usage: //; s/^ *//' | grep .)" "$command: it is called as --help says"
	# the words of both, without the titles that only the page has
	sed '1,/^$/d; s/^Exit code: //' help | tr -s ' \n' '\n\n' | grep . | sort -u >words
	tr -s ' \n' '\n\n' <page | sed 's/^\\&//' | sort -u | comm -13 - words >lost
	is "$(cat lost)" "" "$command: it has all words of --help"
	help=$("$phasemux" --help | sed -n "s/^  $command .*  //p" | sed 's/^ *//')
	holds "$command: its first line is that of phasemux --help" grep -qxF -- "phasemux-$command - $help" page
	holds "$command: it has an exit status" grep -q '^\.SH "EXIT STATUS"' page
	holds "$command: phasemux(1) names it" grep -qF ".BR phasemux\\-$command (1)" "$build/phasemux.1"
done
holds "run: a setting has its value" grep -qx -- '--scheme VALUE' <(shown "$pages/phasemux-run.1")

# checked NAME COMMAND...: a formatter of manual pages has nothing to say of each page
checked() {
	local page

	if ! have "$1"; then
		skip "$1 finds nothing wrong" "it is not installed"
		return
	fi
	for page in "$build/phasemux.1" "$pages"/*; do
		"${@:2}" "$page"
	done >said 2>&1
	is "$(cat said)" "" "$1 finds nothing wrong"
}
checked groff groff -man -ww -z
# The pages have no date, so that two builds are the same.
lint() { mandoc -T lint -W warning "$1" | grep -v 'missing date'; }
checked mandoc lint

if have man; then
	run man env MANPATH= man -l "$pages/phasemux-compare.1"
	holds "man shows a page" grep -q -- '--threshold PART' man.out
else
	skip "man shows a page" "no man"
fi

done_testing
