/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI presets. PAPI is opened only when a preset is named, privately, under the soname found at build time. It
 * only tells which native event a preset stands for; the agent does the counting.
 */
#include "sampling/names/event_sources.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PAPI_SONAME

#include <papi.h>

struct papi {
	int (*is_initialized)(void);
	int (*library_init)(int version);
	void (*shutdown)(void);
	int (*enum_event)(int *code, int modifier);
	int (*get_event_info)(int code, PAPI_event_info_t *info);
};

static bool find_functions(struct papi *papi, void *library)
{
	papi->is_initialized = (int (*)(void))dlsym(library, "PAPI_is_initialized");
	papi->library_init = (int (*)(int))dlsym(library, "PAPI_library_init");
	papi->shutdown = (void (*)(void))dlsym(library, "PAPI_shutdown");
	papi->enum_event = (int (*)(int *, int))dlsym(library, "PAPI_enum_event");
	papi->get_event_info =
			(int (*)(int, PAPI_event_info_t *))dlsym(library, "PAPI_get_event_info");
	return papi->is_initialized && papi->library_init && papi->shutdown && papi->enum_event &&
			papi->get_event_info;
}

/*
 * Calls visit for each preset that PAPI has here, until it returns true. A PAPI that the program
 * itself has started is used as it is, and left running. Returns 0, or -ENOSYS with `why`.
 */
static int each_preset(bool (*visit)(void *data, const PAPI_event_info_t *info), void *data,
		char *why, size_t why_size)
{
	/* never unloaded, because what PAPI allocated outlives its shutdown (213 KB a start on Zen 5) */
	void *library = dlopen(PAPI_SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	PAPI_event_info_t *info = NULL;
	struct papi papi;
	int code = PAPI_PRESET_MASK, error = -ENOSYS;
	bool start;

	if (!library) {
		snprintf(why, why_size, "PAPI cannot be opened: %s", dlerror());
		return -ENOSYS;
	}
	if (!find_functions(&papi, library)) {
		snprintf(why, why_size, "%s is not the PAPI that was there at build time",
				PAPI_SONAME);
		goto out;
	}
	start = papi.is_initialized() == PAPI_NOT_INITED;
	if (start && papi.library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
		snprintf(why, why_size, "%s does not start", PAPI_SONAME);
		goto out;
	}
	error = 0;
	info = malloc(sizeof(*info));
	if (info && papi.enum_event(&code, PAPI_ENUM_FIRST) == PAPI_OK) {
		do {
			if (papi.get_event_info(code, info) == PAPI_OK && info->count > 0 &&
					visit(data, info))
				break;
		} while (papi.enum_event(&code, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
	}
	free(info);
	if (start)
		papi.shutdown();
out:
	dlclose(library);
	return error;
}

struct search {
	const char *name;
	char *native;
	size_t native_size;
	unsigned presets; /* number of presets visited so far */
	unsigned terms;   /* number of native events of the one that was found */
};

static bool match_preset(void *data, const PAPI_event_info_t *info)
{
	struct search *search = data;

	search->presets++;
	if (strcmp(info->symbol, search->name) != 0)
		return false;
	search->terms = info->count;
	snprintf(search->native, search->native_size, "%s", info->name[0]);
	return true;
}

int event_from_papi(char *native, size_t native_size, const char *name, char *why, size_t why_size)
{
	struct search search = { .name = name, .native = native, .native_size = native_size };
	int error = each_preset(match_preset, &search, why, why_size);

	if (error)
		return error;
	if (search.terms == 1)
		return 0;
	if (search.terms > 1)
		snprintf(why, why_size, "PAPI makes %s of %u events here: name those themselves",
				name, search.terms);
	else if (search.presets > 0)
		snprintf(why, why_size, "PAPI has no %s on this processor (%u other presets)", name,
				search.presets);
	else
		snprintf(why, why_size,
				"PAPI (%s) has no presets at all on this machine: use a "
				"libpfm4 name or rHEX",
				PAPI_SONAME);
	return -ENOENT;
}

struct listing {
	void (*visit)(void *data, const char *name, const char *description);
	void *data;
};

static bool list_preset(void *data, const PAPI_event_info_t *info)
{
	const struct listing *listing = data;

	if (info->count == 1) /* other presets cannot be counted as one event */
		listing->visit(listing->data, info->symbol, info->long_descr);
	return false;
}

void event_each_papi(void (*visit)(void *data, const char *name, const char *description),
		void *data)
{
	struct listing listing = { .visit = visit, .data = data };
	char why[128];

	each_preset(list_preset, &listing, why, sizeof(why));
}

#else /* built without PAPI */

int event_from_papi(char *native, size_t native_size, const char *name, char *why, size_t why_size)
{
	(void)native;
	(void)native_size;
	snprintf(why, why_size, "%s: built without PAPI, so its presets are not known", name);
	return -ENOSYS;
}

void event_each_papi(void (*visit)(void *data, const char *name, const char *description),
		void *data)
{
	(void)visit;
	(void)data;
}

#endif
