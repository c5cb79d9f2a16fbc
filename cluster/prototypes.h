/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clustering in the form in which it is broadcast: every phase as a handful of prototypes
 * (centroids of its parts), each with a radius. A burst takes the phase of its nearest prototype
 * within that prototype's radius. Prototypes are only ever added and relabelled, never moved or
 * removed, so that sums kept per prototype stay valid over all generations.
 *
 * A prototype is of one place (the code that a burst ran, cluster/by_place.h) or of any. A burst takes
 * the nearest prototype of its own place, else the nearest of any place. While there may be another
 * training, the ledger does not give a burst to one of any place if its place has some of its own.
 *
 * Plain data without pointers: a table is broadcast as bytes. Nothing here allocates but
 * prototypes_train, and nothing keeps state: any thread may call anything on its own table.
 */
#ifndef PHASEMUX_CLUSTER_PROTOTYPES_H
#define PHASEMUX_CLUSTER_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/space.h"

#define PROTOTYPES_MAX    256
#define PROTOTYPES_STEADY 0.9
#define PROTOTYPES_LANES  4  /* compared at once: a block of the index */
#define PROTOTYPES_AXES   3  /* leading dimensions that have bins ... */
#define PROTOTYPES_BINS   64 /* ... so many */

struct prototype {
	float at[SPACE_DIMS_MAX]; /* in the space of the table */
	float radius;             /* same unit */
	uint32_t phase;           /* 1 .. phases of the table */
	uint32_t place;           /* whose bursts it takes; 0: any */
};

struct prototype_table {
	uint32_t generation; /* 0: empty table, nothing trained yet */
	uint32_t count;
	uint32_t phases; /* highest phase number in use; a phase keeps its number over generations */
	float kept; /* share of the last sample's time that has the phase it had before; 0 at first */
	uint32_t steady; /* trainings in a row, up to the last, that kept at least PROTOTYPES_STEADY */
	struct space space;
	struct prototype all[PROTOTYPES_MAX];
	/*
	 * The index that prototypes_index makes: the prototypes once more, column by column, ordered
	 * so that blocks hold neighbours; and per bin of an axis the set of blocks that reach it.
	 */
	float column[SPACE_DIMS_MAX][PROTOTYPES_MAX];
	float radius2[PROTOTYPES_MAX];
	uint32_t place[PROTOTYPES_MAX];
	int32_t number[PROTOTYPES_MAX]; /* column -> number in all[] */
	float bin_low[PROTOTYPES_AXES];
	float bin_scale[PROTOTYPES_AXES];
	uint64_t blocks[PROTOTYPES_AXES][PROTOTYPES_BINS];
	uint64_t blocks_of_place[PROTOTYPES_BINS]; /* by the place's upper bits */
};

/*
 * Makes the index from space.dims, count and all[]. prototypes_train has done so; whoever writes
 * prototypes by hand calls it before the first look-up.
 */
void prototypes_index(struct prototype_table *table);

/*
 * Returns which of the prototypes within whose radius the point is takes a burst of this place (0: not
 * known): the nearest of the place, or if there is none, the nearest of any place (of equally near
 * ones, always the same). Returns -1 if there is none. Exact; no allocation; meant to stay under 60 ns
 * for 256 prototypes in 2 dimensions.
 */
int prototypes_nearest(const struct prototype_table *table, const float *point, uint32_t place);

/* Returns whether some prototype is of this place; false for place 0. Takes some ten ns. */
bool prototypes_know_place(const struct prototype_table *table, uint32_t place);

/*
 * For a burst that no prototype takes and no later generation will: returns the prototype that most
 * likely would. That is the nearest of its place, also somewhat beyond the radius, or else the nearest
 * of all places within the radius. Returns -1 if there is none. Takes a microsecond.
 */
int prototypes_guess(const struct prototype_table *table, const float *point, uint32_t place);

/*
 * Adds prototypes for labelled points (row-major, dims of the table's space; label 0: noise, else
 * 1 .. clusters becomes the phase), as many as their shape needs and the table has room for, each
 * reaching eps beyond its points; and makes the index. For classifying what was not clustered.
 * 0 or -ENOMEM.
 */
int prototypes_describe(struct prototype_table *table, const double *points, size_t count,
		const uint32_t *label, uint32_t clusters, double eps);

/* The sample of bursts that a training sees; arrays of `count`, owned by the caller. */
struct training_sample {
	size_t count;
	const double *metrics;  /* count x dims, row-major, in the metrics' own units */
	const double *duration; /* seconds, > 0 */
	const uint32_t *task;   /* who executed it: a thread of a rank */
	uint32_t process_tasks; /* numbers of tasks that each process has; 0: one */
	/*
	 * What of the program it executed, and for the how manieth time: the same for the bursts of
	 * tasks that do the same.
	 */
	const uint64_t *execution;
	/*
	 * The code that each burst is, as a number that is the same in all tasks (0: not known), and how
	 * regularly its task runs that (0 .. 1; < 0: not known). Phases are split by place
	 * (cluster/by_place.h). Both NULL: they are not.
	 */
	const uint32_t *place;
	const float *regular;
};

/*
 * Clusters the sample (refinement, cluster/refine.h) and writes the next generation of `previous`
 * (which may be an empty table, but whose space.dims, logarithmic and weight are set): old
 * prototypes keep their index, moved with the space when its ranges grow, and are relabelled;
 * prototypes are added for the parts that no old one covers. `next` may not be `previous`.
 * Returns 0, -ENOMEM, or -EINVAL (no burst of the sample has a place in the space); on error
 * `next` is a copy of `previous`.
 */
int prototypes_train(const struct training_sample *sample, const struct prototype_table *previous,
		struct prototype_table *next);

#endif
