#!/bin/sh
# TaskProlog of slurm.conf, as the user before each task: what it prints sets the task's environment.
# For sites without the plugin: preloads phasemux for those who set PHASEMUX_SCHEME, or for everyone
# where the site says so (phasemux.conf), but for those who set PHASEMUX_DISABLE=1. Beside the plugin
# it adds nothing twice. A code that is not 0 would kill the task: it is always 0.

# `export` of a value that holds a line end would be two commands.
one_line() {
	case $1 in
	*'
'*) return 1 ;;
	esac
}

main() {
	library=/usr/local/lib/libphasemux.so folder=/run/phasemux default=off
	[ ! -r "${0%/*}/phasemux.conf" ] || . "${0%/*}/phasemux.conf"
	[ "$PHASEMUX_DISABLE" != 1 ] || return
	# scripts of batch jobs, and shells, stay as they are
	case $SLURM_STEP_ID in
	'' | *[!0-9]* | 429496728? | 429496729?) return ;;
	esac
	case ":$LD_PRELOAD:" in
	*/libphasemux.so[:\ ]*) ;;
	*)
		[ -n "$PHASEMUX_SCHEME" ] || [ "$default" = on ] || return
		one_line "$LD_PRELOAD" || return
		if [ ! -r "$library" ]; then
			[ "$SLURM_PROCID" != 0 ] ||
				echo "phasemux: off: $library is not on this node" >&3
			return
		fi
		echo "export LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}"
		;;
	esac
	if [ -z "$PHASEMUX_SPOOL" ] && [ -w "$folder/$SLURM_JOB_ID" ]; then
		echo "export PHASEMUX_SPOOL=$folder/$SLURM_JOB_ID"
	fi
}

# in a shell of its own: an error in the configuration ends no more than that
(main) </dev/null 3>&2 2>/dev/null
exit 0
