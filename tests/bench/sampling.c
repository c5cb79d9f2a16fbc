/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of sampling for a thread that computes. The same work runs with a group that is sampled and
 * with one that is not, in turns, and the thread's processor time is compared. The cost of a sample each 10 ms
 * is far below the noise of a busy machine. So the rate is higher, and the result is scaled.
 *
 *	sampling [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sampling/overflow.h"

#define RATE   10000u
#define WANTED 100u

static volatile double sink;

static void work(void)
{
	double x = 2;

	for (int i = 0; i < 2000000; i++)
		x = x * 0.999 + 0.001;
	sink = x;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const struct event events[2] = {
		{ .name = "task-clock",
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_TASK_CLOCK },
		{ .name = "page-faults",
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_PAGE_FAULTS },
	};
	const struct event *const of_group[2] = { &events[0], &events[1] };
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	double *ratio = calloc((size_t)rounds, sizeof(*ratio)), slower;
	struct overflow overflow = { .page = NULL };
	struct overflow_sample sample;
	struct group groups[2];
	unsigned bad;
	uint64_t samples = 0;

	if (!ratio || group_open(&groups[0], pmu_kernel(), of_group, 2, READ_SYSCALL, &bad) ||
			group_open(&groups[1], pmu_kernel(), of_group, 2, READ_SYSCALL, &bad) ||
			overflow_open(&overflow, &groups[1], 1000000000u / RATE, 1000)) {
		fprintf(stderr, "sampling: this kernel does not allow the events\n");
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		double seconds[2];

		for (int which = 0; which < 2; which++) {
			/* the order alternates, because the second group may find a faster processor */
			int g = which ^ (i & 1);

			group_enable(&groups[g]);
			seconds[g] = cpu_seconds();
			work();
			seconds[g] = cpu_seconds() - seconds[g];
			group_disable(&groups[g]);
		}
		ratio[i] = seconds[1] / seconds[0];
		for (uint64_t head = overflow_head(&overflow);
				overflow_peek(&overflow, head, &sample); samples++)
			overflow_take(&overflow);
	}
	qsort(ratio, (size_t)rounds, sizeof(*ratio), by_size);
	slower = ratio[rounds / 2] - 1;
	printf("ns_a_sample %.0f\n%u_a_second_percent %.3f\n%u_a_second_percent %.3f\nsamples %llu\n",
			slower * 1e9 / RATE, RATE, 100 * slower, WANTED,
			100 * slower * WANTED / RATE, (unsigned long long)samples);
	return 0;
}
