#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# PHASEMUX_REGION: when the phases are steady, all ranks record the same iterations, and `phasemux region` writes them while the
# program runs.
# Real time: bursts that no other process makes longer. A single such burst can be half of the time of six iterations.
. "$(dirname "$0")/lib.sh"

mpi=$(mpis_of shapes | head -n 1)
[ -n "$mpi" ] || skip_all "no MPI is installed"
body="MPI_Irecv MPI_Send MPI_Wait MPI_Allreduce"
inner=$(for ((i = 0; i < 25; i++)); do echo "$body"; done | tr '\n' ' ')

check() { "$python" "$root/tests/e2e/region.py" "$@"; }
json() { "$python" -c "import json; region = json.load(open('$1.result/report.json'))['region']; print($2)"; }
# recorded HOW NAME STEPS [VAR=VALUE]...: a run of two ranks, preloaded or scripted
recorded() {
	local how=$1 name=$2 steps=$3

	shift 3
	$how "$name" PHASEMUX_BUDGET=none "$@" on "$mpi" 2 "$programs/shapes.$mpi" conjugate_gradient "$steps"
}
# with_region HOW NAME STEPS [VAR=VALUE]...: leaves what phasemux region says in NAME.told. On a busy machine the phases may
# not be steady before the run ends, which is five times as long then.
with_region() {
	local steps

	for steps in "$3" $((5 * $3)); do
		rm -rf "$2.result"
		recorded "$1" "$2" "$steps" "${@:4}"
		"$phasemux" region "$2.result" >"$2.told" && return
	done
}

# the traces are there while the program runs
recorded preloaded six 3000 PHASEMUX_REGION=6 &
started=$!
written=1
for ((tries = 0; tries < 200 && written; tries++)); do
	sleep 0.3
	"$phasemux" region six.result >six.told 2>&1 && grep -q "^6 of 6" six.told && written=0 && break
done
kill -0 "$started" 2>/dev/null
is "$?" 0 "the program runs"
is "$written" 0 "while the traces of 6 iterations are there"
[ -e six.result/report.json ]
is "$?" 1 "and there is no report yet"
holds "both ranks have the same 6 iterations, call by call" check six.result/region 2 606 "$inner MPI_Allreduce"
wait "$started"
is "$(cat six.code)" 0 "the program ends as it would"
is "$(json six '[region["iterations"], region["ranks"], region["whole_ranks"], region["calls"]]')" "[6, 2, 2, 1212]" \
	"the report says what was recorded"
is "$(json six 'region["cut_ranks"] + region["late_ranks"] + region["lost_ranks"]')" 0 "and nothing was lost"
is "$(json six '0 <= region["distance"] < 0.5')" True "and how far it is from the run"
holds "in words, too" grep -q "^Region: 6 iterations of 2 ranks, .* calls, ordered after" six.result/report.txt
holds "with the distance" grep -q "Its distance from the whole run is" six.result/report.txt
is "$(json six 'abs(sum(phase["time_share"] for phase in region["phases"]) - 1) < 0.2')" True "the shares are those of all bursts"

# the same traces from the whole result, as other tools read them
holds "the traces are written again, with the numbers of the report" "$phasemux" region -o again six.result
holds "they are good" check again 2 606 "$inner MPI_Allreduce"
holds "the Paraver trace is clustered" "$phasemux" cluster --quiet --cluster-by duration --burst-min 0us --output clusters again.prv
is "$(tail -n +2 clusters/bursts.csv | wc -l)" 1212 "each call has a burst before it"
holds "the Perfetto trace has each call" "$python" "$root/tests/e2e/perfetto.py" region again.perfetto-trace 2 606

# counters that were read are in the traces
with_region scripted counted 600 SCRIPTED_PMU=auto=triad PHASEMUX_REGION=6
holds "with counters: it is good" check counted.result/region 2 606 "$inner MPI_Allreduce"
holds "the Paraver trace names cycles and instructions" grep -q "^7 *42000101 *instructions" counted.result/region.pcf
holds "and phasemux cluster finds phases by them" "$phasemux" cluster --quiet --cluster-by instructions,ipc \
	--burst-min 10us --output counters counted.result/region.prv
counters() { "$python" -c '
import csv, sys
with open("counters/bursts.csv") as file:
    rows = [row for row in csv.DictReader(file) if int(row["end_ns"]) - int(row["begin_ns"]) >= 20000]
read = [row for row in rows if row["instructions"] and row["cycles"]]
print(len(rows), len(read), read[:2])
sys.exit(len(read) < 0.9 * len(rows) or any(float(row["cycles"]) < 1000 for row in read))'; }
holds "most long bursts have both" counters
holds "so does the Perfetto trace" "$python" "$root/tests/e2e/perfetto.py" region counted.result/region.perfetto-trace 2 606 cycles

# a size bounds the trace
with_region preloaded size 1200 PHASEMUX_REGION=1MiB
holds "a size: several iterations" [ "$(json size 'region["iterations"]')" -gt 1 ]
bytes=$(stat -c %s size.result/region.prv)
holds "whose trace has at most this size, and not much less ($bytes)" [ "$bytes" -le 1048576 -a "$bytes" -ge 300000 ]
holds "and is good" check size.result/region 2
# an iteration that does not fit is cut
with_region preloaded small 1200 PHASEMUX_REGION=16KiB
holds "an iteration that does not fit is cut" [ "$(json small 'region["cut_ranks"]')" = 2 ]
holds "which is said" grep -q "2 ranks had no room for more calls" small.told
holds "in the report as well" grep -q "2 ranks had no room for all calls" small.result/report.txt
bytes=$(stat -c %s small.result/region.prv)
holds "to the size ($bytes)" [ "$bytes" -le 16384 ]

# a rank is killed in its region: what was recorded is not lost
run killed LD_PRELOAD="$library" PHASEMUX_OUTPUT="$tmp/killed.result" PHASEMUX_SPOOL="$tmp/spool" PHASEMUX_BUDGET=none \
	PHASEMUX_REGION=100000 on "$mpi" 2 "$programs/shapes.$mpi" conjugate_gradient 100001 &
started=$!
calls() { "$phasemux" region killed.result 2>/dev/null | sed -n 's/.* with \([0-9]*\) calls/\1/p'; }
for ((tries = 0; tries < 100; tries++)); do
	sleep 0.6
	recorded=$(calls)
	[ "${recorded:-0}" -gt 2000 ] && break
done
kill -KILL "$(pgrep -f "^$programs/shapes.$mpi conjugate_gradient 100001" | head -n 1)"
wait "$started"
holds "killed in the region: the traces are written" "$phasemux" region killed.result
"$phasemux" region killed.result >killed.told
holds "with many calls" [ "$(sed -n 's/.* with \([0-9]*\) calls/\1/p' killed.told)" -gt 1000 ]
holds "and it is said" grep -q "2 ranks still record, or were killed" killed.told
holds "they are good" check killed.result/region 2

# no region
recorded preloaded short 3 PHASEMUX_REGION=6
is "$(json short 'region["iterations"]')" None "a short run has no region"
holds "which the report says" grep -q "^No region (PHASEMUX_REGION)" short.result/report.txt
run none "$phasemux" region short.result
is "$(cat none.code)" 1 "there is nothing to write"
holds "and why" grep -q "short.result has no region" none.err
recorded preloaded off 300
is "$(json off 'region')" None "without PHASEMUX_REGION there is none"
is "$(ls off.result | grep -c calls)" 0 "and no file of it"

# invalid files
mkdir broken && cp six.result/region.00000* broken
printf 'nothing at all' >broken/region.000001.calls
refuses "a file that is none" "region.000001.calls: it is not a file of a region" region broken
cp six.result/region.000001.calls broken && cp size.result/region.000000.calls broken
refuses "files of two runs" "is of another run" region broken
cp six.result/region.000000.calls broken
head -c 20000 six.result/region.000001.calls >broken/region.000001.calls
holds "of a file that was cut off, the start is read" "$phasemux" region broken
printf '\xff' | dd of=broken/region.000001.calls bs=1 seek=16 conv=notrunc 2>/dev/null
refuses "a file of another version" "another version" region broken
refuses "no folder" "usage" region
done_testing
