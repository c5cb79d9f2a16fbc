/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/track.h"
#include "tests/tap.h"

static void test_match(void)
{
	/* new 0 has most in common with old 1, and so has new 1 */
	double overlap[] = { 1, 9, 0, /* */ 2, 8, 0, /* */ 0, 0, 0 };
	double least[] = { 5, 0, 0, 4 };
	int32_t match[3];

	track_match(overlap, 3, 3, 0, match);
	ok(match[0] == 1 && match[1] == 0 && match[2] == -1,
			"one to one, the largest overlap first");
	track_match(least, 2, 2, 4.5, match);
	ok(match[0] == 0 && match[1] == -1, "only where the overlap is enough");
	track_match(least, 0, 2, 0, match);
	track_match(least, 2, 0, 0, match);
	ok(match[0] == -1 && match[1] == -1, "nothing to match with");
}

static void test_likeness(void)
{
	const struct outline here = { { 0.1, 0.5 }, { 0.2, 0.6 }, 0.5 };
	struct outline there = here, small = here;

	is_near(track_likeness(&here, &here, 2, 0.3), 1, 1e-12, "a phase is like itself");
	there.low[0] += 0.1;
	there.high[0] += 0.1;
	is_near(track_likeness(&here, &there, 2, 0.3), 0.5, 1e-12, "half at a third of the margin");
	there.low[0] += 0.35;
	there.high[0] += 0.35;
	is_near(track_likeness(&here, &there, 2, 0.3), 0, 0, "nothing beyond the margin");
	small.time_share = 0.5 / 16;
	is_near(track_likeness(&here, &small, 2, 0.3), 0.5, 1e-12, "less with another time");
	small.time_share = 0;
	is_near(track_likeness(&here, &small, 2, 0.3), 0, 0, "a phase without time is like none");
}

static void test_steady(void)
{
	const double kept[] = { 0.95, 0.5, 0.9, 0.99 };

	is_int((long long)track_steady(kept, 4, 0.9), 2, "the last two steps were stable");
	is_int((long long)track_steady(kept, 2, 0.9), 0, "none was");
	is_int((long long)track_steady(kept, 1, 0.9), 1, "all were");
}

int main(void)
{
	test_match();
	test_likeness();
	test_steady();
	return tap_done();
}
