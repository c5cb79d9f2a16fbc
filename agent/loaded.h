/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symbol table of an object that the loader has loaded, read in memory. Nothing here allocates, takes a
 * lock, or enters the loader. What is read stays valid below the dl_iterate_phdr that told of the object.
 */
#ifndef PHASEMUX_AGENT_LOADED_H
#define PHASEMUX_AGENT_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct loaded {
	uintptr_t base;
	const char *path; /* "" for the program */
	const ElfW(Dyn) * dynamic;
	uintptr_t begin, end; /* of its segments */
};

struct loaded_tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu, *sysv; /* hash tables; NULL: the object has none of this kind */
	const uint16_t *versions;   /* NULL: its symbols have no versions */
	const char *soname;
};

/* Fills *object from what dl_iterate_phdr tells. */
void loaded_note(struct loaded *object, const struct dl_phdr_info *info);

/* Whether an address lies in the object. */
bool loaded_has(const struct loaded *object, const void *address);

/* Whether it is the kernel's own object (vDSO), which defines nothing that is sought. */
bool loaded_is_kernels(const struct loaded *object);

/* Returns what an entry of the dynamic section with an address points to. */
const void *loaded_address(const struct loaded *object, const ElfW(Dyn) * entry);

/* Returns false if the object has no symbol table. */
bool loaded_tables(const struct loaded *object, struct loaded_tables *tables);

/* Returns the address of the object's definition of a function, or NULL. Of several versions, the default. */
void *loaded_find(const struct loaded *object, const char *name);

/* The hash of a name in a GNU hash table. */
uint32_t loaded_hash(const char *name);

/* Returns false if no name with this hash is in the GNU hash table. */
bool loaded_may_define(const uint32_t *table, uint32_t hash);

#endif
