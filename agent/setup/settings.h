/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of the user: one table, from which the environment variables, the flags of `phasemux run`, the help
 * texts and the Slurm plugin are made.
 */
#ifndef PHASEMUX_AGENT_SETUP_SETTINGS_H
#define PHASEMUX_AGENT_SETUP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/scheme/scheme.h"

#define SETTINGS_TEXT_MAX 1024
#define SETTINGS_MAX      32 /* maximum number of settings */
#define SETTINGS_NAME_MAX 32 /* bytes of a setting's name, with its NUL */
#define SETTINGS_PREFIX   "PHASEMUX_"
#define SETTINGS_THREADS  1024 /* maximum number of threads that are observed at the same time */

/* Other numbers of leads than those that the user gives. */
#define SETTINGS_LEADS_AUTO 0          /* as many as the intervals need */
#define SETTINGS_LEADS_ALL  UINT32_MAX /* each rank reads */
#define SETTINGS_LEADS_MAX  8          /* that the user may ask for */

#define SETTINGS_REGION_ITERATIONS 1000000 /* that the user may ask for */

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

/* Whose counters are read. */
enum counters {
	COUNTERS_AUTO,     /* the processor's if it has any, else the kernel's software events */
	COUNTERS_HARDWARE, /* the processor's; phasemux run refuses to start without */
	COUNTERS_EMULATED, /* those of an emulated processor */
};

enum report {
	REPORT_TEXT = 1,
	REPORT_JSON = 2,
	REPORT_CSV = 4,
	REPORT_BURSTS = 8,
	REPORT_HTML = 16,
};

struct settings {
	enum scheme_kind scheme;
	unsigned group;
	char events[SETTINGS_TEXT_MAX]; /* "auto", a model, a comma list, "@file" */
	enum counters counters;
	char core[SETTINGS_NAME_MAX]; /* the core model of the emulated processor */
	uint64_t quantum_bursts;      /* length of a quantum; 0: it is given as time */
	double quantum_ns;            /* 0: auto */
	double budget; /* share of the program's time, 0.01; INFINITY: none, every burst is read */
	double burst_min_ns; /* < 0: auto */
	unsigned metrics;    /* number of metrics; 0: auto, ledger.c chooses them */
	enum metric metric[SETTINGS_METRICS_MAX];
	unsigned sample_hz; /* samples per second; 0: none */
	bool structure;     /* the order of the calls is kept */
	bool arguments;     /* and so are their arguments */
	unsigned leads; /* ranks that read counters for those that repeat the same loop; SETTINGS_LEADS_... */
	bool leads_medoids; /* if there are too many kinds of ranks, they join as by K-medoids, and not K-farthest */
	double region_iterations, region_bytes; /* of the region; both 0: none */
	bool starts_paused;                     /* the agent is off until MPI_Pcontrol(1) */
	double toggle_ns;   /* time after which the agent turns itself off or on; 0: never */
	bool fewer_samples; /* sample_hz is a maximum: the budget may allow fewer */
	char output[SETTINGS_TEXT_MAX]; /* as the user wrote it, with %j %p %h */
	unsigned threads;               /* maximum number that is observed at the same time */
	char spool[SETTINGS_TEXT_MAX];  /* "": the first of /dev/shm, /tmp that can be written */
	unsigned report;                /* set of enum report */
	bool disable;
};

struct setting {
	const char *name;     /* in lower case; flag --burst-min is "burst_min" */
	const char *values;   /* allowed values, for people */
	const char *fallback; /* the default, as a value */
	const char *help;     /* one line */
	/* Stores the value. Returns false if it is invalid. */
	bool (*parse)(struct settings *settings, const char *value);
};

extern const struct setting settings_table[];
extern const unsigned settings_count;

/* Sets all defaults. */
void settings_defaults(struct settings *settings);

/*
 * Returns the samples per second; 0: none. Unless the user set a number, all samples together take at most
 * `share` of the time. A few are taken even if they cost more. sample_ns: time of one sample; 0: not known.
 */
double settings_sample_hz(const struct settings *settings, double share, double sample_ns);

/* Sets one setting. Returns 0, or -EINVAL with one line in `why`: the value, and the allowed ones. */
int settings_set(struct settings *settings, const struct setting *setting, const char *value,
		char *why, size_t why_size);

/*
 * Sets all defaults, and then what the environment sets. look(name) is getenv or a stand-in. Returns 0, or
 * -EINVAL with one line in `why` for the first invalid value.
 */
int settings_read(struct settings *settings, char *(*look)(const char *name), char *why,
		size_t why_size);

/* Writes the setting's environment variable to `name`: "PHASEMUX_BURST_MIN" for "burst_min". */
void settings_variable(const struct setting *setting, char *name, size_t size);

/* Returns the metric with this name ("instructions", ...), METRICS if there is none. */
enum metric settings_metric(const char *name, size_t length);
const char *settings_metric_name(enum metric metric);

#endif
