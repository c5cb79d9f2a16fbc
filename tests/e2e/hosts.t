#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report names the hosts of a job with their ranks, and has the times of each rank, also of a run that did not end by
# itself. Here each rank has a name of the machine for itself, in a namespace of the kernel.
# Real time: which host computes with the lower clock.
. "$(dirname "$0")/lib.sh"

# hosts_of FILE: prints the hosts as "name ranks first_rank, ...", and the number of ranks that are not counted
hosts_of() {
	"$python" -c '
import json, sys
hosts = json.load(open(sys.argv[1]))["hosts"]
print(", ".join(" ".join(map(str, list(host.values())[:3])) for host in hosts["named"]), hosts["uncounted_ranks"])
assert hosts["count"] == len(hosts["named"])' "$1"
}

# clocks_differ FILE: whether node1 has a lower clock than node0
clocks_differ() {
	"$python" -c '
import json, sys
clocks = {host["host"]: host["cycles_per_second"] for host in json.load(open(sys.argv[1]))["hosts"]["named"]}
assert 0 < clocks["node1"] < 0.85 * clocks["node0"], clocks' "$1"
}

# known_times FILE: prints of how many ranks which time is known
known_times() {
	"$python" -c '
import json, sys
times = json.load(open(sys.argv[1]))["rank_times"]["each"]
print(", ".join(f"{key} {sum(time[key] is not None for time in times)}" for key in times[0]))' "$1"
}

# Runs a rank of a job on host node0 or node1, in turns. Work takes four times as long on node1, if a scripted PMU times it.
cat >renamed <<'END'
#!/bin/sh
exec unshare -u sh -c 'hostname node$(($0 % 2)) && export SCRIPTED_PMU=spin=$(($0 % 2 * 3 + 1)),ran=1 && exec "$@"' \
	"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
END
chmod +x renamed

told alone "$programs/posix_threads" 20
is "$(hosts_of alone.result/report.json)" "$(hostname) 1 0 0" "one process: this host"
holds "one process: the text says so" grep -qE "^  started [0-9TZ:-]{20} on $(hostname)\$" alone.result/report.txt

is "$(known_times alone.result/report.json)" "useful_seconds 1, mpi_seconds 0" "one process: its computing time"

mpis=$(mpis_of phases)
for mpi in $mpis; do
	if ! unshare -u true 2>/dev/null; then
		skip "$mpi" "no namespace can be made here"
		continue
	fi
	preloaded "$mpi" on "$mpi" 5 "$tmp/renamed" "$programs/phases.$mpi" -n 50
	holds "$mpi: the report is as its schema says" report schema "$mpi.result/report.json"
	is "$(hosts_of "$mpi.result/report.json")" "node0 3 0, node1 2 1 0" "$mpi: the hosts and their ranks"
	holds "$mpi: the text says so" grep -q "^  started .* on 2 hosts: node0 (3 ranks), node1 (2)\$" \
		"$mpi.result/report.txt"
	holds "$mpi: the times of each rank" report rank_times "$mpi.result/report.json"
	# Ranks were dealt out in turns. Student's 97.5% quantile for 3 degrees of freedom is 3.182.
	holds "$mpi: a host has the mean time of its ranks, with an interval, and the text names a slow host if it differs" "$python" -c '
import json, math, sys
report = json.load(open(sys.argv[1]))
times = [time["useful_seconds"] for time in report["rank_times"]["each"]]
hosts = report["hosts"]["named"]
means = [sum(times[number::2]) / len(times[number::2]) for number in range(2)]
squares = sum((time - means[rank % 2]) ** 2 for rank, time in enumerate(times))
for host, mean in zip(hosts, means):
    assert abs(host["useful_seconds"] / mean - 1) < 1e-6, (host, mean)
    half = 3.182 * math.sqrt(squares / 3 / host["ranks"])
    assert abs(host["useful_seconds_ci95"] / half - 1) < 1e-2, (host, half)
slowest = max(hosts, key=lambda host: host["useful_seconds"])
apart = slowest["useful_seconds"] - min(means)
interval = slowest["useful_seconds_ci95"] * math.sqrt(5 / (5 - slowest["ranks"]))
told = "slowest host %s: its ranks compute" % slowest["host"] in open(sys.argv[2]).read()
assert not told or apart > interval, (apart, interval)
assert told or apart < 1.2 * interval or apart < 0.02 * min(means), (apart, interval)
' "$mpi.result/report.json" "$mpi.result/report.txt"
	if [ -e "$scripted" ]; then
		scripted "clocks.$mpi" on "$mpi" 5 "$tmp/renamed" "$programs/phases.$mpi" -n 50
		holds "$mpi: each host has its clock" clocks_differ "clocks.$mpi.result/report.json"
		holds "$mpi: the report with clocks is as its schema says" report schema "clocks.$mpi.result/report.json"
		mkdir "killed.$mpi" "killed.$mpi.spool"
		scripted "killed.$mpi" PHASEMUX_SPOOL="$tmp/killed.$mpi.spool" on "$mpi" 2 "$tmp/renamed" \
			"$programs/killed.$mpi" "$tmp/killed.$mpi" 1 500000
		"$phasemux" recover --json "killed.$mpi.spool" >"killed.$mpi.json"
		holds "$mpi, killed: each host has its clock" clocks_differ "killed.$mpi.json"
	else
		skip "$mpi: clocks" "no scripted PMU was built"
	fi
	mkdir "$mpi.spool"
	preloaded "abort.$mpi" PHASEMUX_SPOOL="$tmp/$mpi.spool" on "$mpi" 3 "$tmp/renamed" \
		"$programs/hazard.$mpi" abort
	"$phasemux" recover --json "$mpi.spool" >"$mpi.json"
	holds "$mpi, recovered: the report is as its schema says" report schema "$mpi.json"
	is "$(known_times "$mpi.json")" "useful_seconds 3, mpi_seconds 0" "$mpi, recovered: the computing time of each rank"
	is "$(hosts_of "$mpi.json")" "node0 2 0, node1 1 1 0" "$mpi, recovered: the hosts and their ranks"
done
[ -n "$mpis" ] || skip "with MPI" "none is installed"

done_testing
