/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/processor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* "key<spaces>: value"; NULL when the line has another key. */
static char *value_of(char *line, const char *key)
{
	size_t length = strlen(key);
	char *value;

	if (strncmp(line, key, length) != 0)
		return NULL;
	value = line + length + strspn(line + length, " \t");
	if (*value != ':')
		return NULL;
	value += 1 + strspn(value + 1, " \t");
	value[strcspn(value, "\n")] = '\0';
	return value;
}

void processor_from_cpuinfo(struct processor *processor, FILE *cpuinfo)
{
	char line[512], *value, *pvr;

	while (fgets(line, sizeof(line), cpuinfo)) {
		if ((value = value_of(line, "CPU implementer"))) {
			copy_text(processor->vendor, sizeof(processor->vendor), "ARM");
			processor->family = (unsigned)strtoul(value, NULL, 0);
		} else if ((value = value_of(line, "CPU part"))) {
			processor->model = (unsigned)strtoul(value, NULL, 0);
		} else if ((value = value_of(line, "revision")) && (pvr = strstr(value, "(pvr "))) {
			/* "2.2 (pvr 004e 1202)": version and revision of the PVR, in hex */
			copy_text(processor->vendor, sizeof(processor->vendor), "IBM");
			processor->family = (unsigned)strtoul(pvr + strlen("(pvr "), NULL, 16);
			processor->model = 0;
		} else if ((value = value_of(line, "cpu")) ||
				(value = value_of(line, "model name"))) {
			copy_text(processor->brand, sizeof(processor->brand), value);
		}
	}
}

static void assume_processor(struct processor *processor, const char *assume)
{
	char vendor[sizeof(processor->vendor)];
	unsigned family, model;
	int end = 0;

	if (sscanf(assume, "%15[A-Za-z]-%u-%u%n", vendor, &family, &model, &end) != 3 ||
			assume[end] != '\0')
		return;
	copy_text(processor->vendor, sizeof(processor->vendor), vendor);
	processor->family = family;
	processor->model = model;
	snprintf(processor->brand, sizeof(processor->brand), "%s family %u model %u (assumed)",
			vendor, family, model);
}

#if defined(__x86_64__)

static void put_register(char *to, unsigned value)
{
	memcpy(to, &value, sizeof(value));
}

static void identify_here(struct processor *processor)
{
	unsigned a, b, c, d;
	char brand[49] = "", *start;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	put_register(processor->vendor, b);
	put_register(processor->vendor + 4, d);
	put_register(processor->vendor + 8, c);
	processor->vendor[12] = '\0';
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		unsigned family = a >> 8 & 0xf;
		unsigned model = a >> 4 & 0xf;

		/* the extended fields count only for these base families (CPUID 1, EAX) */
		if (family == 6 || family == 15)
			model += (a >> 16 & 0xf) << 4;
		if (family == 15)
			family += a >> 20 & 0xff;
		processor->family = family;
		processor->model = model;
		processor->hypervisor = c >> 31;
	}
	for (unsigned i = 0; i < 3; i++) {
		if (!__get_cpuid(0x80000002 + i, &a, &b, &c, &d))
			return;
		put_register(brand + 16 * i, a);
		put_register(brand + 16 * i + 4, b);
		put_register(brand + 16 * i + 8, c);
		put_register(brand + 16 * i + 12, d);
	}
	start = brand + strspn(brand, " ");
	for (size_t end = strlen(start); end > 0 && start[end - 1] == ' '; end--)
		start[end - 1] = '\0';
	copy_text(processor->brand, sizeof(processor->brand), start);
}

#else

static void identify_here(struct processor *processor)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");

	if (cpuinfo) {
		processor_from_cpuinfo(processor, cpuinfo);
		fclose(cpuinfo);
	}
	/* the device tree of a guest has this node under KVM and under PowerVM */
	processor->hypervisor = access("/proc/device-tree/hypervisor", F_OK) == 0;
}

#endif

void processor_identify(struct processor *processor, const char *assume)
{
	memset(processor, 0, sizeof(*processor));
	if (assume)
		assume_processor(processor, assume);
	else
		identify_here(processor);
}
