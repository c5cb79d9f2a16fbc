/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/rendezvous.h"

#include <dlfcn.h>
#include <stdio.h>

#include "agent/loader/dynamic.h"
#include "agent/loader/object.h"
#include "agent/loader/real.h"
#include "agent/mpi/mpi_family.h"
#include "agent/setup/agreement.h"
#include "sampling/clock.h"

/* Opens the adapter of a family for an MPI. Returns NULL if it does not serve it, with the reason in `why`. */
static const struct mpi_adapter *open_adapter(const struct mpi_family_row *family,
		const char *folder, void *mpi, char *why, size_t why_size)
{
	char path[sizeof(((struct preload *)0)->folder) + 64];
	mpi_adapter_entry *entry = NULL;
	void *adapter;

	snprintf(path, sizeof(path), "%s/%s", folder, family->file);
	adapter = dynamic_open(path, RTLD_NOW | RTLD_LOCAL);
	if (adapter)
		*(void **)&entry = dynamic_find(adapter, MPI_ADAPTER_ENTRY);
	if (entry)
		return entry(mpi, why, why_size);
	snprintf(why, why_size, "the adapter for %s: %s", family->name, dynamic_error());
	return NULL;
}

/*
 * Returns the adapter for the MPI to which the intercepted call `init` goes, or NULL with the reason in `why`. A
 * library of tools or of Fortran may be between, whose calls go to the PMPI_ functions of the MPI itself.
 */
static const struct mpi_adapter *find_adapter(const char *folder, const void *init, char *why,
		size_t why_size)
{
	const void *own_init = real_find("PMPI_Init", init);
	const struct mpi_adapter *adapter = NULL;
	enum mpi_family family;
	struct object mpi;

	if (!object_open(own_init ? own_init : init, &mpi)) {
		snprintf(why, why_size, "its MPI is in no library that can be opened");
		return NULL;
	}
	family = mpi_family_of(mpi.soname,
			dynamic_find(mpi.library, MPI_FAMILY_OPENMPI_SYMBOL) != NULL);
	if (family == MPI_FAMILIES)
		snprintf(why, why_size, "its MPI, %.512s, is none that phasemux serves",
				*mpi.path ? mpi.path : "which is linked statically");
	else
		adapter = open_adapter(&mpi_families[family], folder, mpi.library, why, why_size);
	if (!adapter)
		dynamic_close(mpi.library);
	return adapter;
}

int rendezvous_hold(struct preload *preload, const void *init)
{
	const struct mpi_adapter *adapter = find_adapter(preload->folder, init, preload->why_alone,
			sizeof(preload->why_alone));
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
