/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/loaded.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

/* glibc relocates the addresses in the dynamic section of most objects; musl relocates none. */
const void *loaded_address(const struct loaded *object, const ElfW(Dyn) * entry)
{
	uintptr_t address = entry->d_un.d_ptr;

	return (const void *)(address < object->base ? object->base + address : address);
}

bool loaded_tables(const struct loaded *object, struct loaded_tables *tables)
{
	uintptr_t soname = 0;

	memset(tables, 0, sizeof(*tables));
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			tables->symbols = loaded_address(object, entry);
			break;
		case DT_STRTAB:
			tables->strings = loaded_address(object, entry);
			break;
		case DT_GNU_HASH:
			tables->gnu = loaded_address(object, entry);
			break;
		case DT_HASH:
			tables->sysv = loaded_address(object, entry);
			break;
		case DT_VERSYM:
			tables->versions = loaded_address(object, entry);
			break;
		case DT_SONAME:
			soname = entry->d_un.d_val;
			break;
		}
	}
	if (!tables->symbols || !tables->strings)
		return false;
	tables->soname = soname ? tables->strings + soname : "";
	return true;
}

uint32_t loaded_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

/*
 * Returns whether a symbol is a definition of the name. *is_default: it is the version that new programs are
 * linked with, because a name may have several versions.
 */
static bool is_definition(const struct loaded_tables *tables, uint32_t index, const char *name,
		bool *is_default)
{
	const ElfW(Sym) *symbol = &tables->symbols[index];
	unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || bind == STB_LOCAL)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	*is_default = !tables->versions || !(tables->versions[index] & 0x8000);
	return strcmp(tables->strings + symbol->st_name, name) == 0;
}

bool loaded_may_define(const uint32_t *table, uint32_t hash)
{
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
	unsigned bits = 8 * sizeof(*bloom);
	ElfW(Addr) word = bloom[(hash / bits) & (table[2] - 1)];

	return (word >> (hash % bits)) & (word >> ((hash >> table[3]) % bits)) & 1;
}

static uint32_t find_gnu(const struct loaded_tables *tables, const char *name)
{
	const uint32_t *table = tables->gnu;
	uint32_t hash = loaded_hash(name), buckets = table[0], first = table[1], found = 0;
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + table[2]);
	const uint32_t *chain = bucket + buckets;
	bool is_default;

	if (!loaded_may_define(table, hash))
		return 0;
	for (uint32_t i = bucket[hash % buckets]; i >= first && i; i++) {
		uint32_t of_symbol = chain[i - first];

		if (((of_symbol ^ hash) >> 1) == 0 && is_definition(tables, i, name, &is_default)) {
			if (is_default)
				return i;
			found = i;
		}
		if (of_symbol & 1)
			break;
	}
	return found;
}

static uint32_t find_sysv(const struct loaded_tables *tables, const char *name)
{
	const uint32_t *table = tables->sysv, *bucket = table + 2, *chain = bucket + table[0];
	uint32_t found = 0;
	bool is_default;

	for (uint32_t i = bucket[sysv_hash(name) % table[0]]; i; i = chain[i])
		if (is_definition(tables, i, name, &is_default)) {
			if (is_default)
				return i;
			found = i;
		}
	return found;
}

void *loaded_find(const struct loaded *object, const char *name)
{
	struct loaded_tables tables;
	uint32_t index = 0;
	uintptr_t address;

	if (!loaded_tables(object, &tables))
		return NULL;
	if (tables.gnu && tables.gnu[0])
		index = find_gnu(&tables, name);
	else if (tables.sysv && tables.sysv[0])
		index = find_sysv(&tables, name);
	if (!index)
		return NULL;
	address = object->base + tables.symbols[index].st_value;
	if (ELF64_ST_TYPE(tables.symbols[index].st_info) == STT_GNU_IFUNC)
		return ((void *(*)(unsigned long))address)(getauxval(AT_HWCAP));
	return (void *)address;
}

void loaded_note(struct loaded *object, const struct dl_phdr_info *info)
{
	*object = (struct loaded){ .base = info->dlpi_addr,
		.path = info->dlpi_name ? info->dlpi_name : "",
		.begin = UINTPTR_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			object->dynamic = (const ElfW(Dyn) *)begin;
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		object->begin = begin < object->begin ? begin : object->begin;
		object->end = end > object->end ? end : object->end;
	}
}

bool loaded_has(const struct loaded *object, const void *address)
{
	return (uintptr_t)address >= object->begin && (uintptr_t)address < object->end;
}

bool loaded_is_kernels(const struct loaded *object)
{
	return strncmp(object->path, "linux-", 6) == 0;
}
