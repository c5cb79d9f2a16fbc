/* SPDX-License-Identifier: BSD-3-Clause */
/* The command: a table of subcommands. */
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"

const struct command commands[] = {
	{ "run", cmd_run, "[options] -- COMMAND...",
			"count in COMMAND (in front of mpirun, or after it)" },
	{ "doctor", cmd_doctor, "", "what this machine can count, and what to change" },
	{ "events", cmd_events, "[PATTERN]", "list this processor's events by name" },
	{ "models", cmd_models, "[NAME [COUNTERS]]", "list the CPI models and their groups" },
	{ "report", cmd_report, "[options] [DIR...|--job JOB]", "show a result again" },
	{ "trace", cmd_trace, "[options] DIR|FILE", "show the loops of the program's calls" },
	{ "region", cmd_region, "[options] DIR",
			"write the iterations that were recorded as a trace" },
	{ "recover", cmd_recover, "[options] [DIR...]",
			"make the report of a run that did not end by itself" },
	{ "watch", cmd_watch, "[--once] [PID|DIR]", "show the report of a run that still runs" },
	{ "cluster", cmd_cluster, "[options] FILE",
			"find phases in a burst table or a Paraver trace" },
	{ "compare", cmd_compare, "A B...", "say what the difference between runs comes from" },
	{ "whatif", cmd_whatif, "[options] [DIR|FILE]",
			"what a faster or better balanced phase would bring" },
	{ "simulate", cmd_simulate, "DIR -- COMMAND...",
			"what larger caches of the processor would bring" },
	{ "replay", cmd_replay, "DIR -- mpirun -n RANKS",
			"make the calls of a run again, and compare the times" },
	{ "validate", cmd_validate, "--replay FILE | -- COMMAND",
			"tell how far off multiplexed counters are" },
	{ "env", cmd_env, "[sh|csh|fish]", "print what a shell sets to find phasemux" },
	{ "completions", cmd_completions, "bash|zsh|fish", NULL },
	{ "manual", cmd_manual, "DIR", NULL },
};

const size_t commands_count = sizeof(commands) / sizeof(*commands);

static void usage(FILE *out)
{
	fputs("usage: phasemux COMMAND ...\n\n", out);
	for (size_t i = 0; i < commands_count; i++) {
		char call[64];

		if (!commands[i].help)
			continue;
		snprintf(call, sizeof(call), "%s %s", commands[i].name, commands[i].arguments);
		fprintf(out, "  %-36s %s\n", call, commands[i].help);
	}
	fputs("\nphasemux COMMAND --help tells more; that of run lists the settings. phasemux --version\n",
			out);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("phasemux " PHASEMUX_VERSION);
		return 0;
	}
	for (size_t i = 0; i < commands_count; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "phasemux: there is no command %s\n\n", argv[1]);
	usage(stderr);
	return 2;
}
