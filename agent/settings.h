/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What users set: one table, from which the environment, the flags of `phasemux run`, the help
 * texts and the Slurm plugin are made.
 */
#ifndef PHASEMUX_AGENT_SETTINGS_H
#define PHASEMUX_AGENT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/scheme.h"

#define SETTINGS_TEXT_MAX 1024
#define SETTINGS_PREFIX   "PHASEMUX_"
#define SETTINGS_THREADS  1024 /* the most that can be observed at a time */

/* Metrics that may span the cluster space. */
enum metric {
	METRIC_INSTRUCTIONS,
	METRIC_IPC,
	METRIC_CYCLES,
	METRIC_DURATION,
	METRIC_CALLPATH,
	METRICS,
};

#define SETTINGS_METRICS_MAX 4

enum report {
	REPORT_TEXT = 1,
	REPORT_JSON = 2,
	REPORT_CSV = 4,
	REPORT_BURSTS = 8,
};

struct settings {
	enum scheme_kind scheme;
	unsigned group;
	char events[SETTINGS_TEXT_MAX]; /* "auto", a model, a comma list, "@file" */
	uint64_t quantum_bursts;        /* 0: by time */
	double quantum_ns;              /* 0: auto */
	double budget;       /* share of the time, 0.01; INFINITY: none, read everything */
	double burst_min_ns; /* < 0: auto */
	unsigned metrics;    /* 0: auto, as ledger.c chooses */
	enum metric metric[SETTINGS_METRICS_MAX];
	unsigned sample_hz;
	bool starts_paused;             /* until MPI_Pcontrol(1) */
	double toggle_ns;               /* turns itself off and on after so long; 0: never */
	bool fewer_samples;             /* than that, where ranks would wait too long for them */
	char output[SETTINGS_TEXT_MAX]; /* as written, with %j %p %h */
	unsigned threads;               /* that are observed at a time */
	char spool[SETTINGS_TEXT_MAX];  /* "": the first of /dev/shm, /tmp that can be written */
	unsigned report;                /* set of enum report */
	bool disable;
};

struct setting {
	const char *name;     /* in lower case; flag --burst-min is "burst_min" */
	const char *values;   /* what is allowed, for people */
	const char *fallback; /* the default, as a value */
	const char *help;     /* one line */
	/* Stores the value; false when it makes no sense. */
	bool (*parse)(struct settings *settings, const char *value);
};

extern const struct setting settings_table[];
extern const unsigned settings_count;

/* All defaults. */
void settings_defaults(struct settings *settings);

/*
 * Samples per second, where one takes so many ns (0: not known) and all together no more than a share of
 * the time, unless the user names a number. 0: none.
 */
double settings_sample_hz(const struct settings *settings, double share, double sample_ns);

/* One setting by name. 0, or -EINVAL with one line in `why`: the value, and what is allowed. */
int settings_set(struct settings *settings, const struct setting *setting, const char *value,
		char *why, size_t why_size);

/* Defaults, then what the environment says; look(name) is getenv or a stand-in. As settings_set. */
int settings_read(struct settings *settings, char *(*look)(const char *name), char *why,
		size_t why_size);

/* "PHASEMUX_BURST_MIN" for "burst_min". */
void settings_variable(const struct setting *setting, char *name, size_t size);

/* "instructions", ...; METRICS for an unknown name. */
enum metric settings_metric(const char *name, size_t length);

#endif
