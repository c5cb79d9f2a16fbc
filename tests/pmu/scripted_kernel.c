/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels of other versions refuse in perf_event_open, as perf_copy_attr() of kernel/events/core.c does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "tests/pmu/scripted_inside.h"

/* where the bit fields are */
#define FLAGS_AT (offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t))

struct scripted_kernel {
	const char *version;
	uint32_t attr_bytes;   /* size of its perf_event_attr */
	unsigned flags;        /* number of bit fields that it knows */
	uint64_t sample_types; /* bits of sample_type that it knows */
	uint64_t read_formats; /* bits of read_format that it knows */
};

static const struct scripted_kernel kernels[] = {
	/* before use_clockid */
	{ "4.0", PERF_ATTR_SIZE_VER4, 25, (PERF_SAMPLE_REGS_INTR << 1) - 1, (1 << 4) - 1 },
	/* of RHEL 8: no aux_output, cgroup, text_poke, inherit_thread, remove_on_exec, sigtrap */
	{ "4.18", PERF_ATTR_SIZE_VER5, 29, (PERF_SAMPLE_PHYS_ADDR << 1) - 1, (1 << 4) - 1 },
};

const struct scripted_kernel *scripted_kernel_find(const char *version)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (strcmp(kernels[i].version, version) == 0)
			return &kernels[i];
	return NULL;
}

int scripted_kernel_refuses(const struct scripted_kernel *kernel,
		const struct perf_event_attr *attr)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	uint64_t flags;

	if (attr->size && attr->size < PERF_ATTR_SIZE_VER0)
		return E2BIG;
	for (uint32_t i = kernel->attr_bytes; i < attr->size; i++)
		if (bytes[i])
			return E2BIG;
	memcpy(&flags, bytes + FLAGS_AT, sizeof(flags));
	if (flags >> kernel->flags || attr->sample_type & ~kernel->sample_types ||
			attr->read_format & ~kernel->read_formats)
		return EINVAL;
	return 0;
}
