#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The order of the folders: who may include whom; and each header compiles alone.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

# includes FOLDER ALLOWED...: the folder's sources include nothing else of this project.
includes() {
	local folder=$1 others

	shift
	others=$(find "$folder" -name '*.[ch]' -exec grep -HE '^#include "' {} + |
		grep -vE "#include \"($(tr ' ' '|' <<<"$*"))")
	is "$others" "" "$folder/ includes nothing but $*"
}

# A layer's names from outside that it has no business with.
without() {
	is "$(find "$1" -name '*.[ch]' -exec grep -HnE "$2" {} +)" "" "$1/ is without $3"
}

includes cluster cluster/
includes multiplex multiplex/ sampling/
includes sampling sampling/
includes agent agent/ cluster/ multiplex/ sampling/
for folder in cluster multiplex; do
	without $folder '#include <(pthread|mpi|linux/perf_event|sys/(mman|ioctl|syscall))' \
		"threads, MPI and the kernel"
	without $folder '\<(printf|fprintf|puts|perror) ?\(' "printing"
done
without sampling '#include <mpi|\<(printf|fprintf|puts|perror) ?\(' "MPI and printing"
without agent '\<(exit|abort|assert) ?\(' "calls that end the host"

for header in $(find cluster multiplex sampling agent tests -maxdepth 1 -name '*.h'); do
	holds "$header compiles alone" \
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wno-unused-function -I. -fsyntax-only -x c "$header"
done

done_testing
