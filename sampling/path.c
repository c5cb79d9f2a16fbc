#include "sampling/path.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unwind.h>

#include "sampling/clock.h"

/* A path spans at most so many bytes of stack; what is above is left out. */
#define SPAN_MAX (1u << 26)

/*
 * The unwinder is the compiler's (libgcc_s), which C++ programs carry anyway: it neither allocates
 * nor opens files, and with glibc 2.35 it takes no lock. It is opened here, out of the program's
 * sight, so that a program without it stays without it.
 */
static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Ptr (*address)(struct _Unwind_Context *);
	_Unwind_Word (*frame)(struct _Unwind_Context *);
} unwind;

int path_setup(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	void *backtrace, *address, *frame;

	if (!library)
		return -ENOENT;
	backtrace = dlsym(library, "_Unwind_Backtrace");
	address = dlsym(library, "_Unwind_GetIP");
	frame = dlsym(library, "_Unwind_GetCFA");
	if (!backtrace || !address || !frame)
		return -ENOENT;
	*(void **)&unwind.address = address;
	*(void **)&unwind.frame = frame;
	*(void **)&unwind.backtrace = backtrace;
	return 0;
}

void path_init(struct path_table *table, pthread_t thread)
{
	pthread_attr_t attributes;
	void *begin;
	size_t size;

	/* where calls leave their return address in a register there is nothing to look at */
#if defined(__x86_64__)
	if (pthread_getattr_np(thread, &attributes))
		return;
	if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
		table->stack_begin = (uintptr_t)begin;
		table->stack_end = (uintptr_t)begin + size;
	}
	pthread_attr_destroy(&attributes);
#else
	(void)table;
	(void)thread;
	(void)attributes;
	(void)begin;
	(void)size;
#endif
}

/* ---- learning ---- */

struct walk {
	struct path *path;
	uintptr_t frame;
	unsigned max;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	struct path *path = walk->path;
	uintptr_t address = unwind.address(context);
	uintptr_t frame = unwind.frame(context);

	/* our own frames, below the call in question */
	if (!path->frames && frame < walk->frame)
		return _URC_NO_REASON;
	if (!address || frame < walk->frame || frame - walk->frame > SPAN_MAX ||
			(!path->frames && (frame != walk->frame || address != path->address[0])))
		return _URC_END_OF_STACK;
	path->address[path->frames] = address;
	/* of the innermost it is not used: its address is given */
	path->offset[path->frames] = (uint32_t)(frame - walk->frame - sizeof(uintptr_t));
	return ++path->frames < walk->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 32);
}

/* Of an address the part that is the same in every process: the file's name and the offset in it.
 */
static uint64_t mix_address(uint64_t hash, uintptr_t address)
{
	const char *name = "", *slash;
	uintptr_t base = 0;

#if __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found) == 0) {
		base = found.dlfo_link_map->l_addr;
		name = found.dlfo_link_map->l_name;
	}
#else
	Dl_info found;

	if (dladdr((void *)address, &found)) {
		base = (uintptr_t)found.dli_fbase;
		name = found.dli_fname;
	}
#endif
	slash = strrchr(name, '/');
	for (name = slash ? slash + 1 : name; *name; name++)
		hash = mix(hash, (unsigned char)*name);
	return mix(hash, address - base);
}

static void sign(struct path *path)
{
	path->signature = 0;
	for (unsigned i = 0; i < path->frames; i++)
		path->signature = mix_address(path->signature, path->address[i]);
}

static unsigned path_slot(uintptr_t address)
{
	return (unsigned)((address * 0x9e3779b97f4a7c15u) >> 54) % PATH_HEADS;
}

/* How deep paths that begin at this address may go: less, after one of them was cut. */
static unsigned depth_of(const struct path_table *table, uintptr_t address, unsigned *first)
{
	*first = table->head[path_slot(address)];
	while (*first && table->path[*first].address[0] != address)
		*first = table->path[*first].next;
	return *first && table->path[*first].frames ? table->path[*first].depth : PATH_FRAMES_MAX;
}

/* Frames that two paths of the same addresses have at the same places. */
static unsigned steady_frames(const struct path *a, const struct path *b)
{
	unsigned same = 1;

	while (same < a->frames && a->offset[same] == b->offset[same])
		same++;
	return same;
}

static bool same_addresses(const struct path *a, const struct path *b)
{
	return a->frames == b->frames &&
			memcmp(a->address, b->address, a->frames * sizeof(a->address[0])) == 0;
}

/* The stack under paths from this address moves: they all end after `frames`. */
static void cut(struct path_table *table, uintptr_t address, unsigned frames)
{
	for (unsigned i = 1; i < table->count; i++) {
		struct path *path = &table->path[i];

		if (path->address[0] != address)
			continue;
		path->depth = (uint16_t)frames;
		if (path->frames > frames) {
			path->frames = (uint16_t)frames;
			sign(path);
		}
	}
}

/*
 * A path of one return address: all calls from there that are none of the paths known. `first` is
 * the first of these that begins there. Path 0 where there is no room.
 */
static unsigned learn_call(struct path_table *table, uintptr_t address, unsigned first)
{
	struct path path = { .address[0] = address, .frames = 1, .depth = 1 };
	uint16_t *link = &table->head[path_slot(address)];

	table->crowded++;
	if (table->count == PATHS_MAX)
		return first;
	/* behind the others, for it is wherever they are */
	while (*link)
		link = &table->path[*link].next;
	sign(&path);
	table->path[table->count] = path;
	*link = (uint16_t)table->count;
	return table->count++;
}

static unsigned learn(struct path_table *table, uintptr_t address, const void *frame)
{
	struct path path = { .address[0] = address };
	struct walk walk = { &path, (uintptr_t)frame, 0 };
	unsigned first, slot = path_slot(address);

	if (!table->count)
		table->count = 1;
	walk.max = path.depth = (uint16_t)depth_of(table, address, &first);
	if (table->count >= PATHS_DEEP)
		return learn_call(table, address, first);
	if (unwind.backtrace && walk.frame >= table->stack_begin && walk.frame < table->stack_end)
		unwind.backtrace(walk_frame, &walk);
	if (!path.frames)
		path.frames = path.depth = 1;
	for (unsigned i = first; i; i = table->path[i].next)
		if (same_addresses(&table->path[i], &path)) {
			cut(table, address, steady_frames(&table->path[i], &path));
			return i;
		}
	sign(&path);
	path.next = table->head[slot];
	table->path[table->count] = path;
	table->head[slot] = (uint16_t)table->count;
	return table->count++;
}

static __attribute__((noinline, cold)) unsigned learn_timed(struct path_table *table,
		uintptr_t address, const void *frame)
{
	uint64_t begin = clock_now();
	unsigned at = learn(table, address, frame);
	uint64_t before = atomic_load_explicit(&table->learn_ticks, memory_order_relaxed);

	/* single writer */
	atomic_store_explicit(&table->learn_ticks, before + clock_now() - begin,
			memory_order_relaxed);
	return at;
}

/* Among those of the same head, by number, or 0. What is found comes to the front: it will come again. */
static unsigned search(struct path_table *table, uintptr_t address, uintptr_t frame)
{
	uint16_t *head = &table->head[path_slot(address)], *link = head;
	unsigned at;

	while ((at = *link) && !path_is_here(table, &table->path[at], address, frame))
		link = &table->path[at].next;
	/* one of a return address alone would be taken for all that begin there */
	if (link != head && at && at < PATHS_DEEP) {
		*link = table->path[at].next;
		table->path[at].next = *head;
		*head = (uint16_t)at;
	}
	return at;
}

unsigned path_search(struct path_table *table, uintptr_t address, const void *frame)
{
	unsigned at = search(table, address, (uintptr_t)frame);

	return at ? at : learn_timed(table, address, frame);
}
