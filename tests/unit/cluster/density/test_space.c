/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/space.h"
#include "tests/tap.h"

static void test_fit_and_map(void)
{
	const double metrics[] = { 10, 1.0, 1000, 2.0, 100, 1.5, -1, 1.0, 5, NAN };
	struct space space = { .dims = 2, .logarithmic = { 1 }, .weight = { 1, 0.5 } };
	float point[2];
	double exact[2];

	is_int(space_fit(&space, metrics, 5, false), 3, "bursts with a place are counted");
	is_near(space.lowest[0], 1, 1e-12, "lowest is of the logarithm");
	is_near(space.range[0], 2, 1e-12, "so is the range");
	ok(space_map(&space, metrics + 4, point), "a burst maps");
	is_near(point[0], 0.5, 1e-6, "the logarithm is scaled");
	is_near(point[1], 0.25, 1e-6, "the weight multiplies");
	ok(space_place(&space, metrics + 4, exact) && (float)exact[1] == point[1],
			"both precisions agree");
	ok(!space_map(&space, metrics + 6, point), "no logarithm of a negative value");
	ok(!space_map(&space, metrics + 8, point), "not a number has no place");
}

static void test_degenerate(void)
{
	const double same[] = { 7, 7, 7 }, more[] = { 3, 9 }, none[] = { NAN, INFINITY };
	struct space space = { .dims = 1, .weight = { 1 } };

	is_int(space_fit(&space, same, 3, false), 3, "equal values fit");
	is_near(space.range[0], 1, 0, "with range 1");
	is_int(space_fit(&space, none, 2, true), 0, "nothing to fit");
	is_near(space.lowest[0], 7, 0, "leaves the space as it was");
	space_fit(&space, more, 2, true);
	is_near(space.lowest[0], 3, 0, "ranges that are kept grow down");
	is_near(space.range[0], 6, 0, "and up");
	space_widen(&space);
	is_near(space.range[0], 6, 0, "a wide range stays");
	space_fit(&space, same, 3, false);
	space.range[0] = 0.1;
	space_widen(&space);
	is_near(space.range[0], 3.55, 1e-12, "a narrow one widens");
}

int main(void)
{
	test_fit_and_map();
	test_degenerate();
	return tap_done();
}
