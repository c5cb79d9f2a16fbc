#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run that does not end by itself has the same fate as without phasemux, and what its ranks have left makes a
# report. KILLS=200 tests/e2e/recover.t kills more often.
. "$(dirname "$0")/lib.sh"

[ -e "$scripted" ] || skip_all "no scripted PMU was built"
mpis=$(mpis_of killed)
[ -n "$mpis" ] || skip_all "no MPI is installed"
export limit=40
ranks=3
recover() { "$phasemux" recover "$@"; }

# Every burst is read, and calls that wait drain the ring. At most 16 bursts of a thread are in the ring, and
# one more has started to end. Sums are kept at most once in a millisecond. If 16 bursts take less time, what is
# drained sooner is kept with the next drain.
behind=33
pause=0 # of the program, in microseconds before each call

# killed NAME MPI VICTIM MICROSECONDS [preloaded]
killed() {
	local name=$1 mpi=$2 victim=$3 after=$4

	mkdir -p "$tmp/$name.truth" "$tmp/$name.spool"
	if [ "${5:-}" = preloaded ]; then
		scripted "$name" PHASEMUX_SPOOL="$tmp/$name.spool" PHASEMUX_BUDGET=none \
			PHASEMUX_BURST_MIN=0ns \
			on "$mpi" $ranks "$programs/killed.$mpi" "$tmp/$name.truth" "$victim" "$after" $pause
	else
		run "$name" on "$mpi" $ranks "$programs/killed.$mpi" "$tmp/$name.truth" "$victim" \
			"$after" $pause
	fi
}

# Checks one rank alone: all bursts up to the last drain, no more than there were, and the counts of each.
rank_is_whole() {
	local name=$1 rank=$2 calls

	# a rank may die, with the others, before it has printed anything
	calls=$(od -An -tu8 "$tmp/$name.truth/truth.$rank" 2>/dev/null | tr -d ' ')
	calls=${calls:-0}
	mkdir -p "$tmp/$name.one"
	rm -f "$tmp/$name.one"/rank-*
	cp "$tmp/$name.spool"/phasemux.*/*/"rank-$rank" "$tmp/$name.one/" || return
	recover --json "$tmp/$name.one" >"$tmp/$name.one.json" || return
	report between "$tmp/$name.one.json" bursts $((calls > behind ? calls - behind : 0)) "$calls" &&
		report turns "$tmp/$name.one.json" 100000 50000
}

all_is_whole() {
	local name=$1 rank

	recover --json "$tmp/$name.spool" >"$tmp/$name.json" || return
	report schema "$tmp/$name.json" || return
	report value "$tmp/$name.json" recovered "{\"ranks\": $ranks, \"missing\": \"\"}" || return
	# a rank may die before it has computed anything
	report value "$tmp/$name.json" bursts 0 >/dev/null ||
		report accounting "$tmp/$name.json" || return
	for ((rank = 0; rank < ranks; rank++)); do
		rank_is_whole "$name" $rank || return
	done
}

for mpi in $mpis; do
	for ((victim = 0; victim < ranks; victim++)); do
		killed "bare.$mpi.$victim" $mpi $victim 100000
	done
done
nth_mpi() { # NUMBER: prints the MPIs in turn
	local each

	mapfile -t each <<<"$mpis"
	echo "${each[$1 % ${#each[@]}]}"
}
RANDOM=${SEED:-$$}
echo "# SEED=${SEED:-$$}"
kills=${KILLS:-20}
# MPICH 4.2.1 ends with different exit codes after the same kill, rarely even with 0.
# is_code_alone NAME MPI VICTIM MICROSECONDS: whether one of 60 such kills without phasemux has the exit code of NAME
is_code_alone() {
	local i

	for ((i = 0; i < 60; i++)); do
		killed again "${@:2}"
		[ "$(cat "$tmp/$1.code")" != "$(cat "$tmp/again.code")" ] || return 0
	done
	return 1
}
# same_fate NAME MPI VICTIM MICROSECONDS
same_fate() {
	[ "$(cat "$tmp/$1.code")" = "$(cat "$tmp/bare.$2.$3.code")" ] || is_code_alone "$@" ||
		{ echo "exit code $(cat "$tmp/$1.code")"; tail -n 5 "$tmp/$1.err"; }
}

# kill_often TIMES NAME AT_LEAST AT_MOST: kills after a random number of microseconds in these limits. Sets
# failed.
kill_often() {
	local i name mpi victim after problems

	failed=0
	for ((i = 0; i < $1; i++)); do
		mpi=$(nth_mpi $i)
		victim=$((RANDOM % ranks))
		name=$2$i.$mpi
		after=$(($3 + (RANDOM << 15 | RANDOM) % ($4 - $3)))
		killed "$name" "$mpi" $victim $after preloaded
		problems=$(
			same_fate "$name" "$mpi" $victim $after
			all_is_whole "$name" || echo "not whole"
		)
		if [ -n "$problems" ]; then
			failed=$((failed + 1))
			diag "$name, rank $victim: $problems"
		fi
		# two runs are kept for the cases below
		[ $i -lt 2 ] || rm -rf "$tmp/$name".*
	done
}
kill_often $kills kill 0 330000
is $failed 0 "$kills kills at random moments: the fate is the same, and every rank's sums are whole"

# After the first second, if calls are few, drains are 50 ms apart. Therefore 10 of these bursts may be missing,
# one that is under way when a drain is due, and one that has started to end.
pause=5000 behind=12
calm_kills=$(((kills + 4) / 5))
kill_often $calm_kills calm 1100000 1300000
is $failed 0 "$calm_kills kills of a program with few calls: of no rank, more than 50 ms is lost"
pause=0

# Missing parts of a run.
spool=$tmp/kill0.${mpis%%$'\n'*}.spool
run_folder=$(echo "$spool"/phasemux.*/*)
mv "$run_folder/rank-1" "$tmp/"
recover --json "$spool" >missing.json
holds "a rank that left nothing is named" report value missing.json recovered \
	'{"ranks": 2, "missing": "1"}'
holds "also in the text" sh -c '"$1" recover "$2" | grep -q "missing: 1$"' - "$phasemux" "$spool"
head -c 3000 "$tmp/rank-1" >"$run_folder/rank-1"
recover --json "$spool" >damaged.json 2>damaged.err
holds "a damaged file is left out" report value damaged.json recovered/missing '"1"'
holds "and named" grep -q 'rank-1 is left out: ' damaged.err
rm "$run_folder/rank-1"
mkdir "$tmp/node" && mv "$tmp/rank-1" "$tmp/node/"
recover --json "$spool" "$tmp/node" >nodes.json
holds "what lies in several places is put together" report value nodes.json recovered \
	"{\"ranks\": $ranks, \"missing\": \"\"}"

# Several runs, none, and files that are not a run.
mkdir both && cp -r "$tmp"/kill[01].*.spool/phasemux.* both/
if [ "$kills" -gt 1 ]; then
	recover both >both.out 2>both.err
	is $? 2 "of two runs, one must be named"
	is "$(grep -c 'of 3 ranks' both.err)" 2 "they are listed"
fi
mkdir empty
recover empty >empty.out 2>empty.err
is $? 1 "where nothing is left, there is no report"
recover nowhere >nowhere.out 2>nowhere.err
is $? 1 "a folder that is not there"
mkdir pipe && mkfifo pipe/rank-0 && ln -s /etc/passwd pipe/rank-1 && echo x >pipe/rank-2
timeout 10 "$phasemux" recover pipe >pipe.out 2>pipe.err
is $? 1 "pipes, links and other files are not read"
recover --remove "$spool" >/dev/null
is "$(ls -A "$spool")" "" "--remove leaves nothing"

# Other kinds of ends.
for mpi in $mpis; do
	began=$(date +%s)
	for hazard in abort mpi_abort signal no_finalize; do
		name=$hazard.$mpi
		mkdir $name.spool
		scripted $name PHASEMUX_SPOOL="$tmp/$name.spool" on $mpi 2 "$programs/hazard.$mpi" $hazard
		recover --json $name.spool >$name.json
		holds "$name: has its report" report value $name.json recovered \
			'{"ranks": 2, "missing": ""}'
		holds "$name: all computing time is accounted for" report accounting $name.json
		holds "$name: the date of its start" report started $name.json "$began" "$(date +%s)"
	done
	holds "mpi_abort.$mpi: says how" grep -q "phasemux recover $tmp/mpi_abort" mpi_abort.$mpi.err

	# The run continues if no spool can be made.
	run phases.$mpi.bare on $mpi 2 "$programs/phases.$mpi" -n 20
	for place in "$tmp/nowhere" /proc "$tmp/locked"; do
		mkdir -p locked/phasemux.$(id -u) && chmod 777 locked/phasemux.$(id -u)
		name=phases.$mpi
		rm -rf "$name.result"
		scripted $name PHASEMUX_SPOOL="$place" on $mpi 2 "$programs/phases.$mpi" -n 20
		unchanged $name phases.$mpi.bare
		is "$(grep -c "^phasemux: $place.*there will be no report" $name.err)" 1 \
			"$place: one line says why"
		holds "$place: the report is there" report schema $name.result/report.json
	done
	mkdir clean
	scripted phases.$mpi PHASEMUX_SPOOL="$tmp/clean" on $mpi 2 "$programs/phases.$mpi" -n 20
	is "$(ls -A clean)" "" "$mpi: a normal end leaves nothing"
	rmdir clean
done

# A full file system.
mkdir full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
	mpi=${mpis%%$'\n'*}
	rm -rf phases.$mpi.result
	scripted phases.$mpi PHASEMUX_SPOOL="$tmp/full" on $mpi 2 "$programs/phases.$mpi" -n 20
	unchanged phases.$mpi phases.$mpi.bare
	holds "a full file system: one line says so" \
		sh -c "grep 'No space left' phases.$mpi.err || { cat phases.$mpi.err; exit 1; }"
	is "$(ls -A full)" "" "and nothing is left there"
	umount full
else
	skip "a full file system" "nothing can be mounted here"
fi

done_testing
