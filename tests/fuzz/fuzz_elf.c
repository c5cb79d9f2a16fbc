/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of ELF files, because a program may have loaded any file. The seed is this program, whose
 * functions and references to debug information are looked up.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "agent/symbols/elf_file.h"
#include "tests/fuzz/fuzz.h"

/* Reads the first and the last byte of the code around an address. */
static void read_code(const struct elf_file *file, uintptr_t address)
{
	size_t count = 0, before = 0;
	const uint8_t *code = elf_file_code(file, address, &count, &before);
	static volatile uint8_t sum;

	if (code && !count)
		abort();
	if (code)
		sum = (uint8_t)(sum + code[count - 1] + *(code - before));
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	static const uintptr_t calls[] = { 0, 0x1234, 0x2345, 0x3456, UINTPTR_MAX };
	int memory = memfd_create("fuzz_elf", MFD_CLOEXEC);
	struct elf_file *file;
	char path[256];

	if (memory < 0 || write(memory, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	file = elf_file_open(path);
	close(memory);
	for (size_t i = 0; file && i < sizeof(calls) / sizeof(*calls); i++)
		read_code(file, calls[i]);
	for (size_t i = 0; file && i < sizeof(calls) / sizeof(*calls); i++)
		for (int symbols = ELF_SYMBOLS_ALL; symbols <= ELF_SYMBOLS_DYNAMIC; symbols++) {
			uintptr_t begin;
			const char *name = elf_file_function(file, symbols, calls[i], &begin);

			if (name && begin > calls[i])
				abort();
		}
	if (file)
		elf_file_debug(file, path, sizeof(path));
	elf_file_close(file);
	return file != NULL;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	FILE *self = seed ? NULL : fopen("/proc/self/exe", "rb");
	size_t size = self ? fread(data, 1, FUZZ_ROOM, self) : 0;

	if (self)
		fclose(self);
	return size;
}
