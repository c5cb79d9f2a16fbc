# SPDX-License-Identifier: BSD-3-Clause
# Hosts out of namespaces of the kernel, which need root, and a network of their own that joins them. Tests source this file
# after lib.sh, and then call nodes_start.
#
#	nodes_possible          prints why if there can be none
#	nodes_start             starts `front`, which has the number 254, and node1, node2, ... (nodes)
#	nodes_stop              kills all that runs on them
#	inside NUMBER COMMAND...
#	                        runs it on the host with this number
#	hosts_of FILE           prints how many ranks a report has, and where: "6 node1:2 node2:2 node3:2"
network=10.99.0 # in namespaces alone
nodes=3

nodes_possible() {
	have ip || { echo "no ip (iproute2)"; return 1; }
	unshare --net --uts --ipc --pid --mount --time --fork true 2>/dev/null || {
		echo "no namespaces here, or not as root"
		return 1
	}
}

# What a node does until it is killed: it has a name, /dev/shm and a folder of its own, and takes care of orphans.
cat >node <<'END_NODE'
#!/bin/bash
hostname "$1" && mount --bind "$2/hosts" /etc/hosts && mount -t tmpfs shm /dev/shm && mount -t tmpfs own "$2/own" &&
	ip link set lo up && touch "$2/$1.up"
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

# start_node NAME ADDRESS OPTION...: starts a host with a network, and leaves the number of a process on it in ADDRESS.pid
start_node() {
	setsid unshare --net --uts --mount "${@:3}" "$tmp/node" "$1" "$tmp" </dev/null >"$1.log" 2>&1 &
	started+=($!)
	disown
	for ((wait = 0; wait < 100; wait++)); do [ -e "$1.up" ] && break; sleep 0.1; done
	if [ $# = 2 ]; then echo $!; else pgrep -P $!; fi >"$2.pid"
}
inside() { nsenter -t "$(cat "$tmp/$network.$1.pid")" -a -r -w "${@:2}"; }
started=()

nodes_start() {
	local node

	{
		echo 127.0.0.1 localhost
		echo $network.254 front
		for ((node = 1; node <= nodes; node++)); do echo $network.$node node$node; done
	} >hosts
	start_node front "$network.254" # sees the processes of the others, which launchers start from here
	inside 254 sh -c "ip link add bridge type bridge && ip addr add $network.254/24 dev bridge && ip link set bridge up"
	for ((node = 1; node <= nodes; node++)); do
		# one clock is ahead of the others
		start_node "node$node" "$network.$node" --ipc --pid --mount-proc --fork --kill-child \
			$([ $node != 2 ] || echo --time --monotonic 100 --boottime 100)
		inside 254 sh -c "ip link add to$node type veth peer name eth0 netns $(cat "$network.$node.pid") &&
			ip link set to$node master bridge up"
		inside $node sh -c "ip addr add $network.$node/24 dev eth0 && ip link set eth0 up"
	done
}
nodes_stop() { kill -9 -- "${started[@]/#/-}"; }

hosts_of() {
	"$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
print(report["ranks"], *(":".join(map(str, list(host.values())[:2])) for host in report["hosts"]["named"]))' "$1"
}
everywhere="6 node1:2 node2:2 node3:2" # two ranks on each of three
