/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that sorting gives the order of qsort, is stable, and works without memory. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cluster/density/sort.h"
#include "tests/tap.h"

#define ITEMS 3000
#define MANY  (4 << 20)

/* The sanitizers map address space of their own at any time, so it must not be limited. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_LIMITED false
#else
#define IS_LIMITED true
#endif

struct item {
	unsigned char padding;
	uint16_t key;
	uint32_t number;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Sorts `count` items with `keys` different keys. Returns whether they are sorted, and equal items keep their
 * order.
 */
static bool sorts(uint32_t count, uint16_t keys)
{
	static struct item item[ITEMS];
	uint64_t sum = 0;
	bool good = true;

	srand(count);
	for (uint32_t i = 0; i < count; i++)
		item[i] = (struct item){ .key = (uint16_t)((unsigned)rand() % keys), .number = i };
	sort_items(item, count, sizeof(*item), by_key);
	for (uint32_t i = 0; i < count; i++) {
		sum += item[i].number;
		good = good &&
				(i == 0 || item[i - 1].key < item[i].key ||
						(item[i - 1].key == item[i].key &&
								item[i - 1].number <
										item[i].number));
	}
	return good && (count == 0 || sum == (uint64_t)count * (count - 1) / 2);
}

/* No more memory is available, and only some neighbours are out of order. */
static void test_without_memory(void)
{
	uint32_t *value = malloc(MANY * sizeof(*value)), wrong = 0;
	void *volatile more = NULL; /* Clang leaves a call out whose result is only compared */
	struct rlimit before, none;

	for (uint32_t i = 0; value && i < MANY; i++)
		value[i] = i ^ (i % 100 < 2);
	getrlimit(RLIMIT_AS, &before);
	none = before;
	none.rlim_cur = 1 << 20;
	if (IS_LIMITED)
		setrlimit(RLIMIT_AS, &none);
	if (IS_LIMITED)
		more = malloc(MANY * sizeof(*value));
	ok(value && !more, "there is no memory");
	if (value)
		sort_items(value, MANY, sizeof(*value), by_value);
	setrlimit(RLIMIT_AS, &before);
	for (uint32_t i = 0; value && i < MANY; i++)
		wrong += value[i] != i;
	is_int(wrong, 0, "and all is sorted");
	free(value);
}

int main(void)
{
	bool good = true;

	for (uint32_t count = 0; count < 70; count++)
		good = good && sorts(count, 5) && sorts(count, UINT16_MAX);
	ok(good, "any number of items up to 69");
	ok(sorts(ITEMS, 7) && sorts(ITEMS, 1000) && sorts(ITEMS, UINT16_MAX) && sorts(ITEMS, 1),
			"many, with few keys and with many");
	test_without_memory();
	return tap_done();
}
