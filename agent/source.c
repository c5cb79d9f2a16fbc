#include "agent/source.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "void LAMMPS_NS::Comm::exchange()" for "_ZN...": by the program's own C++ runtime, or not at all. */
static char *demangle(const char *symbol)
{
	char *(*cxa_demangle)(const char *, char *, size_t *, int *);
	int status;

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	*(void **)&cxa_demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	return cxa_demangle ? cxa_demangle(symbol, NULL, NULL, &status) : NULL;
}

void source_name(uintptr_t address, char *name, size_t size)
{
	Dl_info info;
	char *clear;

	/* the call itself is before the address that it returns to */
	if (!address || !dladdr((void *)(address - 1), &info) || !info.dli_fname) {
		snprintf(name, size, "?");
		return;
	}
	if (!info.dli_sname) {
		const char *base = strrchr(info.dli_fname, '/');

		snprintf(name, size, "%s+0x%zx", base ? base + 1 : info.dli_fname,
				(size_t)(address - (uintptr_t)info.dli_fbase));
		return;
	}
	clear = demangle(info.dli_sname);
	if (clear) /* the arguments say little and take much room */
		clear[strcspn(clear, "(")] = '\0';
	snprintf(name, size, "%s+0x%zx", clear ? clear : info.dli_sname,
			(size_t)(address - (uintptr_t)info.dli_saddr));
	free(clear);
}
