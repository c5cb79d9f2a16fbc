/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPI models: for a processor family, which events to count and how the cycles per instruction consist of
 * them. Models are data (multiplex/models/, one JSON file per family), and are built into the library.
 */
#ifndef PHASEMUX_MULTIPLEX_MODELS_MODEL_H
#define PHASEMUX_MULTIPLEX_MODELS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/plan.h"

#define MODEL_COMPONENTS_MAX 24
#define MODEL_METRICS_MAX    32

struct model_event {
	char name[64];    /* the model's own short name, used in the report: "ls_not_halted_cyc" */
	char libpfm[224]; /* full libpfm4 name; "" if libpfm4 has none */
	uint32_t type;    /* perf_event_attr.type */
	uint64_t config;  /* perf_event_attr.config */
	bool raw;         /* type and config are given, and are used before the name */
	char description[128];
	uint8_t together;     /* see plan_pack */
	bool busy;            /* cannot stay at 0 over a million instructions of any program */
	uint16_t counter_set; /* counters that can count it, see plan_pack_on; 0: any */
};

struct model;

/* The processor, as far as models are chosen by it. */
struct model_processor {
	const char *vendor;     /* "AuthenticAMD", "GenuineIntel", "ARM", "IBM" */
	unsigned family, model; /* x86: CPUID; ARM: implementer, part; POWER: PVR version, 0 */
};

/* Returns the number of models that are built in. */
unsigned model_count(void);

/* Return the name and the one-line title of a built-in model. */
const char *model_name_of(unsigned index);
const char *model_title_of(unsigned index);

/*
 * Loads a built-in model by name. Returns NULL on failure; `why`, if not NULL, says what was wrong. The caller
 * frees with model_free.
 */
struct model *model_load(const char *name, char *why, size_t why_size);

/* Returns the name of the model for this processor, or "generic" if there is none for it. */
const char *model_for(const struct model_processor *processor);
void model_free(struct model *model);

const char *model_name(const struct model *model);
unsigned model_events(const struct model *model);
const struct model_event *model_event(const struct model *model, unsigned event);
unsigned model_common(const struct model *model); /* leading events of every group */

/* Packs all of the model's events with plan_pack_on. Returns 0 or -EINVAL. */
int model_pack(const struct model *model, unsigned counters, struct plan *plan);

struct cpi_component {
	char name[48];
	double cpi;  /* cycles per instruction; NAN: not available, an event it needs is missing */
	double ci95; /* half-width */
	unsigned level; /* 0: components that sum to the CPI; 1: part of the level-0 one before it */
};

/*
 * Breaks the phase's CPI into components. estimate is by the model's event numbers; events that this machine
 * could not count have observed == 0. The level-0 components sum to the CPI, because what no event explains is
 * a component of its own. None is negative: if estimates add up to more than the CPI, they are scaled to it.
 * Returns the number of components written; 0 if the model has none, or cycles and instructions are not known.
 */
unsigned model_breakdown(const struct model *model, const struct phase_estimate *estimate,
		struct cpi_component out[MODEL_COMPONENTS_MAX]);

/* A derived metric: share of peak, instruction mix, misses per thousand instructions, bandwidth. */
struct model_metric {
	char name[48];
	char unit[16];
	double value; /* NAN: not available */
	double ci95;  /* half-width */
};

/* Fills the model's derived metrics for that phase; returns the number written. */
unsigned model_metrics(const struct model *model, const struct phase_estimate *estimate,
		struct model_metric out[MODEL_METRICS_MAX]);

#endif
