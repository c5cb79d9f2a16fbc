#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A short run of every fuzzer. FUZZ=1000000 tests/e2e/fuzz.t runs longer.
. "$(dirname "$0")/lib.sh"

rounds=${FUZZ:-5000}
for fuzzer in arguments elf events loops region replay samples spool texts whatif; do
	program=$build/tests/fuzz/fuzz_$fuzzer
	[ -x "$program" ] || continue
	holds "fuzz_$fuzzer: $rounds inputs" "$program" "${SEED:-1}" "$rounds"
done
# the command prints what it compares on both outputs
if [ -x "$build/tests/fuzz/fuzz_compare" ]; then
	"$build/tests/fuzz/fuzz_compare" "${SEED:-1}" "$rounds" >compare.out 2>compare.err
	is $? 0 "fuzz_compare: $rounds inputs"
	holds "fuzz_compare: none crashed" sh -c 'tail -n 1 compare.out | grep "none crashed"'
fi
if [ -x "$build/tests/fuzz/fuzz_bursts" ]; then
	holds "fuzz_bursts: $rounds inputs" "$build/tests/fuzz/fuzz_bursts" "${SEED:-1}" "$rounds" \
		"$root"/tests/data/small.csv "$root"/tests/data/small.prv "$root"/tests/data/small.pcf
fi
done_testing
