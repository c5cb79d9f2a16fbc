/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/path.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/host/hash.h"
#include "agent/thread/unwind.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"

/* Numbers of frames of merged paths, each until merged paths take this part of the room for them. */
static const struct {
	unsigned frames, eighths;
} merges[] = { { 4, 4 }, { 2, 6 }, { 1, 8 } };

#define PATH_ALIKE_MAX                                                                             \
	8 /* highest score of look_alike: wrong guesses in a row until it is given up */
#define PATH_ALIKE_RETRY 32 /* searches between two tries of a look_alike that was given up */

/*
 * Wrong guesses of the next path until they are given up, because one costs about a third of a search, and searches
 * until they are tried again if a third of them would have been right.
 */
#define GUESS_WRONG_MAX 256
#define GUESS_WINDOW    16

/* Longest time in ns that counts as learning. A thread that takes longer was preempted. */
#define PATH_LEARN_NS_MAX 2e5

/* Number of paths of all threads of the process. */
static _Atomic uint32_t all_paths;

void path_init(struct path_table *table, pthread_t thread)
{
	pthread_attr_t attributes;
	void *begin;
	size_t size;

	table->learn_most = UINT64_MAX;
	if (pthread_getattr_np(thread, &attributes))
		return;
	if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
		table->stack_begin = (uintptr_t)begin;
		table->stack_end = (uintptr_t)begin + size;
	}
	pthread_attr_destroy(&attributes);
}

/* ---- hash tables ---- */

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static inline uint32_t frame_slot(uintptr_t address, uint32_t slots)
{
	return (uint32_t)(hash_spread(address) >> 40) & (slots - 1);
}

static inline struct path_frame *find_frame(const struct path_table *table, uintptr_t address)
{
	uint32_t at = frame_slot(address, table->frame_slots);

	/* at most half of the slots are taken */
	while (table->frames[at].address && table->frames[at].address != address)
		at = (at + 1) & (table->frame_slots - 1);
	return &table->frames[at];
}

static void add_frame(struct path_table *table, const struct path_frame *frame, uint32_t token)
{
	struct path_frame *at = find_frame(table, frame->address);

	*at = *frame;
	table->tokens[at - table->frames] = token;
}

/* Returns the bytes that are mapped for so many slots of frames and their tokens. */
static size_t frames_bytes(uint32_t slots)
{
	return slots * (sizeof(struct path_frame) + sizeof(uint32_t));
}

/* Odd constants, one for each frame: the sum of the products is a hash of the addresses. */
static const uint64_t frame_factors[PATH_FRAMES_MAX] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
	0x94d049bb133111ebu, 0xd6e8feb86659fd93u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
	0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u };

/* Returns the hash of a path from the sum over its frames. Merged paths have hashes of their own. */
static inline uint64_t path_hash(uint64_t sum, unsigned frames, bool merged)
{
	sum += 2 * frames + merged;
	return (sum ^ sum >> 29) * 0xff51afd7ed558ccdu;
}

static inline uint32_t index_slot(uint64_t hash, uint32_t slots)
{
	return (uint32_t)(hash >> 40) & (slots - 1);
}

/* Returns the entry of the index for a path of this number. */
static inline uint32_t index_entry(uint64_t hash, unsigned number)
{
	return (uint32_t)(hash >> 16) << 16 | number;
}

static uint64_t hash_of(const struct path *path)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < path->frames; i++)
		sum += path->address[i] * frame_factors[i];
	return path_hash(sum, path->frames, path->merged);
}

static void index_add(struct path_table *table, unsigned number)
{
	uint64_t hash = hash_of(&table->path[number]);
	uint32_t at = index_slot(hash, table->index_slots);

	while (table->index[at])
		at = (at + 1) & (table->index_slots - 1);
	table->index[at] = index_entry(hash, number);
}

/* Sets `mapped`, which other threads may read at any time. */
static void count_mapped(struct path_table *table)
{
	size_t bytes = 0;

	if (table->index_slots > PATH_SLOTS_FIRST)
		bytes += table->index_slots * sizeof(*table->index);
	if (table->frame_slots > PATH_SLOTS_FIRST)
		bytes += frames_bytes(table->frame_slots);
	atomic_store_explicit(&table->mapped, bytes, memory_order_relaxed);
}

/* Returns whether the index has room for one more path. Makes it four times as large if necessary. */
static bool room_in_index(struct path_table *table)
{
	uint32_t *before = table->index, slots = table->index_slots;
	uint32_t *more;

	if (2 * table->count < slots)
		return true;
	if (slots >= PATH_SLOTS_MAX)
		return table->count < PATHS_MAX;
	more = map(4 * slots * sizeof(*more));
	if (!more)
		return false;
	table->index = more;
	table->index_slots = 4 * slots;
	for (unsigned i = 1; i < table->count; i++)
		index_add(table, i);
	if (before != table->first_index)
		munmap(before, slots * sizeof(*before));
	count_mapped(table);
	return true;
}

static bool room_for_frame(struct path_table *table)
{
	struct path_frame *before = table->frames, *more;
	uint32_t *tokens_before = table->tokens, slots = table->frame_slots;

	if (2 * table->frame_count < slots)
		return true;
	if (slots >= PATH_SLOTS_MAX)
		return false;
	more = map(frames_bytes(4 * slots));
	if (!more)
		return false;
	table->frames = more;
	table->frame_slots = 4 * slots;
	table->tokens = (uint32_t *)(more + table->frame_slots);
	for (uint32_t i = 0; i < slots; i++)
		if (before[i].address)
			add_frame(table, &before[i], tokens_before[i]);
	if (before != table->first_frames)
		munmap(before, frames_bytes(slots));
	count_mapped(table);
	return true;
}

static void begin(struct path_table *table)
{
	table->count = 1;
	table->index = table->first_index;
	table->frames = table->first_frames;
	table->tokens = table->first_tokens;
	table->index_slots = table->frame_slots = PATH_SLOTS_FIRST;
}

size_t path_mapped(const struct path_table *table)
{
	return atomic_load_explicit(&table->mapped, memory_order_relaxed);
}

void path_fini(struct path_table *table)
{
	if (table->index_slots > PATH_SLOTS_FIRST)
		munmap(table->index, table->index_slots * sizeof(*table->index));
	if (table->frame_slots > PATH_SLOTS_FIRST)
		munmap(table->frames, frames_bytes(table->frame_slots));
	if (table->count)
		atomic_fetch_sub_explicit(&all_paths, table->count - 1, memory_order_relaxed);
	table->count = table->index_slots = table->frame_slots = 0;
	count_mapped(table);
	atomic_store_explicit(&table->kept, 0, memory_order_relaxed);
}

/* ---- walking ---- */

/* The frames above a call, as far as a path goes. */
struct walk {
	uintptr_t address[PATH_FRAMES_MAX];
	uint32_t offset[PATH_FRAMES_MAX];
	/* over the frames up to each: the sum that path_hash takes */
	uint64_t sum[PATH_FRAMES_MAX];
	unsigned frames;
	bool unknown; /* the walk ended at a return address of which nothing is known */
};

static inline bool is_on_stack(const struct path_table *table, uintptr_t frame)
{
	return frame >= table->stack_begin && frame < table->stack_end;
}

static inline __attribute__((no_sanitize("address"))) void
walk_stack(const struct path_table *table, uintptr_t address, uintptr_t frame, struct walk *walk)
{
	uint32_t frame_offset = 0, offset = 0; /* the innermost one is not used */
	uint64_t sum = 0;
	unsigned frames = 0;

	walk->unknown = false;
	for (;;) {
		const struct path_frame *known;

		sum += address * frame_factors[frames];
		walk->address[frames] = address;
		walk->offset[frames] = offset;
		walk->sum[frames] = sum;
		if (++frames == PATH_FRAMES_MAX)
			break;
		known = find_frame(table, address);
		if (!known->next) {
			walk->unknown = !known->address;
			break;
		}
		offset = frame_offset + known->slot;
		frame_offset += known->next;
		if (frame_offset > UNWIND_SPAN_MAX ||
				frame + offset + sizeof(uintptr_t) > table->stack_end)
			break;
		address = *(const uintptr_t *)(frame + offset);
		if (!address)
			break;
	}
	walk->frames = frames;
}

static inline bool has_frames(const struct path *path, const uintptr_t *address, unsigned frames)
{
	uintptr_t differ = 0;

	for (unsigned i = 0; i < frames; i++)
		differ |= path->address[i] ^ address[i];
	return !differ;
}

/* Returns the number of the path with the walk's first `frames` frames, or 0. */
static inline unsigned look_up(const struct path_table *table, const struct walk *walk,
		unsigned frames, bool merged)
{
	uint64_t hash = path_hash(walk->sum[frames - 1], frames, merged);
	uint32_t tag = index_entry(hash, 0), at = index_slot(hash, table->index_slots), entry;

	for (; (entry = table->index[at]); at = (at + 1) & (table->index_slots - 1)) {
		const struct path *path = &table->path[entry & 0xffff];

		if ((entry & 0xffff0000) == tag && path->frames == frames &&
				path->merged == merged && (merged || path->top) &&
				has_frames(path, walk->address, frames))
			return entry & 0xffff;
	}
	return 0;
}

/*
 * Returns a path whose frames are at the offsets of the last path from this address, or 0. Is faster than
 * walk_stack, because no read of the stack depends on an earlier one.
 */
static inline __attribute__((no_sanitize("address"))) unsigned look_alike(
		const struct path_table *table, const struct path *last, uintptr_t address,
		uintptr_t frame)
{
	unsigned top = last->top;
	uint32_t tag, at, entry;
	uint64_t sum, hash;

	if (last->address[0] != address || top <= 1 || frame < table->stack_begin ||
			frame + last->offset[top - 1] + sizeof(uintptr_t) > table->stack_end)
		return 0;
	sum = address * frame_factors[0];
	for (unsigned i = 1; i < top; i++)
		sum += *(const uintptr_t *)(frame + last->offset[i]) * frame_factors[i];
	hash = path_hash(sum, top, false);
	tag = index_entry(hash, 0);
	at = index_slot(hash, table->index_slots);
	for (; (entry = table->index[at]); at = (at + 1) & (table->index_slots - 1)) {
		const struct path *path = &table->path[entry & 0xffff];

		if ((entry & 0xffff0000) == tag && path->top == top &&
				path_is_here(table, path, address, frame))
			return entry & 0xffff;
	}
	return 0;
}

/* Returns whether to try look_alike: it was right lately, or was not tried for PATH_ALIKE_RETRY searches. */
static inline bool guesses(struct path_table *table)
{
	return table->alike || ++table->searches % PATH_ALIKE_RETRY == 0;
}

/* ---- learning ---- */

/* Returns the hash after one more value. */
static uint64_t path_mix(uint64_t hash, uint64_t value)
{
	return mix_bits(hash ^ value);
}

/* Returns a hash of what is equal in every process for an address: the file's name and the offset in it. */
static uint32_t token_of(uintptr_t address)
{
	const char *name = "", *slash;
	uintptr_t base = 0;
	uint64_t hash;

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
	name = slash ? slash + 1 : name;
	hash = hash_bytes(HASH_START, name, strlen(name));
	return (uint32_t)path_mix(hash, address - base);
}

/* Adds the innermost frames of a path to a hash, by their tokens, which are equal in every process. */
static uint64_t mix_frames(const struct path_table *table, uint64_t hash, const struct path *path,
		unsigned frames)
{
	for (unsigned i = 0; i < frames; i++) {
		const struct path_frame *known = find_frame(table, path->address[i]);

		hash = path_mix(hash,
				known->address ? table->tokens[known - table->frames] :
						 token_of(path->address[i]));
	}
	return hash;
}

static void sign(const struct path_table *table, struct path *path)
{
	path->signature = mix_frames(table, 0, path, path->frames);
}

/* Makes paths end at this address from now on. Known paths that go beyond it are not recognised any more. */
static void end_paths(struct path_table *table, uintptr_t address)
{
	for (unsigned i = 1; i < table->count; i++) {
		struct path *path = &table->path[i];

		for (unsigned k = 0; k + 1 < path->top; k++)
			if (path->address[k] == address)
				path->top = 0;
	}
}

/*
 * Notes how far above the address' stack pointer the next frame and return address are; 0: there are none. If it
 * is known otherwise, paths end at this address from now on.
 */
static void note_frame(struct path_table *table, uintptr_t address, uint32_t next, uint32_t slot)
{
	struct path_frame *known = find_frame(table, address);

	if (known->address && known->next && (known->next != next || known->slot != slot)) {
		known->next = 0;
		end_paths(table, address);
	}
	if (known->address || !room_for_frame(table))
		return;
	add_frame(table, &(struct path_frame){ address, next, slot }, token_of(address));
	table->frame_count++;
}

/* Learns from the unwinder how far the frames above the call are apart. */
static void learn_frames(struct path_table *table, uintptr_t address, uintptr_t frame)
{
	struct unwound unwound[PATH_FRAMES_MAX];
	unsigned frames = unwind_stack(frame, unwound, PATH_FRAMES_MAX);

	if (!frames || unwound[0].address != address) {
		note_frame(table, address, 0, 0);
		return;
	}
	for (unsigned i = 1; i < frames; i++) {
		const struct unwound *below = &unwound[i - 1];

		note_frame(table, below->address, (uint32_t)(unwound[i].frame - below->frame),
				(uint32_t)(unwound[i].slot - below->frame));
	}
	if (frames < PATH_FRAMES_MAX)
		note_frame(table, unwound[frames - 1].address, 0, 0);
}

/* Returns whether learning may unwind. Half of its time is reserved for return addresses that are not known. */
static bool may_unwind(const struct path_table *table, bool unknown)
{
	uint64_t most = unknown ? table->learn_most : table->learn_most / 2;

	return unwind_works() && 2 * table->frame_count < PATH_SLOTS_MAX &&
			atomic_load_explicit(&table->learn_ticks, memory_order_relaxed) < most;
}

static bool is_process_full(void)
{
	return atomic_load_explicit(&all_paths, memory_order_relaxed) >= PATHS_PROCESS;
}

static uint64_t kept(const struct path_table *table)
{
	return atomic_load_explicit(&table->kept, memory_order_relaxed);
}

static bool is_full(const struct path_table *table)
{
	return kept(table) >= PATHS_DEEP || (kept(table) >= PATHS_EACH && is_process_full());
}

/* Returns how many merged paths the thread may have. */
static unsigned room_to_merge(void)
{
	return is_process_full() ? PATHS_EACH : PATHS_MAX - PATHS_DEEP;
}

/* Adds a path of the walk's first `frames` frames. Returns its number, or 0 if there is no room. */
static unsigned path_add(struct path_table *table, const struct walk *walk, unsigned frames,
		bool merged)
{
	struct path path = { .frames = (uint16_t)frames, .merged = merged };

	if (table->count == PATHS_MAX || !room_in_index(table))
		return 0;
	/* a table without a stack has nothing else to compare */
	path.top = merged && table->stack_end ? 0 : path.frames;
	memcpy(path.address, walk->address, frames * sizeof(path.address[0]));
	memcpy(path.offset, walk->offset, frames * sizeof(path.offset[0]));
	sign(table, &path);
	table->path[table->count] = path;
	index_add(table, table->count);
	/* single writer */
	atomic_store_explicit(&table->kept, kept(table) + !merged, memory_order_relaxed);
	atomic_fetch_add_explicit(&all_paths, 1, memory_order_relaxed);
	return table->count++;
}

/* Returns the merged path with the innermost frames of this walk, or path 0 if there is no room for it. */
static unsigned merge(struct path_table *table, const struct walk *walk)
{
	uint64_t before = atomic_load_explicit(&table->merged, memory_order_relaxed);
	unsigned used = table->count - (unsigned)kept(table), room = room_to_merge();

	/* single writer */
	atomic_store_explicit(&table->merged, before + 1, memory_order_relaxed);
	for (size_t i = 0; i < sizeof(merges) / sizeof(*merges); i++) {
		unsigned frames = walk->frames < merges[i].frames ? walk->frames : merges[i].frames;
		unsigned at = look_up(table, walk, frames, true);

		if (!at && used < room * merges[i].eighths / 8)
			at = path_add(table, walk, frames, true);
		if (at)
			return at;
	}
	return 0;
}

static unsigned learn(struct path_table *table, uintptr_t address, uintptr_t frame,
		struct walk *walk)
{
	unsigned at = 0;

	if (may_unwind(table, walk->unknown)) {
		learn_frames(table, address, frame);
		walk_stack(table, address, frame, walk);
		at = look_up(table, walk, walk->frames, false);
	}
	/* the word of which nothing is known may be no return address */
	if (walk->unknown && walk->frames > 1)
		walk->frames--;
	else if (!at && !is_full(table) && !(walk->unknown && unwind_works()))
		at = path_add(table, walk, walk->frames, false);
	return at ? at : merge(table, walk);
}

static __attribute__((noinline, cold)) unsigned learn_timed(struct path_table *table,
		uintptr_t address, uintptr_t frame, struct walk *walk)
{
	uint64_t begin = clock_now();
	unsigned at = learn(table, address, frame, walk);
	uint64_t before = atomic_load_explicit(&table->learn_ticks, memory_order_relaxed);
	uint64_t ticks = clock_now() - begin, most = clock_ticks(PATH_LEARN_NS_MAX);

	/* single writer */
	atomic_store_explicit(&table->learn_ticks, before + (ticks < most ? ticks : most),
			memory_order_relaxed);
	return at;
}

/* Returns the path of a call on a stack that is not the thread's own. */
static unsigned search_elsewhere(struct path_table *table, uintptr_t address)
{
	struct walk walk = { .address[0] = address,
		.sum[0] = address * frame_factors[0],
		.frames = 1 };
	unsigned at = look_up(table, &walk, 1, true);

	return at ? at : path_add(table, &walk, 1, true);
}

static unsigned search(struct path_table *table, uintptr_t address, const void *frame)
{
	uint16_t *origin = &table->origin[frame_slot(address, PATH_ORIGINS)];
	struct walk walk;
	unsigned at;

	if (!table->count)
		begin(table);
	if (!is_on_stack(table, (uintptr_t)frame))
		return search_elsewhere(table, address);
	if (guesses(table)) {
		at = look_alike(table, &table->path[*origin], address, (uintptr_t)frame);
		table->alike += at ? table->alike < PATH_ALIKE_MAX : -(table->alike > 0);
		if (at)
			return at;
	}
	walk_stack(table, address, (uintptr_t)frame, &walk);
	at = look_up(table, &walk, walk.frames, false);
	if (!at && !walk.unknown && is_full(table))
		return merge(table, &walk);
	if (!at)
		at = learn_timed(table, address, (uintptr_t)frame, &walk);
	if (!table->path[at].merged)
		*origin = (uint16_t)at;
	return at;
}

/* Decides whether to guess the next path by what followed the last one, after a search that has found `at`. */
static inline void judge_guess(struct path_table *table, unsigned at)
{
	bool given_up = table->no_guess;

	/* a path without a top is never recognised by a guess */
	table->right += table->path[table->last].then == at && table->path[at].top;
	if (++table->tried < (given_up ? GUESS_WINDOW : GUESS_WRONG_MAX))
		return;
	table->no_guess = given_up && 3 * table->right >= table->tried ? 0 : UINT16_MAX;
	table->tried = table->right = 0;
}

unsigned path_search(struct path_table *table, uintptr_t address, const void *frame)
{
	unsigned at = search(table, address, frame);

	judge_guess(table, at);
	return at;
}

/* Returns whether the callers from these frames on outwards are equal, as far as both paths reach. */
static bool continues(const struct path *path, unsigned frame, const struct path *other,
		unsigned at)
{
	while (frame < path->frames && at < other->frames)
		if (path->address[frame++] != other->address[at++])
			return false;
	return true;
}

/*
 * Leaves in own_from and own_to how many of the innermost frames of each path are not callers of
 * both. Paths are cut at PATH_FRAMES_MAX frames, so their outermost frames need not match.
 */
static void own_frames(const struct path *from, const struct path *to, unsigned *own_from,
		unsigned *own_to)
{
	for (unsigned sum = 0; sum < (unsigned)from->frames + to->frames; sum++)
		for (unsigned i = 0; i <= sum; i++)
			if (i < from->frames && sum - i < to->frames &&
					continues(from, i, to, sum - i)) {
				*own_from = i;
				*own_to = sum - i;
				return;
			}
	*own_from = from->frames;
	*own_to = to->frames;
}

uint64_t path_between(const struct path_table *table, unsigned from, unsigned to)
{
	const struct path *a = &table->path[from], *b = &table->path[to];
	unsigned own_a, own_b;
	uint64_t number;

	own_frames(a, b, &own_a, &own_b);
	if (!own_a && !own_b)
		return a->signature;
	number = mix_frames(table, 0, a, own_a);
	return mix_frames(table, path_mix(number, own_a), b, own_b);
}
