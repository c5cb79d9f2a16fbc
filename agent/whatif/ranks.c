/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/ranks.h"

#include <math.h>

#define ROUNDS 100 /* each one is cheap, and most tables are done after 10 */

/* Returns by what to multiply a part so that it becomes `to`. */
static double ratio(double to, double part)
{
	return part > 0 ? fmax(to, 0) / part : 1;
}

/* Scales the phases and the rest of a row to its sum. What the row is known to have remains. */
static void fit_row(double *cell, size_t row, double sum, size_t columns,
		const struct ranks_column *column)
{
	double known = 0, part = cell[columns], factor;

	for (size_t p = 0; p < columns; p++)
		*(column[p].slowest == row ? &known : &part) += cell[p];
	factor = ratio(sum - known, part);
	for (size_t p = 0; p <= columns; p++)
		if (p == columns || column[p].slowest != row)
			cell[p] *= factor;
}

/* Scales a column to its mean, and lets no row exceed the most. */
static void fit_column(double *cell, size_t rows, const double *weight, size_t stride,
		const struct ranks_column *column)
{
	double known = 0, part = 0, factor;

	for (size_t row = 0; row < rows; row++)
		*(column->slowest == row ? &known : &part) += weight[row] * cell[row * stride];
	factor = ratio(column->mean - known, part);
	for (size_t row = 0; row < rows; row++)
		if (column->slowest != row)
			cell[row * stride] = fmin(cell[row * stride] * factor, column->most);
}

/* Sets the last column to what a row has besides its phases. */
static void set_rest(double *cell, double sum, size_t columns)
{
	for (size_t p = 0; p < columns; p++)
		sum -= cell[p];
	cell[columns] = fmax(sum, 0);
}

void ranks_fit(double *cell, size_t rows, const double *sum, const double *weight, size_t columns,
		const struct ranks_column *column)
{
	size_t stride = columns + 1;
	double mean = 0, rest;

	for (size_t row = 0; row < rows; row++)
		mean += weight[row] * sum[row];
	rest = mean;
	for (size_t p = 0; p < columns; p++)
		rest -= column[p].mean;
	for (size_t row = 0; row < rows; row++) {
		double part = ratio(sum[row], mean);

		for (size_t p = 0; p < columns; p++)
			cell[row * stride + p] = column[p].slowest == row ? column[p].most :
									    column[p].mean * part;
		cell[row * stride + columns] = fmax(rest, 0) * part;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (size_t row = 0; row < rows; row++)
			fit_row(cell + row * stride, row, sum[row], columns, column);
		for (size_t p = 0; p < columns; p++)
			fit_column(cell + p, rows, weight, stride, &column[p]);
	}
	for (size_t row = 0; row < rows; row++)
		set_rest(cell + row * stride, sum[row], columns);
}
