/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A substitute for an OpenMP runtime, of which a process may have several. Each is opened with RTLD_LOCAL, as
 * packages of Python bring theirs. A region runs TEAM times on the calling thread.
 */
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
long barriers(void);

static long passed;

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
	(void)threads;
	(void)flags;
	for (int i = 0; i < TEAM; i++)
		body(data);
}

void GOMP_barrier(void)
{
	passed += TEAM;
}

long barriers(void)
{
	return passed;
}
