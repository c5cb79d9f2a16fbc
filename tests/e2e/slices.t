#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's samples cut long bursts into slices, so that programs without any runtime call have phases. The
# signals and timers of such programs work as before.
# Real time: samples at the times at which the kernel promises them.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"

# swift CASE...: runs a case that needs a group to stay for long, by the clock, in bursts of virtual work
swift() {
	if [ -n "$sanitizer" ]; then
		skip "$2" "its program is too slow with a sanitizer"
	else
		"$@"
	fi
}

# 200 ms of triad and 100 ms of fma take turns, and a slice is 10 ms of the scripted PMU's time. The run is
# longer than the kernel's ring has room for.
told serial "$programs/serial" 25
json=$tmp/serial.result/report.json
run serial.bare LD_PRELOAD="$beside" "$programs/serial" 25
unchanged serial serial.bare
holds "serial: the report is as its schema says" report schema "$json"
holds "serial: phases, unclassified and short bursts are all computing time" report accounting "$json"
holds "serial: its two kinds of work are its phases" \
	report instructions "$json" 18300000 100000000
swift holds "serial: nearly all of its slices are read" report between "$json" samples/slices 550 751
holds "serial: slices are called slices" grep -q "these bursts are slices of longer ones" "$tmp/serial.err"
holds "serial: none is lost" report value "$json" samples/lost 0
holds "serial: every event has a value in every large phase of many slices" report complete "$json" 3
holds "serial: the components sum to the CPI" report breakdown "$json"
holds "serial: each was sampled where it is done" report hot "$json" 18300000 scripted_in_triad 0.9
holds "serial: the other too" report hot "$json" 100000000 scripted_in_fma 0.9
told finer PHASEMUX_SAMPLE=200 "$programs/serial" 4
holds "a higher rate gives shorter slices" \
	report instructions "$tmp/finer.result/report.json" 9150000 50000000
told boosted SCRIPTED_PMU=spin=0.5 "$programs/serial" 8
holds "a clock faster than the nominal one: slices take less time, and are none too short" \
	report instructions "$tmp/boosted.result/report.json" 18300000 100000000
told whole PHASEMUX_SAMPLE=0 "$programs/serial" 2
holds "without samples the program is one burst" report value "$tmp/whole.result/report.json" bursts 1
told apart PHASEMUX_BURST_MIN=50ms "$programs/serial" 2
holds "slices that would be too short are not cut" \
	report value "$tmp/apart.result/report.json" bursts 1

# a killed program was observed until it was killed
mkdir "$tmp/killed.spool"
run killed LD_PRELOAD="$beside" PHASEMUX_PMU="$scripted" PHASEMUX_OUTPUT="$tmp/killed.result" \
	PHASEMUX_SPOOL="$tmp/killed.spool" timeout -s KILL 5 "$phasemux" run -- "$programs/serial" 100
run recovered "$phasemux" recover --json "$tmp/killed.spool"
holds "killed: its phases are those that it had" \
	report instructions "$tmp/recovered.out" 18300000 100000000

# each burst is 21.3 ms of triad and 20 ms of fma, which shows how its counters evolve
told halves "$programs/halves" 100
json=$tmp/halves.result/report.json
holds "halves: the report is as its schema says" report schema "$json"
swift holds "halves: whole bursts are not called slices" \
	test "$(grep -c "slices of longer ones" "$tmp/halves.err")" = 0
swift holds "halves: the bursts are whole, and one phase" report instructions "$json" 239000000
holds "halves: its instructions are slow at first, and fast later" \
	report fold "$json" 239000000 ex_ret_instr 0:0.4:0.316 0.6:1:1.728
run fold "$phasemux" report --fold 1 "$tmp/halves.result"
holds "report --fold shows it" grep -qE '^ex_ret_instr( +[0-9.]+){16}$' "$tmp/fold.out"
run page "$phasemux" report --html "$tmp/halves.result"
holds "the page shows it" grep -qE '<code>ex_ret_instr</code></th><td class="n">0\.[34][0-9]?</td>' "$tmp/page.out"
run fold "$phasemux" report --fold 1 --csv "$tmp/halves.result"
is "$(grep -c '^ex_ret_instr,' "$tmp/fold.out")" 16 "report --fold --csv too, a line for each place"
run fold "$phasemux" report --fold 99 "$tmp/halves.result"
is "$(cat "$tmp/fold.code") $(cat "$tmp/fold.err")" "1 phasemux: there is no phase 99" \
	"a phase that there is not is refused"

# with the kernel's own samples, if it gives any
run signals.bare "$programs/signals"
run signals LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/signals.result" "$phasemux" run -- "$programs/signals"
if [ "$sanitizer" = tsan ]; then
	skip "signals" "the sanitizer lets them through when and where it likes"
else
	unchanged signals signals.bare
fi
holds "signals: the loop is where it was sampled" report hot "$tmp/signals.result/report.json" \
	- compute 0.8 "signals.c:$(grep -n 'x \* 0.999' "$root/tests/programs/signals.c" | cut -d : -f 1)"
holds "signals: it was sampled" report between "$tmp/signals.result/report.json" samples/in_bursts 20 4500

# the agent's thread keeps no process alive
if [ "$sanitizer" = tsan ]; then
	skip "leaver" "a thread of the sanitizer's own keeps it alive"
else
	run leaver.bare timeout 30 "$programs/leaver"
	run leaver LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/leaver.result" timeout 30 "$phasemux" run -- "$programs/leaver"
	unchanged leaver leaver.bare
	holds "leaver: there is a report" report schema "$tmp/leaver.result/report.json"
fi

# the agent's thread is not there while the program makes a call that only a process with one thread may make
if [ "$sanitizer" = tsan ]; then
	skip "namespaces" "a thread of the sanitizer's own is there"
else
	run namespaces.bare "$programs/namespaces"
	if [ "$(cat namespaces.bare.code)" = 77 ]; then
		skip "namespaces" "there are no user namespaces here"
	else
		run namespaces LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/namespaces.result" "$phasemux" run -- "$programs/namespaces"
		unchanged namespaces namespaces.bare
		is "$(grep -c done namespaces.out)" 3 "namespaces: they were entered"
		holds "namespaces: there is a report" report schema "$tmp/namespaces.result/report.json"
	fi
fi

# children of a fork are not observed, while the parent is sampled
forking='
import os
for i in range(4):
    if os.fork() == 0:
        print("child", i, sum(range(3000000)), flush=True)
        os._exit(i)
    sum(range(3000000))
    print("child", i, "ended with", os.WEXITSTATUS(os.wait()[1]), flush=True)
'
run forking.bare timeout 60 "$python" -c "$forking"
run forking LD_PRELOAD="$runtime" PHASEMUX_OUTPUT="$tmp/forking.result" timeout 60 "$phasemux" run -- "$python" -c "$forking"
unchanged forking forking.bare
is "$(find "$tmp/forking.result" -name 'report*.json' | wc -l)" 1 "forking: the parent alone reports"
holds "forking: the report is as its schema says" report schema "$tmp/forking.result/report.json"

done_testing
