/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/format.h"

#include <math.h>
#include <stdio.h>

/* Share of the mean below which a half-width is shown as less than a percentage. */
#define INTERVAL_MIN 1e-4

/* Half-width below which an interval is shown with an exponent. */
#define DECIMAL_MIN 1e-3

static const char *const count_units[] = { "", "k", "M", "G", "T", "P", NULL };
static const char *const time_units[] = { "ns", "us", "ms", "s", NULL };
static const char *const byte_units[] = { "B", "KiB", "MiB", "GiB", NULL };

/* Converts *value to the unit in which it has at most three digits before the point. Returns this unit. */
static const char *choose_unit(double *value, const char *const units[], double step)
{
	unsigned unit = 0;

	while (units[unit + 1] && fabs(*value) >= 0.9995 * step) {
		*value /= step;
		unit++;
	}
	return units[unit];
}

static struct format_text format_scaled(double value, const char *const units[], double step)
{
	struct format_text text;
	const char *unit;
	int decimals = 2;

	if (!isfinite(value)) {
		snprintf(text.text, sizeof(text.text), "-");
		return text;
	}
	unit = choose_unit(&value, units, step);
	if (fabs(value) >= 99.95 || value == 0)
		decimals = 0;
	else if (fabs(value) >= 9.995)
		decimals = 1;
	snprintf(text.text, sizeof(text.text), "%.*f%s%s", decimals, value, *unit ? " " : "", unit);
	return text;
}

struct format_text format_count(double value)
{
	struct format_text text;

	if (value == floor(value) && fabs(value) < 1000) {
		snprintf(text.text, sizeof(text.text), "%.0f", value);
		return text;
	}
	return format_scaled(value, count_units, 1000);
}

struct format_text format_seconds(double seconds)
{
	return format_scaled(seconds * 1e9, time_units, 1000);
}

struct format_text format_bytes(double bytes)
{
	return format_scaled(bytes, byte_units, 1024);
}

struct format_text format_percent(double part)
{
	struct format_text text;

	if (!isfinite(part))
		snprintf(text.text, sizeof(text.text), "-");
	else if (part > 0 && part < 0.0005)
		snprintf(text.text, sizeof(text.text), "<0.1%%");
	else
		snprintf(text.text, sizeof(text.text), "%.1f%%", 100 * part);
	return text;
}

struct format_text format_whole_percent(double part)
{
	struct format_text text;

	if (!isfinite(part))
		snprintf(text.text, sizeof(text.text), "-");
	else if (part > 0 && part < 0.005)
		snprintf(text.text, sizeof(text.text), "<1%%");
	else
		snprintf(text.text, sizeof(text.text), "%.0f%%", 100 * part);
	return text;
}

/* Rounds a positive value to two significant digits; *decimals: how many of them are decimals. */
static double round_to_two(double value, int *decimals)
{
	double unit = pow(10, floor(log10(value)) - 1);

	value = round(value / unit) * unit;
	*decimals = 1 - (int)floor(log10(value * (1 + 1e-9)));
	if (*decimals < 0)
		*decimals = 0;
	return value;
}

struct format_text format_half_width(double error, double like, int is_time)
{
	struct format_text text = { "" };
	const char *unit;
	int decimals;

	if (!isfinite(error) || error <= 0 || !(like > 0))
		return text;
	error /= like;
	unit = choose_unit(&like, is_time ? time_units : count_units, 1000);
	error = round_to_two(error * like, &decimals);
	snprintf(text.text, sizeof(text.text), "+-%.*f%s%s", decimals, error, *unit ? " " : "",
			unit);
	return text;
}

struct format_text format_half_percent(double error)
{
	struct format_text text = { "" };

	if (isfinite(error) && error > 0)
		snprintf(text.text, sizeof(text.text), "+-%.1f%%", fmax(100 * error, 0.1));
	return text;
}

struct format_text format_interval(double mean, double error, int is_time, int width)
{
	double scaled = mean;
	const char *unit = choose_unit(&scaled, is_time ? time_units : count_units, 1000);
	const char *space = *unit ? " " : "";
	struct format_text text;
	int decimals;

	if (error < INTERVAL_MIN * fabs(mean)) {
		snprintf(text.text, sizeof(text.text), "%*.*f +- <0.01%%%s%s", width,
				fabs(scaled) >= 99.95                 ? 0 :
						fabs(scaled) >= 9.995 ? 1 :
									2,
				scaled, space, unit);
		return text;
	}
	if (error < DECIMAL_MIN && !*unit) {
		snprintf(text.text, sizeof(text.text), "%*.2g +- %.2g", width, mean, error);
		return text;
	}
	error = round_to_two(mean != 0 ? error * (scaled / mean) : error, &decimals);
	snprintf(text.text, sizeof(text.text), "%*.*f +- %.*f%s%s", width, decimals, scaled,
			decimals, error, space, unit);
	return text;
}
