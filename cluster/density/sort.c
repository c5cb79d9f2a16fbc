/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/sort.h"

#include <stdlib.h>
#include <string.h>

typedef int compare_items(const void *, const void *);

static void swap(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

static void sort_in_place(char *items, size_t count, size_t size, compare_items *compare)
{
	for (size_t i = 1; i < count; i++)
		for (char *at = items + i * size; at > items && compare(at - size, at) > 0;
				at -= size)
			swap(at - size, at, size);
}

/* Merges two adjacent runs of items to another place. */
static void merge_runs(const char *left, const char *middle, const char *end, char *to, size_t size,
		compare_items *compare)
{
	const char *right = middle;

	/* in order already, which is frequent here */
	if (right == end || compare(middle - size, middle) <= 0) {
		memcpy(to, left, (size_t)(end - left));
		return;
	}
	for (; left < middle && right < end; to += size) {
		const char **least = compare(left, right) <= 0 ? &left : &right;

		memcpy(to, *least, size);
		*least += size;
	}
	memcpy(to, left, (size_t)(middle - left));
	memcpy(to + (middle - left), right, (size_t)(end - right));
}

void sort_items(void *items, size_t count, size_t size, compare_items *compare)
{
	char *scratch = count > 1 ? malloc(count * size) : NULL;
	char *from = items, *to = scratch;

	if (!scratch) {
		sort_in_place(items, count, size, compare);
		return;
	}
	for (size_t run = 1; run < count; run *= 2) {
		char *kept = from;

		for (size_t at = 0; at < count; at += 2 * run) {
			size_t middle = at + run < count ? at + run : count;
			size_t end = middle + run < count ? middle + run : count;

			merge_runs(from + at * size, from + middle * size, from + end * size,
					to + at * size, size, compare);
		}
		from = to;
		to = kept;
	}
	if (from != items)
		memcpy(items, from, count * size);
	free(scratch);
}
