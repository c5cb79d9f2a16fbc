/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap for trainings, which run in the midst of the program. They would take half a megabyte from the
 * program's heap in some thousand pieces, and leave the heap in another order. The program's next arrays would
 * be in other places, and the top of its heap as well. Some programs become slower by that: what lies at the
 * top decides whether the C library gives it back with each free(), and it is faulted in again.
 *
 * The linker replaces malloc and its kin by these functions (--wrap), in the core only, and in no other
 * library. Outside of own_heap_begin and own_heap_end they call those of the C library. Only one thread may use
 * the heap at a time; other threads are not affected.
 */
#ifndef PHASEMUX_AGENT_HOST_OWN_HEAP_H
#define PHASEMUX_AGENT_HOST_OWN_HEAP_H

/*
 * Make the calling thread allocate apart from the program's heap, until own_heap_end. A freed piece is used
 * again once all pieces that were allocated after it are free. own_heap_end gives the memory back to the kernel
 * if all of it is free. The program's heap is used if there is no memory, if this heap is full, or if the
 * linker did not replace malloc.
 */
void own_heap_begin(void);
void own_heap_end(void);

#endif
