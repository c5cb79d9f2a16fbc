/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/measure.h"

#include <math.h>

#include "agent/report/parts/document.h"
#include "multiplex/estimate/student.h"

struct measure measure_add(struct measure one, struct measure other)
{
	return (struct measure){ one.value + other.value, hypot(one.ci95, other.ci95) };
}

/* The runs of one side whose value is known. */
struct side {
	double count, mean, squares, error; /* squares: of the deviations from the mean */
};

static struct side side_of(const struct measure *runs, size_t count)
{
	struct side side = { .mean = 0 };
	double sum = 0, errors = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(runs[i].value))
			continue;
		side.count++;
		sum += runs[i].value;
		errors += runs[i].ci95 * runs[i].ci95;
	}
	side.mean = sum / side.count;
	side.error = sqrt(errors) / side.count;
	for (size_t i = 0; i < count; i++)
		if (isfinite(runs[i].value))
			side.squares += (runs[i].value - side.mean) * (runs[i].value - side.mean);
	return side;
}

struct difference difference_of(const struct measure *before, size_t befores,
		const struct measure *after, size_t afters)
{
	struct side a = side_of(before, befores), b = side_of(after, afters);
	double within = hypot(a.error, b.error), freedom = a.count + b.count - 2, between;
	struct difference difference = {
		.before = a.mean,
		.after = b.mean,
		.change = b.mean - a.mean,
		.ci95 = within,
	};

	if (!(a.count > 0) || !(b.count > 0)) {
		difference.ci95 = NAN;
	} else if (freedom >= 1) {
		between = student_quantile(freedom) *
				sqrt((a.squares + b.squares) / freedom *
						(1 / a.count + 1 / b.count));
		/* fmax() leaves out what is not known */
		difference.ci95 = fmax(between, within);
	}
	return difference;
}

bool difference_told(const struct difference *difference)
{
	return fabs(difference->change) > difference->ci95;
}

json_t *difference_json(const struct difference *difference)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "before", document_number(difference->before),
			"after", document_number(difference->after), "difference",
			document_number(difference->change), "ci95",
			document_number(difference->ci95), "told_apart",
			isfinite(difference->change) && isfinite(difference->ci95) ?
					json_boolean(difference_told(difference)) :
					json_null());
}

double logarithmic_mean(double a, double b)
{
	double ratio = b / a;

	/* close to 1 the quotient of two small numbers is not exact */
	return fabs(ratio - 1) < 1e-6 ? (a + b) / 2 : (b - a) / log(ratio);
}
