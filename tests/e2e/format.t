#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All C code is formatted as .clang-format says, by the version for which it was written. Other versions give
# other results.
. "$(dirname "$0")/lib.sh"

have clang-format-14 || skip_all "no clang-format-14"
cd "$root" || exit 1
find . -name 'build*' -prune -o -name '.git' -prune -o \( -name '*.c' -o -name '*.h' \) -print |
	xargs clang-format-14 --dry-run -Werror >"$tmp/unformatted" 2>&1
is "$?" 0 "all of it"
sed -n 's/^\([^:]*:[0-9]*\):.*error.*/# \1/p' "$tmp/unformatted" | head -n 20
done_testing
