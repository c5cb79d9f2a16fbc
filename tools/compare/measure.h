/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with their 95% intervals, and the difference between two sets of them. */
#ifndef PHASEMUX_TOOLS_COMPARE_MEASURE_H
#define PHASEMUX_TOOLS_COMPARE_MEASURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct measure {
	double value; /* NAN: not known */
	double ci95;  /* half-width; 0: exact; NAN: not known */
};

/* Returns the sum of two measures whose errors are independent. */
struct measure measure_add(struct measure one, struct measure other);

/* The difference between the means of two sides, each of one or more runs. */
struct difference {
	double before, after; /* means; NAN: not known */
	double change;        /* after - before */
	double ci95;          /* half-width of the 95% interval of the change; NAN: not known */
};

/*
 * Compares the runs of two sides. Runs whose value is not known are left out. If the runs give at least one degree
 * of freedom, the interval is that of Student's t with the variance of both sides together, and at least as wide
 * as what the intervals of the runs give. A single run on a side is then taken to vary as those of the other side.
 */
struct difference difference_of(const struct measure *before, size_t befores,
		const struct measure *after, size_t afters);

/* Returns whether the interval does not include 0. False as well if it is not known. */
bool difference_told(const struct difference *difference);

/* Returns before, after, difference, ci95 and told_apart as a JSON object. What is not known is null. */
json_t *difference_json(const struct difference *difference);

/*
 * Returns the logarithmic mean of two positive numbers, by which a difference of products is divided exactly into
 * the parts of their factors: b - a = logarithmic_mean(a, b) * ln(b / a).
 */
double logarithmic_mean(double a, double b);

#endif
