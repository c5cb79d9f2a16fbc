#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux whatif --simulate`: a run made again on a machine that SimGrid simulates. Its times are those of the
# simulation, and do not depend on how busy this machine is.
. "$(dirname "$0")/lib.sh"

have mpirun.openmpi && [ -x "$programs/shapes.openmpi" ] || skip_all "no Open MPI"
have smpicc && have smpirun || skip_all "no SimGrid (tools/install-needed simulate)"

# traced NAME RANKS SHAPE STEPS: records a run with the arguments of its calls
traced() {
	run "$1" "$phasemux" run --trace=calls --budget=none --output="$tmp/$1.result" -- timeout 100 mpirun.openmpi --oversubscribe \
		--allow-run-as-root -n "$2" "$programs/shapes.openmpi" "$3" "$4"
}
# simulated NAME RESULT OPTION...: the simulation as JSON in NAME.out
simulated() {
	run "$1" "$phasemux" whatif --simulate --json "$2.result" "${@:3}"
	is "$(cat "$1.code")" 0 "$1: it is simulated" || diag "$(cat "$1.err")"
}
# refuses NAME CODE WORDS ARGUMENT...
refuses() {
	run refused "${@:4}"
	is "$(cat refused.code) $(wc -l <refused.err)" "$2 1" "$1: refused with one line"
	holds "$1: says why" grep -q -e "$3" refused.err || diag "$(cat refused.err)"
}
# compare CONDITION: of the times of the simulations by their names, in seconds
compare() {
	"$python" - "$1" <<'END'
import glob, json, sys
times = {}
for name in glob.glob("*.out"):
    try:
        found = json.load(open(name))
    except ValueError:
        continue
    times[name[:-4]] = found["simulated_seconds"]["mean"]
    if found["changed_seconds"]:
        times[name[:-4]] = found["changed_seconds"]["mean"]
print("#", times)
sys.exit(not eval(sys.argv[1], {}, times))
END
}

traced steps 4 conjugate_gradient 100
is "$(cat steps.code)" 0 "a run is recorded"
simulated asis steps
simulated half steps --cpu 2
simulated quarter steps --cpu 4
simulated stopped steps --cpu 1000
holds "computing that is twice and four times as fast takes a half and a quarter" \
	compare "abs((half - stopped) / (asis - stopped) - .5) < .02 and abs((quarter - stopped) / (asis - stopped) - .25) < .02"
holds "messages take some of the time" compare "0 < stopped < asis"
simulated near steps --ranks-per-node 1
simulated far steps --ranks-per-node 1 --latency 10
simulated further steps --ranks-per-node 1 --network 20,10
holds "a network with ten times the latency is slower, and as slow as one that has this latency" \
	compare "near < far and abs(further / far - 1) < 1e-6"
simulated narrow steps --ranks-per-node 1 --bandwidth 0.001
holds "and so is one with a thousandth of the bandwidth" compare "near < narrow"

run words "$phasemux" whatif --simulate steps.result --cpu 2
holds "in words: how far the simulation is off, and what the change brings" \
	grep -Pzq 'Simulated as it was, the run takes [^\n]* off\.(.|\n)*With a processor 2 times as fast, it takes [^\n]*less\.' words.out ||
	diag "$(cat words.out)"
holds "and which calls were simulated" grep -q '^\(All [0-9]*\|[0-9]* of [0-9]*\) recorded calls were simulated' words.out

refuses "a network that no rank uses" 2 "all ranks are on one node" "$phasemux" whatif --simulate steps.result --latency 2
refuses "an option of the simulation alone" 2 "together with --simulate" "$phasemux" whatif steps.result --latency 2
refuses "a network without a bandwidth" 2 "microseconds .*, and gigabytes\|microseconds up to" "$phasemux" whatif --simulate steps.result --network 2
refuses "better balance" 2 "balance is not simulated" "$phasemux" whatif --simulate steps.result --balance
refuses "an unknown phase" 2 "99" "$phasemux" whatif --simulate steps.result --phase 99=0.5
mkdir bare && ln -s "$(type -P bash)" bare/sh
refuses "a machine without SimGrid" 1 "needs SimGrid.*libsimgrid-dev" env PATH="$tmp/bare" "$phasemux" whatif --simulate steps.result
run untraced "$phasemux" run --output="$tmp/untraced.result" -- timeout 100 mpirun.openmpi --oversubscribe --allow-run-as-root -n 2 \
	"$programs/shapes.openmpi" conjugate_gradient 5
refuses "a run without arguments of its calls" 2 "PHASEMUX_TRACE=calls" "$phasemux" whatif --simulate untraced.result
done_testing
