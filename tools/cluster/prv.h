/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a Paraver trace's body, as far as bursts need them (thesis A.2.3). */
#ifndef PHASEMUX_TOOLS_CLUSTER_PRV_H
#define PHASEMUX_TOOLS_CLUSTER_PRV_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/cluster/burst_table.h"

#define PRV_RUNNING       1         /* the state of a burst */
#define PRV_COUNTER_FIRST 42000000u /* types of hardware counters */
#define PRV_COUNTER_LAST  42999999u
#define PRV_CLUSTER_EVENT 90000001u /* type that viewers show as the cluster of a burst */

enum prv_kind { PRV_STATE = 1, PRV_EVENTS = 2, PRV_COMMUNICATION = 3, PRV_OTHER };

struct prv_record {
	enum prv_kind kind;
	uint32_t cpu, task, thread; /* from 0; tasks are numbered on through all applications */
	uint32_t application;       /* from 1 */
	uint64_t begin, end;        /* ns; end of a state only */
	uint64_t state;
	const char *pairs; /* pairs of events: "type:value[:type:value...]" */
};

struct prv_header {
	double ns_per_unit; /* 1, or 1000 for traces in microseconds */
	uint32_t applications;
	uint32_t *first_task; /* per application: number of tasks of those before it */
	uint32_t *tasks;
};

/* Parses the first line. Returns 0, -EINVAL (error->text says what was expected), or -ENOMEM. */
int prv_header_parse(struct prv_header *header, const char *line, struct parse_error *error);
void prv_header_fini(struct prv_header *header);

/*
 * Parses a line of the body; comments and communicators are PRV_OTHER. Returns 0, or -EINVAL with error->text.
 */
int prv_record_parse(const struct prv_header *header, const char *line, struct prv_record *record,
		struct parse_error *error);

/*
 * Removes the next type and value from the pairs. Returns false at their end, or with *broken set if they
 * are no pairs of whole numbers.
 */
bool prv_next_pair(const char **pairs, uint64_t *type, int64_t *value, bool *broken);

#endif
