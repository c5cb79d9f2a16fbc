#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `phasemux whatif --simulate`: a run made again on a machine that SimGrid simulates. Its times are those of the
# simulation, and do not depend on how busy this machine is then.
# Real time: the phases of the recorded runs, and how long their bursts take
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

# On a busy machine few steps may not suffice to learn a phase, or ranks wait so long for each other that no change of the
# program brings much.
for steps in 25 50 100 200; do
	rm -rf steps.result
	traced steps 4 conjugate_gradient $steps
	"$phasemux" whatif --json steps.result | "$python" -c 'import json, sys; 
sys.exit(sum("communication" not in answer["change"] for answer in json.load(sys.stdin)["answers"]) < 2)' && break
done
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
	grep -Pzq 'Simulated as it was, the run takes [^\n]* off\.(.|\n)*With a processor 2 times as fast, the (run would|simulation) take.*\n?.*less\.' words.out ||
	diag "$(cat words.out)"
holds "and which calls were simulated" grep -q '^\(All [0-9]*\|[0-9]* of [0-9]*\) recorded calls \(were\|can be\) simulated' words.out

# found CONDITION RESULT: of the JSON in RESULT.out, which is `found`
found() {
	"$python" -c 'import json, sys; found = json.load(open(sys.argv[2] + ".out")); sys.exit(not eval("(" + sys.argv[1] + ")"))' "$@"
}
run table "$phasemux" whatif --simulate --json steps.result
holds "without a change: single ones, the best one first, each faster as it is foreseen to be" found \
	'len(found["changes"]) > 1 and found["change"] is None and
	 sorted((c["saved_share"]["mean"] for c in found["changes"]), reverse=True) == [c["saved_share"]["mean"] for c in found["changes"]] and
	 all(abs(c["speedup"] - found["simulated_seconds"]["mean"] / c["simulated_seconds"]["mean"]) < 1e-9 for c in found["changes"])' table
holds "the folder has them as a file" cmp table.out <(cat steps.result/replay/simulation.json; echo)
holds "none of them is a factor of communication" found 'not any("communication" in c["change"] for c in found["changes"])' table
run table "$phasemux" whatif --simulate steps.result
holds "as a table with the run as it was" grep -q '^as it was  *[0-9.]* [mu]*s ' table.out || diag "$(cat table.out)"
run both "$phasemux" whatif --simulate --json steps.result --cpu 2 --phase 1=0.5
holds "two changes are simulated alone and together" found 'len(found["changes"]) == 3 and
	found["changed_seconds"] == found["changes"][2]["simulated_seconds"] and
	found["changes"][2]["saved_share"]["mean"] > max(c["saved_share"]["mean"] for c in found["changes"][:2])' both
run surface "$phasemux" whatif --simulate --json steps.result --surface --ranks-per-node 1
holds "a surface of 49 machines, on which more speed never takes longer" found '(lambda t:
	len(t) == 7 and all(len(row) == 7 for row in t) and t[6][6] < t[0][6] < t[0][0] and
	all(t[b][c] >= t[b][c + 1] * .999 and t[c][b] >= t[c + 1][b] * .999 for b in range(7) for c in range(6)))(found["surface"]["seconds"])' surface ||
	diag "$(cat surface.err)"
run words "$phasemux" whatif --simulate steps.result --surface --ranks-per-node 1
holds "in words first" grep -q '^With a processor and a network 64 times as fast, the run is [0-9.]* times as fast' words.out

# Simulations of a long run take some of its rounds, and these stand for the others.
traced sort 2 integer_sort 1000
longer() {
	mkdir "$1.result" && "$python" "$root/tests/bench/growth.py" sort.result/report.json "$2" >"$1.result/report.json"
}
longer tenfold 10
longer thousandfold 1000
simulated once sort --cpu 2
simulated tenfold tenfold --cpu 2
simulated whole tenfold --cpu 2 --whole
simulated thousandfold thousandfold --cpu 2
# near ONE OTHER TIMES: the one time is as often the other one, within the half-widths or 1%, as it was and with the change
near() {
	"$python" - "$@" <<'END'
import json, sys
one, other = (json.load(open(name + ".out")) for name in sys.argv[1:3])
for key in ("simulated_seconds", "changed_seconds"):
    a, b = one[key], {name: value * float(sys.argv[3]) for name, value in other[key].items()}
    print("#", key, a, b)
    assert abs(a["mean"] - b["mean"]) <= max(a["ci95"] + b["ci95"], .01 * b["mean"])
END
}
holds "a short run is simulated as a whole" found 'found["simulated_calls"] == found["calls"]' once
holds "and so is a longer one if that is asked for" found 'found["simulated_calls"] == found["calls"] > 50000' whole
holds "of a longer one a part" found '10000 < found["simulated_calls"] <= 30000 and found["calls"] > 50000' tenfold
holds "which does not grow with the run" found '10000 < found["simulated_calls"] <= 30000 and found["calls"] > 5000000' thousandfold
holds "the time is that of the whole simulation" near tenfold whole 1
holds "a run a hundred times as long takes a hundred times as long" near thousandfold tenfold 100
run words "$phasemux" whatif --simulate tenfold.result --cpu 2
holds "the answer says how many calls were simulated" grep -Pzq '[0-9]+ of 6[0-9]+ calls were simulated, in rounds from all parts of the run' words.out ||
	diag "$(cat words.out)"

# The page shows them without a script. It does not show those of another run.
on_page() { "$phasemux" report --html "$1" | grep -c -e '<h3 id="simulated">' -e 'aria-label="Speedup by processor and bandwidth"'; }
is "$(on_page steps.result)" 2 "the page has the simulated times and the surface"
mkdir other.result other.result/replay && sed 's/"recorded_seconds": /&1/' steps.result/replay/simulation.json >other.result/replay/simulation.json &&
	cp steps.result/report.json other.result
is "$(on_page other.result)" 0 "but not those of another run"
echo '{' >other.result/replay/simulation.json
is "$(on_page other.result)" 0 "nor a file that is cut off"

run calibrated "$phasemux" whatif --calibrate steps.result -- timeout 100 mpirun.openmpi --oversubscribe --allow-run-as-root -n 2
is "$(cat calibrated.code)" 0 "messages are measured" || diag "$(cat calibrated.err)"
holds "it says what it found" grep -q '^Messages within a node take [0-9.]* [nmu]*s, and their bytes [0-9.]* GB/s' calibrated.out || diag "$(cat calibrated.out)"
simulated measured steps
holds "a simulation takes what was measured" found 'all(abs(found["memory_" + key] - value) < 1e-9 * value for key, value in
	json.load(open("steps.result/replay/memory.json")).items()) and found["memory_latency_seconds"] != 5e-7' measured
rm steps.result/replay/memory.json
# By deed: messages between nodes that SimGrid simulates, whose latency and bandwidth are known
mkdir simgrid.bin && printf '#!/bin/sh\nexec smpicc "$@"\n' >simgrid.bin/mpicc.smpi
simulated slow steps --ranks-per-node 1 --network 20,1
printf '#!/bin/sh\nexec %s "$@"\n' "smpirun -np 4 -platform $tmp/steps.result/replay/platform.xml -hostfile $tmp/steps.result/replay/hosts \
	--cfg=smpi/host-speed:1Gf --cfg=smpi/simulate-computation:no --cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:1 \
	--cfg=network/weight-S:0 --log=root.thres:warning" >simgrid.bin/mpirun.smpi
chmod +x simgrid.bin/*
run calibrated "$phasemux" whatif --calibrate steps.result -- "$tmp/simgrid.bin/mpirun.smpi"
simulated calibrated steps --ranks-per-node 1
holds "a network is measured as it is, and simulated as it was measured" found \
	'abs(found["latency_seconds"] / 20e-6 - 1) < .05 and abs(found["bytes_per_second"] / 1e9 - 1) < .05' calibrated ||
	diag "$(cat calibrated.out calibrated.err)"
holds "so that runs take as long on it" compare "abs(calibrated / slow - 1) < .03"
rm steps.result/replay/network.json
refuses "a measurement with one rank" 1 "two ranks or more" "$phasemux" whatif --calibrate steps.result -- timeout 100 mpirun.openmpi --allow-run-as-root -n 1
run usage "$phasemux" whatif --calibrate steps.result
is "$(cat usage.code)" 2 "a measurement without a launcher is refused"
run usage "$phasemux" whatif steps.result -- mpirun.openmpi -n 2
is "$(cat usage.code)" 2 "and so is a launcher without a measurement"

helper() { "$python" "$root/tests/e2e/whatif.py" "$@"; }
# The structure may name another phase of the same place before a call than the one that most bursts belong to.
helper relabel steps.result/report.json >named.json
mkdir named.result && mv named.json named.result/report.json
simulated halved steps --phase 1=0.5
simulated relabelled named --phase 1=0.5
holds "a phase is changed also where the calls have the name of another one" compare \
	"halved < .9 * asis and abs(relabelled - halved) < .2 * (asis - halved)"

# By deed: the shapes of spmd.c sleep, so that their times are known, and can really be balanced, or have half the work.
shaped() {
	scripted "$1" PHASEMUX_CLUSTER_BY=duration,callpath PHASEMUX_TRACE=calls PHASEMUX_BUDGET=none \
		on openmpi 2 "$programs/spmd.openmpi" "$2" 1.5 "${@:3}"
	helper quiet "$3" "${4:-uneven}" "$1.out" "$1.result/report.json" >"$1.busy" 2>&1
}
# as_foreseen NAME SHAPE: what was simulated is what happened
as_foreseen() {
	cat "$2.busy" "$1.busy" >busy
	if [ -s busy ]; then
		skip "$1: as foreseen" "the machine is too busy: $(tail -n 1 busy)"
	else
		holds "$1: as foreseen" helper simulated "$1.sim.out" "$1.result/report.json"
	fi
}
# foreseen SHAPE FUNCTION: halves the function's work, and balances it
foreseen() {
	local half balanced

	shaped "$1" "$1" 1
	shaped "$1.half" "$1" 0.5
	shaped "$1.alike" "$1" 1 alike
	mapfile -t half < <(helper options "$1.result/report.json" "$2" --phase=N=0.5)
	mapfile -t balanced < <(helper options "$1.result/report.json" "$2" --balance=N)
	simulated "$1.half.sim" "$1" "${half[@]}"
	simulated "$1.alike.sim" "$1" "${balanced[@]}"
	as_foreseen "$1.half" "$1"
	as_foreseen "$1.alike" "$1"
}
if [ -e "$scripted" ]; then
	foreseen uneven correct
	foreseen across ahead
	foreseen loose ahead_alone
	holds "where the gain stops: the first rank computes less, and waits in its MPI_Allreduce" found '(lambda stop:
		stop["rank"] == 0 and stop["call"] == "MPI_Allreduce" and stop["lost_seconds"] > .5 * stop["computes_less_seconds"] and
		stop["waits_more_seconds"] > .9 * stop["lost_seconds"])(found["changes"][-1]["stop"])' loose.half.sim
	mapfile -t half < <(helper options loose.result/report.json ahead_alone --phase=N=0.5)
	run stops "$phasemux" whatif --simulate loose.result "${half[@]}"
	holds "it is said in words" grep -q "^Most of the gain stops at rank 0's MPI_Allreduce in behind: the rank computes " stops.out ||
		diag "$(cat stops.out)"
	holds "balanced ranks take as long as their mean in the simulation" "$python" -c 'import json
as_was, alike = (json.load(open(f"{name}.out")) for name in ("uneven.half.sim", "uneven.alike.sim"))
assert .15 < alike["saved_share"]["mean"] < .3, alike["saved_share"]
assert abs(as_was["simulated_seconds"]["mean"] / alike["simulated_seconds"]["mean"] - 1) < 1e-9'
else
	skip "by deed" "no scripted PMU was built"
fi

run started "$phasemux" run --trace=calls --budget=none --output="$tmp/started.result" -- timeout 100 mpirun.openmpi --oversubscribe \
	--allow-run-as-root -n 2 "$programs/waits.openmpi" "$tmp/started.log" 40 p
simulated started.sim started --whole
"$phasemux" replay --check --json started.result >started.check
holds "persistent requests are made and started" "$python" -c 'import json
found, replay = (json.load(open(name)) for name in ("started.sim.out", "started.check"))
assert found["simulated_calls"] == found["calls"] == replay["made"] > 400, (found, replay)'

refuses "a network that no rank uses" 2 "all ranks are on one node" "$phasemux" whatif --simulate steps.result --latency 2
refuses "an option of the simulation alone" 2 "together with --simulate" "$phasemux" whatif steps.result --latency 2
refuses "a network without a bandwidth" 2 "microseconds .*, and gigabytes\|microseconds up to" "$phasemux" whatif --simulate steps.result --network 2
refuses "the surface of a network that no rank uses" 2 "all ranks are on one node" "$phasemux" whatif --simulate steps.result --surface
refuses "a factor of communication" 2 "a simulation, which sends the messages; --latency and" \
	"$phasemux" whatif --simulate steps.result --communication 0.5
refuses "all rounds of no simulation" 2 "together with --simulate" "$phasemux" whatif steps.result --whole
refuses "a surface alone" 2 "together with --simulate" "$phasemux" whatif steps.result --surface
refuses "the balance of a phase that is none" 2 "there is no phase 99" "$phasemux" whatif --simulate steps.result --balance=99
refuses "an unknown phase" 2 "99" "$phasemux" whatif --simulate steps.result --phase 99=0.5
mkdir bare && ln -s "$(type -P bash)" bare/sh
refuses "a machine without SimGrid" 1 "needs SimGrid.*libsimgrid-dev" env PATH="$tmp/bare" "$phasemux" whatif --simulate steps.result
run untraced "$phasemux" run --output="$tmp/untraced.result" -- timeout 100 mpirun.openmpi --oversubscribe --allow-run-as-root -n 2 \
	"$programs/shapes.openmpi" conjugate_gradient 5
refuses "a run without arguments of its calls" 2 "PHASEMUX_TRACE=calls" "$phasemux" whatif --simulate untraced.result
done_testing
