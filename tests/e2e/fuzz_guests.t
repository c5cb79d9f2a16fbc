#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that are written at random end, write and leave the same under phasemux as alone. GUESTS=500
# SEED=1000 tests/e2e/fuzz_guests.t tries other programs, and more. tests/fuzz/guests says how to continue.
. "$(dirname "$0")/lib.sh"

have gcc || skip_all "no C compiler"
[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# Programs that once behaved differently, each by the name that the fuzzer uses.
kept=(
	"plain REPORT=text,json,html,csv,bursts descriptors/1872 thread_exits/5428"
	"plain SAMPLE=1000 forked_exits/6072 kept_state/4141 quick/9595"
	"plain own_namespace/9358 grandchildren/3177 without_output/7333"
)
have clang && kept+=("llvm worksharing/2875 own_namespace/9813 without_output/8539")
have mpicc.mpich && have mpirun.mpich && kept+=("mpich:2 REPORT=text,json,csv,bursts errors/7548 returns/2893")
for program in "${kept[@]}"; do
	holds "$program" "$root/tests/fuzz/guests" --build "$build" --keep "$tmp/found" "$program"
done
"$root/tests/fuzz/guests" --build "$build" --keep "$tmp/found" --jobs "$(nproc)" \
	--seed "${SEED:-1}" --count "${GUESTS:-25}" >guests.out 2>&1
ok $? "${GUESTS:-25} programs written at random" || diag "$(cat guests.out)"
diag "$(tail -n 1 guests.out)"
done_testing
