#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the preload needs of the C library: the versions of symbols that docs/packages.md tells, and nothing newer. A
# program of an older C library, for example in a container, must start under the preload.
. "$(dirname "$0")/lib.sh"

have objdump || skip_all "no binutils"
[ -z "$sanitizer" ] || skip_all "a sanitizer needs a newer C library"
[ "$(uname -m)" = x86_64 ] || skip_all "the table is that of x86-64; on others all symbols have the version of the first C library"

# rows of the table: version and symbols
sed -n 's/^| `GLIBC_\([0-9.]*\)` | \(.*\) |$/\1 \2/p' "$root/docs/packages.md" | tr -d '`,' >told
holds "docs/packages.md has the table" test -s told
while read -r version symbols; do
	for symbol in $symbols; do echo "$version $symbol"; done
done <told | sort >allowed
objdump -T "$build/libphasemux.so" | sed -n 's/.*\*UND\*.*(GLIBC_\([0-9.]*\)) *\([^ ]*\)$/\1 \2/p' | sort >needed
holds "objdump tells what the preload needs" grep -q '^2\.17 clock_gettime$' needed
is "$(grep -v '^2\.2\.5 ' needed | comm -23 - allowed)" "" "the preload needs no symbol of a later version than 2.2.5 that the table has not"
newest=$(cut -d' ' -f1 told | sort -V | tail -n 1)
is "$(cut -d' ' -f1 needed | sort -V | tail -n 1)" "$newest" "the newest version is that of the table"
is "$newest" 2.17 "which is that of the oldest system that matters"
is "$(objdump -p "$build/libphasemux.so" | sed -n 's/^ *NEEDED *//p' | tr '\n' ' ')" "libc.so.6 " "the preload needs libc alone"

done_testing
