/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts like qsort. The C library's qsort may take memory of the program's heap or much of the caller's stack,
 * and a training runs within a call of the program. Any thread may call it.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_SORT_H
#define PHASEMUX_CLUSTER_DENSITY_SORT_H

#include <stddef.h>

/*
 * Sorts `count` items of `size` bytes each. Items that compare as equal keep their order. While it runs it
 * takes count x size bytes of memory by malloc. Without that memory its time grows with the square of the
 * count.
 */
void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
