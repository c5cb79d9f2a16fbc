/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/symbols/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug"
#define OWN_CLASS    (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define BUILD_ID_MAX 64

typedef ElfW(Ehdr) header;
typedef ElfW(Shdr) section;
typedef ElfW(Sym) symbol;

#define FOUND_MAX 64

struct elf_file {
	/* rings of recently found functions, by kind of symbols, because hot code is looked up again */
	const symbol *found[2][FOUND_MAX];
	unsigned founds[2];
	const unsigned char *bytes;
	size_t size;
	const section *sections;
	size_t count;
	const section *names; /* names of the sections; NULL: they have none */
	char path[];
};

/* Returns a part of the file; NULL if it is not all in the file, or not aligned to `align` bytes. */
static const void *part(const struct elf_file *file, uint64_t offset, uint64_t size, size_t align)
{
	if (offset > file->size || size > file->size - offset || offset % align)
		return NULL;
	return file->bytes + offset;
}

static const void *data_of(const struct elf_file *file, const section *of, size_t align)
{
	return of->sh_type == SHT_NOBITS ? NULL : part(file, of->sh_offset, of->sh_size, align);
}

/* Returns a string of a table, or NULL if it does not end in it. */
static const char *string_of(const struct elf_file *file, const section *table, uint64_t at)
{
	const char *strings = data_of(file, table, 1);

	if (!strings || at >= table->sh_size || !memchr(strings + at, '\0', table->sh_size - at))
		return NULL;
	return strings + at;
}

static const section *find_section(const struct elf_file *file, const char *name)
{
	for (size_t i = 1; i < file->count && file->names; i++) {
		const char *its = string_of(file, file->names, file->sections[i].sh_name);

		if (its && strcmp(its, name) == 0)
			return &file->sections[i];
	}
	return NULL;
}

/* Finds the sections. Returns false if this is no ELF file of this machine's kind. */
static bool find_sections(struct elf_file *file)
{
	const header *head = part(file, 0, sizeof(*head), 1);
	size_t names;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
			head->e_ident[EI_CLASS] != OWN_CLASS ||
			head->e_shentsize != sizeof(section))
		return false;
	file->sections = part(file, head->e_shoff, sizeof(section), __alignof__(section));
	if (!head->e_shoff || !file->sections)
		return false;
	/* if there are too many sections for the header's field, the first section has their number */
	file->count = head->e_shnum ? head->e_shnum : file->sections[0].sh_size;
	if (file->count > file->size / sizeof(section) ||
			!part(file, head->e_shoff, file->count * sizeof(section), 1))
		return false;
	names = head->e_shstrndx == SHN_XINDEX ? file->sections[0].sh_link : head->e_shstrndx;
	if (names < file->count)
		file->names = &file->sections[names];
	return true;
}

struct elf_file *elf_file_open(const char *path)
{
	struct elf_file *file = calloc(1, sizeof(*file) + strlen(path) + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED || !file) {
		free(file);
		return NULL;
	}
	strcpy(file->path, path);
	file->bytes = bytes;
	file->size = (size_t)status.st_size;
	if (!find_sections(file)) {
		elf_file_close(file);
		return NULL;
	}
	return file;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	munmap((void *)file->bytes, file->size);
	free(file);
}

/* ---- functions ---- */

/* Returns the rank of a symbol among those of one address: the most visible one is the source's name. */
static int visibility(const symbol *of)
{
	switch (of->st_info >> 4) {
	case STB_GLOBAL:
		return 2;
	case STB_WEAK:
		return 1;
	default:
		return 0;
	}
}

static bool symbol_holds(const symbol *of, uintptr_t address)
{
	return address >= of->st_value && address - of->st_value < of->st_size;
}

static bool is_function(const symbol *of)
{
	int type = of->st_info & 0xf;

	return of->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static const symbol *find_function(const symbol *all, size_t count, uintptr_t address)
{
	const symbol *best = NULL;

	for (const symbol *at = all; at < all + count; at++) {
		if (!symbol_holds(at, address) || !is_function(at))
			continue;
		if (!best || at->st_value > best->st_value ||
				(at->st_value == best->st_value &&
						visibility(at) > visibility(best)))
			best = at;
	}
	return best;
}

const char *elf_file_function(struct elf_file *file, enum elf_symbols symbols, uintptr_t address,
		uintptr_t *begin)
{
	unsigned type = symbols == ELF_SYMBOLS_ALL ? SHT_SYMTAB : SHT_DYNSYM;

	for (size_t i = 1; i < file->count; i++) {
		const section *table = &file->sections[i];
		const symbol *all, *found = NULL;

		if (table->sh_type != type || table->sh_link >= file->count)
			continue;
		all = data_of(file, table, __alignof__(symbol));
		/* a file has one table of each kind, so one ring for each kind is enough */
		for (unsigned k = 0; all && !found && k < FOUND_MAX && file->found[symbols][k]; k++)
			if (symbol_holds(file->found[symbols][k], address))
				found = file->found[symbols][k];
		if (all && !found) {
			found = find_function(all, table->sh_size / sizeof(symbol), address);
			if (found)
				file->found[symbols][file->founds[symbols]++ % FOUND_MAX] = found;
		}
		if (!found)
			return NULL;
		*begin = found->st_value;
		return string_of(file, &file->sections[table->sh_link], found->st_name);
	}
	return NULL;
}

const uint8_t *elf_file_code(const struct elf_file *file, uintptr_t address, size_t *count,
		size_t *before)
{
	for (size_t i = 1; i < file->count; i++) {
		const section *of = &file->sections[i];
		const uint8_t *code;

		if (of->sh_type != SHT_PROGBITS || !(of->sh_flags & SHF_EXECINSTR) ||
				address < of->sh_addr || address - of->sh_addr >= of->sh_size)
			continue;
		code = data_of(file, of, 1);
		*before = address - of->sh_addr;
		*count = of->sh_size - *before;
		return code ? code + *before : NULL;
	}
	return NULL;
}

bool elf_file_has_alias(const struct elf_file *file, const char *name, uintptr_t begin)
{
	for (size_t i = 1; i < file->count; i++) {
		const section *table = &file->sections[i];
		const symbol *all;

		if (table->sh_type != SHT_SYMTAB || table->sh_link >= file->count)
			continue;
		all = data_of(file, table, __alignof__(symbol));
		for (size_t k = 0; all && k < table->sh_size / sizeof(symbol); k++) {
			const char *other;

			if (all[k].st_value != begin || !is_function(&all[k]))
				continue;
			other = string_of(file, &file->sections[table->sh_link], all[k].st_name);
			if (other && strcmp(other, name) == 0)
				return true;
		}
	}
	return false;
}

/* ---- debug information ---- */

static bool has_debug(const struct elf_file *file)
{
	const section *info = find_section(file, ".debug_info");

	if (!info)
		info = find_section(file, ".zdebug_info");
	return info && info->sh_type != SHT_NOBITS;
}

static bool is_readable(const char *path)
{
	return access(path, R_OK) == 0;
}

static bool by_build_id(const struct elf_file *file, char *path, size_t size)
{
	const section *note = find_section(file, ".note.gnu.build-id");
	const ElfW(Nhdr) *head = note ? data_of(file, note, __alignof__(ElfW(Nhdr))) : NULL;
	const unsigned char *bits;
	char digits[2 * BUILD_ID_MAX + 1];

	if (!head || note->sh_size < sizeof(*head) || head->n_type != NT_GNU_BUILD_ID ||
			head->n_namesz != sizeof("GNU") || head->n_descsz < 3 ||
			head->n_descsz > BUILD_ID_MAX ||
			note->sh_size < sizeof(*head) + sizeof("GNU") + head->n_descsz)
		return false;
	bits = (const unsigned char *)(head + 1) + sizeof("GNU");
	for (unsigned i = 0; i < head->n_descsz; i++)
		snprintf(digits + 2 * i, 3, "%02x", bits[i]);
	return snprintf(path, size, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", digits, digits + 2) <
			(int)size &&
			is_readable(path);
}

static bool by_link(const struct elf_file *file, char *path, size_t size)
{
	/* what stands before and after the folder of the file */
	static const char *const around[][2] = { { "", "" }, { "", "/.debug" },
		{ DEBUG_FOLDER, "" } };
	const section *section_of = find_section(file, ".gnu_debuglink");
	const char *link = section_of ? string_of(file, section_of, 0) : NULL;
	const char *slash = strrchr(file->path, '/');
	int folder = slash ? (int)(slash - file->path) : 0;

	if (!link || !*link)
		return false;
	if (*link == '/')
		return snprintf(path, size, "%s", link) < (int)size && is_readable(path);
	for (int i = 0; i < 3; i++)
		if (snprintf(path, size, "%s%.*s%s/%s", around[i][0], folder, file->path,
				    around[i][1], link) < (int)size &&
				strcmp(path, file->path) != 0 && is_readable(path))
			return true;
	return false;
}

bool elf_file_debug(const struct elf_file *file, char *path, size_t size)
{
	if (has_debug(file))
		return snprintf(path, size, "%s", file->path) < (int)size;
	return by_build_id(file, path, size) || by_link(file, path, size);
}
