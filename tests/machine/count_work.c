/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints how many instructions a kernel of the host programs takes, counted at user level by one event of this
 * program's own, without any code of phasemux. It is the truth that reports are compared with.
 *
 *	count_work KERNEL INSTRUCTIONS
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/work.h"

#define INST_RETIRED 0x8

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = INST_RETIRED,
		.disabled = 1,
		.pinned = 1,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t instructions;

	if (argc != 3 || fd < 0)
		return 2;
	work(argv[1], 1000); /* what a kernel does once */
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return 1;
	work(argv[1], strtoull(argv[2], NULL, 10));
	if (read(fd, &instructions, sizeof(instructions)) != sizeof(instructions))
		return 1;
	printf("%llu\n", (unsigned long long)instructions);
	return 0;
}
