# SPDX-License-Identifier: BSD-3-Clause
# A Slurm cluster of this node alone, or of hosts of nodes.sh, in a folder of its own, without systemd. The tests of
# tools/slurm source this file after lib.sh. For several hosts they set the variables and functions below.
#
#	cluster_start           starts munged, slurmctld, slurmd; prints why if it fails
#	cluster_stop            stops them, by their own process ids
#	cluster_configure LINE...
#	                        adds lines to slurm.conf; to be called before cluster_start
#	job_ends JOB            waits until the job and its epilogue are over
D=$tmp/cluster
cluster_head="${HOSTNAME%%.*}(127.0.0.1)"
cluster_names=("${HOSTNAME%%.*}") # of the nodes
cluster_network=127.0.0           # of the nodes, whose addresses end with 1, 2, ...
cluster_own=$D                    # folder that each node has for itself
on_head() { "$@"; }
on_each_node() { "$@"; }

daemons=(munged slurmctld slurmd)

cluster_possible() {
	local program

	for program in "${daemons[@]}" srun sbatch scancel scontrol; do
		PATH=$PATH:/usr/sbin have "$program" || {
			echo "$program is not installed"
			return 1
		}
	done
	[ "$(id -u)" -eq 0 ] || {
		echo "slurmd needs root"
		return 1
	}
}

# Prints two ports that are not in use, and that outgoing connections will not use.
free_ports() {
	"$python" -c '
import random, socket
ports = []
while len(ports) < 2:
    with socket.socket() as s:
        port = random.randrange(20000, 30000)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
        ports.append(port)
print(*ports)'
}

# Prints the lines of the nodes.
cluster_nodes() {
	local i

	for i in "${!cluster_names[@]}"; do
		echo "NodeName=${cluster_names[i]} NodeAddr=$cluster_network.$((i + 1)) CPUs=8 Boards=1 SocketsPerBoard=1" \
			"CoresPerSocket=8 ThreadsPerCore=1 RealMemory=1000"
	done
}

cluster_configure() {
	local port_of_controller port_of_node all

	all=$(IFS=,; echo "${cluster_names[*]}")
	mkdir -m 0755 -p "$D" "$D/state" "$D/spool"
	chmod 0755 "$tmp"
	read -r port_of_controller port_of_node < <(free_ports)
	cat >"$D/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$cluster_head
		SlurmctldPort=$port_of_controller
		SlurmdPort=$port_of_node
		AuthType=auth/munge
		AuthInfo=socket=$D/munge.socket
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$D/state
		SlurmdSpoolDir=$cluster_own/spool
		SlurmctldPidFile=$D/slurmctld.pid
		SlurmdPidFile=$cluster_own/slurmd.pid
		SlurmctldLogFile=$D/slurmctld.log
		SlurmdLogFile=$D/slurmd.%n.log
		SlurmdDebug=verbose
		SlurmdParameters=config_overrides
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		ReturnToService=2
		KillWait=2
		MinJobAge=600
		PrologFlags=Alloc
		PlugStackConfig=$D/plugstack.conf
		$(cluster_nodes)
		PartitionName=main Nodes=$all Default=YES OverSubscribe=FORCE:8 MaxTime=10
		PartitionName=other Nodes=$all OverSubscribe=FORCE:8 MaxTime=10
	END
	printf '%s\n' "$@" >>"$D/slurm.conf"
	printf 'CgroupAutomount=no\nConstrainCores=no\n' >"$D/cgroup.conf"
	export SLURM_CONF=$D/slurm.conf
	# On one node no rank needs TCP, and Open MPI 5 writes to stderr of interfaces that do not fit together.
	export OMPI_MCA_btl=^tcp
}

# waits SECONDS COMMAND...: repeats the command until it ends with 0
waits() {
	local tries=$(($1 * 10))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

cluster_start() {
	local log

	PATH=$PATH:/usr/sbin
	dd if=/dev/urandom of="$D/munge.key" bs=128 count=1 2>/dev/null
	chmod 400 "$D/munge.key"
	munged --key-file="$D/munge.key" --socket="$D/munge.socket" --pid-file="$D/munged.pid" \
		--log-file="$D/munged.log" --seed-file="$D/munged.seed" --force >"$D/munged.out" 2>&1 &&
		on_head slurmctld -c >"$D/slurmctld.out" 2>&1 && on_each_node slurmd >"$D/slurmd.out" 2>&1
	if waits 30 on_head srun --time=1 -N ${#cluster_names[@]} true; then
		return 0
	fi
	for log in "$D"/*.out "$D"/*.log; do
		[ -s "$log" ] && printf '%s: %s\n' "${log##*/}" "$(tail -n 3 "$log" | tr '\n' ' ')"
	done
	return 1
}

cluster_stop() {
	local daemon pid

	for daemon in slurmd slurmctld munged; do
		pid=$(cat "$D/$daemon.pid" 2>/dev/null) || continue
		case $(readlink "/proc/$pid/exe") in
		*/"$daemon"*) kill "$pid" && waits 10 test ! -e "/proc/$pid" || kill -9 "$pid" ;;
		esac
	done
}

job_over() {
	case $(scontrol --oneliner show job "$1" 2>/dev/null) in
	*JobState=COMPLETING* | *JobState=RUNNING* | *JobState=PENDING*) return 1 ;;
	esac
}

job_ends() { waits 60 job_over "$1"; }
