/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for what is done in the midst of the program: trainings. From the program's heap they would
 * take half a megabyte in some thousand pieces, and leave it in another order, with the program's next
 * arrays in other places, and its top elsewhere. Some programs feel that: whether the C library gives
 * the top of the heap back with each free(), to be faulted in again, is decided by what lies there.
 *
 * The linker puts these functions in the place of malloc and its kin (--wrap), in the core alone: not in
 * the C library, nor in others that are used. Outside of own_heap_begin and own_heap_end they are those
 * of the C library. One thread at a time; others are not concerned.
 */
#ifndef PHASEMUX_AGENT_OWN_HEAP_H
#define PHASEMUX_AGENT_OWN_HEAP_H

/*
 * Until own_heap_end, what the calling thread allocates is apart from the program's heap. What was freed
 * is used again when all that was allocated after it has been freed; the memory is given back to the kernel
 * in the end, when all of it is free. Where there is no memory for it, no room in it, or the linker was
 * not told, the program's heap is used.
 */
void own_heap_begin(void);
void own_heap_end(void);

#endif
