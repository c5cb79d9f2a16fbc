#!/bin/sh
# Prolog of slurm.conf, as root on each node of a job: makes the folder in which the job's sums
# outlive a killed program, owned by its user; and, once after each start of the node, writes down
# what can be counted there (the file `node` beside the jobs' folders). Whatever happens, the exit
# code is 0.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 077

number() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
}

# Owned by root, and nobody else can plant anything in it.
safe() {
	[ -n "$(find "$1" -prune -type d -user 0 ! -perm -020 ! -perm -002)" ]
}

# What the job's user, not root, can count here.
look_at_node() {
	[ -e "$folder/node" ] && return
	timeout -k 1 5 setpriv --reuid="$SLURM_JOB_UID" --regid="$gid" --clear-groups \
		env -i PATH="$PATH" "$command" doctor >"$folder/node.new" || return
	chmod 0644 "$folder/node.new"
	mv -f "$folder/node.new" "$folder/node"
}

main() {
	command=/usr/local/bin/phasemux folder=/run/phasemux
	[ ! -r "${0%/*}/phasemux.conf" ] || . "${0%/*}/phasemux.conf"
	number "$SLURM_JOB_ID" && number "$SLURM_JOB_UID" || return
	gid=${SLURM_JOB_GID:-$(id -g "$SLURM_JOB_UID")}
	number "$gid" || return
	mkdir -p "$folder" && safe "$folder" || return
	chmod 0755 "$folder"
	# a job that was requeued finds its folder again
	if mkdir "$folder/$SLURM_JOB_ID"; then
		chown "$SLURM_JOB_UID:$gid" "$folder/$SLURM_JOB_ID"
	fi
	look_at_node
}

# in a shell of its own: an error in the configuration ends no more than that
(main) </dev/null >/dev/null 2>&1
exit 0
