#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Comments and messages are plain English: language.py knows forms that make them hard to read.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

for place in .ci CMakeLists.txt agent cluster cmake multiplex sampling tests tools; do
	holds "$place: comments and messages are plain" "$python" tests/e2e/language.py $place
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
const char *name = "nobody";
const char *message = "this makes no sense";
const char *plain_message = "%.1f us, at least 3 us";
C
cat >"$tmp/riddles/riddles.py" <<'PYTHON'
"""Of several runs."""
plain = "nobody knows it"  # whom it concerns
PYTHON
printf '#!/bin/bash\n# Plain words\n# that were held up.\nplain="# our own"\n' >"$tmp/riddles/riddles.t"
"$python" tests/e2e/language.py "$tmp/riddles" >"$tmp/found"
is "$(grep -c . "$tmp/found")" 16 "each riddle is found, and nothing else"
is "$(grep -c '/riddles.c:' "$tmp/found")" 13 "those of C among them"
done_testing
