#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The batch system: a real Slurm with the plugin and the scripts of tools/slurm.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/slurm.sh"

plugin=$build/phasemux-spank.so
[ -e "$plugin" ] || skip_all "no plugin was built: slurm/spank.h is missing"
why=$(cluster_possible) || skip_all "$why"

# The scripts are beside their configuration, as on a site.
scripts=$tmp/scripts
mkdir -m 0755 "$scripts" "$tmp/metrics"
cp "$build"/slurm/*.sh "$scripts"
cat >"$scripts/phasemux.conf" <<END
command=$phasemux
library=$library
folder=$tmp/node
metrics=$tmp/metrics/phasemux.prom
metrics_jobs=2
END
# The site has a task prologue of its own, which writes its environment and then calls that of phasemux.
cat >"$scripts/task.sh" <<END
#!/bin/sh
env >"$tmp/prologues/\$SLURM_JOB_ID.\$SLURM_PROCID"
exec $scripts/task_prolog.sh
END
chmod 0755 "$scripts/task.sh"
mkdir -m 1777 "$tmp/prologues"

cluster_configure "Prolog=$scripts/prolog.sh" "Epilog=$scripts/epilog.sh" \
	"TaskProlog=$scripts/task.sh"
# site ARGUMENT...: sets the plugin's arguments from now on
site() { echo "optional $plugin library=$library folder=$tmp/node $*" >"$D/plugstack.conf"; }
site
trap 'cluster_stop; rm -rf "$tmp"' EXIT
why=$(cluster_start) || skip_all "Slurm does not start here: $why"

mpi=none
for pair in openmpi:pmix mpich:pmi2; do
	[ -x "$programs/phases.${pair%:*}" ] && srun --mpi=list 2>&1 | grep -qw "${pair#*:}" &&
		mpi=${pair%:*} pmi=${pair#*:} && break
done
[ $mpi != none ] || skip_all "no MPI program that this Slurm can start"
program=$programs/phases.$mpi

# Runs commands as a user who is not root, if such a user can reach the build.
home=$tmp/home
mkdir "$home"
user=()
if setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$library" -a -x "$program"; then
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chown 65534:65534 "$home"
fi
slurm() { (cd "$home" && exec "${user[@]}" timeout -k 5 "${limit:-100}" "$@"); }
# step NAME FLAGS...: runs the program on 4 ranks
step() {
	local name=$1

	shift
	run "$name" slurm srun --quiet --mpi=$pmi --job-name="$name" -n 4 "$@" "$program" -n 60
}
# Prints the number of the job of this name.
job_of() { squeue --states=all --noheader --format=%A --name="$1" | tail -n 1; }
batch() {
	local name=$1

	shift
	slurm sbatch --parsable --job-name="$name" --output="$home/$name.out" -n 4 "$@" 2>"$tmp/$name.err"
}
long="exec srun --mpi=$pmi -n 4 $program -n 1000000"

# This job takes a minute and more, so it is checked last.
limited=$(batch limited --time=1 --phasemux=time --wrap "$long")

# ---- one flag
slurm srun --help >help.out 2>&1
holds "srun --help knows --phasemux" grep -q -- --phasemux help.out
step bare
step flag --phasemux=time-space
is "$(cat flag.code)" 0 "srun -n 4 --phasemux=time-space"
unchanged flag bare
job=$(job_of flag)
json=$home/phasemux.$job/step.0/report.json
holds "gives the report" report schema "$json"
holds "with its ranks" report value "$json" ranks 4
holds "its scheme" report value "$json" scheme '"time-space"'
holds "the job" report value "$json" job/id "\"$job\""
holds "the step" report value "$json" job/step '"0"'
holds "the nodes" report value "$json" job/nodes 1
holds "and the partition" report value "$json" job/partition '"main"'
holds "stderr shows it" grep -q "job $job, step 0, 1 node, partition main" flag.err
step settings --phasemux=time,budget=5%,report=json,output=there.%j
json=$home/there.$(job_of settings)/step.0/report.json
holds "settings are taken" report value "$json" scheme '"time"'
ok $(($(wc -l <settings.err) > 0)) "report=json: nothing on stderr" || diag "$(cat settings.err)"

# ---- without the flag
grep -E 'PHASEMUX|PRELOAD' "prologues/$(job_of bare).0" >bare.prologue
is "$(cat bare.prologue)" "" "without the flag, nothing is set in the task prologue"
run env slurm srun env
is "$(grep -E 'PHASEMUX|PRELOAD' env.out)" "" "without the flag, nothing is set in the task"
is "$(ls "$home/phasemux.$(job_of bare)" 2>/dev/null)" "" "without the flag, nothing is written"
is "$(cat bare.err)" "" "without the flag, no line is printed"

# ---- a job that is preloaded already
run kept slurm srun --export=ALL,LD_PRELOAD=libm.so.6 --phasemux printenv LD_PRELOAD
is "$(cat kept.out)" "$library:libm.so.6" "another preload stays"
run twice slurm srun --export=ALL,LD_PRELOAD="$library" --phasemux printenv LD_PRELOAD
is "$(cat twice.out)" "$library" "phasemux is not added twice"
run flags slurm srun --export=ALL,PHASEMUX_SCHEME=space --phasemux=random printenv PHASEMUX_SCHEME
is "$(cat flags.out)" random "the flag goes before the environment"
run disabled slurm srun --export=ALL,PHASEMUX_DISABLE=1 --phasemux env
is "$(grep PRELOAD disabled.out)" "" "PHASEMUX_DISABLE=1 declines"

# ---- invalid requests
for wrong in tme time,budget=1 time,colour=red quantum=0; do
	run wrong slurm srun --phasemux=$wrong touch "$home/started"
	ok $(($(cat wrong.code) == 0)) "srun --phasemux=$wrong is refused"
	holds "$wrong: with what is expected" grep -qE 'expected|there are' wrong.err
done
ok "$([ ! -e "$home/started" ]; echo $?)" "before anything starts"
batch wrong --phasemux=sideways --wrap true >wrong.out
is "$(cat wrong.out)" "" "sbatch refuses it too"

# ---- a batch job of two steps, and a job that declines
cat >"$home/steps.sh" <<END
#!/bin/bash
env | grep -E 'PRELOAD|PHASEMUX_'
srun --mpi=$pmi -n 4 $program -n 60
srun --mpi=$pmi -n 2 $program -n 60
srun --mpi=$pmi -n 2 --phasemux=off $program -n 60
END
job=$(batch steps --phasemux=time "$home/steps.sh")
job_ends "$job"
is "$(cat "$home/steps.out" | grep -c '^phases: ')" 3 "sbatch: three steps ran"
is "$(grep -E '^LD_PRELOAD|^PHASEMUX_' "$home/steps.out")" "" "sbatch: its script is left alone"
holds "sbatch: a report of step 0" report value "$home/phasemux.$job/step.0/report.json" ranks 4
holds "sbatch: a report of step 1" report value "$home/phasemux.$job/step.1/report.json" ranks 2
is "$(ls "$home/phasemux.$job")" $'step.0\nstep.1' "sbatch: none of the step that declined"
run job slurm "$phasemux" report --job "$job"
is "$(grep -c "job $job, step" job.out)" 2 "report --job shows both"
run one slurm "$phasemux" report --job "$job" --step 1
is "$(grep -c "job $job, step" one.out)" 1 "report --job --step shows one"
run both slurm "$phasemux" report --json --job "$job"
is "$(cat both.code)" 1 "report --json of two results: choose"

run salloc slurm salloc --quiet --job-name=salloc -n 4 --phasemux=space \
	srun --mpi=$pmi "$program" -n 60
json=$home/phasemux.$(job_of salloc)/step.0/report.json
holds "salloc: what srun starts in it" report value "$json" scheme '"space"'

job=$(batch serial --wrap "'$phasemux' run -- bash -c '$programs/below ends 400; exit 0'")
job_ends "$job"
holds "sbatch: a report of a program without MPI below a shell" \
	report value "$home/phasemux.$job/report.json" command "[\"$programs/below\", \"ends\", \"400\"]"

for other in openmpi mpich; do
	[ -x "$programs/phases.$other" ] && have "mpirun.$other" || continue
	flags=
	# the node says that it has more processors than the machine, and Open MPI 5 binds ranks to them
	[ $other = openmpi ] && flags="--bind-to none"
	[ $other = openmpi ] && [ ${#user[@]} -eq 0 ] && flags+=" --allow-run-as-root"
	job=$(batch mpirun.$other --phasemux=time \
		--wrap "mpirun.$other $flags -n 4 $programs/phases.$other -n 60")
	job_ends "$job"
	json=$(find "$home/phasemux.$job" -name report.json)
	holds "mpirun of $other in a batch script: a report" report value "$json" ranks 4
	holds "with the scheme of the flag" report value "$json" scheme '"time"'
	is "$(grep -c ^phases: "$home/mpirun.$other.out")" 1 "and the program as it is"
done

# ---- killed
if "$phasemux" --help | grep -qw recover; then
	job=$(batch killed --phasemux=time --wrap "$long")
	spooled() { ls "$tmp/node/$job"/phasemux.*/*/rank-3; }
	waits 60 spooled
	ok $? "the sums are in the folder that the prologue made"
	sleep 1
	scancel "$job"
	job_ends "$job"
	json=$home/phasemux.$job/step.0/report.json
	holds "scancel: the epilogue recovers the report" report schema "$json"
	holds "of all ranks" report value "$json" recovered/ranks 4
	holds "with the job" report value "$json" job/id "\"$job\""
	is "$(stat -c %U "$json")" "$(stat -c %U "$home")" "it belongs to the user"
	is "$(ls "$home/phasemux.$job/step.0")" $'report.html\nreport.json\nreport.txt\ntrace.json' "nothing else is there"
	is "$(ls -d "$tmp/node/"*"$job" 2>/dev/null)" "" "the node's folder is gone"
	job=$(batch nowhere --phasemux=time,output=/proc/nowhere --wrap "$long")
	waits 60 spooled
	sleep 1
	scancel "$job"
	job_ends "$job"
	is "$(ls "$tmp/node/kept.$job"/phasemux.*/* | grep -c rank)" 4 \
		"results that have no place: what the ranks left is kept"
	run recovered slurm "$phasemux" recover --json "$tmp/node/kept.$job"
	holds "and can be recovered" report value recovered.out recovered/ranks 4
else
	skip "scancel" "phasemux recover is not there yet"
fi

# ---- the site's numbers
if [ -e "$scripted" ]; then
	for run in one two three; do
		run metrics.$run slurm srun --mpi=$pmi --job-name=metrics.$run -n 2 --phasemux=time \
			--export=ALL,LD_PRELOAD="$scripted",PHASEMUX_PMU="$scripted",SCRIPTED_PMU=auto=triad \
			"$program" -n 60
		job=$(job_of metrics.$run)
		job_ends "$job"
	done
	waits 10 grep -q "\"$job\"" metrics/phasemux.prom
	cp metrics/phasemux.prom prom
	for name in parallel_efficiency ipc cpi_share; do
		holds "metrics: $name of the job" grep -q "^phasemux_job_$name{job=\"$job\"" prom
	done
	is "$(grep -o 'job="[0-9]*"' prom | sort -u | wc -l)" 2 "metrics: of as many jobs as the site wants"
	holds "metrics: well-formed, and the shares sum to 1" "$python" -c '
import re, sys
families, total, seen = [], {}, set()
lines = open(sys.argv[1]).read().split("\n")
assert lines[-2:] == ["# EOF", ""], lines[-2:]
for line in lines[:-2]:
    if line.startswith("# TYPE "):
        families.append(line.split()[2])
        continue
    m = re.fullmatch(r"(\w+)\{job=\"(\d+)\"((?:,\w+=\"[^\"]*\")*)\} (\S+)", line)
    assert m and m[1] == families[-1], line
    assert line.split("}")[0] not in seen, line
    seen.add(line.split("}")[0])
    if m[1] == "phasemux_job_cpi_share":
        total[m[2]] = total.get(m[2], 0) + float(m[4])
assert len(families) == len(set(families)) == 3, families
assert all(abs(t - 1) < 0.02 for t in total.values()), total' prom
	mkdir -p "$tmp/forged/phasemux.5"
	# a user who writes arbitrary text into the report
	"$python" - "$home/phasemux.$job/step.0/report.json" "$tmp/forged/phasemux.5/report.json" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
report["job"]["partition"] = 'x"} 1\nphasemux_job_ipc{job="1'
for phase in report["phases"]:
    for part in phase["cpi_breakdown"]:
        part["component"] += '\\"} 1\n# EOF'
json.dump(report, open(sys.argv[2], "w"))
END
	chmod -R a+rX "$tmp/forged"
	run forged env SLURM_JOB_ID=5 SLURM_JOB_UID="$(stat -c %u "$home")" SLURM_JOB_GID=0 \
		SLURM_JOB_WORK_DIR="$tmp/forged" SLURM_JOB_NODELIST=a SLURMD_NODENAME=a \
		sh "$scripts/epilog.sh"
	is "$(cat forged.code forged.out forged.err)" 0 "epilog.sh: a forged report: silent, and 0"
	is "$(grep -v '^# TYPE' metrics/phasemux.prom | sort)" "$(grep -v '^# TYPE' prom | sort)" \
		"metrics: forged ones are left out"
else
	skip "metrics" "no scripted PMU was built"
fi

# ---- the scripts by themselves
for script in prolog task_prolog epilog; do
	run hostile env -i SLURM_JOB_ID=../../x SLURM_JOB_UID='0; touch /tmp/x' SLURM_STEP_ID='$(id)' \
		PHASEMUX_SCHEME=time sh "$scripts/$script.sh"
	is "$(cat hostile.code hostile.out hostile.err)" 0 "$script.sh: hostile names: silent, and 0"
	run naked env -i sh "$scripts/$script.sh"
	is "$(cat naked.code naked.out naked.err)" 0 "$script.sh: no environment: silent, and 0"
	mkdir -p broken
	cp "$scripts/$script.sh" broken
	echo 'command=( "' >broken/phasemux.conf
	run broken env -i SLURM_JOB_ID=7 SLURM_JOB_UID=0 SLURM_STEP_ID=0 sh "broken/$script.sh"
	is "$(cat broken.code broken.out)" 0 "$script.sh: a broken configuration: 0"
done
run lines env -i SLURM_JOB_ID=7 SLURM_STEP_ID=0 LD_PRELOAD=$'libm.so.6\nexport B=1' \
	PHASEMUX_SCHEME=time sh "$scripts/task_prolog.sh"
is "$(cat lines.code lines.out)" 0 "task_prolog.sh: a value of two lines is left as it is"
run preload env -i SLURM_JOB_ID=7 SLURM_STEP_ID=0 LD_PRELOAD=libm.so.6 PHASEMUX_SCHEME=time \
	sh "$scripts/task_prolog.sh"
is "$(cat preload.out)" "export LD_PRELOAD=$library:libm.so.6" "task_prolog.sh: another preload stays"
ln -sfn /etc "$tmp/node/8"
run link env -i SLURM_JOB_ID=8 SLURM_JOB_UID=65534 SLURM_JOB_GID=65534 sh "$scripts/prolog.sh"
run link env -i SLURM_JOB_ID=8 SLURM_JOB_UID=65534 SLURM_JOB_GID=65534 sh "$scripts/epilog.sh"
is "$(stat -c %U /etc) $(test -e /etc/passwd && echo there)" "root there" "links are not followed"
rm "$tmp/node/8"

# ---- the site's default
site default=on partitions=main scheme=space
step default
json=$home/phasemux.$(job_of default)/step.0/report.json
holds "a site default works" report value "$json" scheme '"space"'
step declined --phasemux=off
is "$(ls -d "$home/phasemux.$(job_of declined)" 2>/dev/null)" "" "and can be declined"
run partition slurm srun -p other env
is "$(grep PRELOAD partition.out)" "" "in the partitions that it is for"
site default=on share=0%
run share slurm srun env
is "$(grep PRELOAD share.out)" "" "for the share of the jobs that it is for"

# ---- an installed tree that was moved: the plugin finds the preload from its own place
holds "cmake --install" cmake --install "$build" --prefix "$tmp/place"
mv "$tmp/place" "$tmp/moved"
own=$(find "$tmp/moved" -name phasemux-spank.so)
preload=$(find "$tmp/moved" -name libphasemux.so)
echo "optional $own" >"$D/plugstack.conf"
run own slurm srun --quiet --phasemux env
is "$(sed -n 's/^LD_PRELOAD=//p' own.out)" "$preload" "a plugin that was moved preloads what was moved with it"
mv "$preload" "$preload.away"
run alone slurm srun --quiet --phasemux true
is "$(cat alone.err)" "phasemux: off: $preload is not on this node" "and names what it misses"

# ---- broken installations
echo "optional $plugin library=/nonexistent/libphasemux.so" >"$D/plugstack.conf"
step gone --phasemux
unchanged gone bare
is "$(cat gone.err)" "phasemux: off: /nonexistent/libphasemux.so is not on this node" \
	"the library is gone: one warning, and the job runs"
site default=perhaps colour=red
step misconfigured
unchanged misconfigured bare
is "$(cat misconfigured.err)" "" "invalid arguments: the job runs"

# ---- without the plugin: the task prologue
: >"$D/plugstack.conf"
run prologue slurm srun --mpi=$pmi --job-name=prologue --export=ALL,PHASEMUX_SCHEME=time -n 4 \
	"$program" -n 60
json=$home/phasemux.$(job_of prologue)/step.0/report.json
holds "the task prologue preloads for those who ask" report value "$json" scheme '"time"'
run unasked slurm srun env
is "$(grep -E 'PHASEMUX|PRELOAD' unasked.out | grep -v PHASEMUX_SPOOL)" "" "and for no other job"

# ---- the time limit
if "$phasemux" --help | grep -qw recover; then
	waits 120 job_over "$limited"
	json=$home/phasemux.$limited/step.0/report.json
	holds "time limit: Slurm ended the job" grep -q 'DUE TO TIME LIMIT' "$home/limited.out"
	holds "time limit: the epilogue recovers the report" report schema "$json"
	holds "time limit: of all ranks" report value "$json" recovered/ranks 4
else
	skip "time limit" "phasemux recover is not there yet"
fi

done_testing
