/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/machine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/boundary/kin.h"
#include "sampling/emulated/emulator.h"

int machine_look(struct machine *machine)
{
	const char *path = getenv("PHASEMUX_PMU");
	char why[512];

	machine->pmu = path ? pmu_load(path, why, sizeof(why)) : pmu_kernel();
	if (!machine->pmu) {
		fprintf(stderr, "phasemux: PHASEMUX_PMU=%s: %s\n", path, why);
		return -1;
	}
	processor_identify(&machine->processor, machine->pmu->processor);
	return 0;
}

int machine_find_bin(char *folder, size_t size)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	/* without /proc, by the path with which it was called */
	if (length < 0 && !realpath((const char *)getauxval(AT_EXECFN), path))
		return -errno;
	*strrchr(path, '/') = '\0';
	return snprintf(folder, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
}

int machine_find_library(char *path, size_t size)
{
	static const char *const places[] = { "", "../" INSTALL_LIBDIR "/", "../lib/" };
	char own[PATH_MAX];
	int error = machine_find_bin(own, sizeof(own));

	if (error)
		return error;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char tried[2 * PATH_MAX], real[PATH_MAX];

		snprintf(tried, sizeof(tried), "%s/%s" MACHINE_LIBRARY, own, places[i]);
		if (realpath(tried, real) && access(real, R_OK) == 0) {
			snprintf(path, size, "%s", real);
			return 0;
		}
	}
	return -ENOENT;
}

int machine_find_kin(char *folder, size_t size)
{
	int error = machine_find_library(folder, size);

	if (error)
		return error;
	*strrchr(folder, '/') = '\0';
	return kin_folder(folder, size) ? 0 : -ENAMETOOLONG;
}

int machine_find_emulator(void)
{
	char folder[PATH_MAX], why[512] = MACHINE_LIBRARY " is missing";
	struct emulator emulator;

	if (!machine_find_kin(folder, sizeof(folder)) &&
			!emulator_find(&emulator, folder, why, sizeof(why)) &&
			!emulator_try(&emulator, why, sizeof(why)))
		return 0;
	fprintf(stderr, "phasemux: counters cannot be emulated: %s\n", why);
	return 2;
}
