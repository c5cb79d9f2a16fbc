#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that repeatedly asks whether something has come is waiting. One that asks from time to time while it
# computes is not.
# Real time: how long a program asks, beside how long it computes.
. "$(dirname "$0")/lib.sh"

mpis=$(mpis_of asks)
[ -n "$mpis" ] || skip_all "no MPI is installed"

# REPORT OUTPUT COMPUTATIONS [each]: compares a report with what the program prints about itself. The program
# does not print how much of its asking time was between its calls. If phasemux did not know of polling, a third
# of that time and more would be computing.
says() {
	"$python" - "$@" <<'END'
import json, re, sys
report = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
computed, asks, asked = map(float, re.search(r"computed (\S+) s, asked (\S+) times in (\S+) s", text).groups())
polling = report["polling"]
assert 0.98 * computed <= report["compute_seconds"] <= computed + 0.2 * asked, \
    (report["compute_seconds"], computed, asked)
rested = report["not_observed"]["calls"]
# the first call after each computation ends a burst, and on a busy machine few others follow it
asks_again = asks - int(sys.argv[3])
assert 0.9 * asks_again <= polling["bursts"] + rested and polling["bursts"] <= asks, (polling, asks, rested)
assert 0 < polling["seconds"] < asked, (polling, asked)
share = polling["seconds"] / (report["wall_seconds"] * report["threads"])
assert abs(polling["time_share"] / share - 1) < 1e-6, (polling, share)
# on a busy machine MPI yields its processor in each call
assert asks < 1e5 or report["agent"]["passed_calls"] > 0.5 * asks or len(sys.argv) > 4, (asks, report["agent"])
for phase in report["phases"]:
    # a call that is preempted takes as long as a burst
    assert phase["time_share"] < 0.05 or phase["duration_seconds"]["mean"] > 1e-4, phase
END
}

computes() {
	"$python" - "$1" "$2" <<'END'
import json, re, sys
report = json.load(open(sys.argv[1]))
computed, asks = map(float, re.search(r"computed (\S+) s, asked (\S+) times", open(sys.argv[2]).read()).groups())
assert report["polling"]["bursts"] == 0, report["polling"]
assert report["bursts"] >= asks, (report["bursts"], asks)
assert report["compute_seconds"] >= 0.98 * computed, (report["compute_seconds"], computed)
END
}

for mpi in $mpis; do
	for how in test probe status; do
		preloaded "$how.$mpi" on "$mpi" 2 "$programs/asks.$mpi" $how 100
		result=$tmp/$how.$mpi.result
		holds "$how.$mpi: the time between calls that ask is polling, and those calls are skipped" \
			says "$result/report.json" "$how.$mpi.out" 100
		holds "$how.$mpi: the report says so" grep -q '^Polling: ' "$result/report.txt"
		holds "$how.$mpi: its parts are the whole" report accounting "$result/report.json"
		holds "$how.$mpi: it is what the schema says" report schema "$result/report.json"
	done

	# without a budget no call is skipped
	preloaded "each.$mpi" PHASEMUX_BUDGET=none on "$mpi" 2 "$programs/asks.$mpi" test 20
	holds "each.$mpi: the same if no call is skipped" says \
		"$tmp/each.$mpi.result/report.json" "each.$mpi.out" 20 each

	preloaded "progress.$mpi" on "$mpi" 2 "$programs/asks.$mpi" progress 50
	holds "progress.$mpi: computing between calls that ask is bursts" computes \
		"$tmp/progress.$mpi.result/report.json" "progress.$mpi.out"

	mkdir -p "$tmp/aborts.$mpi.spool"
	preloaded "aborts.$mpi" PHASEMUX_SPOOL="$tmp/aborts.$mpi.spool" on "$mpi" 2 \
		"$programs/asks.$mpi" test 100 aborts
	"$phasemux" recover --json "$tmp/aborts.$mpi.spool" >"aborts.$mpi.json" 2>/dev/null
	holds "aborts.$mpi: the recovered report has the polling" says "aborts.$mpi.json" "aborts.$mpi.out" 100
done

# a program in Fortran, whose request is none, so that every answer is that all has come
for with in $(mpis_of polls); do
	for program in polls polls_f08; do
		preloaded "$program.$with" on "$with" 1 "$programs/$program.$with" 1000000
		holds "$program.$with: calls from Fortran are polling, too" report between \
			"$tmp/$program.$with.result/report.json" polling/bursts 990000 1000000
		holds "$program.$with: and most of them are skipped" report between \
			"$tmp/$program.$with.result/report.json" agent/passed_calls 100000 1000000
	done
done
done_testing
