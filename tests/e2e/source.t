#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The order of the folders: source.py has the table of allowed includes, and each header compiles alone. Each
# file names its licence, and static functions that many files have name what they are about.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

# Names of other layers that a layer must not use. The plugin of QEMU speaks for itself, because no agent is there.
without() {
	is "$(find "$1" -name '*.[ch]' ! -name qemu_plugin.c -exec grep -HnE "$2" {} +)" "" "$1/ is without $3"
}

is "$("$python" tests/e2e/source.py .)" "" "each include is allowed, no modules include each other in a circle, and names are not in many files"

# one violation of each kind
mkdir -p "$tmp/broken/agent/cellar" "$tmp/broken/cluster"
echo >"$tmp/broken/agent/cellar/wine.h"
echo '#include "agent/ledger/ledger.h"' >"$tmp/broken/cluster/upwards.c"
echo '#include "cluster/egg.h"' >"$tmp/broken/cluster/hen.h"
echo '#include "cluster/hen.h"' >"$tmp/broken/cluster/egg.h"
for number in $(seq 20); do
	echo >"$tmp/broken/cluster/full_$number.c"
done
for number in 1 2 3; do
	echo 'static int add(void)' >"$tmp/broken/cluster/full_$number.c"
done
"$python" tests/e2e/source.py "$tmp/broken" >"$tmp/found"
is "$?" 1 "a broken tree fails"
is "$(cat "$tmp/found")" "agent/cellar/wine.h: the folder agent/cellar is not in the table
cluster/upwards.c: includes agent/ledger/ledger.h, and cluster may include cluster cluster/density cluster/sequence
cluster: 23 files, and a room has at most 20
add() is a static function of cluster/full_1.c cluster/full_2.c cluster/full_3.c: name what each is about
circle: cluster/egg cluster/hen" "and each violation is named"

for folder in cluster multiplex; do
	without $folder '#include <(pthread|mpi|linux/perf_event|sys/(mman|ioctl|syscall))' \
		"threads, MPI and the kernel"
	without $folder '\<(printf|fprintf|puts|perror) ?\(' "printing"
done
without sampling '#include <mpi|\<(printf|fprintf|puts|perror) ?\(' "MPI and printing"
without agent '\<(exit|abort|assert) ?\(' "calls that end the host"

# unlicensed PATH...: prints the files that do not name their licence, except documents, data and JSON.
unlicensed() {
	find "$@" \( -name __pycache__ -o -path tests/data \) -prune -o -type f ! -name '*.md' ! -name '*.json' \
		-exec grep -L 'SPDX-License-Identifier: BSD-3-Clause' {} + | sort
}
is "$(unlicensed .ci .clang* .cppcheck .editorconfig .git-blame-ignore-revs .github .gitignore \
	CMakeLists.txt agent cluster cmake multiplex sampling tests tools)" "" "each file names its licence"
mkdir -p "$tmp/broken/tools"
echo '/* SPDX-License-Identifier: BSD-3-Clause */' >"$tmp/broken/tools/named.c"
echo 'int main(void) { return 0; }' >"$tmp/broken/tools/unnamed.c"
is "$(unlicensed "$tmp/broken/tools")" "$tmp/broken/tools/unnamed.c" "a file without it is found"

for header in $(find cluster multiplex sampling agent tools -name '*.h') tests/*.h tests/pmu/*.h; do
	holds "$header compiles alone" \
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wno-unused-function -I. -fsyntax-only -x c "$header"
done

done_testing
