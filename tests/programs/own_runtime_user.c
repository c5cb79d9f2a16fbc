/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is linked with the runtime of own_runtime.c, and returns how often that ran its region. */
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
long barriers(void);
long run(void);
void fill(void);

static long times;

static void body(void *data)
{
	++*(long *)data;
}

/* Ends in a jump to the runtime. */
void fill(void)
{
	GOMP_parallel(body, &times, 0, 0);
}

long run(void)
{
	fill();
	GOMP_barrier();
	return times * 100 + barriers();
}
