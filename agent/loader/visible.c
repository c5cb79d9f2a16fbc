/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/visible.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/loader/loaded.h"

#define NAMES_MAX 8192

#if defined(__x86_64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
	((type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
	((type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_ABS64)
#else
#define IS_ADDRESS_RELOCATION(type) false
#endif

static struct {
	struct loaded object;
	struct loaded_tables tables;
	uint32_t count;             /* number of symbols; 0: they cannot be changed */
	uintptr_t value[NAMES_MAX]; /* values of hidden symbols; 0: the symbol is visible */
} own;

__attribute__((visibility("default"))) void __gmon_start__(void);

/* Does nothing. Start-up code calls it until the constructor makes it an indirect function. */
void __gmon_start__(void)
{
}

/* ---- the preload's own symbols ---- */

static inline bool has_prefix(const char *name, const char *prefix)
{
	while (*prefix && *name == *prefix) {
		name++;
		prefix++;
	}
	return !*prefix;
}

/* Returns whether a name is in processes with MPI or OpenMP only. Fast, because each start checks all names. */
static bool is_of_runtime(const char *name)
{
	switch (*name) {
	case 'm':
		return has_prefix(name, "mpi_");
	case 'M':
		return has_prefix(name, "MPI_");
	case 'P':
		return has_prefix(name, "PMPI_");
	case 'G':
		return has_prefix(name, "GOMP_");
	case 'o':
		return has_prefix(name, "omp_") || has_prefix(name, "ompt_");
	}
	return false;
}

static const char *name_of(uint32_t index)
{
	return own.tables.strings + own.tables.symbols[index].st_name;
}

static ElfW(Sym) * symbol_of(uint32_t index)
{
	return (ElfW(Sym) *)&own.tables.symbols[index];
}

static uint32_t count_symbols(const uint32_t *table)
{
	uint32_t buckets = table[0], first = table[1], last = 0;
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + table[2]);
	const uint32_t *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	while (last >= first && last && !(chain[last - first] & 1))
		last++;
	return last + 1;
}

static bool protect(uintptr_t begin, uintptr_t end, int protection)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	begin &= ~(page - 1);
	end = (end + page - 1) & ~(page - 1);
	return mprotect((void *)begin, end - begin, protection) == 0;
}

/* Changes the protection of the symbol table, which is in read-only memory. */
static bool protect_symbols(int protection)
{
	return protect((uintptr_t)own.tables.symbols, (uintptr_t)symbol_of(own.count), protection);
}

/* Stores one word, so that another thread that looks for the name either finds it or does not. */
static void set_value(uint32_t index, uintptr_t value)
{
	__atomic_store_n(&symbol_of(index)->st_value, value, __ATOMIC_RELEASE);
}

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	loaded_note(&own.object, info);
	return loaded_has(&own.object, (const void *)visible_start);
}

static void hide_all(void)
{
	for (uint32_t i = 1; i < own.count; i++) {
		if (!symbol_of(i)->st_value || !is_of_runtime(name_of(i)))
			continue;
		own.value[i] = symbol_of(i)->st_value;
		set_value(i, 0);
	}
}

/* ---- what other objects define ---- */

/* An object that defines none of these names is not searched for others. */
static const char *const probes[] = { "MPI_Init", "mpi_init_", "mpi_init_f08_", "mpi_send_f08ts_",
	"PMPI_Finalize", "GOMP_parallel", "omp_get_num_threads" };

struct seen {
	unsigned index, first; /* the first object to look at */
	unsigned long long added, removed;
	bool is_writable;
};

static void reveal_from(const struct loaded *object, struct seen *seen)
{
	bool has_any = false;

	for (size_t i = 0; !has_any && i < sizeof(probes) / sizeof(*probes); i++)
		has_any = loaded_find(object, probes[i]) != NULL;
	if (!has_any)
		return;
	if (!seen->is_writable && !protect_symbols(PROT_READ | PROT_WRITE))
		return;
	seen->is_writable = true;
	for (uint32_t i = 1; i < own.count; i++)
		if (own.value[i] && loaded_find(object, name_of(i))) {
			set_value(i, own.value[i]);
			own.value[i] = 0;
		}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct seen *seen = data;
	struct loaded object;

	(void)size;
	seen->added = info->dlpi_adds;
	seen->removed = info->dlpi_subs;
	if (seen->index++ < seen->first)
		return 0;
	loaded_note(&object, info);
	if (!loaded_is_kernels(&object) && object.base != own.object.base)
		reveal_from(&object, seen);
	return 0;
}

static struct seen seen;

static void reveal(void)
{
	struct seen now = { .first = seen.index };

	dl_iterate_phdr(look_at, &now);
	if (now.removed != seen.removed) { /* objects have moved in the list: look at all */
		now = (struct seen){ .is_writable = now.is_writable };
		dl_iterate_phdr(look_at, &now);
	}
	if (now.is_writable)
		protect_symbols(PROT_READ);
	now.is_writable = false;
	seen = now;
}

static void do_nothing(void)
{
}

/*
 * Called by the loader when it binds an object. The loader holds its lock, so that no other thread is here.
 * Returns a function and not NULL, because the start-up code of ARM64 tests one reference and calls by
 * another, which may be bound lazily: after the test.
 */
static void (*object_comes(void))(void)
{
	int kept = errno;

	reveal();
	errno = kept;
	return do_nothing;
}

static void become_indirect(void)
{
	for (uint32_t i = 1; i < own.count; i++) {
		ElfW(Sym) *symbol = symbol_of(i);

		if (!symbol->st_value || !has_prefix(name_of(i), "__gmon_start__"))
			continue;
		set_value(i, (uintptr_t)object_comes - own.object.base);
		symbol->st_info = ELF64_ST_INFO(ELF64_ST_BIND(symbol->st_info), STT_GNU_IFUNC);
	}
}

/* ---- weak references that were bound to hidden names ---- */

static bool is_hidden(uintptr_t address)
{
	if (address < own.object.begin || address >= own.object.end)
		return false;
	for (uint32_t i = 1; i < own.count; i++)
		if (own.value[i] && own.object.base + own.value[i] == address)
			return true;
	return false;
}

struct relocations {
	const ElfW(Rela) * table;
	size_t count;
};

struct writable {
	uintptr_t begin, end; /* memory that the loader has made read-only after binding */
};

static bool is_weak(const struct loaded_tables *tables, size_t symbol)
{
	return symbol && ELF64_ST_BIND(tables->symbols[symbol].st_info) == STB_WEAK;
}

/*
 * Sets weak references to hidden names to 0. Strong ones stay bound to the preload, whose function ends the
 * process as the loader does.
 */
static void unbind(const struct loaded *object, const struct loaded_tables *tables,
		const struct relocations *relocations, const struct writable *relro)
{
	for (size_t i = 0; i < relocations->count; i++) {
		const ElfW(Rela) *relocation = &relocations->table[i];
		uintptr_t *slot = (uintptr_t *)(object->base + relocation->r_offset);
		bool is_read_only = (uintptr_t)slot >= relro->begin && (uintptr_t)slot < relro->end;

		if (!is_weak(tables, ELF64_R_SYM(relocation->r_info)) ||
				!IS_ADDRESS_RELOCATION(ELF64_R_TYPE(relocation->r_info)) ||
				!is_hidden(*slot))
			continue;
		if (is_read_only &&
				!protect((uintptr_t)slot, (uintptr_t)(slot + 1),
						PROT_READ | PROT_WRITE))
			continue;
		__atomic_store_n(slot, 0, __ATOMIC_RELEASE);
		if (is_read_only)
			protect((uintptr_t)slot, (uintptr_t)(slot + 1), PROT_READ);
	}
}

static void read_relocations(const struct loaded *object, struct relocations of[2])
{
	size_t relative = 0;

	memset(of, 0, 2 * sizeof(*of));
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_RELA:
			of[0].table = loaded_address(object, entry);
			break;
		case DT_RELASZ:
			of[0].count = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELACOUNT:
			relative = entry->d_un.d_val;
			break;
		case DT_JMPREL:
			of[1].table = loaded_address(object, entry);
			break;
		case DT_PLTRELSZ:
			of[1].count = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		}
	}
	/* the relative ones come first, and refer to no symbol */
	if (of[0].table && relative <= of[0].count) {
		of[0].table += relative;
		of[0].count -= relative;
	}
}

static int unbind_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct writable relro = { 0, 0 };
	struct relocations of[2];
	struct loaded_tables tables;
	struct loaded object;

	(void)size;
	(void)unused;
	loaded_note(&object, info);
	if (loaded_is_kernels(&object) || object.base == own.object.base ||
			!loaded_tables(&object, &tables))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			relro.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			relro.end = relro.begin + info->dlpi_phdr[i].p_memsz;
		}
	read_relocations(&object, of);
	for (unsigned i = 0; i < 2; i++)
		if (of[i].table)
			unbind(&object, &tables, &of[i], &relro);
	return 0;
}

void visible_start(void)
{
	if (!dl_iterate_phdr(find_own, NULL) || !loaded_tables(&own.object, &own.tables) ||
			!own.tables.gnu)
		return;
	own.count = count_symbols(own.tables.gnu);
	if (own.count > NAMES_MAX || !protect_symbols(PROT_READ | PROT_WRITE)) {
		own.count = 0;
		return;
	}
	hide_all();
	become_indirect();
	reveal();
	protect_symbols(PROT_READ);
	dl_iterate_phdr(unbind_object, NULL);
}
