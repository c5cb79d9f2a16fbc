/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads names of code from an ELF file of this machine's kind: the function that holds an address, and the file
 * with the debug information. It reads the file's tables in place and opens no library, because most files
 * need no more. It checks everything, because a file may be corrupt.
 */
#ifndef PHASEMUX_AGENT_SYMBOLS_ELF_FILE_H
#define PHASEMUX_AGENT_SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum elf_symbols {
	ELF_SYMBOLS_ALL,     /* the linker's symbols; a stripped file has none */
	ELF_SYMBOLS_DYNAMIC, /* symbols that other files may use */
};

/* Opens a file. Returns NULL if it cannot be read, or is no ELF file. */
struct elf_file *elf_file_open(const char *path);
void elf_file_close(struct elf_file *file);

/*
 * Returns the linker's name of the function that holds an address in the file, and in *begin its start; NULL if
 * there is none. The name is valid until the file is closed. Takes time linear in the symbols, except for
 * functions that were found recently. Only one thread at a time may call it.
 */
const char *elf_file_function(struct elf_file *file, enum elf_symbols symbols, uintptr_t address,
		uintptr_t *begin);

/*
 * Returns the machine code from an address in the file to the end of its section, in *count bytes; NULL if there is no
 * code. *before: bytes of code before the address.
 */
const uint8_t *elf_file_code(const struct elf_file *file, uintptr_t address, size_t *count,
		size_t *before);

/*
 * Returns whether one of the linker's symbols of this name is at `begin`. Functions of equal code that were
 * merged have a symbol each. Takes time linear in the symbols.
 */
bool elf_file_has_alias(const struct elf_file *file, const char *name, uintptr_t begin);

/*
 * Fills the path of the file with the debug information: this file, or one where distributions put it. Returns
 * false if there is none.
 */
bool elf_file_debug(const struct elf_file *file, char *path, size_t size);

#endif
