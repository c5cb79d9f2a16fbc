#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The phasemux command.
. "$(dirname "$0")/lib.sh"

run help "$phasemux" --help
is "$(cat help.code)" 0 "--help ends with 0"
for word in run doctor events models report; do
	holds "--help names $word" grep -qw $word help.out
done
for word in run doctor events models report region recover watch cluster compare whatif simulate replay validate env; do
	run help_of "$phasemux" $word --help
	holds "$word --help tells its usage, on stdout" grep -q "^usage: phasemux $word" help_of.out
	is "$(cat help_of.code)" 0 "and ends with 0"
	holds "the manual names $word" grep -q "phasemux $word" "$build/phasemux.1"
done
# The table of settings is the only source of the text of help. README and manual must agree with it.
"$phasemux" run --help | sed -n 's/^  --\([a-z-]*\) .*/\1/p' | grep -vx stop-after | tr a-z- A-Z_ >settings.names
"$phasemux" run --help | sed -n 's/.*(default: \(.*\))$/\1/p' | sort -u >settings.defaults
holds "there are settings" [ "$(wc -l <settings.names)" -ge 10 ]
for setting in $(cat settings.names); do
	holds "README knows PHASEMUX_$setting" grep -q "^| \`PHASEMUX_$setting\`" "$root/README.md"
	holds "so does the manual" grep -q "^.BR PHASEMUX_$setting " "$build/phasemux.1"
done
for default in $(cat settings.defaults); do
	holds "README has the default $default" grep -q "| \`$default\` |\$" "$root/README.md"
	holds "so has the manual" grep -q "^.BR PHASEMUX_[A-Z_]* \" ($default)\"" "$build/phasemux.1"
done
for word in run doctor events models report region recover watch cluster compare whatif simulate replay validate env; do
	run refused "$phasemux" $word --frobnicate
	is "$(cat refused.code)" 2 "$word refuses an unknown option"
	holds "and names it" grep -q -- "--frobnicate .*phasemux $word --help" refused.err
done
run refused "$phasemux" run --scheme
is "$(cat refused.code)" 2 "run refuses an option without its value"
holds "and names it" grep -q -- "--scheme" refused.err
run version "$phasemux" --version
holds "--version tells one" grep -qE '^phasemux [0-9.]+$' version.out
run nothing "$phasemux"
is "$(cat nothing.code)" 2 "no subcommand: 2"
run unknown "$phasemux" frobnicate
is "$(cat unknown.code)" 2 "an unknown subcommand: 2"
holds "and it is named" grep -q frobnicate unknown.err

run doctor "$phasemux" doctor
holds "doctor names the MPIs that are served" grep -qi 'open mpi' doctor.out
if have mpirun.mpich; then
	holds "doctor names MPICH" grep -qi mpich doctor.out
else
	skip "doctor names MPICH" "not installed"
fi
holds "doctor speaks of counters" grep -qi counter doctor.out
run doctor_refused "$programs/no_perf" EPERM "$phasemux" doctor
holds "doctor under a filter says what to change" \
	grep -qiE 'seccomp|perf_event_paranoid|CAP_PERFMON' doctor_refused.out

run events "$phasemux" events task-clock
holds "events finds task-clock" grep -q task-clock events.out
run models "$phasemux" models
holds "models lists the generic one" grep -q generic models.out
holds "and that of Zen 5" grep -qi zen5 models.out

mpi=$(mpis_of phases | head -n 1)
if [ -n "$mpi" ]; then
	program() { on "$mpi" 2 "$programs/phases.$mpi" -n 150 -x 5; }
	run bare program
	# phasemux stands before mpirun, and after it.
	PATH=$PATH:/usr/sbin
	root_flags=
	[ "$mpi" = openmpi ] && root_flags="--oversubscribe --allow-run-as-root"
	run before LD_PRELOAD="$runtime" "$phasemux" run --scheme=time --output="$tmp/before.result" -- \
		mpirun.$mpi $root_flags -n 2 "$programs/phases.$mpi" -n 150 -x 5
	unchanged before bare
	holds "run in front of mpirun" report schema before.result/report.json
	holds "with the scheme of its flag" report value before.result/report.json scheme '"time"'
	holds "with the version that phasemux --version tells" \
		report value before.result/report.json version "\"$(sed 's/^phasemux //' version.out)\""
	began=$(date +%s)
	run after LD_PRELOAD="$runtime" on $mpi 2 "$phasemux" run --output="$tmp/after.result" -- \
		"$programs/phases.$mpi" -n 150 -x 5
	unchanged after bare
	holds "run after mpirun" report schema after.result/report.json
	holds "as one job of two ranks" report value after.result/report.json ranks 2
	holds "with the date of its start" report started after.result/report.json "$began" "$(date +%s)"

	run shown "$phasemux" report before.result
	holds "report shows the result again" cmp shown.out before.result/report.txt
	run json "$phasemux" report --json before.result
	holds "report --json" report same_as json.out before.result/report.json
	run csv "$phasemux" report --csv before.result/report.json
	is "$(cat csv.code)" 0 "report --csv of a file"
	holds "CSV: as many columns in each row" "$python" -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
assert len(rows) > 1 and len({len(row) for row in rows}) == 1, rows[:3]' csv.out
	mkdir here here/not-one here/job here/job/step.0
	cp before.result/report.json here/not-one/other.json
	echo '{"summary": "of another tool"}' >here/not-one/report.json
	(cd here && "$phasemux" report) >newest.out 2>newest.err
	is "$?" 1 "report without a folder, where there is no result: 1"
	holds "and it says so" grep -q "no result" newest.err
	cp -r before.result here/old
	cp after.result/report.json here/job/step.0
	touch -d 2020-01-01 here/old/report.json
	touch -d 2021-01-01 here/job/step.0/report.json
	(cd here && "$phasemux" report --json) >newest.out 2>newest.err
	holds "report without a folder takes the newest result here, also of a step" \
		report same_as newest.out after.result/report.json
	holds "and says which" grep -q ": job$" newest.err
	touch here/old/report.json
	(cd here && "$phasemux" report) >newest.out 2>newest.err
	holds "and the other one when that is newer" cmp newest.out before.result/report.txt
	holds "and says so" grep -q ": old$" newest.err
	echo '{"phasemux": 1, "phases": [{"id": "x"}]}' >broken.json
	run broken "$phasemux" report broken.json
	is "$(cat broken.code)" 1 "report of what is no report: 1"
	run absent "$phasemux" report /nonexistent
	holds "report of nothing names it" grep -q /nonexistent absent.err
fi
run code "$phasemux" run -- sh -c 'exit 42'
is "$(cat code.code)" 42 "run ends with the command's exit code"
run nocommand "$phasemux" run -- /nonexistent/program
is "$(cat nocommand.code)" 127 "run of what is not there: 127"

done_testing
