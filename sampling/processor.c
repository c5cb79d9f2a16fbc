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

/* Names of ARM's implementers and parts (MIDR_EL1), which /proc/cpuinfo gives as numbers. */
static const struct {
	unsigned implementer, part;
	const char *name;
} arm_parts[] = {
	{ 0x41, 0xd03, "Arm Cortex-A53" },
	{ 0x41, 0xd07, "Arm Cortex-A57" },
	{ 0x41, 0xd08, "Arm Cortex-A72" },
	{ 0x41, 0xd0b, "Arm Cortex-A76" },
	{ 0x41, 0xd0c, "Arm Neoverse N1" },
	{ 0x41, 0xd40, "Arm Neoverse V1" },
	{ 0x41, 0xd49, "Arm Neoverse N2" },
	{ 0x41, 0xd4f, "Arm Neoverse V2" },
	{ 0x41, 0xd84, "Arm Neoverse V3" },
	{ 0x41, 0xd8e, "Arm Neoverse N3" },
	{ 0x43, 0x0af, "Cavium ThunderX2" },
	{ 0x46, 0x001, "Fujitsu A64FX" },
	{ 0x48, 0xd01, "HiSilicon Kunpeng 920" },
	{ 0xc0, 0xac3, "Ampere-1" },
	{ 0xc0, 0xac4, "Ampere-1A" },
};

/* Names a processor of ARM: most kernels have no "model name" of it. */
static void name_arm(struct processor *processor)
{
	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(*arm_parts); i++)
		if (arm_parts[i].implementer == processor->family &&
				arm_parts[i].part == processor->model) {
			copy_text(processor->brand, sizeof(processor->brand), arm_parts[i].name);
			return;
		}
	snprintf(processor->brand, sizeof(processor->brand), "ARM 0x%x 0x%x", processor->family,
			processor->model);
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
	if (!processor->brand[0] && strcmp(processor->vendor, "ARM") == 0)
		name_arm(processor);
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

/* Returns whether the file begins with the text. */
static bool file_begins(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char begin[64] = "";
	size_t got;

	if (!file)
		return false;
	got = fread(begin, 1, sizeof(begin) - 1, file);
	fclose(file);
	return got >= strlen(text) && memcmp(begin, text, strlen(text)) == 0;
}

static void identify_here(struct processor *processor)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");

	if (cpuinfo) {
		processor_from_cpuinfo(processor, cpuinfo);
		fclose(cpuinfo);
	}
	/* the device tree of a guest has this node under KVM and under PowerVM, and QEMU names its ARM board */
	processor->hypervisor = access("/proc/device-tree/hypervisor", F_OK) == 0 ||
			file_begins("/proc/device-tree/compatible", "linux,dummy-virt") ||
			file_begins("/sys/class/dmi/id/sys_vendor", "QEMU");
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

bool processor_is_here(const struct processor *processor)
{
	struct processor here;

	processor_identify(&here, NULL);
	return strcmp(here.vendor, processor->vendor) == 0 && here.family == processor->family &&
			here.model == processor->model;
}

bool processor_is_emulated(const struct processor *processor, char *core, size_t size)
{
	const size_t length = sizeof(PROCESSOR_EMULATED) - 1;
	bool emulated = strncmp(processor->brand, PROCESSOR_EMULATED, length) == 0;

	if (core) {
		copy_text(core, size, emulated ? processor->brand + length : "");
		core[strcspn(core, ")")] = '\0';
	}
	return emulated;
}
