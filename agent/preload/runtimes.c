/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/runtimes.h"

#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/*
 * Prefixes of the files of runtimes. Calls from there are not the program's, because runtimes have threads of
 * their own that wait for others. The preload is one of them: if the program ends a region with a jump to such
 * a call, the call comes from the preload. At a wait of liburcu, even when a thread ends, no burst may end or
 * start, because liburcu would be entered again with its lock held.
 */
static const char *const runtimes[] = { "libgomp", "libomp", "libiomp", "libmpi", "libopen-",
	"libpmi", "libevent", "libuc", "libfabric", "libpsm", "libprrte", "mca_", "libphasemux-",
	"liburcu", "libcuda" };

#define RANGES_MAX 64

/* Where a library is in memory. */
struct range {
	uintptr_t begin, end;
};

static struct range ranges[RANGES_MAX]; /* in the order of their addresses */
static _Atomic unsigned range_count;

/* Inserts a range into the first `count` ones. */
static void range_insert(struct range range, unsigned count)
{
	while (count > 0 && ranges[count - 1].begin > range.begin) {
		ranges[count] = ranges[count - 1];
		count--;
	}
	ranges[count] = range;
}

static int note_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = strrchr(info->dlpi_name, '/');
	struct range range = { UINTPTR_MAX, 0 };
	unsigned *count = data;
	bool is_runtime = false;

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		is_runtime = is_runtime || strncmp(base, runtimes[i], strlen(runtimes[i])) == 0;
	if (!is_runtime || *count == RANGES_MAX)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (begin < range.begin)
			range.begin = begin;
		if (end > range.end)
			range.end = end;
	}
	range_insert(range, (*count)++);
	return 0;
}

void runtimes_look(void)
{
	unsigned count = 0;

	dl_iterate_phdr(note_runtime, &count);
	/* pairs with the acquire in runtimes_are_not_at: publishes the ranges */
	atomic_store_explicit(&range_count, count, memory_order_release);
}

bool runtimes_are_not_at(const void *site)
{
	unsigned low = 0, high = atomic_load_explicit(&range_count, memory_order_acquire);

	/* the number of ranges that begin at the site or before it */
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (ranges[middle].begin <= (uintptr_t)site)
			low = middle + 1;
		else
			high = middle;
	}
	return !low || (uintptr_t)site >= ranges[low - 1].end;
}
