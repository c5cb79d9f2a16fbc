/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which code is of a runtime, for each segment of each loaded file. The test is linked with two runtimes. */
#include <link.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "agent/preload/runtimes.h"
#include "tests/tap.h"

struct counts {
	unsigned runtimes, others, wrong;
};

static bool is_runtime(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "libgomp", 7) == 0 || strncmp(base, "liburcu", 7) == 0;
}

/* Compares the first and the last byte of each segment, with `data` as the counts. */
static int compare(struct dl_phdr_info *info, size_t size, void *data)
{
	bool runtime = is_runtime(info->dlpi_name);
	struct counts *counts = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const char *begin = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const char *last = begin + info->dlpi_phdr[i].p_memsz - 1;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		counts->runtimes += runtime;
		counts->others += !runtime;
		counts->wrong += runtimes_are_not_at(begin) == runtime;
		counts->wrong += runtimes_are_not_at(last) == runtime;
	}
	return 0;
}

int main(void)
{
	struct counts counts = { 0, 0, 0 };

	is_int(omp_get_thread_num(), 0, "GCC's OpenMP is loaded");
	ok(runtimes_are_not_at((void *)omp_get_thread_num),
			"before a look, no code is of a runtime");
	runtimes_look();
	dl_iterate_phdr(compare, &counts);
	ok(counts.runtimes > 1, "some segments are of runtimes");
	ok(counts.others > 1, "some segments are of other files");
	is_int(counts.wrong, 0, "the ends of each segment are told apart");
	ok(runtimes_are_not_at(NULL), "the lowest address is in no runtime");
	ok(runtimes_are_not_at((void *)UINTPTR_MAX), "the highest address is in no runtime");
	runtimes_look();
	counts.wrong = 0;
	dl_iterate_phdr(compare, &counts);
	is_int(counts.wrong, 0, "a second look finds the same");
	return tap_done();
}
