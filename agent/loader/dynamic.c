/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/dynamic.h"

#include <stddef.h>

#include "agent/loader/real.h"

static void *look_for(const char *symbol)
{
	return real_find(symbol, (const void *)dynamic_is_there);
}

bool dynamic_is_there(void)
{
	return look_for("dlopen") && look_for("dlsym") && look_for("dlerror");
}

void *dynamic_open(const char *path, int flags)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))look_for("dlopen");

	return open ? open(path, flags) : NULL;
}

void *dynamic_find(void *library, const char *symbol)
{
	void *(*find)(void *, const char *) = (void *(*)(void *, const char *))look_for("dlsym");

	return find ? find(library, symbol) : NULL;
}

void dynamic_close(void *library)
{
	int (*close)(void *) = (int (*)(void *))look_for("dlclose");

	if (close)
		close(library);
}

const char *dynamic_error(void)
{
	char *(*error)(void) = (char *(*)(void))look_for("dlerror");

	return error ? error() : NULL;
}
