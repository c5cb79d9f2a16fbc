/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/real.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/host/hash.h"
#include "agent/host/quiet.h"
#include "agent/loader/loaded.h"

/* ---- step 1: what the program started with ---- */

static unsigned objects_at_start; /* 0: the constructor has not run, and all objects are from the start */

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	++*(unsigned *)count;
	return 0;
}

void real_start(void)
{
	unsigned count = 0;

	dl_iterate_phdr(count_object, &count);
	objects_at_start = count;
}

struct start_query {
	const char *symbol;
	unsigned index;
	bool past_own;
	void *real;
};

static int look_at_start(struct dl_phdr_info *info, size_t size, void *data)
{
	struct start_query *query = data;
	struct loaded object;

	(void)size;
	if (objects_at_start && query->index++ >= objects_at_start)
		return 1;
	loaded_note(&object, info);
	if (loaded_has(&object, (const void *)real_at_start))
		query->past_own = true;
	else if (query->past_own && !loaded_is_kernels(&object))
		query->real = loaded_find(&object, query->symbol);
	return query->real != NULL;
}

void *real_at_start(const char *symbol)
{
	struct start_query query = { .symbol = symbol };

	dl_iterate_phdr(look_at_start, &query);
	return query.real;
}

struct many_query {
	const char *const *symbols;
	uint32_t *hashes;
	size_t count;
	void (*found)(size_t index, void *real);
	bool *is_found;
	bool of_start;
	unsigned index;
	bool past_own;
};

static void look_for_many(struct many_query *query, const struct loaded *object)
{
	struct loaded_tables tables;

	if (!loaded_tables(object, &tables))
		return;
	for (size_t i = 0; i < query->count; i++) {
		void *real;

		if (query->is_found[i] ||
				(tables.gnu && !loaded_may_define(tables.gnu, query->hashes[i])))
			continue;
		real = loaded_find(object, query->symbols[i]);
		if (!real)
			continue;
		query->is_found[i] = true;
		query->found(i, real);
	}
}

static int look_at_many(struct dl_phdr_info *info, size_t size, void *data)
{
	struct many_query *query = data;
	bool of_start = !objects_at_start || query->index++ < objects_at_start;
	struct loaded object;

	(void)size;
	if (query->of_start && !of_start)
		return 1;
	loaded_note(&object, info);
	if (loaded_has(&object, (const void *)real_at_start))
		query->past_own = true;
	else if (of_start == query->of_start && query->past_own && !loaded_is_kernels(&object))
		look_for_many(query, &object);
	return 0;
}

bool real_find_many(const char *const *symbols, size_t count, bool of_start,
		void (*found)(size_t index, void *real))
{
	size_t bytes = count * (sizeof(uint32_t) + sizeof(bool));
	struct many_query query = { .symbols = symbols,
		.count = count,
		.found = found,
		.of_start = of_start };
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (memory == MAP_FAILED)
		return false;
	query.hashes = memory;
	query.is_found = (bool *)(query.hashes + count);
	for (size_t i = 0; i < count; i++)
		query.hashes[i] = loaded_hash(symbols[i]);
	dl_iterate_phdr(look_at_many, &query);
	munmap(memory, bytes);
	return true;
}

/* ---- steps 2 to 4 ---- */

struct query {
	const char *symbol;
	const void *site;
	struct loaded *objects;
	bool *is_needed;
	size_t count, room;
	void *real;
};

static int gather_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct query *query = data;
	struct loaded *object = &query->objects[query->count];

	(void)size;
	if (query->count == query->room)
		return 1;
	loaded_note(object, info);
	if (!loaded_is_kernels(object) && !loaded_has(object, (const void *)real_at_start))
		query->count++;
	return 0;
}

static bool has_name(const struct loaded *object, const char *name)
{
	const char *base = strrchr(object->path, '/');
	struct loaded_tables tables;

	if (strcmp(base ? base + 1 : object->path, name) == 0 || strcmp(object->path, name) == 0)
		return true;
	return loaded_tables(object, &tables) && strcmp(tables.soname, name) == 0;
}

/* Marks the objects that an object needs, and looks there. Returns whether any was marked. */
static bool look_at_needed(struct query *query, const struct loaded *object)
{
	struct loaded_tables tables;
	bool more = false;

	if (!loaded_tables(object, &tables))
		return false;
	for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag != DT_NEEDED)
			continue;
		for (size_t i = 0; i < query->count && !query->real; i++) {
			if (query->is_needed[i] ||
					!has_name(&query->objects[i],
							tables.strings + entry->d_un.d_val))
				continue;
			query->is_needed[i] = more = true;
			query->real = loaded_find(&query->objects[i], query->symbol);
		}
	}
	return more;
}

/* Looks in the caller's object, then in the objects that it needs, level by level. */
static void look_from_caller(struct query *query)
{
	size_t caller = 0;
	bool more = true;

	while (caller < query->count && !loaded_has(&query->objects[caller], query->site))
		caller++;
	if (caller == query->count)
		return;
	query->real = loaded_find(&query->objects[caller], query->symbol);
	query->is_needed[caller] = true;
	if (!query->real)
		look_at_needed(query, &query->objects[caller]);
	while (more && !query->real) {
		more = false;
		for (size_t i = 0; i < query->count && !query->real; i++)
			if (query->is_needed[i])
				more |= look_at_needed(query, &query->objects[i]);
	}
}

/*
 * Runs below dl_iterate_phdr, so that no object goes away meanwhile. It may be called again from here:
 * glibc's lock is recursive, and musl holds none while it calls back.
 */
static int look_everywhere(struct dl_phdr_info *info, size_t size, void *data)
{
	struct query *query = data;
	unsigned count = 0;
	size_t bytes;

	(void)info;
	(void)size;
	dl_iterate_phdr(count_object, &count);
	bytes = count * (sizeof(*query->objects) + sizeof(*query->is_needed));
	query->objects = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (query->objects == MAP_FAILED)
		return 1;
	query->is_needed = (bool *)(query->objects + count);
	query->room = count;
	dl_iterate_phdr(gather_object, query);
	look_from_caller(query);
	for (size_t i = 0; i < query->count && !query->real; i++)
		query->real = loaded_find(&query->objects[i], query->symbol);
	munmap(query->objects, bytes);
	return 1;
}

void *real_find(const char *symbol, const void *site)
{
	struct query query = { .symbol = symbol, .site = site };
	int kept = errno;

	query.real = real_at_start(symbol);
	if (!query.real)
		dl_iterate_phdr(look_everywhere, &query);
	errno = kept;
	return query.real;
}

struct counting {
	const char *symbol;
	unsigned count;
};

static int count_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	struct counting *counting = data;
	struct loaded object;

	(void)size;
	loaded_note(&object, info);
	if (!loaded_is_kernels(&object) && !loaded_has(&object, (const void *)real_at_start) &&
			loaded_find(&object, counting->symbol))
		counting->count++;
	return 0;
}

unsigned real_definitions(const char *symbol)
{
	struct counting counting = { .symbol = symbol };

	dl_iterate_phdr(count_definition, &counting);
	return counting.count;
}

/* ---- answers for call sites ---- */

#define ANSWERS      1024 /* a power of two */
#define ANSWER_TRIES 8
#define ANSWER_BUSY  UINT64_MAX

/*
 * The answers for symbols of objects that were loaded later, one for each caller. `epoch`: number of unloadings
 * when the answer was found; 0: the entry is free. The answer is valid while that number is the same. The
 * thread that replaces an outdated epoch by ANSWER_BUSY owns the entry. Valid entries are never written to.
 */
static struct answer {
	_Atomic uint64_t epoch;
	_Atomic(const char *) symbol;
	_Atomic(const void *) site;
	_Atomic(void *) real;
} answers[ANSWERS];

static _Atomic uint64_t present_epoch = 1;

static size_t answer_at(const char *symbol, const void *site, unsigned try)
{
	uint64_t mixed = hash_spread((uintptr_t)site + (uintptr_t)symbol);

	return ((size_t)(mixed >> 40) + try) % ANSWERS;
}

static void *known(struct answer *answer, const char *symbol, const void *site, uint64_t epoch)
{
	void *real;

	/* pairs with the release in remember_answer(): the other three are of this epoch */
	if (atomic_load_explicit(&answer->epoch, memory_order_acquire) != epoch ||
			atomic_load_explicit(&answer->symbol, memory_order_acquire) != symbol ||
			atomic_load_explicit(&answer->site, memory_order_acquire) != site)
		return NULL;
	real = atomic_load_explicit(&answer->real, memory_order_acquire);
	/* a thread that has taken the entry meanwhile has changed the epoch before anything else */
	return atomic_load_explicit(&answer->epoch, memory_order_relaxed) == epoch ? real : NULL;
}

static void remember_answer(const char *symbol, const void *site, void *real, uint64_t epoch)
{
	for (unsigned try = 0; try < ANSWER_TRIES; try++) {
		struct answer *answer = &answers[answer_at(symbol, site, try)];
		uint64_t of_old = atomic_load_explicit(&answer->epoch, memory_order_relaxed);

		if (of_old == epoch || of_old == ANSWER_BUSY ||
				!atomic_compare_exchange_strong_explicit(&answer->epoch, &of_old,
						ANSWER_BUSY, memory_order_acquire,
						memory_order_relaxed))
			continue;
		/* release: a reader that sees one of them also sees that the entry is taken */
		atomic_store_explicit(&answer->symbol, symbol, memory_order_release);
		atomic_store_explicit(&answer->site, site, memory_order_release);
		atomic_store_explicit(&answer->real, real, memory_order_release);
		/* pairs with the acquire in known(): publishes the other three */
		atomic_store_explicit(&answer->epoch, epoch, memory_order_release);
		return;
	}
}

void *real_find_cached(const char *symbol, const void *site)
{
	uint64_t epoch = atomic_load_explicit(&present_epoch, memory_order_acquire);
	void *real = NULL;

	for (unsigned try = 0; try < ANSWER_TRIES && !real; try++)
		real = known(&answers[answer_at(symbol, site, try)], symbol, site, epoch);
	if (real)
		return real;
	real = real_find(symbol, site);
	if (real)
		remember_answer(symbol, site, real, epoch);
	return real;
}

void real_unloaded(void)
{
	/* pairs with the acquire in real_find_cached: earlier answers are looked for again */
	atomic_fetch_add_explicit(&present_epoch, 1, memory_order_release);
}

/* ---- none ---- */

struct caller {
	const void *site;
	const char *path;
};

static int find_caller(struct dl_phdr_info *info, size_t size, void *data)
{
	struct caller *caller = data;
	struct loaded object;

	(void)size;
	loaded_note(&object, info);
	if (loaded_has(&object, caller->site))
		caller->path = object.path;
	return caller->path != NULL;
}

void real_missing(const char *symbol, const void *site)
{
	const char *program = program_invocation_name;
	struct caller caller = { .site = site };
	char line[1024];
	int length;

	dl_iterate_phdr(find_caller, &caller);
	length = snprintf(line, sizeof(line), "%s: symbol lookup error: %s: undefined symbol: %s\n",
			program, caller.path && *caller.path ? caller.path : program, symbol);
	if (length > 0)
		quiet_write(STDERR_FILENO, line,
				length < (int)sizeof(line) ? (size_t)length : sizeof(line) - 1);
	for (;;)
		syscall(SYS_exit_group, 127);
}
