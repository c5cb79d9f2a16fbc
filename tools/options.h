/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands share: reading options, showing how they are used, and refusing what makes no
 * sense.
 */
#ifndef PHASEMUX_TOOLS_OPTIONS_H
#define PHASEMUX_TOOLS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define OPTION_HELP 256 /* the value of --help in a table of options */

/*
 * Reads the options of a command line; letters and table as getopt_long takes them. set(data,
 * option) gets each, its argument in optarg, and returns 0, or 2 when it has refused it. optind is
 * left at the first argument that is none.
 * 0; 2, the exit code; -1: help was asked for, and given.
 */
int options_read(int argc, char **argv, const char *letters, const struct option *table,
		const char *usage, int (*set)(void *data, int option), void *data);

/* Is help all that was asked for? Then the usage has gone to stdout. */
bool option_help(int argc, char **argv, const char *usage);

/* Says on stderr how a subcommand is used; 2. */
int option_usage(const char *usage);

/* Says on stderr what an option's value should have been; 2. */
int option_refuse(const char *option, const char *value, const char *allowed);

/* Reads a whole number from least to most. */
bool option_whole(const char *text, size_t least, size_t most, size_t *value);

#endif
