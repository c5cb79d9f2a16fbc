/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/estimate/sums.h"

#include <stdlib.h>
#include <string.h>

#include "multiplex/estimate/layout.h"
#include "multiplex/mix.h"

#define NOTED_MAX 256

/* The buckets of a burst, which are added to the sketches when the quantum is closed. */
struct noted {
	float weight;
	uint8_t phase; /* 1 .. SKETCH_PHASES */
	uint8_t bucket[PLAN_GROUP_EVENTS_MAX];
};

/* What one quantum gathered of one prototype. All fields except read and elapsed have the bursts' weights. */
struct gathered {
	double read, elapsed;
	double w, t, burst_tt, slices;
	double when, when_when,
			when_t; /* totals of when bursts began, its square, its product with t */
	double y[PLAN_GROUP_EVENTS_MAX]; /* in the order of the group's events */
	double burst_yy[PLAN_GROUP_EVENTS_MAX];
	bool merged; /* into another prototype of its phase, while closing */
};

struct quantum {
	unsigned prototypes;
	unsigned group;   /* of all its bursts; valid if touched > 0 */
	unsigned count;   /* number of events of that group */
	unsigned touched; /* number of prototypes with bursts, listed in order[] */
	double group_weight;
	uint8_t counts[PLAN_GROUPS_MAX];
	uint16_t *order;
	uint32_t *label; /* the phase of each prototype; 0: none */
	struct gathered *gathered;
	uint64_t random;
	unsigned notable;              /* number of bursts whose phase has a sketch */
	struct noted noted[NOTED_MAX]; /* all of these bursts, or a random choice */
};

static void lay_out(struct sums *sums, const struct plan *plan, unsigned prototypes)
{
	sums->plan = *plan;
	sums->prototypes = prototypes;
	sums->aux = plan->common < LAYOUT_AUX_MAX ? plan->common : LAYOUT_AUX_MAX;
	sums->block[0] = COMMON_FIELDS + (plan->common - sums->aux) * (size_t)SLOT_FIELDS;
	for (unsigned g = 0; g < plan->groups; g++) {
		size_t own = plan->group[g].count - plan->common;

		sums->block[g + 1] = sums->block[g] + BLOCK_FIELDS + own * SLOT_FIELDS +
				own * (own - 1) / 2;
	}
	sums->stride = sums->block[plan->groups];
}

size_t sums_length_for(const struct plan *plan, unsigned prototypes)
{
	struct sums sums = { 0 };

	lay_out(&sums, plan, prototypes);
	return sums_length(&sums);
}

struct sums *sums_over(const struct plan *plan, unsigned prototypes, double *flat)
{
	struct sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	lay_out(sums, plan, prototypes);
	sums->flat = flat;
	return sums;
}

struct sums *sums_new(const struct plan *plan, unsigned prototypes)
{
	struct sums *sums = sums_over(plan, prototypes, NULL);

	if (!sums)
		return NULL;
	sums->owned = true;
	sums->flat = calloc(sums_length(sums) + 1, sizeof(*sums->flat));
	if (!sums->flat) {
		free(sums);
		return NULL;
	}
	return sums;
}

void sums_free(struct sums *sums)
{
	if (!sums)
		return;
	if (sums->owned)
		free(sums->flat);
	free(sums);
}

double *sums_flat(struct sums *sums)
{
	return sums->flat;
}

size_t sums_length(const struct sums *sums)
{
	return sums_sketch_at(sums, SKETCH_PHASES + 1);
}

size_t sums_prototype_at(const struct sums *sums, unsigned prototype)
{
	return sums->stride * prototype;
}

unsigned sums_sketched(unsigned phases)
{
	return phases < SKETCH_PHASES ? phases : SKETCH_PHASES;
}

size_t sums_sketch_at(const struct sums *sums, unsigned phase)
{
	return sums->stride * sums->prototypes +
			(size_t)(phase - 1) * sums->plan.events * SKETCH_FIELDS;
}

size_t quantum_bytes(const struct sums *sums)
{
	const struct quantum *quantum = NULL;

	return sizeof(*quantum) +
			sums->prototypes *
			(sizeof(*quantum->gathered) + sizeof(*quantum->label) +
					sizeof(*quantum->order));
}

struct quantum *quantum_init(void *zeros, const struct sums *sums)
{
	struct quantum *quantum = zeros;

	quantum->prototypes = sums->prototypes;
	for (unsigned g = 0; g < sums->plan.groups; g++)
		quantum->counts[g] = sums->plan.group[g].count;
	quantum->gathered = (struct gathered *)(quantum + 1);
	quantum->label = (uint32_t *)(quantum->gathered + sums->prototypes);
	quantum->order = (uint16_t *)(quantum->label + sums->prototypes);
	return quantum;
}

struct quantum *quantum_new(const struct sums *sums)
{
	void *zeros = calloc(1, quantum_bytes(sums));

	return zeros ? quantum_init(zeros, sums) : NULL;
}

void quantum_free(struct quantum *quantum)
{
	free(quantum);
}

/* Notes the buckets of a burst. If there are more than NOTED_MAX, a random choice is kept (a reservoir). */
static void quantum_note(struct quantum *quantum, uint32_t phase, double weight,
		const uint64_t *values)
{
	uint64_t at = quantum->notable++;
	struct noted *noted;

	if (at >= NOTED_MAX) {
		at = mix_next(&quantum->random) % quantum->notable;
		if (at >= NOTED_MAX)
			return;
	}
	noted = &quantum->noted[at];
	noted->weight = weight;
	noted->phase = phase;
	for (unsigned i = 0; i < quantum->count; i++)
		noted->bucket[i] = sketch_bucket(values[i]);
}

/* Sets the group of the quantum, if this is its first burst. */
static void quantum_begin(struct quantum *quantum, unsigned group, double group_weight)
{
	if (quantum->touched)
		return;
	quantum->group = group;
	quantum->group_weight = group_weight;
	quantum->count = quantum->counts[group];
}

void quantum_add(struct quantum *quantum, unsigned prototype, const struct quantum_burst *burst)
{
	struct gathered *of = &quantum->gathered[prototype];
	double weight = burst->weight, seconds = burst->seconds;

	quantum_begin(quantum, burst->group, burst->group_weight);
	if (of->read == 0)
		quantum->order[quantum->touched++] = prototype;
	of->read++;
	of->elapsed += seconds;
	of->w += weight;
	of->t += weight * seconds;
	of->burst_tt += weight * seconds * seconds;
	of->when += weight * burst->when;
	of->when_when += weight * burst->when * burst->when;
	of->when_t += weight * burst->when * seconds;
	of->slices += burst->slice;
	for (unsigned i = 0; i < quantum->count; i++) {
		double value = burst->values[i];

		of->y[i] += weight * value;
		of->burst_yy[i] += weight * value * value;
	}
	if (quantum->label[prototype] && quantum->label[prototype] <= SKETCH_PHASES)
		quantum_note(quantum, quantum->label[prototype], weight, burst->values);
}

/* Returns the sums of `of` with each burst's weight multiplied by `weight`. */
static struct gathered times(const struct gathered *of, double weight, unsigned count)
{
	struct gathered out = *of;

	out.w *= weight;
	for (unsigned i = 0; i < count; i++) {
		out.y[i] *= weight;
		out.burst_yy[i] *= weight;
	}
	return out;
}

static void fold_slot_totals(double *slot, double y, double burst_yy)
{
	slot[SLOT_Y] += y;
	slot[SLOT_BURST_YY] += burst_yy;
}

static void fold_block_totals(const struct sums *sums, const struct gathered *of, double *block)
{
	block[BLOCK_READ] += of->read;
	block[BLOCK_W] += of->w;
	block[BLOCK_X1] += sums->aux > 0 ? of->y[0] : 0;
	block[BLOCK_X2] += sums->aux > 1 ? of->y[1] : 0;
}

/* Adds the totals over bursts to the sums. */
static void fold_totals(const struct sums *sums, unsigned prototype, const struct quantum *quantum)
{
	const struct gathered *of = &quantum->gathered[prototype];
	struct gathered weighted = times(of, quantum->group_weight, quantum->count);
	double *common = sums_common(sums, prototype);
	double *block = sums_block(sums, prototype, quantum->group);

	fold_block_totals(sums, of, common);
	common[COMMON_ELAPSED] += of->elapsed;
	common[COMMON_T] += of->t;
	common[COMMON_BURST_X1X1] += sums->aux > 0 ? of->burst_yy[0] : 0;
	common[COMMON_BURST_X2X2] += sums->aux > 1 ? of->burst_yy[1] : 0;
	common[COMMON_BURST_TT] += of->burst_tt;
	common[COMMON_WHEN] += of->when;
	common[COMMON_WHEN_WHEN] += of->when_when;
	common[COMMON_WHEN_T] += of->when_t;
	common[COMMON_SLICES] += of->slices;
	for (unsigned i = sums->aux; i < sums->plan.common; i++)
		fold_slot_totals(sums_common_slot(common, sums, i), of->y[i], of->burst_yy[i]);
	fold_block_totals(sums, &weighted, block);
	for (unsigned i = sums->plan.common; i < quantum->count; i++)
		fold_slot_totals(sums_slot(block, sums, i), weighted.y[i], weighted.burst_yy[i]);
}

static void fold_slot_products(double *slot, double y, const struct gathered *of, double x1,
		double x2)
{
	slot[SLOT_YW] += y * of->w;
	slot[SLOT_YX1] += y * x1;
	slot[SLOT_YX2] += y * x2;
	slot[SLOT_YY] += y * y;
}

static void fold_block_products(const struct gathered *of, double x1, double x2, double *block)
{
	block[BLOCK_QUANTA]++;
	block[BLOCK_WW] += of->w * of->w;
	block[BLOCK_WX1] += of->w * x1;
	block[BLOCK_WX2] += of->w * x2;
	block[BLOCK_X1X1] += x1 * x1;
	block[BLOCK_X1X2] += x1 * x2;
	block[BLOCK_X2X2] += x2 * x2;
}

/* Adds the products of the quantum's totals to the sums, because the quantum is the unit that was drawn. */
static void fold_products(const struct sums *sums, unsigned prototype,
		const struct quantum *quantum)
{
	const struct gathered *of = &quantum->gathered[prototype];
	struct gathered weighted = times(of, quantum->group_weight, quantum->count);
	double *common = sums_common(sums, prototype);
	double *block = sums_block(sums, prototype, quantum->group);
	double x1 = sums->aux > 0 ? of->y[0] : 0, x2 = sums->aux > 1 ? of->y[1] : 0;

	fold_block_products(of, x1, x2, common);
	common[COMMON_WT] += of->w * of->t;
	common[COMMON_TT] += of->t * of->t;
	common[COMMON_TX1] += of->t * x1;
	common[COMMON_TX2] += of->t * x2;
	for (unsigned i = sums->aux; i < sums->plan.common; i++)
		fold_slot_products(sums_common_slot(common, sums, i), of->y[i], of, x1, x2);
	x1 *= quantum->group_weight;
	x2 *= quantum->group_weight;
	fold_block_products(&weighted, x1, x2, block);
	for (unsigned j = sums->plan.common; j < quantum->count; j++) {
		fold_slot_products(sums_slot(block, sums, j), weighted.y[j], &weighted, x1, x2);
		for (unsigned i = sums->plan.common; i < j; i++)
			*sums_pair(block, sums, quantum->group, i, j) +=
					weighted.y[i] * weighted.y[j];
	}
}

static void fold_sketches(struct quantum *quantum, const struct sums *sums)
{
	const struct plan_group *group = &sums->plan.group[quantum->group];
	unsigned count = quantum->notable < NOTED_MAX ? quantum->notable : NOTED_MAX;
	double scale = count ? (double)quantum->notable / count : 0;

	for (unsigned n = 0; n < count; n++) {
		const struct noted *noted = &quantum->noted[n];
		double weight = scale * noted->weight;

		for (unsigned i = 0; i < group->count; i++)
			sums_sketch(sums, noted->phase, group->event[i])[noted->bucket[i]] +=
					i < sums->plan.common ? weight :
								weight * quantum->group_weight;
	}
	quantum->notable = 0;
}

static void gathered_merge(struct gathered *into, const struct gathered *of, unsigned count)
{
	into->w += of->w;
	into->t += of->t;
	for (unsigned i = 0; i < count; i++)
		into->y[i] += of->y[i];
}

void quantum_label(struct quantum *quantum, unsigned prototype, uint32_t phase)
{
	quantum->label[prototype] = phase;
}

/*
 * Products are of the phase's total over the quantum, not of each prototype, because the variations of the
 * phase's prototypes are correlated. They are kept with the first of the phase's prototypes that has bursts.
 * Any would do, because the phase's sums are the totals of its prototypes' sums.
 */
void quantum_close(struct quantum *quantum, struct sums *sums)
{
	for (unsigned i = 0; i < quantum->touched; i++) {
		unsigned first = quantum->order[i];
		uint32_t label = quantum->label[first];
		struct gathered *of = &quantum->gathered[first];

		fold_totals(sums, first, quantum);
		if (of->merged)
			continue;
		for (unsigned j = i + 1; label && j < quantum->touched; j++) {
			struct gathered *other = &quantum->gathered[quantum->order[j]];

			if (quantum->label[quantum->order[j]] != label)
				continue;
			other->merged = true;
			gathered_merge(of, other, quantum->count);
		}
		fold_products(sums, first, quantum);
	}
	for (unsigned i = 0; i < quantum->touched; i++)
		memset(&quantum->gathered[quantum->order[i]], 0, sizeof(*quantum->gathered));
	fold_sketches(quantum, sums);
	quantum->touched = 0;
}

/* The power of the weights in each field. */
static const unsigned char block_power[COMMON_FIELDS] = {
	[BLOCK_W] = 1,
	[BLOCK_X1] = 1,
	[BLOCK_X2] = 1,
	[BLOCK_WW] = 2,
	[BLOCK_WX1] = 2,
	[BLOCK_WX2] = 2,
	[BLOCK_X1X1] = 2,
	[BLOCK_X1X2] = 2,
	[BLOCK_X2X2] = 2,
	[COMMON_T] = 1,
	[COMMON_WT] = 2,
	[COMMON_TT] = 2,
	[COMMON_TX1] = 2,
	[COMMON_TX2] = 2,
	[COMMON_BURST_X1X1] = 1,
	[COMMON_BURST_X2X2] = 1,
	[COMMON_BURST_TT] = 1,
	[COMMON_WHEN] = 1,
	[COMMON_WHEN_WHEN] = 1,
	[COMMON_WHEN_T] = 1,
};
static const unsigned char slot_power[SLOT_FIELDS] = {
	[SLOT_Y] = 1,
	[SLOT_YW] = 2,
	[SLOT_YX1] = 2,
	[SLOT_YX2] = 2,
	[SLOT_YY] = 2,
	[SLOT_BURST_YY] = 1,
};

/* Multiplies the fields by the factor, as often as the weights are in them. */
static void scale(double *fields, unsigned count, const unsigned char *power, double factor)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned p = 0; p < power[i]; p++)
			fields[i] *= factor;
}

static void scale_common(const struct sums *sums, unsigned prototype, double factor)
{
	double *common = sums_common(sums, prototype);

	scale(common, COMMON_FIELDS, block_power, factor);
	for (unsigned i = sums->aux; i < sums->plan.common; i++)
		scale(sums_common_slot(common, sums, i), SLOT_FIELDS, slot_power, factor);
}

static void scale_group(const struct sums *sums, unsigned prototype, unsigned group, double factor)
{
	double *block = sums_block(sums, prototype, group);

	scale(block, BLOCK_FIELDS, block_power, factor);
	for (unsigned j = sums->plan.common; j < sums->plan.group[group].count; j++) {
		scale(sums_slot(block, sums, j), SLOT_FIELDS, slot_power, factor);
		for (unsigned i = sums->plan.common; i < j; i++)
			*sums_pair(block, sums, group, i, j) *= factor * factor;
	}
}

/*
 * Returns the sum of a field over the members. group: of the plan, or the number of groups for what they have in common.
 */
static double total_of(const struct sums *sums, const bool *member, unsigned group,
		enum block field)
{
	double total = 0;

	for (unsigned p = 0; p < sums->prototypes; p++)
		if (member[p])
			total += (group < sums->plan.groups ? sums_block(sums, p, group) :
							      sums_common(sums, p))[field];
	return total;
}

bool sums_have_all_groups(const struct sums *sums, const bool *member)
{
	unsigned group = 0;

	while (group < sums->plan.groups && total_of(sums, member, group, BLOCK_READ) > 0)
		group++;
	return group == sums->plan.groups;
}

void sums_stand_for(struct sums *sums, const bool *member, double unread)
{
	double bursts = total_of(sums, member, sums->plan.groups, BLOCK_READ) + unread;

	sums->uneven = true;
	for (unsigned group = 0; group <= sums->plan.groups; group++) {
		double w = total_of(sums, member, group, BLOCK_W);

		for (unsigned p = 0; p < sums->prototypes && w > 0; p++) {
			if (!member[p])
				continue;
			if (group < sums->plan.groups)
				scale_group(sums, p, group, bursts / w);
			else
				scale_common(sums, p, bursts / w);
		}
	}
}

unsigned quantum_prototypes(const struct quantum *quantum, const uint16_t **prototypes,
		unsigned *group, double *group_weight)
{
	*prototypes = quantum->order;
	*group = quantum->group;
	*group_weight = quantum->group_weight;
	return quantum->touched;
}

void quantum_save(const struct quantum *quantum, unsigned prototype, double fields[QUANTUM_FIELDS])
{
	const struct gathered *of = &quantum->gathered[prototype];

	fields[0] = of->read;
	fields[1] = of->elapsed;
	fields[2] = of->w;
	fields[3] = of->t;
	fields[4] = of->burst_tt;
	fields[5] = of->slices;
	fields[6] = of->when;
	fields[7] = of->when_when;
	fields[8] = of->when_t;
	memcpy(fields + 9, of->y, sizeof(of->y));
	memcpy(fields + 9 + PLAN_GROUP_EVENTS_MAX, of->burst_yy, sizeof(of->burst_yy));
}

void quantum_restore(struct quantum *quantum, unsigned prototype, unsigned group,
		double group_weight, const double fields[QUANTUM_FIELDS])
{
	struct gathered *of = &quantum->gathered[prototype];

	quantum_begin(quantum, group, group_weight);
	if (of->read == 0 && fields[0] > 0)
		quantum->order[quantum->touched++] = (uint16_t)prototype;
	of->read = fields[0];
	of->elapsed = fields[1];
	of->w = fields[2];
	of->t = fields[3];
	of->burst_tt = fields[4];
	of->slices = fields[5];
	of->when = fields[6];
	of->when_when = fields[7];
	of->when_t = fields[8];
	memcpy(of->y, fields + 9, sizeof(of->y));
	memcpy(of->burst_yy, fields + 9 + PLAN_GROUP_EVENTS_MAX, sizeof(of->burst_yy));
}
