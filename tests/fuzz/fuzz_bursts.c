/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the readers of burst tables: CSV, Paraver traces, their .pcf. The first byte of the input chooses the
 * reader.
 *
 * Built with -DFUZZ_LIBFUZZER and clang's -fsanitize=fuzzer this is a libFuzzer target. Otherwise it is a
 * program: `fuzz_bursts SEED ROUNDS FILE...` mutates the files by itself, and `fuzz_bursts FILE` runs one
 * input.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cluster/burst_table.h"

static int read_one(int reader, const unsigned char *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");
	struct burst_table table = { 0 };
	struct parse_error error = { 0 };
	int failed;

	if (!file)
		return 0;
	if (reader == 2) {
		table_metric(&table, "42000050");
		failed = table_name_metrics(&table, file, &error);
	} else {
		failed = reader ? table_read_prv(&table, file, &error) :
				  table_read_csv(&table, file, &error);
	}
	/* a reader that refuses a file says why, and one that accepts it leaves a table that can be used */
	if (failed == -EINVAL && !error.text[0])
		abort();
	if (!failed && table_sort(&table))
		abort();
	for (size_t i = 0; !failed && i < table.count; i++)
		if (table.burst[i].end <= table.burst[i].begin)
			abort();
	table_fini(&table);
	fclose(file);
	return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		read_one(data[0] % 3, data + 1, size - 1);
	return 0;
}

#ifndef FUZZ_LIBFUZZER
static uint64_t state;

static size_t below(size_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return limit ? (size_t)(state >> 33) % limit : 0;
}

static unsigned char *load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *data = malloc(1 << 20);

	*size = file && data ? fread(data, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	return data;
}

/* Changes, drops, repeats or cuts bytes, as broken disks, editors and tools do. */
static size_t mutate(unsigned char *data, size_t size, size_t room)
{
	static const char *const words[] = { "-1", "99999999999999999999", "nan", ":", ",", "\n",
		"", "1e999", "(", ")", "4294967296", "0", "#Paraver", "\r\n" };

	for (size_t changes = 1 + below(8); changes && size; changes--) {
		size_t at = below(size), length = below(40);
		const char *word = words[below(sizeof(words) / sizeof(*words))];

		switch (below(5)) {
		case 0:
			data[at] = (unsigned char)below(256);
			break;
		case 1:
			length = length < size - at ? length : size - at;
			memmove(data + at, data + at + length, size - at - length);
			size -= length;
			break;
		case 2:
			length = length < size - at ? length : size - at;
			if (size + length > room)
				break;
			memmove(data + at + length, data + at, size - at);
			size += length;
			break;
		case 3:
			length = strlen(word);
			if (at + length > size)
				break;
			memcpy(data + at, word, length);
			break;
		default:
			size = below(20) ? size : at;
		}
	}
	return size;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 3 ? strtoul(argv[2], NULL, 10) : 0, refused = 0;
	unsigned char *data = malloc((1 << 20) + 4096);

	if (argc == 2) {
		size_t size;
		unsigned char *input = load(argv[1], &size);

		LLVMFuzzerTestOneInput(input, size);
		free(input);
		free(data);
		return 0;
	}
	if (argc < 4 || !data) {
		fprintf(stderr, "usage: fuzz_bursts SEED ROUNDS FILE... | fuzz_bursts INPUT\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 10);
	for (int i = 3; i < argc; i++) {
		const char *ending = strrchr(argv[i], '.');
		int reader = ending && strcmp(ending, ".prv") == 0    ? 1 :
				ending && strcmp(ending, ".pcf") == 0 ? 2 :
									0;
		size_t size, mutated;
		unsigned char *input = load(argv[i], &size);

		if (read_one(reader, input, size)) {
			fprintf(stderr, "%s: refused as it is\n", argv[i]);
			return 1;
		}
		for (unsigned long round = 0; round < rounds; round++) {
			memcpy(data, input, size);
			mutated = mutate(data, size, (1 << 20) + 4096);
			refused += read_one(reader, data, mutated) != 0;
		}
		free(input);
	}
	printf("%lu of %lu mutations refused, none crashed\n", refused,
			rounds * (unsigned long)(argc - 3));
	free(data);
	return 0;
}
#endif
