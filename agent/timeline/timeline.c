/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/timeline/timeline.h"

#include <string.h>

#include "cluster/prototypes.h"

/* Times that are farther than this from the start of the run, in ticks, are no times of the run. */
#define TICKS_MAX (UINT64_C(1) << 61)

/* What is added: time of a prototype, or of a kind. */
struct addition {
	int prototype; /* -1: none */
	enum timeline_kind kind;
};

static uint64_t width_of(const struct timeline *timeline)
{
	return atomic_load_explicit(&timeline->width, memory_order_relaxed);
}

static uint64_t bin_load(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

static unsigned prototype_at(const struct timeline_bin *bin, unsigned place)
{
	return atomic_load_explicit(&bin->prototype[place], memory_order_relaxed);
}

static void set_place(struct timeline_bin *bin, unsigned place, unsigned prototype, uint64_t ticks)
{
	atomic_store_explicit(&bin->prototype[place], (uint16_t)(prototype + 1),
			memory_order_relaxed);
	atomic_store_explicit(&bin->ticks[place], ticks, memory_order_relaxed);
}

void timeline_bin_add(struct timeline_bin *bin, unsigned prototype, uint64_t ticks)
{
	unsigned smallest = 0;

	for (unsigned i = 0; i < TIMELINE_PLACES; i++) {
		unsigned number = prototype_at(bin, i);

		if (number == prototype + 1) {
			timeline_more(&bin->ticks[i], ticks);
			return;
		}
		if (!number) {
			set_place(bin, i, prototype, ticks);
			return;
		}
		if (bin_load(&bin->ticks[i]) < bin_load(&bin->ticks[smallest]))
			smallest = i;
	}
	if (bin_load(&bin->ticks[smallest]) >= ticks) {
		timeline_more(&bin->kind_ticks[TIMELINE_REST], ticks);
		return;
	}
	timeline_more(&bin->kind_ticks[TIMELINE_REST], bin_load(&bin->ticks[smallest]));
	set_place(bin, smallest, prototype, ticks);
}

/* Adds what is in a bin to another one. */
static void add_bin(struct timeline_bin *into, const struct timeline_bin *from)
{
	for (unsigned i = 0; i < TIMELINE_PLACES && prototype_at(from, i); i++)
		timeline_bin_add(into, prototype_at(from, i) - 1, bin_load(&from->ticks[i]));
	for (unsigned k = 0; k < TIMELINE_KINDS; k++)
		timeline_more(&into->kind_ticks[k], bin_load(&from->kind_ticks[k]));
}

static void clear_bin(struct timeline_bin *bin)
{
	for (unsigned i = 0; i < TIMELINE_PLACES; i++) {
		atomic_store_explicit(&bin->ticks[i], 0, memory_order_relaxed);
		atomic_store_explicit(&bin->prototype[i], 0, memory_order_relaxed);
	}
	for (unsigned k = 0; k < TIMELINE_KINDS; k++)
		atomic_store_explicit(&bin->kind_ticks[k], 0, memory_order_relaxed);
}

static void set_number(_Atomic uint32_t *number, uint32_t value)
{
	atomic_store_explicit(number, value, memory_order_relaxed);
}

static uint32_t number_of(const _Atomic uint32_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

/* Makes a bin the current one. */
static void go_to(struct timeline *timeline, uint32_t bin)
{
	timeline->current = &timeline->bin[bin];
	timeline->begin = timeline->start + bin * width_of(timeline);
}

static void note_change(struct timeline *timeline, uint32_t bin)
{
	if (bin < number_of(&timeline->changed_from))
		set_number(&timeline->changed_from, bin);
	if (bin + 1 > number_of(&timeline->changed_until))
		set_number(&timeline->changed_until, bin + 1);
	if (bin + 1 > number_of(&timeline->used))
		set_number(&timeline->used, bin + 1);
}

/* Makes one bin of each two. */
static void timeline_widen_bins(struct timeline *timeline)
{
	uint32_t used = number_of(&timeline->used);

	for (uint32_t i = 1; i < used; i++) {
		if (i % 2 == 0)
			clear_bin(&timeline->bin[i / 2]);
		add_bin(&timeline->bin[i / 2], &timeline->bin[i]);
	}
	for (uint32_t i = (used + 1) / 2; i < used; i++)
		clear_bin(&timeline->bin[i]);
	atomic_store_explicit(&timeline->width, 2 * width_of(timeline), memory_order_relaxed);
	set_number(&timeline->used, (used + 1) / 2);
	set_number(&timeline->changed_from, 0);
	set_number(&timeline->changed_until, used);
	go_to(timeline, 0);
}

void timeline_init(struct timeline *timeline, struct timeline_bin *bin, uint32_t room,
		uint64_t start, uint64_t width)
{
	timeline->bin = bin;
	timeline->room = room;
	timeline->start = start;
	set_number(&timeline->used, 0);
	set_number(&timeline->changed_from, 0);
	set_number(&timeline->changed_until, 0);
	/* the other function's loads of a width are of the thread that adds */
	atomic_store_explicit(&timeline->width, width, memory_order_relaxed);
	go_to(timeline, 0);
	/* no time lies in the current bin until the first one is added */
	timeline->begin = start - width;
}

static void add_to_bin(struct timeline *timeline, uint32_t bin, struct addition what,
		uint64_t ticks)
{
	note_change(timeline, bin);
	if (what.prototype < 0)
		timeline_more(&timeline->bin[bin].kind_ticks[what.kind], ticks);
	else
		timeline_bin_add(&timeline->bin[bin], (unsigned)what.prototype, ticks);
}

/* Returns the part of `ticks` that lies in the first `past` of `all` ticks. */
static uint64_t part_of(uint64_t ticks, uint64_t past, uint64_t all)
{
	if (past >= all)
		return ticks;
	return ticks == all ? past : (uint64_t)((double)ticks * ((double)past / (double)all));
}

static void bin_spread(struct timeline *timeline, struct addition what, uint64_t since,
		uint64_t until, uint64_t ticks)
{
	uint64_t from, to, width, added = 0;
	uint32_t bin, last;

	if (!width_of(timeline) || (int64_t)(until - timeline->start) < 0 ||
			until - timeline->start > TICKS_MAX)
		return;
	to = until - timeline->start;
	from = (int64_t)(since - timeline->start) < 0 ? 0 : since - timeline->start;
	from = from < to ? from : to;
	/* an end on the border of two bins is of the first one */
	while (to > timeline->room * width_of(timeline) ||
			from >= timeline->room * width_of(timeline))
		timeline_widen_bins(timeline);
	width = width_of(timeline);
	bin = (uint32_t)(from / width);
	last = to > from ? (uint32_t)((to - 1) / width) : bin;
	for (; bin <= last; bin++) {
		uint64_t past = (bin + 1) * width - from;
		uint64_t part = bin < last ? part_of(ticks, past, to - from) : ticks;

		add_to_bin(timeline, bin, what, part - added);
		added = part;
	}
	go_to(timeline, last);
}

void timeline_spread(struct timeline *timeline, enum timeline_kind kind, uint64_t since,
		uint64_t until, uint64_t ticks)
{
	bin_spread(timeline, (struct addition){ -1, kind }, since, until, ticks);
}

void timeline_spread_prototype(struct timeline *timeline, unsigned prototype, uint64_t since,
		uint64_t until, uint64_t ticks)
{
	bin_spread(timeline, (struct addition){ .prototype = (int)prototype }, since, until, ticks);
}

struct timeline_range timeline_take_changes(struct timeline *timeline)
{
	struct timeline_range range = { number_of(&timeline->changed_from),
		number_of(&timeline->changed_until) };
	uint32_t current;

	if (!width_of(timeline) || range.from >= range.until)
		return (struct timeline_range){ 0, 0 };
	/* the current bin goes on to change without a note */
	current = (uint32_t)(timeline->current - timeline->bin);
	set_number(&timeline->changed_from, current);
	set_number(&timeline->changed_until, current + 1);
	return range;
}

/* Adds what is in a bin, which lies between two times. */
static void pour_bin(struct timeline *into, const struct timeline_bin *bin, uint64_t since,
		uint64_t until)
{
	for (unsigned i = 0; i < TIMELINE_PLACES && prototype_at(bin, i); i++)
		timeline_spread_prototype(into, prototype_at(bin, i) - 1, since, until,
				bin_load(&bin->ticks[i]));
	for (unsigned k = 0; k < TIMELINE_KINDS; k++)
		if (bin_load(&bin->kind_ticks[k]))
			timeline_spread(into, k, since, until, bin_load(&bin->kind_ticks[k]));
}

void timeline_pour(struct timeline *into, const struct timeline *from, uint64_t end)
{
	uint64_t width = width_of(from);
	uint32_t used = number_of(&from->used);

	for (uint32_t i = 0; i < used; i++) {
		uint64_t since = from->start + i * width, until = since + width;

		pour_bin(into, &from->bin[i], since, end > since && end < until ? end : until);
	}
}

void timeline_empty(struct timeline *timeline)
{
	uint32_t used = number_of(&timeline->used);

	for (uint32_t i = 0; i < used; i++)
		clear_bin(&timeline->bin[i]);
}

void timeline_follow(struct timeline *timeline, const struct timeline *of, uint64_t now)
{
	uint64_t width = width_of(of), bins = width ? (now - of->start) / width : 0;

	timeline_empty(timeline);
	timeline_init(timeline, timeline->bin, timeline->room,
			of->start + (bins ? bins - 1 : 0) * width, width);
}

bool timeline_is_valid(const struct timeline_bin *bin, uint32_t used, uint64_t most)
{
	for (uint32_t i = 0; i < used; i++) {
		for (unsigned k = 0; k < TIMELINE_KINDS; k++)
			if (bin_load(&bin[i].kind_ticks[k]) > most)
				return false;
		for (unsigned k = 0; k < TIMELINE_PLACES; k++)
			if (bin_load(&bin[i].ticks[k]) > most ||
					prototype_at(&bin[i], k) > PROTOTYPES_MAX)
				return false;
	}
	return true;
}
