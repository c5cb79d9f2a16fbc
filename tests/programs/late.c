/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a program that was built as a library, and the libraries that it needs, with RTLD_LOCAL, as Python does
 * with its extensions. Then runs it: late LIBRARY ARGUMENT...
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int (*program)(int, char **) = NULL;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (library)
		*(void **)&program = dlsym(library, "main");
	if (!program) {
		fprintf(stderr, "late: %s\n", argc > 1 ? dlerror() : "what?");
		return 1;
	}
	return program(argc - 1, argv + 1);
}
