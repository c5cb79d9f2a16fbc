/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens each library with RTLD_LOCAL and prints what its functions return:
 *
 *	opens [-c | -k] LIBRARY...	-c: closes each before it opens the next; -k: except the last
 *
 * Prints on stderr where each function `run` was. Also calls `fill` and `count`, if a library has them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void call_if_any(void *library, const char *name)
{
	void (*function)(void);

	*(void **)&function = dlsym(library, name);
	if (function)
		function();
}

int main(int argc, char **argv)
{
	int keeps = argc > 1 && strcmp(argv[1], "-k") == 0;
	int first = keeps || (argc > 1 && strcmp(argv[1], "-c") == 0) ? 2 : 1;

	for (int i = first; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		const char *base = strrchr(argv[i], '/');
		long (*run)(void);

		if (!library) {
			printf("%s\n", dlerror());
			return 1;
		}
		*(void **)&run = dlsym(library, "run");
		call_if_any(library, "fill");
		call_if_any(library, "count");
		printf("%s: %ld\n", base ? base + 1 : argv[i], run());
		fprintf(stderr, "run: %p\n", *(void **)&run);
		if (first == 2 && !(keeps && i == argc - 1))
			dlclose(library);
	}
	return 0;
}
