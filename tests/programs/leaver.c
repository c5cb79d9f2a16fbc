/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose first thread ends before the others. The C library ends the process with the last thread.
 *
 *	leaver
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static void *stay(void *data)
{
	(void)data;
	usleep(100000);
	work("alu", 24000000);
	printf("leaver: the last thread\n");
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, stay, NULL);
	pthread_exit(NULL);
}
