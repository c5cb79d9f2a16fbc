/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the symbol table of a loaded object in memory. These functions do not allocate, take a lock, or enter
 * the loader. Their results are valid within the dl_iterate_phdr that lists the object.
 */
#ifndef PHASEMUX_AGENT_LOADER_LOADED_H
#define PHASEMUX_AGENT_LOADER_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct loaded {
	uintptr_t base;
	const char *path; /* "" for the program */
	const ElfW(Dyn) * dynamic;
	uintptr_t begin, end; /* addresses of its segments */
};

struct loaded_tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu, *sysv; /* hash tables; NULL: the object has none of this kind */
	const uint16_t *versions;   /* NULL: its symbols have no versions */
	const char *soname;
};

/* Fills *object from the information of dl_iterate_phdr. */
void loaded_note(struct loaded *object, const struct dl_phdr_info *info);

/* Returns whether an address is in the object. */
bool loaded_has(const struct loaded *object, const void *address);

/* Returns whether it is the kernel's object (vDSO), which defines no function that is looked for. */
bool loaded_is_kernels(const struct loaded *object);

/* Returns the pointer in an entry of the dynamic section that has an address. */
const void *loaded_address(const struct loaded *object, const ElfW(Dyn) * entry);

/* Fills the object's tables. Returns false if it has no symbol table. */
bool loaded_tables(const struct loaded *object, struct loaded_tables *tables);

/* Returns the address of the object's definition of a function, in its default version, or NULL. */
void *loaded_find(const struct loaded *object, const char *name);

/* Returns the hash of a name in a GNU hash table. */
uint32_t loaded_hash(const char *name);

/* Returns false if no name with this hash is in the GNU hash table. */
bool loaded_may_define(const uint32_t *table, uint32_t hash);

#endif
