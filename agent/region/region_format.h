/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file in which a rank records its region (PHASEMUX_REGION): chunks in the byte order of the machine, each of which is
 * written by one call. So what was recorded until a kill can be read, and at most the last chunk is cut. The first chunk
 * has the facts. Later definitions of a site, or of phases, replace earlier ones.
 */
#ifndef PHASEMUX_AGENT_REGION_REGION_FORMAT_H
#define PHASEMUX_AGENT_REGION_REGION_FORMAT_H

#include <stdint.h>

#include "agent/thread/path.h"
#include "cluster/prototypes.h"
#include "sampling/group.h"

#define REGION_MAGIC   "pmregion"
#define REGION_VERSION 1
#define REGION_START   "region." /* of the name of a file; the rank and REGION_SUFFIX follow */
#define REGION_SUFFIX  ".calls"

enum region_kind {
	REGION_FACTS = 1, /* struct region_facts */
	REGION_MODULES,   /* struct region_module and a path without NUL, one after the other */
	REGION_SITES,     /* struct region_site, several */
	REGION_PHASES,    /* uint32_t for each prototype: its phase; 0: none */
	REGION_EVENTS,    /* names of events, REGION_EVENT_NAME bytes each with a NUL */
	REGION_GROUPS,    /* struct region_group, several */
	REGION_COUNTS,    /* struct region_counts, several, of calls that follow */
	REGION_CALLS,     /* struct region_call, several, by time */
	REGION_END,       /* struct region_end */
};

struct region_chunk {
	uint32_t kind, bytes; /* bytes: that follow */
};

struct region_facts {
	char magic[8];
	uint32_t version;
	int32_t rank, size; /* in MPI_COMM_WORLD */
	uint32_t inexact; /* 1: calls were not observed before, so that the number of iterations is about right */
	uint64_t run;        /* number of the run, equal on all its ranks */
	uint64_t start;      /* ticks of the clock at the start of the run */
	uint64_t iterations; /* that were ordered */
	double ns_per_tick;
	char host[72];
};

struct region_module {
	uint64_t base, begin, end; /* as in struct module */
	uint32_t length, padding;  /* bytes of the path */
};

struct region_site {
	uint16_t number, call; /* call: enum runtime_call */
	uint32_t frames;
	uint64_t address[PATH_FRAMES_MAX]; /* return addresses, innermost first */
};

/* A call, and the burst before it. Times in ticks of the clock. */
struct region_call {
	uint64_t begin;         /* of the burst; `entered` if there was none */
	uint64_t entered, left; /* when the call began and returned */
	uint16_t site;
	uint16_t prototype; /* 1 + the prototype of the burst; 0: short, or not known */
	uint32_t padding;
};

#define REGION_EVENT_NAME 64
#define REGION_EVENTS_MAX 96
#define REGION_GROUPS_MAX 64

/* The events that are counted at the same time, by their numbers. */
struct region_group {
	uint8_t count;
	uint8_t event[GROUP_EVENTS_MAX];
};

/* The counters of a burst that were read. */
struct region_counts {
	uint64_t call; /* number of the call that ended it, from 0 */
	uint32_t group, padding;
	uint64_t value[GROUP_EVENTS_MAX]; /* of the group's events */
};

struct region_end {
	uint64_t iterations; /* that were recorded to their end */
	uint64_t calls;
	uint32_t cut;  /* 1: there was no room for more calls, or they could not be written */
	uint32_t late; /* 1: the order came after the iteration with which the region starts */
};

#endif
