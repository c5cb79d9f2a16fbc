/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the real functions behind the intercepted ones: the definition that the caller would have been
 * bound to without the agent. The order of search:
 *
 *   1. the next definition after the preload among the objects that the program started with (another
 *      preloaded tool, or the library itself), because the global scope precedes all others;
 *   2. the object that made the call;
 *   3. the objects that this one needs (DT_NEEDED), and those that they need;
 *   4. every other loaded object, in the order of loading.
 *
 * The preload itself never is an answer. The search reads the symbol tables of the loaded objects. It
 * calls neither dlsym nor dlopen: these wait for a dlopen of another thread until its constructors have
 * returned, and one of them may wait for the calling thread. dl_iterate_phdr takes no such lock.
 */
#ifndef PHASEMUX_AGENT_LOADER_REAL_H
#define PHASEMUX_AGENT_LOADER_REAL_H

#include <stdbool.h>
#include <stddef.h>

/* Call in the constructor, once: the objects that are loaded now are those that the program started with. */
void real_start(void);

/* Returns the definition of `symbol` of step 1. NULL: there is none. Allocates nothing. */
void *real_at_start(const char *symbol);

/*
 * Calls found() for each symbol that is defined after the preload, with its first definition. `of_start`: among
 * the objects that the program started with; otherwise among those that came later. Returns false if there is no
 * memory. Takes about a millisecond.
 */
bool real_find_many(const char *const *symbols, size_t count, bool of_start,
		void (*found)(size_t index, void *real));

/*
 * Returns the definition of `symbol` for a call from `site`, by all four steps. NULL: there is none.
 * Takes microseconds, and maps memory for a moment if the program started without the symbol.
 */
void *real_find(const char *symbol, const void *site);

/* Like real_find(), but remembers the answer for `site` until an object is unloaded. */
void *real_find_cached(const char *symbol, const void *site);

/* Forgets what real_find_cached() remembers. Call when an object has been unloaded. */
void real_unloaded(void);

/* Returns the number of loaded objects, except the preload, that define `symbol`. */
unsigned real_definitions(const char *symbol);

/*
 * Ends the process as the loader does when it cannot bind a call: a line on stderr, exit code 127.
 * `site`: where the call was made.
 */
__attribute__((noreturn, cold)) void real_missing(const char *symbol, const void *site);

#endif
