/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats numbers for people: with three significant digits and a unit, shares as percentages, and means with
 * their intervals.
 */
#ifndef PHASEMUX_AGENT_TEXT_FORMAT_H
#define PHASEMUX_AGENT_TEXT_FORMAT_H

struct format_text {
	char text[40];
};

/* Formats a number of things: "1.25 M"; "-" if it is not finite. */
struct format_text format_count(double value);

/* Formats a time in seconds: "29.3 ms". */
struct format_text format_seconds(double seconds);

/* Formats a number of bytes: "1.25 MiB". */
struct format_text format_bytes(double bytes);

/* Formats a share as a percentage with one decimal: 0.25 is "25.0%". */
struct format_text format_percent(double part);

/* Formats a share as a percentage without decimals, for shares of a few samples. */
struct format_text format_whole_percent(double part);

/*
 * Formats a mean and the half-width of its interval: "5.980 +- 0.018 ms". The half-width has two significant
 * digits, and the mean as many decimals. A half-width below 1e-4 of the mean is "<0.01%", because further
 * digits say nothing. `width`: width of the mean's column. is_time: both are in ns.
 */
struct format_text format_interval(double mean, double error, int is_time, int width);

/*
 * Formats the half-width of an interval with two significant digits, in the unit in which `like` is shown:
 * "+-0.11 ms"; "" if it is not known or is 0. is_time: both are in ns.
 */
struct format_text format_half_width(double error, double like, int is_time);

/* Formats the half-width of a share's interval: "+-0.4%"; "" if it is not known or is 0. */
struct format_text format_half_percent(double error);

#endif
