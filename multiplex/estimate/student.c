/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/estimate/student.h"

#include <math.h>

double student_quantile(double df)
{
	static const double few[] = { INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706 };
	const double z = Z95, z3 = z * z * z, z5 = z3 * z * z;

	if (df < 6)
		return few[df < 1 ? 0 : (unsigned)df];
	return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}
