/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting as qsort, where a training runs within a call of the program: that of the C library may take
 * memory of the program's heap, or much of the caller's stack. Any thread may call it.
 */
#ifndef PHASEMUX_CLUSTER_SORT_H
#define PHASEMUX_CLUSTER_SORT_H

#include <stddef.h>

/*
 * Sorts `count` items of `size` bytes each; those that compare as equal keep their order. Takes as much
 * memory by malloc for as long as it runs; without it, time that grows with the square of the count.
 */
void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
