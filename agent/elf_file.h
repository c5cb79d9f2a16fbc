/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ELF file of this machine's own kind, as far as names of code go: which function holds an
 * address, and where the debug information is. Reads the file's own tables in place and opens no
 * library, for most files need no more. What a file says is not believed: it may hold anything.
 */
#ifndef PHASEMUX_AGENT_ELF_FILE_H
#define PHASEMUX_AGENT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum elf_symbols {
	ELF_SYMBOLS_ALL,     /* those of the linker: gone where a file was stripped */
	ELF_SYMBOLS_DYNAMIC, /* those that other files may use */
};

/* NULL: it cannot be read, or is none. */
struct elf_file *elf_file_open(const char *path);
void elf_file_close(struct elf_file *file);

/*
 * The function that holds an address (as the file states them), by the linker's name, and where it
 * begins. NULL: none does. The name lives as long as the file is open. Linear in the symbols, but
 * for the functions that were asked for lately. By one thread at a time.
 */
const char *elf_file_function(struct elf_file *file, enum elf_symbols symbols, uintptr_t address,
		uintptr_t *begin);

/*
 * Returns whether one of the linker's symbols of this name is at `begin`. Functions of equal code that the
 * compiler made one have a symbol each. Linear in the symbols.
 */
bool elf_file_has_alias(const struct elf_file *file, const char *name, uintptr_t begin);

/*
 * The path of the file that holds this one's debug information: its own, or where distributions put
 * it. false: there is none.
 */
bool elf_file_debug(const struct elf_file *file, char *path, size_t size);

#endif
