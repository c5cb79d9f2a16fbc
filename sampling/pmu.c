/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/pmu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/cancellation.h"
#include "sampling/descriptor.h"

static int kernel_open(struct perf_event_attr *attr, pid_t thread, int group_fd)
{
	int state = cancellation_hold();
	long fd = syscall(SYS_perf_event_open, attr, thread, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	fd = fd < 0 ? -errno : descriptor_lift((int)fd);
	cancellation_release(state);
	return (int)fd;
}

static ssize_t kernel_read(int fd, void *buf, size_t size)
{
	int state = cancellation_hold();
	ssize_t got = read(fd, buf, size);

	got = got < 0 ? -errno : got;
	cancellation_release(state);
	return got;
}

static int kernel_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static int kernel_close(int fd)
{
	int state = cancellation_hold();
	int error = close(fd) < 0 ? -errno : 0;

	cancellation_release(state);
	return error;
}

static struct perf_event_mmap_page *kernel_map(int fd, size_t size, bool writable)
{
	int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *page = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void kernel_unmap(struct perf_event_mmap_page *page, size_t size)
{
	munmap(page, size);
}

const struct pmu *pmu_kernel(void)
{
	static const struct pmu kernel = {
		.open = kernel_open,
		.read = kernel_read,
		.ioctl = kernel_ioctl,
		.close = kernel_close,
		.map = kernel_map,
		.unmap = kernel_unmap,
	};

	return &kernel;
}

const struct pmu *pmu_load(const char *path, char *why, size_t why_size)
{
	const struct pmu *(*offer)(void);
	const struct pmu *pmu;
	void *library;

	if (getauxval(AT_SECURE)) {
		snprintf(why, why_size, "not in a process with raised privileges");
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, why_size, "%s", dlerror());
		return NULL;
	}
	offer = (const struct pmu *(*)(void))dlsym(library, "phasemux_pmu");
	pmu = offer ? offer() : NULL;
	if (!pmu) {
		snprintf(why, why_size, "%s offers no counters (phasemux_pmu)", path);
		dlclose(library);
	}
	return pmu;
}
