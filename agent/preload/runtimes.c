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

static struct {
	uintptr_t begin, end;
} ranges[RANGES_MAX];
static _Atomic unsigned range_count;

static int note_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = strrchr(info->dlpi_name, '/');
	unsigned *count = data;
	bool is_runtime = false;

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		is_runtime = is_runtime || strncmp(base, runtimes[i], strlen(runtimes[i])) == 0;
	if (!is_runtime || *count == RANGES_MAX)
		return 0;
	ranges[*count].begin = UINTPTR_MAX;
	ranges[*count].end = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (begin < ranges[*count].begin)
			ranges[*count].begin = begin;
		if (end > ranges[*count].end)
			ranges[*count].end = end;
	}
	++*count;
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
	unsigned count = atomic_load_explicit(&range_count, memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if ((uintptr_t)site >= ranges[i].begin && (uintptr_t)site < ranges[i].end)
			return false;
	return true;
}
