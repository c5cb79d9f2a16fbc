/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/region/region_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/boundary/calls.h"

#define FILE_MAX (UINT64_C(1) << 30) /* bytes */

static int refuse_file(char *why, size_t why_size, const char *what)
{
	snprintf(why, why_size, "%s", what);
	return -EINVAL;
}

/* ---- chunks ---- */

static int take_facts(struct region_rank *rank, const void *bytes, size_t length, char *why,
		size_t why_size)
{
	struct region_facts *facts = &rank->facts;

	if (length < offsetof(struct region_facts, rank))
		return refuse_file(why, why_size, "it has no facts");
	memcpy(facts, bytes, length < sizeof(*facts) ? length : sizeof(*facts));
	if (memcmp(facts->magic, REGION_MAGIC, sizeof(facts->magic)) != 0)
		return refuse_file(why, why_size, "it is not a file of a region");
	if (facts->version != REGION_VERSION)
		return refuse_file(why, why_size, "it was written by another version of phasemux");
	if (length != sizeof(*facts) || facts->rank < 0 || facts->size <= facts->rank ||
			!(facts->ns_per_tick > 0) || !isfinite(facts->ns_per_tick))
		return refuse_file(why, why_size, "its facts are invalid");
	facts->host[sizeof(facts->host) - 1] = '\0';
	return 0;
}

static int take_modules(struct region_rank *rank, const char *bytes, size_t length)
{
	rank->module = calloc(MODULES_MAX, sizeof(*rank->module));
	if (!rank->module)
		return -ENOMEM;
	rank->modules = 0;
	for (size_t at = 0; rank->modules < MODULES_MAX;) {
		struct module *module = &rank->module[rank->modules];
		struct region_module of;

		if (at + sizeof(of) > length)
			break;
		memcpy(&of, bytes + at, sizeof(of));
		at += sizeof(of);
		if (of.length >= sizeof(module->path) || of.length > length - at)
			break;
		*module = (struct module){ of.base, of.begin, of.end, "" };
		memcpy(module->path, bytes + at, of.length);
		at += of.length;
		rank->modules++;
	}
	return 0;
}

static int take_sites(struct region_rank *rank, const char *bytes, size_t length)
{
	if (!rank->site)
		rank->site = calloc(SITES_MAX, sizeof(*rank->site));
	if (!rank->site)
		return -ENOMEM;
	for (size_t at = 0; at + sizeof(*rank->site) <= length; at += sizeof(*rank->site)) {
		struct region_site site;

		memcpy(&site, bytes + at, sizeof(site));
		if (site.number >= SITES_MAX || site.frames > PATH_FRAMES_MAX ||
				site.call >= RUNTIME_CALLS)
			continue;
		rank->site[site.number] = site;
	}
	return 0;
}

static void take_events(struct region_rank *rank, const char *bytes, size_t length)
{
	rank->events = (unsigned)(length / REGION_EVENT_NAME);
	if (rank->events > REGION_EVENTS_MAX)
		rank->events = REGION_EVENTS_MAX;
	memcpy(rank->event, bytes, rank->events * sizeof(rank->event[0]));
	for (unsigned e = 0; e < rank->events; e++) {
		char *name = rank->event[e];

		name[REGION_EVENT_NAME - 1] = '\0';
		for (; *name; name++)
			if (*name <= ' ' || *name > '~')
				*name = '_';
	}
}

/* Takes the groups up to the first one that is invalid. */
static void take_groups(struct region_rank *rank, const char *bytes, size_t length)
{
	rank->groups = 0;
	for (size_t at = 0; rank->groups < REGION_GROUPS_MAX; rank->groups++) {
		struct region_group *group = &rank->group[rank->groups];

		if (at + sizeof(*group) > length)
			return;
		memcpy(group, bytes + at, sizeof(*group));
		at += sizeof(*group);
		if (group->count > GROUP_EVENTS_MAX)
			return;
		for (unsigned i = 0; i < group->count; i++)
			if (group->event[i] >= rank->events)
				return;
	}
}

static int take_counts(struct region_rank *rank, const char *bytes, size_t length)
{
	size_t more = length / sizeof(*rank->counts);
	struct region_counts *counts =
			realloc(rank->counts, (rank->reads + more + 1) * sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	rank->counts = counts;
	for (size_t i = 0; i < more; i++) {
		memcpy(&counts[rank->reads], bytes + i * sizeof(*counts), sizeof(*counts));
		if (counts[rank->reads].group < rank->groups &&
				(!rank->reads ||
						counts[rank->reads - 1].call <
								counts[rank->reads].call))
			rank->reads++;
	}
	return 0;
}

const struct region_counts *region_counts_of(const struct region_rank *rank, size_t call,
		size_t *next)
{
	while (*next < rank->reads && rank->counts[*next].call < call)
		(*next)++;
	return *next < rank->reads && rank->counts[*next].call == call ? &rank->counts[*next] :
									 NULL;
}

static int take_calls(struct region_rank *rank, const char *bytes, size_t length)
{
	size_t more = length / sizeof(*rank->call);
	struct region_call *calls = realloc(rank->call, (rank->calls + more + 1) * sizeof(*calls));
	uint64_t last;

	if (!calls)
		return -ENOMEM;
	rank->call = calls;
	for (size_t i = 0; i < more; i++) {
		struct region_call *call = &calls[rank->calls];

		memcpy(call, bytes + i * sizeof(*call), sizeof(*call));
		last = rank->calls ? calls[rank->calls - 1].left : call->begin;
		/* a call that is invalid, or before the last one, is left out */
		if (call->site >= SITES_MAX || call->prototype > PROTOTYPES_MAX ||
				call->entered < last || call->left < call->entered ||
				call->begin > call->entered)
			continue;
		call->begin = call->begin < last ? last : call->begin;
		rank->calls++;
	}
	return 0;
}

static int take_chunk(struct region_rank *rank, const struct region_chunk *head, const char *bytes)
{
	switch (head->kind) {
	case REGION_MODULES:
		return rank->module ? 0 : take_modules(rank, bytes, head->bytes);
	case REGION_SITES:
		return take_sites(rank, bytes, head->bytes);
	case REGION_PHASES:
		if (head->bytes == sizeof(rank->phase))
			memcpy(rank->phase, bytes, sizeof(rank->phase));
		return 0;
	case REGION_EVENTS:
		if (!rank->events)
			take_events(rank, bytes, head->bytes);
		return 0;
	case REGION_GROUPS:
		if (!rank->groups)
			take_groups(rank, bytes, head->bytes);
		return 0;
	case REGION_COUNTS:
		return take_counts(rank, bytes, head->bytes);
	case REGION_CALLS:
		return take_calls(rank, bytes, head->bytes);
	case REGION_END:
		rank->ended = head->bytes == sizeof(rank->end);
		if (rank->ended)
			memcpy(&rank->end, bytes, sizeof(rank->end));
		return 0;
	default:
		return 0;
	}
}

int region_read_bytes(struct region_rank *rank, const void *bytes, size_t length, char *why,
		size_t why_size)
{
	const char *data = bytes;
	struct region_chunk head;
	bool first = true;
	int error = 0;

	for (size_t at = 0; !error && at + sizeof(head) <= length; at += head.bytes) {
		memcpy(&head, data + at, sizeof(head));
		at += sizeof(head);
		if (head.bytes > length - at)
			break;
		if (first && head.kind != REGION_FACTS)
			break;
		error = first ? take_facts(rank, data + at, head.bytes, why, why_size) :
				take_chunk(rank, &head, data + at);
		first = false;
	}
	if (error == -ENOMEM)
		snprintf(why, why_size, "no memory");
	if (first)
		return refuse_file(why, why_size, "it is not a file of a region");
	if (!error && !rank->site)
		error = take_sites(rank, data, 0);
	return error;
}

void region_rank_fini(struct region_rank *rank)
{
	free(rank->module);
	free(rank->site);
	free(rank->call);
	free(rank->counts);
}

/* ---- files ---- */

/* Reads a file that is in the open folder. Returns 0 or as region_read. */
static int read_file(struct region_rank *rank, int folder, const char *name, char *why,
		size_t why_size)
{
	int error = -EINVAL, fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	char *bytes = NULL;
	ssize_t got = -1;

	if (fd < 0 || fstat(fd, &status)) {
		snprintf(why, why_size, "%s", strerror(errno));
	} else if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > FILE_MAX) {
		snprintf(why, why_size, "it is no plain file, or too large");
	} else {
		bytes = malloc((size_t)status.st_size + 1);
		got = bytes ? read(fd, bytes, (size_t)status.st_size) : -1;
		if (got < 0)
			snprintf(why, why_size, "%s", strerror(errno));
		else
			error = region_read_bytes(rank, bytes, (size_t)got, why, why_size);
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return error;
}

static int by_rank(const void *a, const void *b)
{
	const struct region_rank *const *x = a, *const *y = b;

	return ((*x)->facts.rank > (*y)->facts.rank) - ((*x)->facts.rank < (*y)->facts.rank);
}

/* Adds a file. Returns as region_read. */
static int add_file(struct region_run *run, int folder, const char *name, char *why,
		size_t why_size)
{
	struct region_rank **more =
			realloc(run->rank, (run->ranks + 1) * sizeof(struct region_rank *));
	char what[160];

	if (!more)
		return refuse_file(why, why_size, "no memory") ? 1 : 0;
	run->rank = more;
	more[run->ranks] = calloc(1, sizeof(**more));
	if (!more[run->ranks])
		return refuse_file(why, why_size, "no memory") ? 1 : 0;
	run->ranks++;
	if (read_file(more[run->ranks - 1], folder, name, what, sizeof(what))) {
		snprintf(why, why_size, "%.80s: %s", name, what);
		return 2;
	}
	if (more[run->ranks - 1]->facts.run != more[0]->facts.run ||
			more[run->ranks - 1]->facts.size != more[0]->facts.size) {
		snprintf(why, why_size, "%.80s is of another run than the other files", name);
		return 2;
	}
	return 0;
}

static bool is_ours(const char *name)
{
	size_t length = strlen(name), suffix = strlen(REGION_SUFFIX);

	return strncmp(name, REGION_START, strlen(REGION_START)) == 0 &&
			length > strlen(REGION_START) + suffix &&
			strcmp(name + length - suffix, REGION_SUFFIX) == 0;
}

int region_read(struct region_run *run, const char *folder, char *why, size_t why_size)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int code = 0;

	if (!stream) {
		snprintf(why, why_size, "%.200s: %s", folder, strerror(errno));
		return 1;
	}
	while (!code && (entry = readdir(stream)))
		if (is_ours(entry->d_name))
			code = add_file(run, dirfd(stream), entry->d_name, why, why_size);
	closedir(stream);
	if (!code && !run->ranks) {
		snprintf(why, why_size,
				"%.200s has no region: the run had no PHASEMUX_REGION, or no region was "
				"ordered yet",
				folder);
		code = 1;
	}
	if (!code)
		qsort(run->rank, run->ranks, sizeof(struct region_rank *), by_rank);
	return code;
}

void region_run_fini(struct region_run *run)
{
	for (size_t i = 0; i < run->ranks; i++) {
		region_rank_fini(run->rank[i]);
		free(run->rank[i]);
	}
	free(run->rank);
}

double region_ns(const struct region_run *run, const struct region_rank *rank, uint64_t ticks)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < run->ranks; i++) {
		const struct region_rank *other = run->rank[i];

		if (other->calls && strcmp(other->facts.host, rank->facts.host) == 0 &&
				other->call[0].begin < first)
			first = other->call[0].begin;
	}
	return ticks > first ? (double)(ticks - first) * rank->facts.ns_per_tick : 0;
}
