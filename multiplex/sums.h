/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process keeps of its bursts: a fixed number of additive sums per prototype and counter.
 * All of them stand in one flat array of doubles, so that merging two processes is adding the
 * arrays, element by element, and a reduction over ranks is one MPI_SUM.
 *
 * A quantum (the stretch in which one group is counted) is the unit of variation. Each thread
 * gathers its open quantum on its own; closing it folds it into the process' sums, under the
 * caller's lock. Nothing here allocates after sums_new and quantum_new.
 */
#ifndef PHASEMUX_MULTIPLEX_SUMS_H
#define PHASEMUX_MULTIPLEX_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "multiplex/plan.h"

struct sums;
struct quantum;

/* Room for `prototypes` prototypes and the groups of `plan` (copied); NULL without memory. */
struct sums *sums_new(const struct plan *plan, unsigned prototypes);
void sums_free(struct sums *sums);

/*
 * The same over memory of the caller's (a mapped file), of sums_length_for() doubles: zeros, or what
 * an earlier process with the same plan and number of prototypes left. sums_free leaves it alone.
 */
size_t sums_length_for(const struct plan *plan, unsigned prototypes);
struct sums *sums_over(const struct plan *plan, unsigned prototypes, double *flat);

/* The flat array and its length, to be reduced; the layout depends on plan and prototypes only. */
double *sums_flat(struct sums *sums);
size_t sums_length(const struct sums *sums);

/*
 * Where in it a prototype's sums begin, and the sketches of a phase (from 1), both in their order:
 * also of one more than there are, where the last one's end.
 */
size_t sums_prototype_at(const struct sums *sums, unsigned prototype);
size_t sums_sketch_at(const struct sums *sums, unsigned phase);

/* Of so many phases, those that have sketches. */
unsigned sums_sketched(unsigned phases);

/* An open quantum with nothing in it, for sums of this shape. */
struct quantum *quantum_new(const struct sums *sums);
void quantum_free(struct quantum *quantum);

/* The same in so many bytes of the caller's, which are zeros, and are not touched before their use. */
size_t quantum_bytes(const struct sums *sums);
struct quantum *quantum_init(void *zeros, const struct sums *sums);

/*
 * Adds one burst that was read, of prototype p, in `group`. values[] are its counts in the order of
 * the group's events; seconds its duration; weight 1 / (the probability with which it was chosen to
 * be read), 1 where every burst is read. All bursts between two closings are of the same group, which
 * had that weight (scheme_weight) when it was given the quantum.
 */
void quantum_add(struct quantum *quantum, unsigned prototype, unsigned group, double group_weight,
		double weight, double seconds, const uint64_t *values);

/*
 * Says that the prototype belongs to `phase` (0, as at first: to none). Bursts of one phase in one
 * quantum vary together; without this the intervals of a phase of several prototypes would not know,
 * and there are no deciles. To be called whenever the table of prototypes changes.
 */
void quantum_label(struct quantum *quantum, unsigned prototype, uint32_t phase);

/*
 * Folds what was gathered into the sums, and empties it. What it held counts as one unit drawn:
 * where a process never changes its group (SCHEME_SPACE), close its quantum once, at the end.
 */
void quantum_close(struct quantum *quantum, struct sums *sums);

/*
 * How many prototypes have bursts in it, and which, until the next quantum_add or close; the group
 * and its weight where there are any.
 */
unsigned quantum_prototypes(const struct quantum *quantum, const uint16_t **prototypes,
		unsigned *group, double *group_weight);

/*
 * What was gathered of one of them as plain numbers, to be kept outside of the process, and back
 * again, added to nothing else: group and prototype must be of the sums that it was made for.
 */
#define QUANTUM_FIELDS (5 + 2 * PLAN_GROUP_EVENTS_MAX)
void quantum_save(const struct quantum *quantum, unsigned prototype, double fields[QUANTUM_FIELDS]);
void quantum_restore(struct quantum *quantum, unsigned prototype, unsigned group,
		double group_weight, const double fields[QUANTUM_FIELDS]);

#endif
