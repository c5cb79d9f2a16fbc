/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocator for programs with one thread. It ends the process if another one calls it. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALIGNMENT _Alignof(max_align_t)

static _Alignas(max_align_t) unsigned char arena[64 << 20];
static size_t used;

void *malloc(size_t bytes)
{
	size_t *piece = (size_t *)(arena + used);

	if (syscall(SYS_gettid) != getpid())
		_exit(99);
	if (bytes > sizeof(arena) - used - 2 * ALIGNMENT) {
		errno = ENOMEM;
		return NULL;
	}
	used += ALIGNMENT + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	*piece = bytes;
	return (unsigned char *)piece + ALIGNMENT;
}

void free(void *at)
{
	(void)at;
}

void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes); /* memory is never used again, and is 0 */
}

void *realloc(void *at, size_t bytes)
{
	void *moved = malloc(bytes);

	if (at && moved) {
		size_t before = *(size_t *)((unsigned char *)at - ALIGNMENT);

		memcpy(moved, at, before < bytes ? before : bytes);
	}
	return moved;
}
