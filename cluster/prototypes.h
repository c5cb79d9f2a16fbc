/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clustering in the form in which it is broadcast: every phase as a few prototypes (centroids of its
 * parts), each with a radius. A burst takes the phase of its nearest prototype
 * within that prototype's radius. Prototypes are only added and relabelled, never moved or
 * removed, so that sums kept per prototype stay valid over all generations.
 *
 * A prototype is of one place (the code that a burst ran, cluster/by_place.h) or of any place. A burst takes
 * the nearest prototype of its own place, else the nearest of any place. While another training is possible,
 * the ledger does not give a burst to a prototype of any place if its place has prototypes of its own.
 *
 * A table is plain data without pointers, and is broadcast as bytes. Only prototypes_train and
 * prototypes_describe allocate. No function keeps state, so any thread may call any function on its own table.
 */
#ifndef PHASEMUX_CLUSTER_PROTOTYPES_H
#define PHASEMUX_CLUSTER_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/density/space.h"

#define PROTOTYPES_MAX    256
#define PROTOTYPES_STEADY 0.9 /* `kept` from which a training is steady */
#define PROTOTYPES_LANES  4   /* number compared at once, which is a block of the index */
#define PROTOTYPES_AXES   3   /* number of leading dimensions that have bins */
#define PROTOTYPES_BINS   64  /* number of bins of each of these dimensions */

struct prototype {
	float point[SPACE_DIMS_MAX]; /* in the space of the table */
	float radius;                /* in the unit of `at` */
	uint32_t phase;              /* 1 .. phases of the table */
	uint32_t place;              /* place whose bursts it takes; 0: any */
};

struct prototype_table {
	uint32_t generation; /* 0: empty table, nothing trained yet */
	uint32_t count;
	uint32_t phases; /* highest phase number in use; a phase keeps its number over generations */
	float kept; /* share of the last sample's time whose phase has not changed; 0 at first */
	uint32_t steady; /* number of the last trainings in a row that kept at least PROTOTYPES_STEADY */
	struct space space;
	struct prototype all[PROTOTYPES_MAX];
	/*
	 * The index that prototypes_index makes: the prototypes column by column, in an order in which a
	 * block consists of neighbours; and for each bin of an axis the set of blocks that reach it.
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
 * Makes the index from space.dims, count and all[]. prototypes_train calls it. Call it before the first look-up
 * if prototypes were written by other code.
 */
void prototypes_index(struct prototype_table *table);

/*
 * Returns the prototype that takes a burst of this place (0: not known), or -1 if there is none. Only
 * prototypes within whose radius the point is count: the nearest one of the place, or if there is none, the
 * nearest one of any place. The choice among equally near ones is always the same. Exact; allocates nothing;
 * meant to take less than 60 ns for 256 prototypes in 2 dimensions.
 */
int prototypes_nearest(const struct prototype_table *table, const float *point, uint32_t place);

/* Returns whether some prototype is of this place; false for place 0. Takes some ten ns. */
bool prototypes_know_place(const struct prototype_table *table, uint32_t place);

/*
 * Returns the prototype that most likely would take a burst, or -1 if there is none. It is the nearest one of
 * its place, also somewhat beyond the radius, or else the nearest of all places within the radius. Takes a
 * microsecond. Call for a burst that no prototype takes and no later generation will take.
 */
int prototypes_guess(const struct prototype_table *table, const float *point, uint32_t place);

/*
 * Adds prototypes for labelled points (row-major, dims of the table's space; label 0: noise, else 1 .. clusters
 * becomes the phase), and makes the index. Adds as many as their shape needs and the table has room for. Each
 * reaches eps beyond its points. Used to classify bursts that were not clustered. Returns 0 or -ENOMEM.
 */
int prototypes_describe(struct prototype_table *table, const double *points, size_t count,
		const uint32_t *label, uint32_t clusters, double eps);

/* The sample of bursts for a training. The arrays have `count` elements, and belong to the caller. */
struct training_sample {
	size_t count;
	const double *metrics;  /* count x dims, row-major, in the metrics' own units */
	const double *duration; /* seconds, > 0 */
	const uint32_t *task;   /* that executed it: a thread of a rank */
	uint32_t process_tasks; /* count of task numbers that each process has; 0: one */
	/*
	 * Number that stands for the part of the program that the burst executed, and for how often its task
	 * had executed it. It is equal for the corresponding bursts of tasks that execute the same code.
	 */
	const uint64_t *execution;
	/*
	 * The code of each burst, as a number that is equal in all tasks (0: not known), and how regularly its
	 * task runs it (0 .. 1; < 0: not known). With these, phases are split by place (cluster/by_place.h).
	 * Both NULL: phases are not split.
	 */
	const uint32_t *place;
	const float *regular;
};

/*
 * Clusters the sample (refinement, cluster/sequence/refine.h) and writes the next generation of `previous`,
 * which may be an empty table with space.dims, logarithmic and weight set. Old prototypes keep their index,
 * and are relabelled. They move with the space when its ranges grow. Prototypes are added for the parts that
 * no old one covers. `next` must not be `previous`. Returns 0, -ENOMEM, or -EINVAL (no burst of the sample has
 * a place in the space); on error `next` is a copy of `previous`.
 */
int prototypes_train(const struct training_sample *sample, const struct prototype_table *previous,
		struct prototype_table *next);

#endif
