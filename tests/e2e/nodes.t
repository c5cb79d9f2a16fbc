#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job on several hosts: one report of all ranks, also if clocks differ and of a job that was killed. Where one host
# lacks a part of phasemux, the job runs on, and a line names the host. The hosts are namespaces of the kernel.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nodes.sh"

have mpirun.openmpi && [ -x "$programs/phases.openmpi" ] || skip_all "no Open MPI"
why=$(nodes_possible) || skip_all "$why"
nodes_start
trap 'nodes_stop; rm -rf "$tmp"' EXIT

# job NAME [VAR=VALUE]... PROGRAM...: starts two ranks on each node
job() {
	local name=$1 settings=()

	shift
	while [[ $1 == [A-Z]*=* ]]; do settings+=("$1"); shift; done
	run "$name" inside 254 env PHASEMUX_OUTPUT="$tmp/$name.result" "${settings[@]}" OMPI_ALLOW_RUN_AS_ROOT=1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$phasemux" run -- timeout 100 mpirun.openmpi --mca plm_rsh_agent "$tmp/agent" \
		--mca plm_rsh_no_tree_spawn 1 --mca btl_tcp_if_include $network.0/24 --mca oob_tcp_if_include $network.0/24 \
		--mca mpi_yield_when_idle 1 --host $network.1:2,$network.2:2,$network.3:2 "$@"
}
program=("$programs/phases.openmpi" -n 50)

job whole PHASEMUX_REPORT=text,json,bursts "${program[@]}"
is "$(cat whole.code)" 0 "the job ends as it should"
is "$(hosts_of whole.result/report.json)" "$everywhere" "one report has the ranks of all hosts"
is "$(ls whole.result | grep -c '^bursts')" 6 "and the tables of all bursts, since the folder is shared"
is "$(tail -n 1 whole.err)" "Results: node1:$tmp/whole.result" "the last line says where the results are"
holds "computing time is accounted for" report accounting whole.result/report.json

job unshared PHASEMUX_OUTPUT="$tmp/own/result" PHASEMUX_REPORT=text,json,bursts "${program[@]}"
is "$(tail -n 2 unshared.err)" "Results: node1:$tmp/own/result
phasemux: the tables of bursts of 4 ranks are in the folder of this name on their hosts" \
	"a folder that is not shared: the lines say so"
is "$(for node in 1 2 3; do inside $node ls "$tmp/own/result" | grep -c bursts; done | paste -sd' ')" "2 2 2" \
	"a folder that is not shared: each host has the tables of its ranks"

mkdir full
inside 2 mount -t tmpfs -o size=64k none "$tmp/full"
job full PHASEMUX_SPOOL="$tmp/full" "${program[@]}"
inside 2 umount "$tmp/full"
unchanged full whole
is "$(hosts_of full.result/report.json)" "$everywhere" "no room for sums on one host: one report has the ranks of all hosts"
holds "and a line names a rank and the host" grep -q "^phasemux: rank [23] on node2: $tmp/full/.*: No space left on device; " full.err

# lacking NAME FILE LINE...: node3 lacks this file
lacking() {
	local name=$1 file=$2 line

	inside 3 mount --bind /dev/null "$file"
	job "$name" "${program[@]}"
	inside 3 umount "$file"
	unchanged "$name" whole
	for line in "${@:3}"; do
		holds "$name: the line names what is missing where" grep -q "^phasemux: $line" "$name.err"
	done
	is "$(ls "$name.result" 2>/dev/null | grep -c "^report.*json")" "$lonely" "$name: no report of a part of the ranks"
}
lonely=0
lacking no_core "$build/libphasemux-core.so" "off: rank [45] on node3: "
lacking no_library "$build/libphasemux.so" "off: without an answer from rank 4-5 of 6"
lonely=2 # these two do not know the others
lacking no_adapter "$build/libphasemux-openmpi.so" "each rank on node3 learns and reports alone: the adapter for Open MPI: " "off: without an answer from rank 4-5 of 6"

if [ -x "$programs/phases.mpich" ] && have mpiexec.mpich; then
	# one rank on each, because MPICH's ranks of one host often hang by this network, also without phasemux
	run mpich inside 254 env PHASEMUX_OUTPUT="$tmp/mpich.result" UCX_TLS=tcp,self "$phasemux" run -- timeout 30 \
		mpiexec.mpich -launcher rsh -launcher-exec "$tmp/agent" -iface bridge \
		-hosts $network.1,$network.2,$network.3 -n 3 "$programs/phases.mpich" -n 50
	is "$(hosts_of mpich.result/report.json)" "3 node1:1 node2:1 node3:1" "MPICH: one report has the ranks of all hosts"
else
	skip "MPICH" "it is not installed"
fi

# left NUMBER: prints the folders of runs on this host that did not end by themselves
left() { inside "$1" find /dev/shm -mindepth 2 -maxdepth 2 -name '[0-9a-f]*'; }
# recovers NAME OPTION...: gathers what lies on all hosts
recovers() { run "$1" inside 254 "$phasemux" recover --via "$tmp/agent" --hosts "$network.1,$network.2,$network.3" "${@:2}"; }
# killed NAME [VAR=VALUE]...: a job of which rank 5 on node3 is killed
killed() {
	mkdir "truth.$1"
	job "$@" "$programs/killed.openmpi" "$tmp/truth.$1" 5 300000
	[ "$(cat "$1.code")" != 0 ]
	ok $? "$1: a rank on node3 is killed, and so is the job"
}

killed shared
recovers shown --json "$(left 1)"
is "$(hosts_of shown.out)" "$everywhere" "a killed job: one command shows the report of all hosts"
holds "which is as its schema says" report schema shown.out
is "$(left 1)$(left 2)$(left 3)" "$(left 1)$(left 1)$(left 1)" "and leaves what lies on the hosts"
recovers merged --merge
is "$(cat merged.code merged.out merged.err)" 0 "a killed job: one command makes the report of all hosts"
is "$(hosts_of shared.result/report.json)" "$everywhere" "in the folder of the results"
is "$(ls shared.result)" "$(printf 'report.html\nreport.json\nreport.txt\ntrace.json')" "with nothing beside it"
is "$(for node in 1 2 3; do inside $node find /dev/shm -type f; done)" "" "and nothing is left on any host"

killed apart PHASEMUX_OUTPUT="$tmp/own/killed"
recovers partly --merge --hosts "$network.1,$network.2,$network.77"
is "$(cat partly.code)" 1 "a host that cannot be asked: the exit code says so"
holds "and a line names it" grep -q "^phasemux: $network.77 is left out" partly.err
is "$(inside 254 cat "$tmp/own/killed/report.json" >partly.json; hosts_of partly.json)" "6 node1:2 node2:2" \
	"the report is that of the others"
holds "which says what is missing" report value partly.json recovered/missing '"4-5"'
recovers wholly --merge
inside 254 cat "$tmp/own/killed/report.json" >wholly.json
is "$(hosts_of wholly.json)" "$everywhere" "a folder that is not shared: another try adds the rest to the report"
is "$(for node in 1 2 3 254; do inside $node ls "$tmp/own/killed" 2>/dev/null; done)" "$(printf 'report.html\nreport.json\nreport.txt\ntrace.json')" \
	"a folder that is not shared: the report is where the command was run"

killed first
killed second
recovers several
is "$(cat several.code)" 2 "of two jobs, one must be named"
is "$(grep -cE "^  $network.1:/dev/shm/phasemux.0/[0-9a-f]{13}  .*  6 of 6 ranks" several.err)" 2 "they are listed with a host and all ranks"
for node in 1 2 3; do
	for folder in $(left $node); do
		inside $node "$phasemux" recover --merge "$folder" >merged 2>&1 || cat merged
	done
done
is "$(hosts_of first.result/report.json)" "$everywhere" "recover on each host makes one report"
is "$(for node in 1 2 3; do inside $node find /dev/shm -type f; done)" "" "and nothing is left"
done_testing
