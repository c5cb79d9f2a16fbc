/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void *memory_map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void memory_unmap(void *at, size_t bytes)
{
	if (at)
		munmap(at, bytes);
}

size_t memory_resident(const void *at, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), resident = 0;
	uintptr_t begin = (uintptr_t)at & ~(uintptr_t)(page - 1), end = (uintptr_t)at + bytes;
	unsigned char there[256];

	for (; at && begin < end; begin += sizeof(there) * page) {
		size_t pages = (end - begin + page - 1) / page;

		pages = pages < sizeof(there) ? pages : sizeof(there);
		if (mincore((void *)begin, pages * page, there)) {
			resident += pages * page;
			continue;
		}
		for (size_t i = 0; i < pages; i++)
			resident += (there[i] & 1) * page;
	}
	return resident;
}
