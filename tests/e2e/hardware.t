#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `tests/bench/run hardware`, which measures a machine that has counters: it writes no page where nothing counts. With
# the scripted PMU the page says so, and steps that cannot be measured say why while the others go on. What a
# real machine shows is tested by tests/machine/hardware.t.
. "$(dirname "$0")/lib.sh"

mpis_of phases | grep -q . || skip_all "no MPI is installed"
bench() { PHASEMUX_BUILD=$build "$root/tests/bench/run" --quick "$@" hardware; }

run uncounted "$programs/no_perf" EACCES env PHASEMUX_BUILD="$build" "$root/tests/bench/run" --quick hardware
is "$(cat uncounted.code)" 2 "no counters: exit code 2"
holds "it says why" grep -qE '^hardware: not measured, and no page is written: .*forbids' uncounted.out
holds "no page" [ ! -e hardware.md ]

# counters that follow the processor time, and no perf and no LAMMPS on the way
mkdir tools
ln -sf /bin/* /usr/bin/* tools/
rm -f tools/perf tools/lmp
run page PATH="$tmp/tools" PHASEMUX_PMU="$scripted" SCRIPTED_PMU=auto=alu bench --json page.json
holds "the page says that the counts are no machine's" grep -q '^| counters | \*\*invented by PHASEMUX_PMU' hardware.md
holds "LAMMPS: why it is not run" grep -q '^Not run: it needs LAMMPS' hardware.md
holds "perf: why it is not run" grep -q '^Not run: perf is not installed' hardware.md
for section in 'phasemux doctor' 'A program whose phases are known' 'Do schemes agree' 'phasemux validate' Slowdown; do
	holds "$section: there is something" [ "$(sed -n "/^## $section/,/^## /p" hardware.md | wc -l)" -ge 7 ]
done
failed=$("$python" -c 'import json; print(json.load(open("page.json"))["hardware"]["failed"])')
is "$(cat page.code)" $((failed > 0)) "exit code by the checks that do not hold"
is "$(grep -c -e 'does not hold' -e 'ot measured:' hardware.md)" "$failed" "each of them is on the page"
is "$(grep -cF -e "$root" -e "$tmp" hardware.md)" 0 "the page names no folder of this machine"
done_testing
