#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux cluster and compare: their input, their output, and what they refuse.
#
# If REFERENCE_CLUSTERINGS is set, it is a folder with results of another tool. Each folder NAME/ in it has a
# trace (trace.prv.xz, .pcf) and its DBSCAN (dbscan.DATA.csv.xz: instance, task, thread, begin, end, ...,
# cluster). DBSCAN used bursts of at least 50 us, Eps 0.02, 10 points, and log:instructions,ipc. The trace's
# refinement is refinement.DATA.csv.xz.
. "$(dirname "$0")/lib.sh"

data=$root/tests/data

holds "a trace is clustered" "$phasemux" cluster --quiet --output trace "$data/small.prv"
for file in bursts.csv clusters.csv scores.csv sequences.csv sequences.fasta tree.dot trace.prv \
	trace.pcf trace.row; do
	holds "and leaves $file" test -s trace/$file
done
holds "clusters have the colours of the page in the plots" grep -q "lc rgb '#d55e00' title 'cluster 1'" trace/*.gnuplot
is "$(head -n 1 trace/bursts.csv)" \
	"task,thread,begin_ns,end_ns,PAPI_TOT_INS,PAPI_TOT_CYC,ipc,cluster" "the burst table's header"
is "$(tail -n +2 trace/clusters.csv | cut -d, -f1-2 | tr '\n' ' ')" "0,0 1,4 2,60 3,60 " \
	"start-up of 4 tasks, and two phases of 15 iterations"
is "$(grep -c ':90000001:0$' trace/trace.prv)" "$(grep -c ':90000001:[1-9][0-9]*$' trace/trace.prv)" \
	"as many clusters end in the trace as begin"
is "$(grep -c ':90000001:[678]$' trace/trace.prv)" 124 "and as many are there as bursts"
is "$(grep -v ':90000001:' trace/trace.prv | cksum)" "$(cksum <"$data/small.prv")" \
	"the trace's own records are as they were"
is "$(awk -F: '/^[12]:/ { if ($6 < last) n++; last = $6 } END { print n + 0 }' trace/trace.prv)" 0 \
	"in order of time"
holds "the trace can be clustered again" "$phasemux" cluster --quiet --output again trace/trace.prv
is "$(cksum <again/bursts.csv)" "$(cksum <trace/bursts.csv)" "with the same result"

for packer in gzip xz; do
	if command -v $packer >/dev/null; then
		mkdir -p $packer && $packer -c "$data/small.prv" >$packer/small.prv.${packer/gzip/gz}
		$packer -c "$data/small.pcf" >$packer/small.pcf.${packer/gzip/gz}
		"$phasemux" cluster --quiet --output $packer/out $packer/small.prv.*
		is "$(cksum <$packer/out/bursts.csv)" "$(cksum <trace/bursts.csv)" "the same through $packer"
	else
		skip "the same through $packer" "not installed"
	fi
done

"$phasemux" cluster --output table "$data/small.csv" >table.out
holds "a table is clustered" grep -q '^2 clusters' table.out
shuffled() { head -n 1 "$1" && tail -n +2 "$1" | sort -t, -k5,5n; }
shuffled "$data/small.csv" >shuffled.csv
"$phasemux" cluster --quiet --output shuffled shuffled.csv
is "$(cksum <shuffled/bursts.csv)" "$(cksum <table/bursts.csv)" "the order of lines does not matter"
# in the form in which spreadsheets and other programs write it
{ printf '\357\273\277' && cat "$data/small.csv"; } >marked.csv
sed 's/[^,]*/"&"/g' "$data/small.csv" >quoted.csv
sed '1!s/[^,]*/ "&" /g; s/$/\r/' "$data/small.csv" >blanks.csv
for table in marked quoted blanks; do
	"$phasemux" cluster --quiet --output $table $table.csv
	is "$(cksum <$table/bursts.csv)" "$(cksum <table/bursts.csv)" "a table that is $table is the same"
done
"$phasemux" cluster --sample 80 --sample-by tasks --output sampled "$data/small.csv" >sampled.out
holds "a sample classifies the rest alike" grep -q 'Rand index \(1.0\|0.9\)' sampled.out
"$phasemux" compare trace table again >compare.out
holds "runs are compared" grep -q 'over the last [01] of 2 steps' compare.out
is "$("$phasemux" compare trace again | awk '$2 ~ /^[0-9]+$/ && $1 != $2' | wc -l)" 0 \
	"a run's phases are found again as what they are"

# ---- refused input: exit code 2, and the place of the error ----
refused() { # NAME WANT ARGUMENTS...
	local name=$1 want=$2
	shift 2
	"$phasemux" cluster --output refused "$@" >refused.out 2>&1
	is "$?" 2 "$name: exit 2"
	holds "$name: says what was expected" grep -qE "$want" refused.out
}
sed '5s/:.*/:x/' "$data/small.prv" >broken.prv
refused "a broken trace" 'broken.prv: line 5: expected' broken.prv
sed '7s/[0-9]*$/many/' "$data/small.csv" >broken.csv
sed '7s/,[0-9]*/,"1""2"/' "$data/small.csv" >inner.csv
refused "a quote within a field" 'inner.csv: line 7: .*expected .*found "1"2"' inner.csv
refused "a broken table" 'broken.csv: line 7: .*expected' broken.csv
cp "$data/small.prv" named.prv && sed 's/42000050 .*/42000050/' "$data/small.pcf" >named.pcf
refused "a broken .pcf" 'named.pcf: line [0-9]+: expected' named.prv
refused "an unknown algorithm" 'refinement, dbscan or given' --algorithm magic "$data/small.csv"
refused "an unknown metric" 'there are instructions cycles' --cluster-by flops "$data/small.csv"
refused "a duration that is none" '50us' --burst-min soon "$data/small.csv"

# ---- beside another tool ----
reference=${REFERENCE_CLUSTERINGS:-}
[ -d "$reference" ] || skip "beside another tool" "REFERENCE_CLUSTERINGS is not set"
for folder in "${reference:-none}"/*/; do
	[ -e "$folder/dbscan.DATA.csv.xz" ] || continue
	name=$(basename "$folder")
	"$phasemux" cluster --quiet --algorithm dbscan --eps 0.02 --min-points 10 --burst-min 50us \
		--output dbscan "$folder/trace.prv.xz"
	"$phasemux" cluster --quiet --burst-min 50us --output refined "$folder/trace.prv.xz"
	for kind in dbscan refinement; do
		xz -dc "$folder/$kind.DATA.csv.xz" >$kind.csv
	done
	holds "$name: the same DBSCAN, a better refinement" \
		"$python" "$root/tests/e2e/beside_reference.py" "$phasemux" dbscan refined dbscan.csv refinement.csv
done
done_testing
