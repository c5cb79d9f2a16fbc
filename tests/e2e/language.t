#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Comments are plain English: language.py knows forms that make them hard to read.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

for folder in agent cluster multiplex sampling tests tools; do
	holds "$folder/: comments are plain" "$python" tests/e2e/language.py $folder
done

# one of each form
mkdir "$tmp/riddles"
cat >"$tmp/riddles/riddles.c" <<'C'
/* The same of another thread. */
/* So many have joined. */
/* Whoever comes later finds it closed. */
/* All but for the last. */
/* What makes no sense is left out. */
/* As long as it is to be had. */
/* It was held up. */
/* It begins by chance. */
/* Calls that go by. */
/* Adds so many bursts. */
/* Our own. */
/* Left out, for it is not known. */
int plain; /* number of bursts */
const char *text = "/* our own */";
C
"$python" tests/e2e/language.py "$tmp/riddles" >"$tmp/found"
is "$(grep -c . "$tmp/found")" 12 "each riddle is found, and nothing else"
done_testing
