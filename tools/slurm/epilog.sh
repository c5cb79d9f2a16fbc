#!/bin/sh
# Epilog of slurm.conf, as root on each node of a job: what killed or timed-out programs have left in
# the job's folder on this node goes to the folder of their results, and becomes a report there;
# then the folder is removed. On the job's first node its numbers are added to the site's metrics.
# Everything that reads or writes files of the user runs as the user. Whatever happens, the exit code
# is 0.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 077

number() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
}

# As the job's user, and not for long: the node waits for us.
as_user() {
	timeout -k 1 10 setpriv --reuid="$SLURM_JOB_UID" --regid="$gid" --init-groups \
		env -i PATH="$PATH" PHASEMUX_OUTPUT="$output" "$@"
}

recover() {
	mine=$folder/$SLURM_JOB_ID
	[ -d "$mine" ] && [ ! -L "$mine" ] || return
	for run in "$mine/phasemux.$SLURM_JOB_UID"/*; do
		[ ! -d "$run" ] || as_user "$command" recover --merge "$run"
	done
	rm -rf "$mine"
}

# "n[01-04,07],m1": n01
first_node() {
	nodes=${SLURM_JOB_NODELIST:-$SLURM_NODELIST}
	case ${nodes%%,*} in
	*\[*)
		first=${nodes%%]*}
		number=${first#*[}
		number=${number%%[-,]*}
		rest=${nodes#*]}
		echo "${first%%[*}$number${rest%%,*}"
		;;
	*) echo "${nodes%%,*}" ;;
	esac
}

# The samples of this job on stdin, of the others from the file: all on stdout, family by family.
# What comes from the user's files is taken only if it is exactly such a sample of this very job.
join_metrics() {
	awk -v job="$SLURM_JOB_ID" -v keep="$metrics_jobs" '
		function label(line) {
			sub(/^[^"]*"/, "", line)
			sub(/".*/, "", line)
			return line
		}
		length($0) > 400 { next }
		!/^phasemux_job_(parallel_efficiency|ipc|cpi_share)\{job="[0-9]+"(,[a-z]+="[A-Za-z0-9 _.:()\/-]*")*\} -?[0-9][0-9.e+-]*$/ { next }
		(label($0) == job) != fresh { next }
		fresh && ++taken > 50 { next }
		{
			key = $0
			sub(/\} .*/, "", key)
			if (key in seen)
				next
			seen[key] = 1
			family = substr($0, 1, index($0, "{") - 1)
			if (!(family in families))
				families[family] = ++names
			if (!(label($0) in place))
				place[label($0)] = ++jobs
			samples[++count] = $0
			of[count] = family
		}
		END {
			for (family in families) {
				print "# TYPE " family " gauge"
				for (i = 1; i <= count; i++)
					if (of[i] == family && place[label(samples[i])] > jobs - keep)
						print samples[i]
			}
			print "# EOF"
		}' fresh=0 "$1" fresh=1 -
}

add_metrics() {
	[ -n "$metrics" ] && [ "$(first_node)" = "$SLURMD_NODENAME" ] || return
	number "$metrics_jobs" || return
	samples=$(as_user sh -c 'cd "$1" && exec "$2" report --metrics --job "$3"' sh \
		"$SLURM_JOB_WORK_DIR" "$command" "$SLURM_JOB_ID") || return
	(
		flock -w 5 9 || exit
		[ -e "$metrics" ] || : >"$metrics"
		printf '%s\n' "$samples" | join_metrics "$metrics" >"$metrics.new" || exit
		chmod 0644 "$metrics.new"
		mv -f "$metrics.new" "$metrics"
	) 9>"$metrics.lock"
}

main() {
	command=/usr/local/bin/phasemux folder=/run/phasemux output=phasemux.%j
	metrics='' metrics_jobs=100
	[ ! -r "${0%/*}/phasemux.conf" ] || . "${0%/*}/phasemux.conf"
	number "$SLURM_JOB_ID" && number "$SLURM_JOB_UID" || return
	gid=${SLURM_JOB_GID:-$(id -g "$SLURM_JOB_UID")}
	number "$gid" || return
	recover
	add_metrics
}

# in a shell of its own: an error in the configuration ends no more than that
(main) </dev/null >/dev/null 2>&1
exit 0
