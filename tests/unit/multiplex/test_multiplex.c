/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what every plan, scheme and sum must satisfy. */
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/sums.h"
#include "multiplex/mix.h"
#include "multiplex/plan.h"
#include "multiplex/scheme/scheme.h"

/*
 * Returns whether every event occurs once, the common events are at the head of every group, and no group is
 * too full.
 */
static bool plan_is_sound(const struct plan *plan, unsigned counters)
{
	unsigned seen[PLAN_EVENTS_MAX] = { 0 };

	for (unsigned g = 0; g < plan->groups; g++) {
		if (plan->group[g].count > counters)
			return false;
		for (unsigned i = 0; i < plan->group[g].count; i++) {
			unsigned event = plan->group[g].event[i];

			if (event >= plan->events || (i < plan->common && event != i))
				return false;
			seen[event]++;
		}
	}
	for (unsigned e = plan->common; e < plan->events; e++)
		if (seen[e] != 1)
			return false;
	return true;
}

static bool share_group(const struct plan *plan, unsigned a, unsigned b)
{
	for (unsigned g = 0; g < plan->groups; g++) {
		bool has_a = false, has_b = false;

		for (unsigned i = 0; i < plan->group[g].count; i++) {
			has_a |= plan->group[g].event[i] == a;
			has_b |= plan->group[g].event[i] == b;
		}
		if (has_a && has_b)
			return true;
	}
	return false;
}

static void test_plan(void)
{
	static const uint8_t sets[14] = { 0, 0, 1, 0, 0, 2, 1, 2, 0, 2, 0, 0, 0, 0 };
	static const uint8_t large[8] = { 0, 0, 5, 5, 5, 5, 5, 5 };
	struct plan plan;
	bool sound = true;

	is_int(plan_pack(&plan, 14, 2, 5, sets), 0, "14 events pack into groups of 5");
	ok(plan_is_sound(&plan, 5), "every event once, common ones first");
	is_int(plan.groups, 4, "12 events at 3 a group take 4 groups");
	ok(share_group(&plan, 2, 6), "a pair shares a group");
	ok(share_group(&plan, 5, 7) && share_group(&plan, 7, 9), "a triple shares a group");
	is_int(plan_pack(&plan, 8, 2, 6, large), 0, "a set larger than a group packs");
	ok(plan_is_sound(&plan, 6) && plan.groups == 2, "and is cut in two");
	is_int(plan_pack(&plan, 2, 2, 2, NULL), 0, "common events alone pack");
	ok(plan.groups == 1 && plan.group[0].count == 2, "into one group");
	is_int(plan_pack(&plan, 3, 2, 2, NULL), -EINVAL, "no counter left for the third event");
	is_int(plan_pack(&plan, PLAN_EVENTS_MAX, 2, 3, NULL), -EINVAL, "too many groups");
	/* Events 2 and 3 count on counter 1 alone, event 4 on 1 or 2, and event 5 on 2. */
	static const uint16_t on[6] = { 0, 0, 2, 2, 6, 4 };
	is_int(plan_pack_on(&plan, 6, 2, 6, NULL, on), 0, "events bound to counters pack");
	ok(plan_is_sound(&plan, 6) && plan.groups == 2 && !share_group(&plan, 2, 3),
			"two of one counter never share a group");
	for (unsigned events = 2; events <= 40; events++)
		for (unsigned counters = 3; counters <= 8; counters++)
			sound &= plan_pack(&plan, events, 2, counters, NULL) == 0 &&
					plan_is_sound(&plan, counters) &&
					plan.groups ==
							(events == 2 ? 1 :
								       (events - 3) / (counters - 2) + 1);
	ok(sound, "as few groups as the counters allow, for all sizes");
}

static void test_schemes(void)
{
	struct scheme scheme = { .groups = 7, .fixed = 3, .seed = 42 };

	for (unsigned kind = 0; kind < SCHEME_KINDS; kind++) {
		unsigned over_time[7] = { 0 }, over_space[7] = { 0 };
		const char *name = scheme_name(kind);

		scheme.kind = kind;
		is_int(scheme_by_name(name), kind, name);
		for (unsigned quantum = 0; quantum < 700; quantum++)
			over_time[scheme_group(&scheme, 11, quantum)]++;
		for (unsigned place = 0; place < 700; place++)
			over_space[scheme_group(&scheme, place, 11)]++;
		if (kind == SCHEME_NONE)
			ok(over_time[3] == 700 && over_space[3] == 700, "none stays");
		if (kind != SCHEME_NONE && kind != SCHEME_SPACE)
			ok(over_time[0] == 100 && over_time[6] == 100, "%s is even in time", name);
		if (kind != SCHEME_NONE && kind != SCHEME_TIME)
			ok(over_space[0] == 100 && over_space[6] == 100, "%s is even in space",
					name);
	}
	is_int(scheme_by_name("often"), -1, "an unknown scheme is refused");
	scheme.kind = SCHEME_RANDOM;
	unsigned same = 0;
	for (unsigned quantum = 0; quantum < 700; quantum++)
		same += scheme_group(&scheme, 3, quantum) == scheme_group(&scheme, 3, quantum + 7);
	ok(same > 40 && same < 200, "random is fresh in every round (%u of 700 alike)", same);
}

static void add(struct quantum *quantum, unsigned prototype, unsigned group, uint64_t cycles,
		uint64_t instructions, uint64_t extra)
{
	uint64_t values[3] = { cycles, instructions, extra };

	quantum_add(quantum, prototype,
			&(struct quantum_burst){ group, 1, 1, cycles * 1e-9, values, false, 0 });
}

static void test_sums(void)
{
	bool first[4] = { true }, two[4] = { true, true }, none[4] = { false };
	struct phase_estimate estimate;
	struct sums *a, *b, *both;
	struct quantum *quantum;
	struct plan plan;
	bool equal = true;

	plan_pack(&plan, 4, 2, 3, NULL);
	a = sums_new(&plan, 4);
	b = sums_new(&plan, 4);
	both = sums_new(&plan, 4);
	quantum = quantum_new(a);
	for (unsigned i = 0; i < 40; i++) {
		struct sums *of[] = { i % 2 ? a : b, both };

		for (unsigned s = 0; s < 2; s++) {
			add(quantum, i % 3, i / 2 % 2, 1000 + i, 2000, 10 * (i / 2 % 2) + i % 5);
			add(quantum, i % 3, i / 2 % 2, 1000 - i, 2000, 10 * (i / 2 % 2) + i % 5);
			quantum_close(quantum, of[s]);
		}
	}
	for (size_t i = 0; i < sums_length(a); i++)
		equal &= fabs(sums_flat(a)[i] + sums_flat(b)[i] - sums_flat(both)[i]) <=
				1e-12 * fabs(sums_flat(both)[i]);
	ok(equal, "sums of two processes add up to those of one");
	is_int(sums_length_for(&plan, 4), sums_length(a), "the length is known beforehand");
	estimate_phase(both, two, NULL, &estimate);
	is_near(estimate.bursts, 54, 0, "bursts of a phase of two prototypes");
	is_near(estimate.event[1].mean, 2000, 1e-6, "a common event is known for all");
	ok(estimate.event[1].ci95 < 1e-3, "and without error");
	ok(estimate.event[2].observed + estimate.event[3].observed == 54,
			"each other event was observed in the bursts of its group");
	is_near(estimate.event[3].mean, 12, 2, "its mean is that of its group");
	ok(estimate.event[3].ci95 > 0 && isfinite(estimate.event[3].ci95), "with an interval");
	estimate_phase(both, none, NULL, &estimate);
	ok(estimate.bursts == 0 && estimate.event[2].observed == 0 && isnan(estimate.event[2].mean),
			"nothing was observed of an empty phase");
	memset(sums_flat(a), 0, sums_length(a) * sizeof(double));
	add(quantum, 0, 0, 1000, 2000, 7);
	quantum_close(quantum, a);
	add(quantum, 0, 1, 1000, 2000, 9);
	quantum_close(quantum, a);
	estimate_phase(a, first, NULL, &estimate);
	ok(estimate.event[2].mean == 7 && isinf(estimate.event[2].ci95),
			"one quantum gives a mean and says that its error is not known");
	ok(estimate.event[0].ci95 < 1e-3, "all bursts were read: cycles are without error");
	estimate_phase(a, first, &(struct phase_unread){ .bursts = 1000, .seconds = 7 }, &estimate);
	ok(estimate.event[0].ci95 > 100,
			"of two bursts read, the same, and 1000 not read, they are hardly known");
	quantum_free(quantum);
	sums_free(a);
	sums_free(b);
	sums_free(both);
}

/* Whatever the counts are, means are at least 0 and half-widths are not negative. */
static void test_odd_counts(void)
{
	static const uint64_t odd[] = { 0, 0, 1, 2, 3, 1000, 1001, 4000000000, 1ull << 53,
		1ull << 62 };
	bool member[3] = { true, true, true }, sane = true;
	struct phase_estimate estimate;
	struct quantum *quantum;
	struct sums *sums;
	struct plan plan;
	uint64_t state = 11;

	plan_pack(&plan, 5, 2, 4, NULL);
	sums = sums_new(&plan, 3);
	quantum = quantum_new(sums);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned kinds = 1 + mix_next(&state) % 10, bursts = mix_next(&state) % 40;
		unsigned group = 0, slices = 0, seen[5] = { 0 };

		memset(sums_flat(sums), 0, sums_length(sums) * sizeof(double));
		quantum_label(quantum, 0, mix_next(&state) % 3);
		quantum_label(quantum, 1, mix_next(&state) % 20);
		for (unsigned i = 0; i < bursts; i++) {
			unsigned prototype = mix_next(&state) % 3;
			bool slice = mix_next(&state) % 2;
			uint64_t values[4];

			for (unsigned v = 0; v < 4; v++)
				values[v] = odd[mix_next(&state) % kinds];
			if (mix_next(&state) % 3 == 0) {
				quantum_close(quantum, sums);
				group = mix_next(&state) % plan.groups;
			}
			for (unsigned v = 0; v < plan.group[group].count; v++)
				seen[plan.group[group].event[v]]++;
			quantum_add(quantum, prototype,
					&(struct quantum_burst){ group, 1, 1 + mix_next(&state) % 3,
							1e-3, values, slice, 0 });
			slices += slice;
		}
		quantum_close(quantum, sums);
		estimate_phase(sums, member, NULL, &estimate);
		sane &= estimate.read == bursts && estimate.slices == slices;
		for (unsigned e = 0; e < plan.events; e++) {
			const struct estimate *of = &estimate.event[e];

			sane &= of->observed == seen[e] &&
					(seen[e] ? isfinite(of->mean) && of->mean >= 0 &&
											of->ci95 >= 0 :
						   isnan(of->mean));
		}
	}
	ok(sane, "odd counts: means from 0, and no negative interval");
	quantum_free(quantum);
	sums_free(sums);
}

/* Slices have equally many cycles each, while their lengths and instructions vary. */
static void test_equal_cycles(void)
{
	bool member[1] = { true };
	struct phase_unread unread = { .bursts = 250, .seconds = 4, .seconds2 = 1e-6 };
	double most = 0;
	uint64_t state = 5;
	struct plan plan;
	struct sums *sums;
	struct quantum *quantum;

	plan_pack(&plan, 4, 2, 3, NULL);
	sums = sums_new(&plan, 1);
	quantum = quantum_new(sums);
	for (unsigned round = 0; round < 2000; round++) {
		struct phase_estimate estimate;

		memset(sums_flat(sums), 0, sums_length(sums) * sizeof(double));
		for (unsigned i = 0; i < 100; i++) {
			uint64_t values[3] = { 40000000, 18000000 + mix_next(&state) % 1000000, 7 };

			quantum_add(quantum, 0,
					&(struct quantum_burst){ i / 2 % 2, 1, 1,
							0.01 + 0.02 * mix_uniform(&state), values,
							false, 0 });
			if (i % 2)
				quantum_close(quantum, sums);
		}
		estimate_phase(sums, member, &unread, &estimate);
		most = fmax(most, fabs(estimate.common_correlation));
	}
	ok(most <= 1, "equal cycles: no correlation is above 1 (%g)", most);
	quantum_free(quantum);
	sums_free(sums);
}

static void test_size(void)
{
	struct plan plan;
	size_t bytes;

	plan_pack(&plan, 40, 2, 5, NULL);
	bytes = sums_length_for(&plan, 256) * sizeof(double);
	ok(bytes < 2 << 20, "sums for 256 prototypes and 40 events take %zu KiB", bytes >> 10);
}

int main(void)
{
	test_plan();
	test_schemes();
	test_sums();
	test_odd_counts();
	test_equal_cycles();
	test_size();
	return tap_done();
}
