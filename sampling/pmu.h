/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system calls with which counters are opened, read and switched, as a table, so that a
 * scripted PMU can replace the kernel in tests. Production code uses pmu_kernel().
 */
#ifndef PHASEMUX_SAMPLING_PMU_H
#define PHASEMUX_SAMPLING_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The bytes of perf_event_attr that are used, up to clockid (Linux 4.1). Kernels refuse (E2BIG) a larger one than theirs
 * if the rest is not 0, and this is smaller than that of any kernel which knows all used fields.
 */
#define PMU_ATTR_BYTES PERF_ATTR_SIZE_VER3

struct pmu {
	/*
	 * Calls perf_event_open(2) for a thread (0: the calling one) on any processor. Returns a descriptor
	 * (CLOEXEC, lifted by descriptor_lift) or -errno.
	 */
	int (*open)(struct perf_event_attr *attr, pid_t thread, int group_fd);
	ssize_t (*read)(int fd, void *buf, size_t size);                     /* bytes or -errno */
	int (*ioctl)(int fd, unsigned long request, unsigned long argument); /* 0 or -errno */
	int (*close)(int fd);
	/*
	 * Maps the page of an event (for rdpmc). With more than a page of `size`, also maps its ring of
	 * samples, which has to be writable. Returns NULL if that is impossible.
	 */
	struct perf_event_mmap_page *(*map)(int fd, size_t size, bool writable);
	void (*unmap)(struct perf_event_mmap_page *page, size_t size);
	/* The processor to assume, as in processor.h ("AuthenticAMD-26-2"); NULL: this machine's. */
	const char *processor;
	const char *brand; /* its name for people; NULL: that of `processor` */
};

/* Returns the table of the kernel's own system calls. */
const struct pmu *pmu_kernel(void);

/*
 * Loads a shared object that replaces the kernel in tests. It exports `const struct pmu *phasemux_pmu
 * (void)`. Returns NULL, and says why, if it cannot be loaded. Refuses in a process that runs with raised
 * privileges.
 */
const struct pmu *pmu_load(const char *path, char *why, size_t why_size);

#endif
