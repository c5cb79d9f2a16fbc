/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/object.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "agent/loader/dynamic.h"
#include "agent/loader/loaded.h"

struct object_query {
	const void *address;
	struct object *object;
	bool fits; /* its path has room */
};

static int look_for_address(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object_query *query = data;
	struct loaded_tables tables;
	struct loaded object;

	(void)size;
	loaded_note(&object, info);
	if (!loaded_has(&object, query->address))
		return 0;
	query->fits = (size_t)snprintf(query->object->path, sizeof(query->object->path), "%s",
				      object.path) < sizeof(query->object->path);
	if (loaded_tables(&object, &tables))
		snprintf(query->object->soname, sizeof(query->object->soname), "%s", tables.soname);
	return 1;
}

bool object_find(const void *address, struct object *object)
{
	struct object_query query = { .address = address, .object = object };

	memset(object, 0, sizeof(*object));
	return dl_iterate_phdr(look_for_address, &query) && query.fits;
}

bool object_open(const void *address, struct object *object)
{
	if (!object_find(address, object))
		return false;
	/* The loader finds a loaded object by the path that it has for it. Hooks of others change names without a folder. */
	object->library =
			dynamic_open(*object->path ? object->path : NULL, RTLD_NOLOAD | RTLD_LAZY);
	return object->library != NULL;
}
