/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands share: reading options, showing how they are used, and refusing invalid values.
 */
#ifndef PHASEMUX_TOOLS_OPTIONS_H
#define PHASEMUX_TOOLS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define OPTION_HELP 256 /* the value of --help in a table of options */

/*
 * The options of a subcommand, which has -h and --help besides. A subcommand without others sets `usage`
 * alone.
 */
struct option_spec {
	const char *usage;          /* printed on stdout for --help */
	const struct option *table; /* as for getopt_long, with --help */
	const char *letters;        /* as for getopt_long */
	bool has_command;           /* options end at the first argument that is none */
	/* Takes the option, with its argument in optarg. Returns 0, or 2 if it has refused the option. */
	int (*set)(void *data, int option);
};

/*
 * Reads the options of a command line, and calls set(data, option) for each. optind is left at the first
 * argument that is no option. Returns 0; 2: the exit code after one line on stderr; -1: help was asked for, and
 * printed.
 */
int options_read(int argc, char **argv, const struct option_spec *spec, void *data);

/*
 * Lets options_read give visit(data, spec) what it would read, and return -1 as if help was asked for. NULL: no longer.
 */
void options_visit(void (*visit)(void *data, const struct option_spec *spec), void *data);

/* The table of a subcommand that has no options but --help. */
extern const struct option options_help_alone[];

/* Prints on stderr how a subcommand is used. Returns 2. */
int option_usage(const char *usage);

/* Prints on stderr which values an option allows. Returns 2. */
int option_refuse(const char *option, const char *value, const char *allowed);

/* Reads a whole number from min to max. Returns false if the text is none. */
bool option_whole(const char *text, size_t min, size_t max, size_t *value);

/*
 * Reads the argument of an option, in optarg, as a whole number from min to max. From INT_MAX on, max is not named when
 * the option is refused. Returns 0, or 2 after the refusal.
 */
int option_take_whole(const char *option, size_t min, size_t max, size_t *value);

/* Takes the argument of --step, a folder's name. Returns 0, or 2 after the refusal. */
int option_take_step(const char **step);

#endif
