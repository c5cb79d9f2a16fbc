/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/epsilon.h"
#include "tests/tap.h"

/*
 * Points 0, 1, 3, 6 on a line. By hand, the nearest other points are at 1, 1, 2, 3, and the second nearest ones
 * at 3, 2, 3, 5.
 */
static void test_distances(void)
{
	const double points[] = { 0, 1, 3, 6 };
	struct kdtree tree, none;
	double distance[4], eps;

	kdtree_init(&tree, points, 4, 1);
	kdtree_init(&none, points, 0, 1);
	is_int(epsilon_distances(&tree, 1, distance), 4, "distances to the nearest other");
	ok(distance[0] == 3 && distance[1] == 2 && distance[2] == 1 && distance[3] == 1,
			"3 2 1 1, descending");
	is_int(epsilon_distances(&tree, 2, distance), 4, "to the second nearest");
	ok(distance[0] == 5 && distance[1] == 3 && distance[2] == 3 && distance[3] == 2, "5 3 3 2");
	is_int(epsilon_distances(&tree, 4, distance), 4, "to a fifth point of four");
	ok(isinf(distance[0]) && isinf(distance[3]), "there is none");
	is_int(epsilon_distances(&none, 1, distance), 0, "no point, no distance");
	/*
	 * 3 2 1 1: the line goes through 3, 1.5, 0. Below it are -0.5 at 1 and -1 at 2, so the valley is at 0
	 */
	is_int(epsilon_choose(points, 4, 1, 1, 7, &eps), 0, "choose one");
	is_near(eps, 3, 0, "at the valley");
	is_int(epsilon_choose(points, 4, 1, 9, 7, &eps), 0, "with too few points");
	is_near(eps, 7, 0, "Eps is the given value");
	kdtree_fini(&tree);
	kdtree_fini(&none);
}

/*
 * n = 10: the line goes from (0, 10) to (5, 0), by 2 a step, through 8, 6, 4, 2. The curve is below it by 0, 2,
 * 4, 2.5 and 1 at 0 to 4, and above it at 5. So the valley is at 2.
 */
static void test_range(void)
{
	const double curve[] = { 10, 6, 2, 1.5, 1, 0.9, 0.8, 0.7, 0.6, 0.5 };
	const double late[] = { 10, 9, 8, 7, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	double eps[4];

	is_int((long long)epsilon_valley(curve, 10), 2, "the valley is farthest below the line");
	epsilon_range(curve, 10, 2, eps);
	ok(eps[0] == 2 && eps[1] == 6, "Eps from the valley up to the second largest");
	/* late: the largest distance below the line is at 4, 10 * (1 - 4 / 6) - 0.1 = 3.23 */
	is_int((long long)epsilon_valley(late, 12), 4, "a late valley");
	epsilon_range(late, 12, 4, eps);
	ok(eps[0] == 0.1 && eps[1] == 7 && eps[2] == 8 && eps[3] == 9, "equal steps between");
	epsilon_range(curve, 1, 3, eps);
	ok(eps[0] == 10 && eps[2] == 10, "a single distance is all there is");
}

int main(void)
{
	test_distances();
	test_range();
	return tap_done();
}
