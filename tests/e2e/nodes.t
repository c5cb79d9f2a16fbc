#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job on several hosts: one report of all ranks, also if clocks differ and of a job that was killed. Where one host
# lacks a part of phasemux, the job runs on, and a line names the host. The hosts are namespaces of the kernel, which
# need root, and a network of their own joins them.
. "$(dirname "$0")/lib.sh"

have mpirun.openmpi && [ -x "$programs/phases.openmpi" ] || skip_all "no Open MPI"
have ip || skip_all "no ip (iproute2)"
unshare --net --uts --ipc --pid --mount --time --fork true 2>/dev/null || skip_all "no namespaces here, or not as root"

network=10.99.0 # in namespaces alone
nodes=3

# What a node does until it is killed: it has a name, /dev/shm and a folder of its own, and takes care of orphans.
cat >node <<'END_NODE'
#!/bin/bash
hostname "$1" && mount -t tmpfs shm /dev/shm && mount -t tmpfs own "$2/own" && ip link set lo up && touch "$2/$1.up"
sleep infinity &
while :; do wait; done
END_NODE
# What ssh is for a launcher: agent ADDRESS COMMAND...
cat >agent <<END_AGENT
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
exec nsenter -t "\$(cat "$tmp/\$1.pid")" -a -r -w env -i HOME=/ PATH="$PATH" sh -c "cd / && \${*:2}"
END_AGENT
chmod +x node agent
mkdir own

# start NAME ADDRESS OPTION...: starts a host with a network, and leaves the number of a process on it in ADDRESS.pid
start() {
	setsid unshare --net --uts --mount "${@:3}" "$tmp/node" "$1" "$tmp" </dev/null >"$1.log" 2>&1 &
	started+=($!)
	disown
	for ((wait = 0; wait < 100; wait++)); do [ -e "$1.up" ] && break; sleep 0.1; done
	if [ $# = 2 ]; then echo $!; else pgrep -P $!; fi >"$2.pid"
}
# inside NUMBER COMMAND...: runs it on the host with this number
inside() { nsenter -t "$(cat "$network.$1.pid")" -a -r -w "${@:2}"; }
started=()
trap 'kill -9 -- "${started[@]/#/-}"; rm -rf "$tmp"' EXIT
start front "$network.254" # sees the processes of the others, which launchers start from here
inside 254 sh -c "ip link add bridge type bridge && ip addr add $network.254/24 dev bridge && ip link set bridge up"
for ((node = 1; node <= nodes; node++)); do
	# one clock is ahead of the others
	start "node$node" "$network.$node" --ipc --pid --mount-proc --fork --kill-child $([ $node != 2 ] || echo --time --monotonic 100 --boottime 100)
	inside 254 sh -c "ip link add to$node type veth peer name eth0 netns $(cat "$network.$node.pid") &&
		ip link set to$node master bridge up"
	inside $node sh -c "ip addr add $network.$node/24 dev eth0 && ip link set eth0 up"
done

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
# hosts_of FILE
hosts_of() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
print(report["ranks"], *(":".join(map(str, list(host.values())[:2])) for host in report["hosts"]["named"]))' "$1"
}
program=("$programs/phases.openmpi" -n 50)
everywhere="6 node1:2 node2:2 node3:2"

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
	run mpich inside 254 env PHASEMUX_OUTPUT="$tmp/mpich.result" UCX_TLS=tcp,self "$phasemux" run -- timeout 100 \
		mpiexec.mpich -launcher rsh -launcher-exec "$tmp/agent" -iface bridge \
		-hosts $network.1,$network.2,$network.3 -n 3 "$programs/phases.mpich" -n 50
	is "$(hosts_of mpich.result/report.json)" "3 node1:1 node2:1 node3:1" "MPICH: one report has the ranks of all hosts"
else
	skip "MPICH" "it is not installed"
fi

mkdir truth
job killed "$programs/killed.openmpi" "$tmp/truth" 5 300000
[ "$(cat killed.code)" != 0 ]
ok $? "a rank is killed: so is the job"
for node in 1 2 3; do
	left=$(inside $node find /dev/shm -mindepth 2 -maxdepth 2 -name '[0-9a-f]*')
	inside $node "$phasemux" recover --merge "$left" >merged 2>&1 || cat merged
done
is "$(hosts_of killed.result/report.json)" "$everywhere" "a rank is killed: recover on each host makes one report"
is "$(for node in 1 2 3; do inside $node find /dev/shm -type f; done)" "" "a rank is killed: nothing is left"
done_testing
