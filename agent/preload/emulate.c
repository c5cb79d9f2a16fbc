/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/emulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/launcher.h"
#include "agent/host/quiet.h"
#include "agent/preload/role.h"
#include "agent/preload/target.h"
#include "sampling/emulated/core_model.h"
#include "sampling/emulated/emulator.h"

/* The model (multiplex/models/) whose events are misses of other sizes of the last cache. */
#define MODEL_OF_SIZES "emulated-caches"

/*
 * Returns whether this process will be a target. A rank may open its MPI later, as Python does, and can then not be
 * put into the emulator any more.
 */
static bool will_be_target(bool is_command)
{
	return !role_is_launcher() &&
			(is_command || target_has_mpi() ||
					(launcher_is_of_mpi() && role_is_rank()));
}

bool emulate_is_missing(void)
{
	const char *counters = getenv("PHASEMUX_COUNTERS");

	return counters && strcmp(counters, "emulated") == 0 && emulator_counts() < 0;
}

void emulate(bool is_command)
{
	char folder[PATH_MAX], why[512] = "the folder of phasemux is not known";
	const char *core = getenv("PHASEMUX_CORE"), *events = getenv("PHASEMUX_EVENTS");
	bool sizes = events && strcmp(events, MODEL_OF_SIZES) == 0;
	struct emulator *emulator;
	bool speaks = launcher_rank() <= 0;

	if (!emulate_is_missing() || !will_be_target(is_command))
		return;
	if (!core)
		core = core_spec_of(0)->name;
	if (core_spec_find(core) < 0)
		return; /* the core refuses the setting */
	emulator = malloc(sizeof(*emulator));
	if (emulator && target_folder(folder, sizeof(folder)) &&
			emulator_find(emulator, folder, why, sizeof(why)) == 0) {
		if (speaks)
			quiet_say("phasemux: emulated (core model %s): the program runs about " EMULATOR_SLOWDOWN
				  " times slower from here on\n",
					core);
		snprintf(why, sizeof(why), "%s", strerror(-emulator_enter(emulator, core, sizes)));
	}
	if (speaks)
		quiet_say("phasemux: not emulated, the program runs natively: %s\n", why);
	free(emulator);
}
