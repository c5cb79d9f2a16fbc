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
 * Reads the options of a command line; letters and table are as for getopt_long. Calls set(data, option) for
 * each option, with its argument in optarg. set returns 0, or 2 if it has refused the option. optind is left at
 * the first argument that is no option. Returns 0; 2: the exit code; -1: help was asked for, and printed.
 */
int options_read(int argc, char **argv, const char *letters, const struct option *table,
		const char *usage, int (*set)(void *data, int option), void *data);

/* Returns whether only help was asked for. The usage is then printed on stdout. */
bool option_help(int argc, char **argv, const char *usage);

/* Prints on stderr how a subcommand is used. Returns 2. */
int option_usage(const char *usage);

/* Prints on stderr which values an option allows. Returns 2. */
int option_refuse(const char *option, const char *value, const char *allowed);

/* Reads a whole number from least to most. Returns false if the text is none. */
bool option_whole(const char *text, size_t least, size_t most, size_t *value);

#endif
