/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds counters of the first processor, as another tool would that counts system-wide.
 *
 *	hold COUNTERS SECONDS
 *
 * Prints the number of counters that it has, and gives them back after SECONDS.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INST_RETIRED 0x8

int main(int argc, char **argv)
{
	int counters = argc > 2 ? atoi(argv[1]) : 0, held = 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0;

	for (int i = 0; i < counters; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_RAW,
			.config = INST_RETIRED,
			.pinned = 1,
		};

		held += syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) >= 0;
	}
	printf("hold: %d of %d counters\n", held, counters);
	fflush(stdout);
	usleep((useconds_t)(seconds * 1e6));
	return held != counters;
}
