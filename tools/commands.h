/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The subcommands of `phasemux`. Each takes its own arguments (argv[0] is its name) and returns the
 * exit code: 0; 1: it failed; 2: invalid arguments; 3, of cmd_compare: a run is worse.
 */
#ifndef PHASEMUX_TOOLS_COMMANDS_H
#define PHASEMUX_TOOLS_COMMANDS_H

#include <stddef.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *help; /* NULL: for builds and packages, and not shown to users */
};

extern const struct command commands[];
extern const size_t commands_count;

int cmd_run(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_region(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_cluster(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_whatif(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_completions(int argc, char **argv);
int cmd_manual(int argc, char **argv);

#endif
