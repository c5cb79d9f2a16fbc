/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a job's calls: for each call path and argument, the sequences of values that its processes have
 * (agent/thread/call_arguments.h). Processes with equal sequences are one variant.
 *
 * The table is bounded. If a sequence finds no room, then only its summary is kept: how many values, the least, the
 * largest and the sum.
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_ARGUMENT_TABLE_H
#define PHASEMUX_AGENT_STRUCTURES_ARGUMENT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/spool/routes.h"
#include "agent/structures/rank_lists.h"
#include "agent/structures/structures.h"
#include "agent/structures/table.h"
#include "agent/symbols/place_files.h"
#include "agent/thread/call_arguments.h"

#define ARGUMENT_VARIANTS_MAX 2048   /* of all paths and arguments together */
#define ARGUMENT_BYTES_MAX    262144 /* of the sequences of all variants together */

/* Processes that call a path with the same values of an argument. */
struct argument_variant {
	uint32_t path, argument;    /* its number in the table; enum argument */
	uint32_t ranks;             /* number of processes */
	uint32_t first_range;       /* its ranks (rank_lists.h) */
	uint32_t first_byte, bytes; /* of the sequence (stream_bytes.h); 0 bytes: it is not kept */
	double values;              /* of all its processes */
	double marks; /* values that are no numbers, and that the summary does not have */
	double least, most, sum; /* of all its processes; least > most: there are no numbers */
	double exact; /* values of one process up to which the sequence goes; INFINITY: all */
};

/* Plain data; zeros are an empty table. */
struct argument_table {
	uint32_t paths, variants, bytes;
	uint32_t left_out; /* number of processes whose arguments are not known */
	double left_out_values;
	struct rank_lists ranks; /* of all variants */
	struct route_end path[STRUCTURES_PATHS_MAX];
	struct argument_variant variant[ARGUMENT_VARIANTS_MAX];
	uint8_t byte[ARGUMENT_BYTES_MAX];
};

/*
 * Adds the arguments of a thread's calls, which are an image of them (arguments_image.h; NULL: they are not known), to an
 * empty table. Adds the files of its places to `files`.
 */
void argument_table_share(const struct structures_thread *thread, const uint8_t *image,
		size_t length, struct place_files *files, struct argument_table *table);

/* Merges the table `in` into `inout`. The function is an mpi_merge. */
void argument_table_merge(const void *in, void *inout);

/* Turns the places of all paths into addresses, as place_files_address does. */
void argument_table_restore(struct argument_table *table, const struct place_files *files,
		struct place_modules *modules);

#endif
