/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/spool_image.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/boundary/calls.h"
#include "agent/spool/loops_image.h"
#include "multiplex/estimate/layout.h"

#define FILE_MAX (2u << 30) /* bytes, mostly holes, which are not read */

/* Times that a file is read again because its process changed it meanwhile: in all at least 0.1 s. */
#define ATTEMPTS         1000
#define ATTEMPT_PAUSE_US 100

#define RANKS_MAX   1000000
#define COUNT_MAX   0x1p43 /* bursts of a rank, so that the sum of all ranks fits 63 bits */
#define BYTES_MAX   0x1p53
#define SAMPLES_MAX (1u << 20) /* on one address; the sum of all ranks mostly fits 32 bits */
#define TICKS_MAX   (UINT64_C(1) << 60)
#define SUM_MAX     1e100 /* low enough for finite products of two sums */

static int image_refuse(char *why, size_t why_size, const char *what)
{
	snprintf(why, why_size, "%s", what);
	return -EINVAL;
}

/* ---- what must hold ---- */

static bool is_number(double value, double most)
{
	return value >= 0 && value <= most;
}

static bool are_numbers(const double *values, size_t count, double most)
{
	for (size_t i = 0; i < count; i++)
		if (!is_number(values[i], most))
			return false;
	return true;
}

static bool is_plan(const struct plan *plan)
{
	if (plan->events > PLAN_EVENTS_MAX || plan->common > plan->events || !plan->groups ||
			plan->groups > PLAN_GROUPS_MAX)
		return false;
	for (unsigned g = 0; g < plan->groups; g++) {
		const struct plan_group *group = &plan->group[g];

		if (group->count > PLAN_GROUP_EVENTS_MAX || group->count < plan->common)
			return false;
		for (unsigned i = 0; i < group->count; i++)
			if (group->event[i] >= plan->events)
				return false;
	}
	return true;
}

#define END(text) ((text)[sizeof(text) - 1] = '\0')

static void end_texts(struct spool_facts *facts)
{
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++)
		END(facts->event[e]);
	for (unsigned i = 0; i < COUNTING_WARNINGS_MAX; i++)
		END(facts->warning[i]);
	for (unsigned i = 0; i < SPOOL_MODULES_MAX; i++)
		END(facts->module[i].path);
	END(facts->model);
	END(facts->processor);
	END(facts->host);
	END(facts->library);
	END(facts->job.id);
	END(facts->job.step);
	END(facts->job.partition);
	END(facts->output);
	END(facts->obstacle);
}

/* Returns whether this may be the name of an event, which is a key in the report. */
static bool is_name(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static bool are_facts(const struct spool_facts *facts)
{
	bool good = is_plan(&facts->plan) && facts->size > 0 && facts->size <= RANKS_MAX &&
			facts->rank >= 0 && facts->rank < facts->size &&
			facts->prototypes == PROTOTYPES_MAX && facts->scheme < SCHEME_KINDS &&
			facts->warnings <= COUNTING_WARNINGS_MAX &&
			facts->modules <= SPOOL_MODULES_MAX &&
			facts->command_bytes <= SPOOL_COMMAND_MAX && facts->family <= 1 &&
			is_number(facts->ns_per_tick, 1e9) && facts->ns_per_tick > 0 &&
			is_number(facts->read_ns, 1e9) && is_number(facts->skip_ticks, 1e9) &&
			facts->budget >= 0 && is_number(facts->started, 1e12);

	for (unsigned e = 0; good && e < facts->plan.events; e++)
		good = facts->model_event[e] < PLAN_EVENTS_MAX && is_name(facts->event[e]);
	/* hardware events are reported as CPI, from the first two common events */
	good = good && (!facts->hardware || facts->plan.common >= 2);
	return good && facts->sums_length == sums_length_for(&facts->plan, PROTOTYPES_MAX);
}

static bool is_recurrence(const struct recurrence *recurrence)
{
	return is_number(recurrence->likeness, 1) && is_number(recurrence->rounds, COUNT_MAX) &&
			is_number(recurrence->calls, COUNT_MAX) &&
			is_number(recurrence->ticks, SUM_MAX) &&
			is_number(recurrence->time_share, 1);
}

static bool is_side(const struct spool_side *side)
{
	if (side->threads > SPOOL_THREADS_MAX || side->structure > side->threads ||
			side->iterations > sizeof(struct iteration_sample) ||
			side->arguments > ARGUMENTS_IMAGE_MAX ||
			side->prototypes > PROTOTYPES_MAX || side->phases > PROTOTYPES_MAX ||
			side->bins > TIMELINE_BINS || side->bin_ticks > TICKS_MAX / TIMELINE_BINS ||
			!is_recurrence(&side->recurrence) || side->rounds > INT32_MAX ||
			!is_number(side->own_bytes, BYTES_MAX) ||
			!is_number(side->start_seconds, 1e9) ||
			!is_number(side->beyond_threads, COUNT_MAX) ||
			!is_number(side->beyond_seconds, 1e12))
		return false;
	for (uint32_t p = 0; p < side->prototypes; p++)
		if (side->phase[p] > side->phases)
			return false;
	return true;
}

static bool is_length(const struct spool_length *length)
{
	bool good = is_number((double)length->unread, COUNT_MAX) &&
			is_number((double)length->unread_ticks, 0x1p63) &&
			is_number((double)length->variance, SUM_MAX) &&
			is_number((double)length->ticks_variance, SUM_MAX);

	for (unsigned i = 0; i < SPAN_SHARES_MAX; i++)
		good = good && is_number((double)length->share_read[i], COUNT_MAX) &&
				is_number((double)length->mean_ticks[i], SUM_MAX) &&
				is_number((double)length->mean_unread[i], SUM_MAX) &&
				length->prototype[i] <= UNREAD_UNCLASSIFIED;
	return good;
}

static bool is_span(const struct spool_span *span, uint32_t lengths)
{
	bool good = span->from < SITES_MAX && span->to < SITES_MAX &&
			span->lengths <= SPAN_LENGTHS_MAX;

	for (unsigned l = 0; good && l < span->lengths; l++)
		good = span->length[l] < lengths;
	return good;
}

static bool is_thread(const struct spool_thread *thread, const struct spool_facts *facts)
{
	const double *account = (const double *)&thread->account;
	bool good = are_numbers(account, sizeof(thread->account) / sizeof(*account), 0x1p63) &&
			is_number(thread->account.bursts, COUNT_MAX) &&
			is_number(thread->account.lost, COUNT_MAX) &&
			thread->open <= SPOOL_OPEN_MAX &&
			(!thread->open ||
					(thread->open_group < facts->plan.groups &&
							thread->open_weight > 0 &&
							thread->open_weight <= COUNT_MAX));

	for (uint32_t i = 0; good && i < thread->sites; i++)
		good = thread->site[i].path < PATHS_MAX && thread->site[i].call < RUNTIME_CALLS;
	for (uint32_t i = 0; good && i < thread->paths; i++)
		good = thread->path[i].frames <= PATH_FRAMES_MAX;
	for (uint32_t i = 0; good && i < thread->lengths; i++)
		good = is_length(&thread->length[i]);
	for (uint32_t i = 0; good && i < thread->spans; i++)
		good = is_span(&thread->span[i], thread->lengths);
	for (uint32_t i = 0; good && i < thread->open; i++)
		good = thread->open_prototype[i] < PROTOTYPES_MAX &&
				thread->open_fields[i][0] <= COUNT_MAX &&
				are_numbers(thread->open_fields[i], QUANTUM_FIELDS, SUM_MAX);
	return good;
}

static bool are_sums(const struct spool_image *image)
{
	struct sums *sums = sums_over(&image->facts.plan, PROTOTYPES_MAX, image->sums);
	bool good = sums && are_numbers(image->sums, image->facts.sums_length, SUM_MAX);
	double read = 0, quanta = 0;

	for (unsigned p = 0; good && p < PROTOTYPES_MAX; p++) {
		const double *common = sums_common(sums, p);

		read += common[BLOCK_READ];
		quanta += common[BLOCK_QUANTA];
		for (unsigned g = 0; g < image->facts.plan.groups; g++)
			good &= sums_block(sums, p, g)[BLOCK_READ] <= COUNT_MAX &&
					sums_block(sums, p, g)[BLOCK_QUANTA] <= COUNT_MAX;
	}
	sums_free(sums);
	return good && read <= COUNT_MAX && quanta <= COUNT_MAX;
}

/* Drops invalid entries, which are no damage, because the profile is not of one moment. */
static void clean_profile(struct profile *profile, uint32_t prototypes)
{
	stack_tree_clean(profile->stack, STACK_TREE_NODES);
	for (size_t i = 0; i < PROFILE_ENTRIES; i++) {
		struct profile_entry *entry = &profile->entry[i];

		if (entry->key.prototype >= prototypes || entry->samples > SAMPLES_MAX)
			*entry = (struct profile_entry){ .address = 0 };
		else if (!stack_tree_has(profile->stack, STACK_TREE_NODES, entry->key.stack))
			entry->key.stack = STACK_NONE;
	}
	memset(profile->left_out, 0, sizeof(profile->left_out));
}

/* ---- parsing ---- */

/* Copies the part of a thread's side that is in use. Returns false if a count is above its maximum. */
static bool copy_thread(struct spool_thread *to, const unsigned char *from)
{
	memcpy(to, from, offsetof(struct spool_thread, span));
	if (to->spans > SPANS_MAX || to->lengths > LENGTHS_MAX || to->sites > SITES_MAX ||
			to->paths > PATHS_MAX)
		return false;
	memcpy(to->span, from + offsetof(struct spool_thread, span), to->spans * sizeof(*to->span));
	memcpy(to->length, from + offsetof(struct spool_thread, length),
			to->lengths * sizeof(*to->length));
	memcpy(to->site, from + offsetof(struct spool_thread, site), to->sites * sizeof(*to->site));
	memcpy(to->path, from + offsetof(struct spool_thread, path), to->paths * sizeof(*to->path));
	return true;
}

static int parse_facts(struct spool_facts *facts, const void *bytes, size_t length, char *why,
		size_t why_size)
{
	if (length < sizeof(*facts))
		return image_refuse(why, why_size, "too short for what phasemux leaves");
	memcpy(facts, bytes, sizeof(*facts));
	if (memcmp(facts->magic, SPOOL_MAGIC, sizeof(facts->magic)) != 0)
		return image_refuse(why, why_size, "not left by phasemux, or not begun yet");
	if (facts->version != SPOOL_VERSION || facts->facts_bytes != sizeof(*facts) ||
			facts->side_bytes != sizeof(struct spool_side) ||
			facts->thread_bytes != sizeof(struct spool_thread) ||
			facts->loops_bytes != sizeof(struct loops))
		return image_refuse(why, why_size,
				"left by another version of phasemux, or on another "
				"kind of machine: recover it with that");
	if (facts->checksum != spool_checksum(facts))
		return image_refuse(why, why_size, "damaged, or not begun yet");
	end_texts(facts);
	return are_facts(facts) ? 0 : image_refuse(why, why_size, "damaged");
}

/* Reads the structure of a thread's calls, if there is one. Its thread has been read. Returns 0 or -ENOMEM. */
static int parse_structure(struct spool_image *image, const unsigned char *from)
{
	struct loops *raw, *structure;
	uint32_t sites, number = image->side.structure;

	if (!number)
		return 0;
	raw = malloc(sizeof(*raw));
	structure = calloc(1, sizeof(*structure));
	if (raw && structure) {
		memcpy(raw, from, sizeof(*raw));
		sites = image->thread[number - 1].sites;
		if (loops_image_read(structure, raw, sites ? sites : 1)) {
			image->structure = structure;
			structure = NULL;
		}
	}
	free(structure);
	free(raw);
	return raw ? 0 : -ENOMEM;
}

/* Reads the sample of the iterations of a structure that was read, if it is valid. Returns 0 or -ENOMEM. */
static int parse_iterations(struct spool_image *image, const unsigned char *from)
{
	size_t bytes = image->side.iterations;
	struct iteration_sample *sample;

	if (!image->structure || bytes < offsetof(struct iteration_sample, part))
		return 0;
	sample = calloc(1, sizeof(*sample));
	if (!sample)
		return -ENOMEM;
	memcpy(sample, from, bytes);
	if (iteration_sample_is_valid(sample))
		image->iterations = sample;
	else
		free(sample);
	return 0;
}

/* Reads the arguments of the calls of a structure that was read. Returns 0 or -ENOMEM. */
static int parse_arguments(struct spool_image *image, const unsigned char *from)
{
	size_t bytes = image->side.arguments;

	if (!image->structure || bytes < sizeof(uint64_t))
		return 0;
	image->arguments = malloc(bytes);
	if (!image->arguments)
		return -ENOMEM;
	memcpy(image->arguments, from, bytes);
	return 0;
}

int spool_image_parse(struct spool_image *image, const void *bytes, size_t length, char *why,
		size_t why_size)
{
	const unsigned char *from = bytes;
	const struct spool_facts *facts = &image->facts;
	struct spool_state state;
	unsigned whole;
	int error;

	image->sums = NULL;
	image->thread = NULL;
	image->structure = NULL;
	image->iterations = NULL;
	image->arguments = NULL;
	image->owned = false;
	error = parse_facts(&image->facts, bytes, length, why, why_size);
	if (error)
		return error;
	if (length < spool_thread_at(facts->sums_length, 0, 0))
		return image_refuse(why, why_size, "cut short");
	memcpy(&state, from + spool_state_at(), sizeof(state));
	whole = atomic_load_explicit(&state.whole, memory_order_relaxed);
	if (whole >= SPOOL_SIDES)
		return image_refuse(why, why_size, "damaged");
	memcpy(&image->side, from + spool_side_at(whole), sizeof(image->side));
	if (!is_side(&image->side))
		return image_refuse(why, why_size, "damaged");
	if (length < spool_thread_at(facts->sums_length, image->side.threads, 0))
		return image_refuse(why, why_size, "cut short");
	image->sums = malloc((facts->sums_length + 1) * sizeof(*image->sums));
	image->thread = calloc(image->side.threads + 1, sizeof(*image->thread));
	if (!image->sums || !image->thread) {
		spool_image_fini(image);
		return -ENOMEM;
	}
	memcpy(image->sums, from + spool_sums_at(facts->sums_length, whole),
			facts->sums_length * sizeof(*image->sums));
	memcpy(&image->profile, from + spool_profile_at(facts->sums_length),
			sizeof(image->profile));
	clean_profile(&image->profile, image->side.prototypes);
	memcpy(image->bin, from + spool_timeline_at(facts->sums_length, whole), sizeof(image->bin));
	if (!timeline_is_valid(image->bin, image->side.bins, TICKS_MAX))
		error = image_refuse(why, why_size, "damaged");
	for (uint32_t i = 0; i < image->side.threads && !error; i++) {
		if (!copy_thread(&image->thread[i],
				    from + spool_thread_at(facts->sums_length, i, whole)) ||
				!is_thread(&image->thread[i], facts))
			error = image_refuse(why, why_size, "damaged");
	}
	if (!error)
		error = parse_structure(image,
				from + spool_structure_at(facts->sums_length, whole));
	if (!error)
		error = parse_iterations(image,
				from + spool_iterations_at(facts->sums_length, whole));
	if (!error)
		error = parse_arguments(image,
				from + spool_arguments_at(facts->sums_length, whole));
	if (!error && !are_sums(image))
		error = image_refuse(why, why_size, "damaged");
	if (error)
		spool_image_fini(image);
	return error;
}

/* ---- reading ---- */

static bool read_at(int fd, void *bytes, size_t length, size_t at)
{
	unsigned char *to = bytes;

	while (length) {
		ssize_t got = pread(fd, to, length, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		at += (size_t)got;
		length -= (size_t)got;
	}
	return true;
}

static uint64_t commits_in(const struct spool_state *state)
{
	return atomic_load_explicit(&state->commits, memory_order_relaxed);
}

/* Reads the bytes of a file except its holes into memory that is zero. Returns false on an error. */
static bool read_sparse(int fd, unsigned char *bytes, size_t length)
{
	off_t begin = 0, end;

	while (begin < (off_t)length) {
		begin = lseek(fd, begin, SEEK_DATA);
		if (begin < 0)
			return errno == ENXIO; /* a hole to the end */
		end = lseek(fd, begin, SEEK_HOLE);
		if (end < 0)
			return false;
		end = end < (off_t)length ? end : (off_t)length;
		if (begin < end &&
				!read_at(fd, bytes + begin, (size_t)(end - begin), (size_t)begin))
			return false;
		begin = end;
	}
	return true;
}

/*
 * Reads all bytes as they were at one moment: no commit began or ended between two reads of the number of
 * commits. A process that was killed in the middle of a commit has left an odd number, and side 0 whole.
 * Returns 0, -EIO, or -EAGAIN if commits are too frequent.
 */
static int read_moment(int fd, unsigned char *bytes, size_t length)
{
	size_t at = spool_state_at();
	struct spool_state before, after;

	if (length < at + sizeof(before))
		return read_sparse(fd, bytes, length) ? 0 : -EIO;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (!read_at(fd, &before, sizeof(before), at) || !read_sparse(fd, bytes, length) ||
				!read_at(fd, &after, sizeof(after), at))
			return -EIO;
		if (commits_in(&before) == commits_in(&after))
			return 0;
		usleep(ATTEMPT_PAUSE_US);
	}
	return -EAGAIN;
}

int spool_image_read(struct spool_image *image, int folder_fd, const char *name, char *why,
		size_t why_size)
{
	/* O_NONBLOCK, because a planted pipe must not stop the reader */
	int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), error = 0;
	unsigned char *bytes = NULL;
	struct stat status;

	image->sums = NULL;
	image->thread = NULL;
	image->structure = NULL;
	image->iterations = NULL;
	image->arguments = NULL;
	if (fd < 0 || fstat(fd, &status))
		error = -errno;
	else if (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX)
		error = image_refuse(why, why_size, "not left by phasemux");
	else if (!(bytes = calloc((size_t)status.st_size + 1, 1)))
		error = -ENOMEM;
	else
		error = read_moment(fd, bytes, (size_t)status.st_size);
	if (error && error != -EINVAL)
		snprintf(why, why_size, "%s", strerror(-error));
	if (!error)
		error = spool_image_parse(image, bytes, (size_t)status.st_size, why, why_size);
	if (!error)
		image->owned = status.st_uid == geteuid();
	free(bytes);
	if (fd >= 0)
		close(fd);
	return error;
}

void spool_image_fini(struct spool_image *image)
{
	free(image->sums);
	free(image->thread);
	free(image->structure);
	free(image->iterations);
	free(image->arguments);
	image->sums = NULL;
	image->thread = NULL;
}
