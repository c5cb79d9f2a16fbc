#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm on several hosts: one report of all ranks, also of a job that was killed, by Slurm's epilogue or by one command.
# The hosts are namespaces of the kernel.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/slurm.sh"
. "$root/tests/e2e/nodes.sh"

plugin=$build/phasemux-spank.so
[ -e "$plugin" ] || skip_all "no plugin was built: slurm/spank.h is missing"
why=$(cluster_possible) || skip_all "$why"
why=$(nodes_possible) || skip_all "$why"

cluster_head="front($network.254)" cluster_names=(node1 node2 node3) cluster_network=$network cluster_own=$tmp/own
on_head() { inside 254 "$@"; }
on_each_node() {
	local node

	for node in 1 2 3; do inside $node sh -c 'mkdir -p "$0/spool" && exec "$@"' "$cluster_own" "$@"; done
}
scripts=$tmp/scripts
mkdir -m 0755 "$scripts"
cp "$build"/slurm/*.sh "$scripts"
printf 'command=%s\nlibrary=%s\n' "$phasemux" "$library" >"$scripts/phasemux.conf"
nodes_start
trap 'cluster_stop; nodes_stop; rm -rf "$tmp"' EXIT
cluster_configure "Prolog=$scripts/prolog.sh" "Epilog=$scripts/epilog.sh"
echo "optional $plugin library=$library" >"$D/plugstack.conf"
why=$(cluster_start) || skip_all "Slurm does not start on several hosts here: $why"
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=$network.0/24 OMPI_MCA_mpi_yield_when_idle=1 UCX_TLS=tcp,self
export SLURM_PMIX_TMPDIR=$tmp/own # hosts have one /tmp

patience=20 # seconds, after which a step has hung
# step NAME FLAG... PROGRAM...: runs `each` ranks on each node
step() { run "$1" on_head timeout -k 5 $patience srun --quiet "--mpi=$pmi" -N 3 --ntasks-per-node=$each "${@:2}"; }

# MPICH's ranks of one host often hang by this network, also without phasemux.
for row in openmpi:pmix:2 mpich:pmi2:1; do
	IFS=: read -r mpi pmi each <<<"$row"
	if ! [ -x "$programs/phases.$mpi" ] || ! srun --mpi=list 2>&1 | grep -qw "$pmi"; then
		skip "$mpi" "there is none that this Slurm can start"
		continue
	fi
	everywhere="$((3 * each)) node1:$each node2:$each node3:$each"
	began=$SECONDS
	step "$mpi" --phasemux=output="$tmp/$mpi.result" "$programs/phases.$mpi" -n 50
	if [ $mpi = mpich ] && [ $((SECONDS - began)) -ge $patience ]; then
		skip "$mpi" "it hung, which it often does by this network, also without phasemux"
		continue
	fi
	usable="${usable:-$row:$everywhere}"
	is "$(cat "$mpi.code")" 0 "$mpi: the step ends as it should" || diag "$(cat "$mpi.err")"
	is "$(hosts_of "$mpi.result/step.0/report.json")" "$everywhere" "$mpi: one report has the ranks of all hosts"
	holds "$mpi: with the number of nodes" report value "$mpi.result/step.0/report.json" job/nodes 3
done
[ -n "${usable:-}" ] || skip_all "no MPI program that this Slurm can start"
IFS=: read -r mpi pmi each everywhere <<<"$usable"
victim=$((3 * each - 1))

mkdir truth truth.own
step killed --phasemux=output="$tmp/killed.result" "$programs/killed.$mpi" "$tmp/truth" $victim 300000
[ "$(cat killed.code)" != 0 ]
ok $? "a rank on node3 is killed, and so is the step"
all_came() { [ "$(hosts_of killed.result/step.0/report.json)" = "$everywhere" ]; }
waits 30 all_came
is "$(hosts_of killed.result/step.0/report.json)" "$everywhere" "the epilogues of all nodes make one report"
is "$(ls killed.result/step.0)" $'report.html\nreport.json\nreport.txt\ntrace.json' "with nothing beside it"

# Each node has a folder of this name for itself.
cat >batch <<END
#!/bin/bash
cd /
srun --mpi=$pmi -N 3 --ntasks-per-node=$each --phasemux=output=$tmp/own/result $programs/killed.$mpi $tmp/truth.own $victim 300000
$phasemux recover --merge --hosts node1,node2,node3 --via "srun --overlap --quiet -N1 -n1 -w" \\
	/dev/shm/phasemux/\$SLURM_JOB_ID
echo recover: \$?
END
job=$(on_head sbatch --parsable -N 3 --ntasks-per-node=$each --output="$tmp/batch.out" "$tmp/batch")
waits 60 grep -q '^recover: ' batch.out
is "$(grep -c '^recover: 0' batch.out)" 1 "a folder that is not shared: one command in the job gathers all" || diag "$(cat batch.out)"
inside 1 cat "$tmp/own/result/step.0/report.json" >own.json
is "$(hosts_of own.json)" "$everywhere" "and makes one report"
holds "as its schema says" report schema own.json
done_testing
