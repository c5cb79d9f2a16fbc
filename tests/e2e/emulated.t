#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An emulated processor: a program whose instructions are known is counted by it, and its report says what it is.
# Real time: the agent's thread changes groups within bursts of half a second.
. "$(dirname "$0")/lib.sh"

[ -z "$sanitizer" ] || skip_all "an emulator of a sanitizer's memory takes all that there is"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulator is of x86-64 alone"

counted=$programs/counted.openmpi
emulate() {
	local name=$1

	shift
	run "$name" PHASEMUX_OUTPUT="$tmp/$name.result" PHASEMUX_SPOOL="$tmp/spool" \
		timeout -k 10 120 "$phasemux" run --counters emulated "$@"
}

# without QEMU
mkdir "$tmp/empty"
run missing PATH="$tmp/empty" "$phasemux" run --counters emulated -- /bin/true
is "$(cat missing.code)" 2 "without QEMU phasemux run refuses"
holds "and says what to install" grep -q 'cannot be emulated: qemu-x86_64 is not in PATH.*qemu-user' missing.err
run doctor PATH="$tmp/empty" "$phasemux" doctor
holds "doctor says so, too" grep -qE '^emulated +not available: qemu-x86_64' doctor.out

takes_plugins || skip_all "no qemu-x86_64 that takes plugins is installed"
if [ -x "$counted" ] && have mpirun.openmpi; then
	run native PHASEMUX_DISABLE=1 on openmpi 2 "$counted" 12
	# the shortest bursts take a millisecond, and `auto` may leave some out if other programs hold up the rest
	preloaded launched PHASEMUX_COUNTERS=emulated PHASEMUX_BUDGET=none PHASEMUX_BURST_MIN=100us on openmpi 2 "$counted" 12
	unchanged launched native
	json=$tmp/launched.result/report.json
	holds "the report fits its schema" report schema "$json"
	holds "the head of report.txt says emulated" \
		grep -q '^  emulated (core model out-of-order): all counts are of a modelled processor' \
		launched.result/report.txt
	is "$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["emulated"])' "$json")" \
		"{'core': 'out-of-order'}" "report.json says so, too"
	holds "the start says that the program is slower" grep -q 'core model out-of-order): .* times slower' launched.err
	holds "the components sum to the CPI" report breakdown "$json"
	holds "instructions, divisions and misses are those of the loops" "$python" - "$json" <<-'CHECK'
		import json, sys
		report = json.load(open(sys.argv[1]))
		OVERHEAD = 30000  # instructions of the barrier's end and of the agent, in a burst
		loops = {"plain": 2000000, "division": 400000, "memory": 800000}
		found = {}
		for phase in report["phases"]:
		    for name, want in loops.items():
		        if 0 <= phase["counters"]["instructions"]["mean"] - want < OVERHEAD and phase["bursts"] >= 20:
		            found[name] = phase
		            assert abs(phase["bursts"] - 24) <= 2, (name, phase["bursts"])
		assert set(found) == set(loops), [(p["bursts"], p["counters"]["instructions"]["mean"]) for p in report["phases"]]
		def mean(loop, event): return found[loop]["counters"][event]["mean"]
		assert 100000 <= mean("division", "divisions") < 101000, mean("division", "divisions")
		assert 200000 <= mean("memory", "l3_misses") < 203000, mean("memory", "l3_misses")
		assert 200000 <= mean("memory", "loads") < 203000, mean("memory", "loads")
		assert mean("memory", "stores") < 3000, mean("memory", "stores")
		assert mean("plain", "l3_misses") < 2000, mean("plain", "l3_misses")
		assert 0.25 <= found["plain"]["cpi"] < 0.35, found["plain"]["cpi"]
		assert 20 < found["memory"]["cpi"] < 21, found["memory"]["cpi"]
	CHECK

	# a rank that opens its MPI itself, as mpi4py does
	emulate opened -- mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$programs/late" \
		"$programs/phases.openmpi.so" -n 3
	is "$(cat opened.code)" 0 "ranks that open MPI later"
	holds "are emulated as well" grep -q '^  2 ranks, .* emulated (core model out-of-order)' opened.result/report.txt

	# phasemux run below mpirun, with the other core
	run inside PHASEMUX_OUTPUT="$tmp/inside.result" PHASEMUX_SPOOL="$tmp/spool" \
		on openmpi 2 "$phasemux" run --counters emulated --core in-order -- "$counted" 8
	is "$(cat inside.code)" 0 "phasemux run below mpirun"
	holds "with the other core model" grep -q '^  emulated (core model in-order)' inside.result/report.txt
	# a program in the emulator is not put into it again, nor is a script
	emulate script -- bash -c "exec mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 $counted 8"
	is "$(grep -c 'times slower' script.err)" 1 "from a script, one line says that the program is slower"
	holds "and its report is emulated" grep -q '^  emulated' script.result/report.txt
else
	skip "ranks in the emulator" "no Open MPI"
fi

# few long bursts: samples cut them, and groups change within them. Many calls show what is true. A period of 10 ms of the
# emulator's time keeps the test short.
few=$programs/few.openmpi
if [ -x "$few" ] && have mpirun.openmpi; then
	# a per cent of the work, with which the bursts of a phase take more than a second of the emulator's time
	for case in "ten 25" "assembly 30"; do
		read -r shape percent <<<"$case"
		for way in "truth 0 10" "cut 100 0"; do
			read -r name hz piece <<<"$way"
			preloaded "$shape.$name" PHASEMUX_COUNTERS=emulated PHASEMUX_BUDGET=none PHASEMUX_SAMPLE="$hz" \
				on openmpi 2 "$few" "$shape" "$piece" "$percent"
		done
		is "$(cat "$shape.cut.code")" 0 "few $shape: the program ends well"
		json=$tmp/$shape.cut.result/report.json
		holds "few $shape: the report fits its schema" report schema "$json"
		holds "few $shape: each large phase has a breakdown, with intervals that cover the truth" \
			report sliced "$json" "$tmp/$shape.truth.result/report.json" 1
		holds "few $shape: the slices are where the work is done" \
			grep -qE '^ +in run_(triad|fdiv) ' "$shape.cut.result/report.txt"
	done
else
	skip "few long bursts" "no Open MPI"
fi

# without MPI, and a process that cannot be emulated
emulate serial -- "$programs/serial" 1
is "$(cat serial.code)" 0 "a program without MPI"
holds "is emulated as well" grep -q '^  emulated (core model out-of-order)' serial.result/report.txt
holds "its one burst is cut into slices" report between serial.result/report.json samples/slices 10 1000
for kernel in triad fma; do
	holds "some of which are where it does $kernel" grep -qE "^ +in run_$kernel " serial.result/report.txt
done

# QEMU aborts the child of a process with threads when that starts one, as each child here does for the agent
emulate forked -- "$programs/forks" together 2 4
is "$(cat forked.code) $(cat forked.out)" "0 forks: 2 of 2 ended" "a program that forks"
holds "its children are in the report, with the instructions of their work" "$python" - forked.result/report.json <<-'CHECK'
	import json, sys
	report = json.load(open(sys.argv[1]))
	assert report["ranks"] == 3, report["ranks"]
	# a child is observed from its 50th millisecond on, or later on a busy machine: the first bursts may be missing
	triad = [phase["bursts"] for phase in report["phases"]
	         if 22.8e6 < phase["counters"]["instructions"]["mean"] < 23.2e6]
	assert triad and 2 <= max(triad) <= 6, report["phases"]
CHECK
if [ -x "$counted" ] && have mpirun.openmpi; then
	preloaded fallback PHASEMUX_COUNTERS=emulated on openmpi 1 env PATH="$tmp/empty" "$counted" 3
	is "$(cat fallback.code)" 0 "where there is no QEMU, the program runs natively"
	holds "and says why" grep -q 'not emulated, the program runs natively: qemu-x86_64' fallback.err
	holds "its report does not say emulated" bash -c '! grep -q emulated fallback.result/report.txt'
fi
done_testing
