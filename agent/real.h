/* Finds the real functions behind the intercepted ones, wherever the MPI library was loaded. */
#ifndef PHASEMUX_AGENT_REAL_H
#define PHASEMUX_AGENT_REAL_H

#define REAL_LIBRARIES_MAX 16

/* The MPI libraries of this process and their bindings, also those opened with RTLD_LOCAL. */
struct real_libraries {
	unsigned count;
	void *handle[REAL_LIBRARIES_MAX];
};

/* Looks which there are now. Each stays loaded from here on. */
void real_libraries_find(struct real_libraries *libraries);

/*
 * The next definition of `symbol` after the preload in the global scope (another tool's wrapper, or
 * the library's own), else the one in a library that was opened with RTLD_LOCAL. NULL: nowhere.
 * May allocate; not for the path of a burst.
 */
void *real_find(const struct real_libraries *libraries, const char *symbol);

#endif
