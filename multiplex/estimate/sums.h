/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process keeps of its bursts: a fixed number of additive sums per prototype and counter. All sums are
 * in one flat array of doubles. Therefore two processes are merged by adding the arrays, element by element,
 * and a reduction over ranks is one MPI_SUM.
 *
 * A quantum (the stretch in which one group is counted) is the unit of variation. Each thread gathers its open
 * quantum on its own. Closing it adds it to the process' sums, under the caller's lock. Nothing here allocates
 * after sums_new and quantum_new.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_SUMS_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/plan.h"

struct sums;
struct quantum;

/*
 * Returns sums with room for `prototypes` prototypes and the groups of `plan`, which is copied, or NULL if
 * there is no memory.
 */
struct sums *sums_new(const struct plan *plan, unsigned prototypes);
void sums_free(struct sums *sums);

/* Returns the number of doubles that sums_over needs. */
size_t sums_length_for(const struct plan *plan, unsigned prototypes);

/*
 * Returns sums over memory of the caller's (a mapped file) of sums_length_for() doubles, or NULL if there is no
 * memory. The doubles are zeros, or what an earlier process with this plan and number of prototypes left.
 * sums_free does not free them.
 */
struct sums *sums_over(const struct plan *plan, unsigned prototypes, double *flat);

/* Return the flat array for a reduction, and its length. The layout depends only on plan and prototypes. */
double *sums_flat(struct sums *sums);
size_t sums_length(const struct sums *sums);

/*
 * Return the index in the flat array at which the sums of a prototype begin, and the sketches of a phase (from
 * 1). Both are in order of their numbers. The number after the last one gives the end.
 */
size_t sums_prototype_at(const struct sums *sums, unsigned prototype);
size_t sums_sketch_at(const struct sums *sums, unsigned phase);

/* Returns how many of `phases` phases have sketches. */
unsigned sums_sketched(unsigned phases);

/* Returns an empty open quantum for sums of this shape, or NULL if there is no memory. */
struct quantum *quantum_new(const struct sums *sums);
void quantum_free(struct quantum *quantum);

/* Returns the bytes of memory that quantum_init needs. */
size_t quantum_bytes(const struct sums *sums);

/*
 * Makes an empty open quantum in memory of the caller's, which is zeros. Most of it is not touched before its
 * use.
 */
struct quantum *quantum_init(void *zeros, const struct sums *sums);

/* A burst that was read. */
struct quantum_burst {
	unsigned group;         /* that was counted */
	double group_weight;    /* scheme_weight of this group when it got the quantum */
	double weight;          /* 1 / (probability with which the burst was chosen to be read) */
	double seconds;         /* duration */
	const uint64_t *values; /* counts, in the order of the group's events */
	bool slice;             /* of a longer burst */
	double when;            /* when it began, in seconds since about the start of the run */
};

/* Adds one burst of a prototype. All bursts between two closings are of one group. */
void quantum_add(struct quantum *quantum, unsigned prototype, const struct quantum_burst *burst);

/*
 * Says that the prototype belongs to `phase` (0, as at first: to none). Bursts of one phase in one quantum vary
 * together. Without labels the intervals of a phase of several prototypes would ignore this, and there are no
 * deciles. Call whenever the table of prototypes changes.
 */
void quantum_label(struct quantum *quantum, unsigned prototype, uint32_t phase);

/*
 * Adds the quantum to the sums, and empties it. Its bursts count as one unit drawn. Therefore, if a process
 * never changes its group (SCHEME_SPACE), close its quantum once, at the end.
 */
void quantum_close(struct quantum *quantum, struct sums *sums);

/*
 * Returns how many prototypes have bursts in the quantum. Sets *prototypes to their numbers, which are valid
 * until the next quantum_add or quantum_close. Sets the group and its weight, if there are any.
 */
unsigned quantum_prototypes(const struct quantum *quantum, const uint16_t **prototypes,
		unsigned *group, double *group_weight);

/*
 * Returns whether bursts of the prototypes p for which member[p] is true (as many as the sums have) were read in each
 * group.
 */
bool sums_have_all_groups(const struct sums *sums, const bool *member);

/*
 * Makes the read bursts of these members stand for themselves and for `unread` bursts that were not read, in each group
 * that has any of them. So a process whose bursts were mostly not read has its own share in a phase of several processes
 * (poststratification, Cochran 5A.9). Deciles are not changed. No further quantum may be closed.
 */
void sums_stand_for(struct sums *sums, const bool *member, double unread);

/*
 * Save what the quantum has of one prototype as plain numbers, which can be kept outside of the process, and
 * restore it. Restore into a quantum that has no burst of this prototype. group and prototype must be valid for
 * the sums for which the quantum was made.
 */
#define QUANTUM_FIELDS (9 + 2 * PLAN_GROUP_EVENTS_MAX)
void quantum_save(const struct quantum *quantum, unsigned prototype, double fields[QUANTUM_FIELDS]);
void quantum_restore(struct quantum *quantum, unsigned prototype, unsigned group,
		double group_weight, const double fields[QUANTUM_FIELDS]);

#endif
