# SPDX-License-Identifier: BSD-3-Clause
# Code that the tests of the virtual machine share, beside that of the end-to-end tests. Each tests/machine/*.t
# sources it.
PHASEMUX_BUILD=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../build-arm64" && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

#	observed NAME [VAR=VALUE]... COMMAND...
#		like run, by `phasemux run`, for programs without MPI
#	truth NAME KERNEL=INSTRUCTIONS...
#		checks the report in $tmp/NAME.result: each kernel of the host programs, called for this number of
#		instructions, is a phase with the instructions that count_work counts, and two cycles for each
#	in_report NAME CASE EXPRESSION
#		passed when the Python expression on the report (r) and its first phase (p) is true

observed() {
	local name=$1 settings=()

	shift
	while [[ $1 == [A-Za-z_]*=* ]]; do
		settings+=("$1")
		shift
	done
	run "$name" "${settings[@]}" "$phasemux" run --output "$tmp/$name.result" --spool "$tmp/spool" -- "$@"
}

truth() {
	local name=$1 kernel wanted=()

	shift
	for kernel; do
		wanted+=("${kernel%%=*}=$("$build/tests/machine/count_work" "${kernel%%=*}" "${kernel#*=}")")
	done
	holds "$name: instructions and CPI of each phase" \
		"$python" "$root/tests/machine/truth.py" "$tmp/$name.result/report.json" "${wanted[@]}"
}

in_report() {
	holds "$1: $2" "$python" -c '
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
p = r["phases"][0]
print({key: r[key] for key in r if key not in ("phases", "groups", "description")})
sys.exit(not eval(sys.argv[2]))' "$tmp/$1.result/report.json" "$3"
}
