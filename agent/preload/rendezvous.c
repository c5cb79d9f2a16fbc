/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/rendezvous.h"

#include <dlfcn.h>
#include <stdio.h>

#include "agent/mpi/mpi_adapters.h"
#include "agent/setup/agreement.h"
#include "sampling/clock.h"

static const struct mpi_adapter *find_adapter(const char *folder)
{
	for (size_t i = 0; mpi_adapters[i].name; i++) {
		const struct mpi_adapter *(*entry)(void);
		char path[sizeof(((struct preload *)0)->folder) + 64];
		void *library = dlopen(mpi_adapters[i].soname, RTLD_NOLOAD | RTLD_LAZY);
		void *adapter;

		if (!library)
			continue;
		dlclose(library);
		snprintf(path, sizeof(path), "%s/%s", folder, mpi_adapters[i].file);
		adapter = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!adapter)
			continue;
		*(void **)&entry = dlsym(adapter, MPI_ADAPTER_ENTRY);
		if (entry)
			return entry();
	}
	return NULL;
}

int rendezvous_hold(struct preload *preload)
{
	const struct mpi_adapter *adapter = find_adapter(preload->folder);
	uint64_t begin = clock_monotonic();
	int error;

	if (!adapter)
		return 0;
	error = adapter->open(&preload->world);
	if (error)
		return error;
	preload->waited_ns = clock_monotonic() - begin;
	preload->adapter = adapter;
	return 0;
}

bool rendezvous_leave(struct preload *preload)
{
	const struct mpi_adapter *adapter = preload->adapter;
	struct agreement agreement = { .coreless = preload->world.rank + 1 };
	int error;

	if (!adapter)
		return true;
	error = adapter->max((double *)&agreement, AGREEMENT_LENGTH);
	adapter->close();
	preload->adapter = NULL;
	return error || agreement.coreless == preload->world.rank + 1;
}
