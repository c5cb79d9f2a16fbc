/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that the fuzzers share. `fuzz_X SEED ROUNDS` mutates seeds that the fuzzer makes itself, so that its
 * corpus cannot become outdated. `fuzz_X FILE` runs one input, such as a finding. Before an input runs it is
 * only kept in memory. With FUZZ_KEEP=FILE it is written to that file first, where it can be found after a
 * crash. If the fuzzer is built with -DFUZZ_LIBFUZZER and -fsanitize=fuzzer, clang's fuzzer mutates instead.
 */
#ifndef PHASEMUX_TESTS_FUZZ_H
#define PHASEMUX_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_ROOM (1 << 22)

/* Runs one input, and must return. Returns whether the input was accepted as valid. */
static bool fuzz_one(const unsigned char *data, size_t size);

/* Writes seed number `seed` into data (of FUZZ_ROOM bytes). Returns its size, or 0 if there are no more. */
static size_t fuzz_seed(unsigned seed, unsigned char *data);

/* Repairs a mutated input, because a mutation alone would never give the right checksum. */
static void fuzz_repair(unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one(data, size);
	return 0;
}

#ifndef FUZZ_LIBFUZZER
static uint64_t fuzz_state;

static size_t fuzz_below(size_t limit)
{
	fuzz_state = fuzz_state * 6364136223846793005u + 1442695040888963407u;
	return limit ? (size_t)(fuzz_state >> 33) % limit : 0;
}

/* Overwrites a part with numbers and words at which readers break. */
static size_t fuzz_overwrite(unsigned char *data, size_t size, size_t at)
{
	static const uint64_t numbers[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff, 0x7ff8000000000000,
		0x7ff0000000000000, 0x7fefffffffffffff, 0xbff0000000000000 };
	static const char *const words[] = { "-1", "99999999999999999999", "nan", "1e999", "\"",
		"{", "]", "null", "%", ",", "\n", "\xff\xfe", "0" };
	uint64_t number = numbers[fuzz_below(sizeof(numbers) / sizeof(*numbers))];
	const char *word = words[fuzz_below(sizeof(words) / sizeof(*words))];
	size_t length = fuzz_below(2) ? 1u << fuzz_below(4) : 0;
	const void *from = &number;

	if (!length) {
		length = strlen(word);
		from = word;
	} else {
		at -= at % length;
	}
	if (at + length <= size)
		memcpy(data + at, from, length);
	return size;
}

static size_t fuzz_mutate(unsigned char *data, size_t size)
{
	for (size_t changes = 1 + fuzz_below(6); changes && size; changes--) {
		size_t at = fuzz_below(fuzz_below(2) ? size : size < 4096 ? size : 4096);
		size_t length = fuzz_below(64);

		length = length < size - at ? length : size - at;
		switch (fuzz_below(8)) {
		case 0:
			data[at] ^= (unsigned char)(1u << fuzz_below(8));
			break;
		case 1: /* the bytes behind it move up */
			memmove(data + at, data + at + length, size - at - length);
			size -= length;
			break;
		case 2: /* a part is repeated */
			if (size + length > FUZZ_ROOM)
				break;
			memmove(data + at + length, data + at, size - at);
			size += length;
			break;
		case 3:
			size = fuzz_below(10) ? size : at;
			break;
		default:
			size = fuzz_overwrite(data, size, at);
		}
	}
	return size;
}

static void fuzz_keep(const unsigned char *data, size_t size)
{
	const char *path = getenv("FUZZ_KEEP");
	FILE *file = path ? fopen(path, "wb") : NULL;

	if (file) {
		fwrite(data, 1, size, file);
		fclose(file);
	}
}

static int fuzz_file(const char *path, unsigned char *data)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return 2;
	}
	size = fread(data, 1, FUZZ_ROOM, file);
	fclose(file);
	puts(fuzz_one(data, size) ? "accepted" : "refused");
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *seed = malloc(FUZZ_ROOM), *data = malloc(FUZZ_ROOM);
	unsigned long rounds, accepted = 0;
	unsigned seeds = 0;

	if (!seed || !data || argc < 2) {
		fprintf(stderr, "usage: %s SEED ROUNDS | %s FILE\n", argv[0], argv[0]);
		return 2;
	}
	if (argc == 2)
		return fuzz_file(argv[1], data);
	fuzz_state = strtoull(argv[1], NULL, 10);
	rounds = strtoul(argv[2], NULL, 10);
	for (size_t size; (size = fuzz_seed(seeds, seed)); seeds++)
		if (!fuzz_one(seed, size)) {
			printf("seed %u is refused as it is\n", seeds);
			return 1;
		}
	for (unsigned long round = 0; round < rounds; round++) {
		size_t size = fuzz_seed((unsigned)fuzz_below(seeds), data);

		size = fuzz_mutate(data, size);
		fuzz_repair(data, size);
		fuzz_keep(data, size);
		accepted += fuzz_one(data, size);
	}
	printf("%lu inputs, %lu of them accepted, none crashed\n", rounds, accepted);
	free(seed);
	free(data);
	return 0;
}
#endif

#endif
