/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the traces for Paraver have in common (thesis A.2.3). States and types of events are those of Extrae where it has
 * them, so that its views show them.
 */
#ifndef PHASEMUX_TOOLS_PARAVER_PRV_FILE_H
#define PHASEMUX_TOOLS_PARAVER_PRV_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PRV_STATE_RUNNING  1u
#define PRV_STATE_CALL     15u /* Extrae's "Others" */
#define PRV_STATE_UNKNOWN  14u /* it has no other use here */
#define PRV_TYPE_FUNCTION  70000001u
#define PRV_TYPE_LINE      80000001u
#define PRV_TYPE_PHASE     90000010u
#define PRV_TYPE_NO_RECORD 90000011u
#define PRV_TYPE_TIMES     90000012u

/*
 * Phase N is the value PRV_PHASE_BASE + N of its events. Paraver has one table of colours, for states and for the values of all
 * events, and states have the values below.
 */
#define PRV_PHASE_BASE 100u

/* Classes of calls, which have types of events of their own. */
enum prv_class { PRV_POINT_TO_POINT, PRV_COLLECTIVE, PRV_OTHER, PRV_CLASSES };

extern const struct prv_class_type {
	unsigned type;
	const char *name;
} prv_classes[PRV_CLASSES];

/* Returns the class of a call ("MPI_Send"). */
enum prv_class prv_class_of(const char *call);

/* Texts that are the values of a type of event, numbered from 1. Zeros are none. */
struct prv_names {
	char **text;
	size_t count;
};

/* Returns the number of a text, which is added if it is new; 0 without memory or without text. */
size_t prv_names_number(struct prv_names *names, const char *text);
void prv_names_fini(struct prv_names *names);

/* Writes a type of event to a .pcf, with its values. none: the name of value 0. Writes nothing without values. */
void prv_names_write(FILE *out, unsigned type, const char *what, const struct prv_names *names,
		const char *none);

/*
 * Writes the first line. date: of a report, "2026-11-27T12:00:00Z". end: of the trace, in ns. The ranks are on one node of as
 * many processors.
 */
void prv_write_head(FILE *out, const char *date, uint64_t end, size_t ranks);

/* Starts a .pcf with the states. unknown: what PRV_STATE_UNKNOWN is in this trace. */
void prv_write_states(FILE *out, const char *unknown);

/*
 * Writes the type of event of phases, numbered from 1, and their colours to a .pcf. States keep the colours of Paraver. Writes
 * nothing without phases.
 */
void prv_write_phases(FILE *out, unsigned phases);

/* Writes a .row up to the names of the threads. */
void prv_write_places(FILE *out, size_t ranks);

/* Creates a file of a trace. path: with or without ".prv". ending: ".pcf". Returns NULL with one line in why. */
FILE *prv_create(const char *path, const char *ending, char *why, size_t why_size);

/* Closes it. Returns false with one line in why if not all was written. */
bool prv_close(FILE *file, const char *ending, char *why, size_t why_size);

#endif
