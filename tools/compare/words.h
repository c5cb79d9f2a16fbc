/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for differences, which are the same in the text and on the page. */
#ifndef PHASEMUX_TOOLS_COMPARE_WORDS_H
#define PHASEMUX_TOOLS_COMPARE_WORDS_H

#include <jansson.h>
#include <stdbool.h>

enum words_unit {
	WORDS_SECONDS,
	WORDS_COUNT,
	WORDS_CPI, /* three decimals */
	WORDS_NANOSECONDS,
};

struct words {
	char text[160];
};

/* Returns a value: "1.25 s"; "-" if it is not known. */
struct words words_value(double value, enum words_unit unit);

/* Returns the time of a side in a phase; "-" if the side does not have it. */
struct words words_time(const json_t *phase, const char *side);

/* Returns the folder of a run's report, or the file if it has another name. */
struct words words_path(const json_t *run);

/*
 * Returns a change with its interval: "-0.50 s +- 0.01 s (-25.0%)", "not told apart (+- 0.01 s)", or "+0.50 s (no
 * interval)". change: an object with the keys of difference_json().
 */
struct words words_change(const json_t *change, enum words_unit unit);

/* Returns what a part of a difference comes from. cause: one of the document's causes. */
struct words words_cause(const json_t *cause);

/* Returns a part of a difference in seconds of wall time, as words_change() without the percentage. */
struct words words_part(const json_t *cause);

/* Returns the numbers of a side's phases: "1", "2+5", "2+5 and 3 more"; "" if there are none. */
struct words words_ids(const json_t *ids);

/* Returns the sentence that says what became of the wall time. */
struct words words_verdict(const json_t *comparison);

/* Returns whether the phase has enough of the time before or after to be shown by itself. */
bool words_is_shown(const json_t *comparison, const json_t *phase);

/* Returns why the phase was matched by its behaviour; "" if it was matched by its place. */
const char *words_matched(const json_t *phase);

/* Returns whether a part of a phase's difference is shown: one that is told apart, and is not all of it. */
bool words_part_is_shown(const json_t *cause);

/* Returns whether a component is shown: one of the outer level, or a part that is told apart. */
bool words_component_is_shown(const json_t *component);

/* The numbers of a phase besides its time, in their order. */
struct words_row {
	const char *key, *name; /* name: NULL behind the last one */
	enum words_unit unit;
};

extern const struct words_row words_rows[];

#endif
