/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/hash.h"
#include "agent/setup/output.h"
#include "multiplex/estimate/layout.h"

#define ROOM_STEP      16    /* number of sites, spans, lengths or paths that get room at once */
#define STRUCTURE_STEP 16384 /* bytes of a structure, or of arguments, that get room at once */
#define DIRTY_WORDS    ((SPOOL_THREADS_MAX + 63) / 64)
#define PAGE_BYTES     4096 /* alignment in the file, on all machines, so that one can read another's */

/* Times that the folders are made again, because the end of another run removed the outer one in between. */
#define FOLDER_ATTEMPTS 100

/* A thread's part of the file. */
struct spool_part {
	unsigned char *map;                    /* both sides */
	uint32_t sites, spans, lengths, paths; /* numbers of each that have room */
	uint64_t dirty_spans[SPAN_WORDS];      /* one bit for each span */
};

struct spool {
	unsigned char *map;
	size_t bytes;                /* of the mapping, which does not include threads */
	size_t length;               /* of the file */
	size_t reserved;             /* bytes of the file that have storage for sure */
	unsigned prototypes, phases; /* numbers that have room */
	char folder[4096];           /* of the run */
	char name[32];
	char path[4096 + 32]; /* of the file */
	dev_t device;
	ino_t inode;
	struct sums *shape; /* tells where blocks lie; over side 0 */
	uint64_t sums_length;
	unsigned threads;
	size_t structure_room;  /* bytes of the structure that have room */
	size_t iterations_room; /* bytes of the sample of its iterations that have room */
	size_t arguments_room;  /* bytes of the arguments of its calls that have room */
	bool dirty_structure;
	struct timeline_range dirty_bins;    /* of the timeline */
	uint64_t dirty[PROTOTYPES_MAX];      /* for each prototype, one bit for each group */
	uint64_t dirty_threads[DIRTY_WORDS]; /* one bit for each thread */
	struct spool_part thread[SPOOL_THREADS_MAX]; /* takes memory only as far as it is used */
};

/* Writes the path once, because an intercepted call that opens the file has little room on its stack. */
static void make_path(struct spool *spool)
{
	snprintf(spool->path, sizeof(spool->path), "%s/%s", spool->folder, spool->name);
}

static bool is_ours(const struct spool *spool, const struct stat *status)
{
	return status->st_dev == spool->device && status->st_ino == spool->inode;
}

/* ---- the format ---- */

static size_t align(size_t at)
{
	return (at + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

size_t spool_state_at(void)
{
	return align(sizeof(struct spool_facts));
}

size_t spool_side_at(unsigned side)
{
	return spool_state_at() + 64 + side * ((sizeof(struct spool_side) + 63) & ~(size_t)63);
}

size_t spool_sums_at(uint64_t sums_length, unsigned side)
{
	return align(spool_side_at(SPOOL_SIDES)) + side * align(sums_length * sizeof(double));
}

size_t spool_profile_at(uint64_t sums_length)
{
	return spool_sums_at(sums_length, SPOOL_SIDES);
}

size_t spool_structure_at(uint64_t sums_length, unsigned side)
{
	return spool_profile_at(sums_length) + align(sizeof(struct profile)) +
			side * align(sizeof(struct loops));
}

size_t spool_iterations_at(uint64_t sums_length, unsigned side)
{
	return spool_structure_at(sums_length, SPOOL_SIDES) +
			side * align(sizeof(struct iteration_sample));
}

size_t spool_arguments_at(uint64_t sums_length, unsigned side)
{
	return spool_iterations_at(sums_length, SPOOL_SIDES) + side * align(ARGUMENTS_IMAGE_MAX);
}

static size_t thread_side_bytes(void)
{
	return align(sizeof(struct spool_thread));
}

size_t spool_timeline_at(uint64_t sums_length, unsigned side)
{
	return spool_arguments_at(sums_length, SPOOL_SIDES) + side * align(TIMELINE_BYTES);
}

size_t spool_thread_at(uint64_t sums_length, unsigned thread, unsigned side)
{
	return spool_timeline_at(sums_length, SPOOL_SIDES) +
			((size_t)thread * SPOOL_SIDES + side) * thread_side_bytes();
}

/* Uses FNV-1a with words instead of bytes, because the facts have some 50,000 bytes. */
uint64_t spool_checksum(const struct spool_facts *facts)
{
	size_t from = offsetof(struct spool_facts, checksum) + sizeof(facts->checksum);
	const unsigned char *bytes = (const unsigned char *)facts;
	uint64_t sum = HASH_START, word;

	for (size_t at = from; at + sizeof(word) <= sizeof(*facts); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		sum = (sum ^ word) * HASH_PRIME;
		/* the high bits change the low ones */
		sum ^= sum >> 32;
	}
	return sum;
}

void spool_describe(struct spool_facts *facts, const struct counting *counting)
{
	facts->sums_length = sums_length_for(&counting->plan, PROTOTYPES_MAX);
	facts->prototypes = PROTOTYPES_MAX;
	facts->read_ns = counting->probe.read_ns;
	facts->hardware = counting->hardware;
	facts->counters = counting->probe.counters;
	facts->warnings = counting->warnings;
	facts->plan = counting->plan;
	for (unsigned e = 0; e < counting->plan.events; e++) {
		facts->model_event[e] = counting->model_event[e];
		snprintf(facts->event[e], sizeof(facts->event[e]), "%s", counting->event[e].name);
	}
	if (counting->model)
		snprintf(facts->model, sizeof(facts->model), "%s", model_name(counting->model));
	snprintf(facts->processor, sizeof(facts->processor), "%s", counting->processor.brand);
	snprintf(facts->obstacle, sizeof(facts->obstacle), "%s", counting->obstacle);
	memcpy(facts->warning, counting->warning, sizeof(facts->warning));
}

/* ---- making it ---- */

/* Makes the file at least `length` bytes long, which must be whole pages. Returns 0 or -errno. */
static int lengthen(struct spool *spool, int fd, size_t length)
{
	struct rlimit limit;

	if (length <= spool->length)
		return 0;
	/* exceeding this limit would send a signal, and not only be an error */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < length)
		return -EFBIG;
	if (ftruncate(fd, (off_t)length))
		return -errno;
	spool->length = length;
	return 0;
}

/* Maps a part of the file, which must be long enough for it. Returns NULL on failure. */
static unsigned char *map_part(int fd, size_t at, size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);

	return map == MAP_FAILED ? NULL : map;
}

/* Returns the page where the room of an array ends that begins at `base`, and has room for `bytes` bytes. */
static size_t room_ends(size_t base, size_t bytes)
{
	return bytes ? align(base + bytes) : base & ~(size_t)(PAGE_BYTES - 1);
}

/* Reserves storage for an array that grows, within the length of the file. Returns 0 or -errno. */
static int reserve(struct spool *spool, int fd, size_t base, size_t from, size_t to)
{
	size_t begin = room_ends(base, from), end = align(base + to);
	int error;

	if (end <= begin)
		return 0;
	do
		error = posix_fallocate(fd, (off_t)begin, (off_t)(end - begin));
	while (error == EINTR);
	if (!error)
		spool->reserved += end - begin;
	return -error;
}

/* Maps no more than the file's length, because a page behind its end is a SIGBUS. */
static int map_file(struct spool *spool, int fd)
{
	struct stat status;
	int error;

	spool->length = 0;
	error = lengthen(spool, fd, spool->bytes);
	if (!error)
		error = reserve(spool, fd, 0, 0, spool_sums_at(spool->sums_length, 0));
	if (!error)
		error = reserve(spool, fd, spool_profile_at(spool->sums_length), 0,
				sizeof(struct profile));
	if (!error)
		error = reserve(spool, fd, spool_timeline_at(spool->sums_length, 0), 0,
				SPOOL_SIDES * align(TIMELINE_BYTES));
	if (!error && fstat(fd, &status))
		error = -errno;
	if (error)
		return error;
	spool->map = map_part(fd, 0, spool->bytes);
	if (!spool->map)
		return -errno;
	spool->device = status.st_dev;
	spool->inode = status.st_ino;
	return 0;
}

static int make_in(struct spool *spool, const char *base, const struct spool_facts *facts)
{
	char mine[sizeof(spool->folder) - 32];
	int folder, fd, error;

	if (snprintf(mine, sizeof(mine), "%s/phasemux.%u", base, (unsigned)geteuid()) >=
			(int)sizeof(mine))
		return -ENAMETOOLONG;
	snprintf(spool->folder, sizeof(spool->folder), "%s/%013llx", mine,
			(unsigned long long)facts->run);
	for (int attempt = 0; attempt < FOLDER_ATTEMPTS; attempt++) {
		folder = output_open(mine);
		if (folder >= 0) {
			close(folder);
			folder = output_open(spool->folder);
		}
		if (folder != -ENOENT)
			break;
	}
	if (folder < 0)
		return folder;
	fd = openat(folder, spool->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = fd < 0 ? -errno : map_file(spool, fd);
	if (error && fd >= 0)
		unlinkat(folder, spool->name, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
	if (error) {
		rmdir(spool->folder);
		rmdir(mine);
	}
	return error;
}

static int make_file(struct spool *spool, const char *wanted, const struct spool_facts *facts)
{
	int error;

	if (*wanted)
		return make_in(spool, wanted, facts);
	error = make_in(spool, "/dev/shm", facts);
	return error ? make_in(spool, "/tmp", facts) : 0;
}

static void write_facts(struct spool *spool, const struct spool_facts *from)
{
	struct spool_facts *facts = (struct spool_facts *)spool->map;
	struct spool_state *state = (struct spool_state *)(spool->map + spool_state_at());

	memcpy(facts, from, sizeof(*facts));
	memcpy(facts->magic, SPOOL_MAGIC, sizeof(facts->magic));
	facts->version = SPOOL_VERSION;
	facts->facts_bytes = sizeof(struct spool_facts);
	facts->side_bytes = sizeof(struct spool_side);
	facts->thread_bytes = sizeof(struct spool_thread);
	facts->loops_bytes = sizeof(struct loops);
	atomic_store_explicit(&state->whole, 1, memory_order_release);
	facts->checksum = spool_checksum(facts);
}

struct spool *spool_new(const struct spool_facts *facts, const char *wanted, char *folder,
		size_t size, int *error)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	*error = -ENOMEM;
	if (!spool)
		return NULL;
	snprintf(spool->name, sizeof(spool->name), "rank-%d", facts->rank);
	spool->sums_length = facts->sums_length;
	spool->bytes = spool_thread_at(spool->sums_length, 0, 0);
	*error = make_file(spool, wanted, facts);
	snprintf(folder, size, "%s", spool->folder);
	make_path(spool);
	if (*error) {
		free(spool);
		return NULL;
	}
	spool->shape = sums_over(&facts->plan, PROTOTYPES_MAX, spool_sums(spool));
	if (!spool->shape) {
		*error = -ENOMEM;
		spool_remove(spool);
		spool_free(spool);
		return NULL;
	}
	write_facts(spool, facts);
	return spool;
}

void spool_remove(struct spool *spool)
{
	struct stat status;
	char *slash;

	/*
	 * remove only the agent's file: the program may have moved it; by name, as descriptors may be used up
	 */
	if (lstat(spool->path, &status) == 0 && is_ours(spool, &status))
		unlink(spool->path);
	/* only the last rank of the node succeeds, and then only the last run of the user */
	slash = strrchr(spool->folder, '/');
	if (rmdir(spool->folder) == 0) {
		*slash = '\0';
		rmdir(spool->folder);
		*slash = '/';
	}
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	sums_free(spool->shape);
	for (unsigned i = 0; i < spool->threads; i++)
		munmap(spool->thread[i].map, SPOOL_SIDES * thread_side_bytes());
	munmap(spool->map, spool->bytes);
	free(spool);
}

/* ---- filling it ---- */

double *spool_sums(struct spool *spool)
{
	return (double *)(spool->map + spool_sums_at(spool->sums_length, 0));
}

struct profile *spool_profile(struct spool *spool)
{
	return (struct profile *)(spool->map + spool_profile_at(spool->sums_length));
}

struct timeline_bin *spool_bins(struct spool *spool)
{
	return (struct timeline_bin *)(spool->map + spool_timeline_at(spool->sums_length, 0));
}

struct spool_side *spool_side(struct spool *spool)
{
	return (struct spool_side *)(spool->map + spool_side_at(0));
}

struct spool_thread *spool_thread(struct spool *spool, int thread)
{
	return (struct spool_thread *)spool->thread[thread].map;
}

/*
 * Opens the file again. Returns a descriptor or -errno. None is kept, because this is rare, and descriptors are
 * few.
 */
static int open_file(const struct spool *spool)
{
	struct stat status;
	int fd;

	fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && is_ours(spool, &status))
		return fd;
	close(fd);
	return -ENOENT;
}

bool spool_is_in_reach(const struct spool *spool)
{
	int fd = open_file(spool);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Maps zeroed memory of the process in place of the array's bytes from `from` to `to`. */
static void stand_in(struct spool *spool, size_t base, size_t from, size_t to)
{
	size_t begin = room_ends(base, from), end = (base + to) & ~(size_t)(PAGE_BYTES - 1);

	/* if this fails, too, the array stays in the file, as far as that has storage */
	if (end > begin)
		(void)mmap(spool->map + begin, end - begin, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int room_for_sketches(struct spool *spool, int fd, unsigned phases)
{
	size_t base = spool_sums_at(spool->sums_length, 0) +
			sums_sketch_at(spool->shape, 1) * sizeof(double);
	size_t per_phase = (sums_sketch_at(spool->shape, 2) - sums_sketch_at(spool->shape, 1)) *
			sizeof(double);
	int error;

	if (phases <= spool->phases)
		return 0;
	error = fd < 0 ? fd :
			 reserve(spool, fd, base, spool->phases * per_phase, phases * per_phase);
	if (error) {
		phases = SKETCH_PHASES;
		stand_in(spool, base, spool->phases * per_phase, align(phases * per_phase));
	}
	spool->phases = phases;
	return error;
}

static int room_for_sums(struct spool *spool, int fd, unsigned prototypes)
{
	size_t from = sums_prototype_at(spool->shape, spool->prototypes) * sizeof(double);
	size_t to = sums_prototype_at(spool->shape, prototypes) * sizeof(double);
	int error = fd < 0 ? fd : 0;

	if (prototypes <= spool->prototypes)
		return 0;
	for (unsigned side = 0; side < SPOOL_SIDES && !error; side++)
		error = reserve(spool, fd, spool_sums_at(spool->sums_length, side), from, to);
	if (error) {
		prototypes = PROTOTYPES_MAX;
		to = sums_prototype_at(spool->shape, prototypes) * sizeof(double);
		for (unsigned side = 0; side < SPOOL_SIDES; side++)
			stand_in(spool, spool_sums_at(spool->sums_length, side), from, to);
	}
	spool->prototypes = prototypes;
	return error;
}

int spool_room(struct spool *spool, unsigned prototypes, unsigned phases)
{
	int fd, error, more;

	phases = sums_sketched(phases);
	if (prototypes <= spool->prototypes && phases <= spool->phases)
		return 0;
	fd = open_file(spool);
	/* sketches come first, because they own the page that they share with the last prototype */
	error = room_for_sketches(spool, fd, phases);
	more = room_for_sums(spool, fd, prototypes);
	if (fd >= 0)
		close(fd);
	return error ? error : more;
}

static int admit(struct spool *spool)
{
	unsigned thread = spool->threads;
	int fd, error;

	if (thread == SPOOL_THREADS_MAX)
		return -ENOSPC;
	fd = open_file(spool);
	if (fd < 0)
		return fd;
	error = lengthen(spool, fd, spool_thread_at(spool->sums_length, thread + 1, 0));
	for (unsigned side = 0; side < SPOOL_SIDES && !error; side++)
		error = reserve(spool, fd, spool_thread_at(spool->sums_length, thread, side), 0,
				offsetof(struct spool_thread, span));
	if (!error) {
		spool->thread[thread].map =
				map_part(fd, spool_thread_at(spool->sums_length, thread, 0),
						SPOOL_SIDES * thread_side_bytes());
		error = spool->thread[thread].map ? 0 : -errno;
	}
	close(fd);
	return error ? error : (int)spool->threads++;
}

int spool_admit(struct spool *spool)
{
	int thread = admit(spool);

	if (thread < 0) {
		spool_side(spool)->refused++;
		spool_commit(spool);
	}
	return thread;
}

/* An array of struct spool_thread, which gets room as it fills. */
struct spool_array {
	size_t base;  /* bytes from the start of the struct; room is counted from there */
	size_t begin; /* bytes from `base` to element 0 */
	size_t size;  /* bytes of an element */
	uint32_t max; /* number of elements */
};

/* What is before the spans gets its room with them, but not what is before the other arrays. */
static const struct spool_array span_array = { 0, offsetof(struct spool_thread, span),
	sizeof(struct spool_span), SPANS_MAX };
static const struct spool_array length_array = { offsetof(struct spool_thread, length), 0,
	sizeof(struct spool_length), LENGTHS_MAX };
static const struct spool_array site_array = { offsetof(struct spool_thread, site), 0,
	sizeof(struct spool_site), SITES_MAX };
static const struct spool_array path_array = { offsetof(struct spool_thread, path), 0,
	sizeof(struct spool_path), PATHS_MAX };

/* Makes room for `wanted` elements in both sides; *have of them have room. Returns how many fit. */
static uint32_t grow_array(struct spool *spool, int thread, const struct spool_array *array,
		uint32_t *have, uint32_t wanted)
{
	uint32_t next = (wanted + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
	int fd, error = 0;

	if (wanted <= *have)
		return wanted;
	next = next < array->max ? next : array->max;
	fd = open_file(spool);
	if (fd < 0)
		return *have;
	for (unsigned side = 0; side < SPOOL_SIDES && !error; side++)
		error = reserve(spool, fd,
				spool_thread_at(spool->sums_length, (unsigned)thread, side) +
						array->base,
				array->begin + *have * array->size,
				array->begin + next * array->size);
	close(fd);
	if (!error)
		*have = next;
	return error ? *have : wanted;
}

void spool_thread_room(struct spool *spool, int thread, uint32_t *sites, uint32_t *spans,
		uint32_t *lengths, uint32_t *paths)
{
	struct spool_part *part = &spool->thread[thread];

	*spans = grow_array(spool, thread, &span_array, &part->spans, *spans);
	*lengths = grow_array(spool, thread, &length_array, &part->lengths, *lengths);
	*sites = grow_array(spool, thread, &site_array, &part->sites, *sites);
	*paths = grow_array(spool, thread, &path_array, &part->paths, *paths);
}

/* Returns the bytes of a structure that are in use. */
static size_t structure_bytes(const struct loops *loops)
{
	return offsetof(struct loops, arena) + loops->fresh * sizeof(loops->arena[0]);
}

/* A part of the file that grows: where it is in each side, and its largest size. */
struct spool_region {
	size_t (*at)(uint64_t sums_length, unsigned side);
	size_t max;
};

/* Makes room for this many bytes of a region in both sides; *room of them have some. Returns false if there is none. */
static bool grow_region(struct spool *spool, const struct spool_region *region, size_t *room,
		size_t bytes)
{
	size_t next = (bytes + STRUCTURE_STEP - 1) / STRUCTURE_STEP * STRUCTURE_STEP;
	int fd, error = 0;

	if (bytes <= *room)
		return true;
	next = next < region->max ? next : region->max;
	fd = open_file(spool);
	if (fd < 0)
		return false;
	for (unsigned side = 0; side < SPOOL_SIDES && !error; side++)
		error = reserve(spool, fd, region->at(spool->sums_length, side), *room, next);
	close(fd);
	if (!error)
		*room = next;
	return !error;
}

static void keep_iterations(struct spool *spool, const struct iteration_sample *sample)
{
	static const struct spool_region region = { spool_iterations_at,
		sizeof(struct iteration_sample) };
	size_t bytes = sample && sample->count ? iteration_sample_bytes(sample) : 0;

	spool_side(spool)->iterations = 0;
	if (!bytes || !grow_region(spool, &region, &spool->iterations_room, bytes))
		return;
	memcpy(spool->map + spool_iterations_at(spool->sums_length, 0), sample, bytes);
	spool_side(spool)->iterations = (uint32_t)bytes;
}

void spool_keep_structure(struct spool *spool, int thread, const struct spool_structure *structure)
{
	static const struct spool_region loops_region = { spool_structure_at,
		sizeof(struct loops) };
	static const struct spool_region arguments_region = { spool_arguments_at,
		ARGUMENTS_IMAGE_MAX };
	struct call_arguments *arguments = structure->arguments;
	size_t bytes = structure_bytes(structure->loops);

	if (!grow_region(spool, &loops_region, &spool->structure_room, bytes))
		return;
	memcpy(spool->map + spool_structure_at(spool->sums_length, 0), structure->loops, bytes);
	spool_side(spool)->structure = 1 + (uint32_t)thread;
	keep_iterations(spool, structure->iterations);
	spool_side(spool)->recurrence = structure->recurrence;
	spool_side(spool)->arguments = 0;
	if (arguments &&
			grow_region(spool, &arguments_region, &spool->arguments_room,
					arguments_image_bound(arguments)))
		spool_side(spool)->arguments = (uint32_t)arguments_image_write(arguments,
				structure->sites,
				spool->map + spool_arguments_at(spool->sums_length, 0));
	spool->dirty_structure = true;
}

static void copy_structure(struct spool *spool)
{
	const unsigned char *from = spool->map + spool_structure_at(spool->sums_length, 0);

	if (!spool->dirty_structure)
		return;
	memcpy(spool->map + spool_structure_at(spool->sums_length, 1), from,
			structure_bytes((const struct loops *)from));
	memcpy(spool->map + spool_iterations_at(spool->sums_length, 1),
			spool->map + spool_iterations_at(spool->sums_length, 0),
			spool_side(spool)->iterations);
	memcpy(spool->map + spool_arguments_at(spool->sums_length, 1),
			spool->map + spool_arguments_at(spool->sums_length, 0),
			spool_side(spool)->arguments);
	spool->dirty_structure = false;
}

void spool_keep_timeline(struct spool *spool, struct timeline *timeline)
{
	struct spool_side *side = spool_side(spool);

	spool->dirty_bins = timeline_take_changes(timeline);
	side->bins = atomic_load_explicit(&timeline->used, memory_order_relaxed);
	side->bin_ticks = atomic_load_explicit(&timeline->width, memory_order_relaxed);
}

static void copy_bins(struct spool *spool)
{
	const struct timeline_range range = spool->dirty_bins;
	struct timeline_bin *to = (struct timeline_bin *)(spool->map +
			spool_timeline_at(spool->sums_length, 1));

	if (range.from < range.until)
		memcpy(&to[range.from], &spool_bins(spool)[range.from],
				(range.until - range.from) * sizeof(*to));
	spool->dirty_bins = (struct timeline_range){ 0, 0 };
}

void spool_touch(struct spool *spool, unsigned prototype, unsigned group)
{
	spool->dirty[prototype] |= 1ull << group;
}

void spool_touch_thread(struct spool *spool, int thread)
{
	spool->dirty_threads[thread / 64] |= 1ull << thread % 64;
}

void spool_touch_span(struct spool *spool, int thread, uint32_t span)
{
	spool->thread[thread].dirty_spans[span / 64] |= 1ull << span % 64;
}

static void copy_doubles(const double *from, size_t length, size_t apart)
{
	memcpy((unsigned char *)from + apart, from, length * sizeof(*from));
}

static void copy_sums(struct spool *spool)
{
	const struct sums *shape = spool->shape;
	size_t apart = spool_sums_at(spool->sums_length, 1) - spool_sums_at(spool->sums_length, 0);

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		for (; spool->dirty[p]; spool->dirty[p] &= spool->dirty[p] - 1) {
			unsigned group = (unsigned)__builtin_ctzll(spool->dirty[p]);

			copy_doubles(sums_block(shape, p, group), sums_block_length(shape, group),
					apart);
			copy_doubles(sums_common(shape, p), sums_common_length(shape), apart);
		}
}

static void copy_spans(uint64_t *dirty, const struct spool_thread *from, struct spool_thread *to)
{
	for (unsigned w = 0; w < SPAN_WORDS; w++)
		for (; dirty[w]; dirty[w] &= dirty[w] - 1) {
			unsigned span = w * 64 + (unsigned)__builtin_ctzll(dirty[w]);

			to->span[span] = from->span[span];
			for (unsigned l = 0; l < from->span[span].lengths; l++)
				to->length[from->span[span].length[l]] =
						from->length[from->span[span].length[l]];
		}
	if (from->lengths)
		to->length[0] = from->length[0];
}

static void copy_thread(struct spool_part *part)
{
	const struct spool_thread *from = (const struct spool_thread *)part->map;
	struct spool_thread *to = (struct spool_thread *)(part->map + thread_side_bytes());

	/* paths and sites never change, so only new ones are copied */
	memcpy(to->path + to->paths, from->path + to->paths,
			(from->paths - to->paths) * sizeof(from->path[0]));
	memcpy(to->site + to->sites, from->site + to->sites,
			(from->sites - to->sites) * sizeof(from->site[0]));
	copy_spans(part->dirty_spans, from, to);
	memcpy(to, from, offsetof(struct spool_thread, span));
}

static void copy_threads(struct spool *spool)
{
	for (unsigned w = 0; w < DIRTY_WORDS; w++) {
		uint64_t *dirty = &spool->dirty_threads[w];

		for (; *dirty; *dirty &= *dirty - 1)
			copy_thread(&spool->thread[w * 64 + (unsigned)__builtin_ctzll(*dirty)]);
	}
}

void spool_commit(struct spool *spool)
{
	struct spool_state *state = (struct spool_state *)(spool->map + spool_state_at());
	uint64_t commits = atomic_load_explicit(&state->commits, memory_order_relaxed);

	spool_side(spool)->threads = spool->threads;
	/*
	 * The order matters. Side 0 is whole before it is declared whole. Side 1 changes only while side 0 is
	 * declared whole and the number is odd. Therefore a reader that finds equal numbers before and after
	 * has read a side that was whole all the time (see spool_image.c).
	 */
	atomic_store_explicit(&state->whole, 0, memory_order_release);
	atomic_store_explicit(&state->commits, commits + 1, memory_order_seq_cst);
	memcpy(spool->map + spool_side_at(1), spool_side(spool), sizeof(struct spool_side));
	copy_sums(spool);
	copy_structure(spool);
	copy_bins(spool);
	copy_threads(spool);
	atomic_store_explicit(&state->whole, 1, memory_order_release);
	atomic_store_explicit(&state->commits, commits + 2, memory_order_release);
}

size_t spool_bytes(const struct spool *spool)
{
	return spool->reserved;
}
