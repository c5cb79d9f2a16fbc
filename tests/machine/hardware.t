#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page that `tests/bench/run hardware` writes on a machine with counters: every section is there, and all
# checks on it hold. One of them compares the agent's totals with those of perf stat, for each scheme.
. "$(dirname "$0")/lib.sh"
sysctl -q kernel.perf_event_paranoid=2 kernel.perf_user_access=1

run bench PHASEMUX_BUILD="$build" "$root/tests/bench/run" --quick hardware
grep -e ' by perf stat, ' -e ' yes |$' hardware.md | sed 's/^/# /'
is "$(cat bench.code)" 0 "all checks on the page hold"
[ "$(cat bench.code)" = 0 ] || diag "$(cat hardware.md bench.err)"
is "$(grep -c -e '^Not measured' -e 'not measured' -e 'does not hold' hardware.md)" 0 "every step could be measured"
holds "what is not installed has its reason" grep -q '^Not run: it needs LAMMPS' hardware.md
holds "the processor" grep -qxF '| processor | Arm Neoverse N1 |' hardware.md
holds "the kernel" grep -qxF "| kernel | Linux $(uname -r) |" hardware.md
holds "the compiler" grep -qE '^\| compiler \| GCC: .*[0-9]' hardware.md
holds "the MPI" grep -qE '^\| MPI \| Open MPI v[0-9]' hardware.md
holds "what the doctor says" grep -q '^counters        6 counters count' hardware.md
for scheme in time-space time space random adaptive none; do
	holds "$scheme: the total is that of perf stat" \
		grep -qE "^- $scheme: [0-9]+ by the agent, [0-9]+ by perf stat, .* in [1-9][0-9]* bursts" hardware.md
	[ $scheme = time-space ] || holds "$scheme: phases are compared" grep -qE "^\| [0-9]+ \| $scheme \| .* yes \|$" hardware.md
done
holds "phasemux validate" grep -q '^scheme       weighted' hardware.md
holds "a read by a system call takes longer than at user level" awk '
	$1 == "read_by_system_call" { call = $2 }
	$1 == "read_at_user_level" { user = $2 }
	END { exit !(user > 0 && call > user) }' hardware.md
holds "the slowdown of a program" grep -qE '^\| phases, openmpi \| [0-9.]+ \| [+-][0-9.]+% ' hardware.md
is "$(grep -cF -e "$root" -e "$tmp" hardware.md)" 0 "the page names no folder of this machine"
done_testing
