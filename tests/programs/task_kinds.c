/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP tasks of each kind that changes what the program and the runtime tell each other. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

struct wide {
	_Alignas(256) char bytes[256];
};

struct large {
	char bytes[20000];
};

static long ran[16];

static void note(int kind)
{
#pragma omp atomic
	ran[kind]++;
}

static void detached(void)
{
	omp_event_handle_t event;
	long numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

#pragma omp task detach(event) firstprivate(numbers)
	note(numbers[0] == 1 && numbers[7] == 8 ? 0 : 15);
#pragma omp task firstprivate(event)
	{
		note(1);
		omp_fulfill_event(event);
	}
#pragma omp taskwait
}

static void of_all_kinds(void)
{
	struct wide wide;
	struct large large;
	int first = 0;

	memset(&wide, 7, sizeof(wide));
	memset(&large, 9, sizeof(large));
#pragma omp task untied mergeable priority(3)
	note(2);
#pragma omp task final(1)
	{
#pragma omp task
		note(3);
	}
#pragma omp task if (0)
	note(4);
#pragma omp task depend(out : first) shared(first)
	first = 5;
#pragma omp task depend(in : first) shared(first)
	note(first);
#pragma omp task firstprivate(wide)
	note((long)&wide % 256 == 0 && wide.bytes[255] == 7 ? 6 : 15);
#pragma omp task firstprivate(large)
	note(large.bytes[19999] == 9 ? 7 : 15);
#pragma omp taskloop grainsize(3) firstprivate(large)
	for (int i = 0; i < 10; i++)
		note(large.bytes[i] == 9 ? 8 : 15);
#pragma omp taskwait
}

int main(void)
{
	long sum = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 100; i++) {
		detached();
		of_all_kinds();
	}
#pragma omp parallel num_threads(2) reduction(task, + : sum)
#pragma omp single
	for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
		sum += i;
	}
	for (int i = 0; i < 16; i++)
		printf("%ld ", ran[i]);
	printf("%ld\n", sum);
	return ran[15] != 0;
}
