/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of a region's file: what it takes has valid indexes, and its times do not go back. */
#include "agent/boundary/calls.h"
#include "fuzz.h"
#include "tools/region/region_read.h"

static void check(const struct region_rank *rank)
{
	uint64_t last = 0;

	for (size_t i = 0; i < rank->calls; i++) {
		const struct region_call *call = &rank->call[i];

		if (call->site >= SITES_MAX || call->prototype > PROTOTYPES_MAX ||
				call->begin < last || call->entered < call->begin ||
				call->left < call->entered ||
				rank->site[call->site].call >= RUNTIME_CALLS ||
				rank->site[call->site].frames > PATH_FRAMES_MAX)
			abort();
		last = call->left;
	}
	for (size_t i = 0; i < rank->reads; i++) {
		const struct region_group *group = &rank->group[rank->counts[i].group];

		if (rank->counts[i].group >= rank->groups || group->count > GROUP_EVENTS_MAX)
			abort();
		for (unsigned e = 0; e < group->count; e++)
			if (group->event[e] >= rank->events)
				abort();
	}
	for (unsigned e = 0; e < rank->events; e++)
		if (!memchr(rank->event[e], '\0', sizeof(rank->event[e])))
			abort();
	for (unsigned i = 0; i < rank->modules; i++)
		if (!memchr(rank->module[i].path, '\0', sizeof(rank->module[i].path)))
			abort();
	if (rank->facts.rank < 0 || rank->facts.rank >= rank->facts.size ||
			!memchr(rank->facts.host, '\0', sizeof(rank->facts.host)))
		abort();
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	struct region_rank rank = { .calls = 0 };
	char why[200] = "";
	int error = region_read_bytes(&rank, data, size, why, sizeof(why));

	if (error && !*why)
		abort();
	if (!error)
		check(&rank);
	region_rank_fini(&rank);
	return !error;
}

static size_t add_chunk(unsigned char *data, size_t at, enum region_kind kind, const void *bytes,
		size_t length)
{
	struct region_chunk head = { kind, (uint32_t)length };

	memcpy(data + at, &head, sizeof(head));
	memcpy(data + at + sizeof(head), bytes, length);
	return at + sizeof(head) + length;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	struct region_facts facts = { .version = REGION_VERSION,
		.size = 2,
		.iterations = 6,
		.ns_per_tick = 0.5,
		.host = "node1" };
	struct region_module module = { 4096, 4096, 8192, 5, 0 };
	struct region_site site = { .number = 3,
		.call = MPI_CALL_Send,
		.frames = 1,
		.address = { 5000 } };
	uint32_t phase[PROTOTYPES_MAX] = { 1, 2 };
	struct region_call call[3] = { { 1000, 2000, 3000, 3, 1, 0 }, { 3000, 3000, 4000, 3, 0, 0 },
		{ 4000, 5000, 5000, 3, 2, 0 } };
	char events[2][REGION_EVENT_NAME] = { "cycles", "instructions" };
	struct region_group group = { .count = 2, .event = { 0, 1 } };
	struct region_counts counts = { .call = 1, .value = { 5, 6 } };
	struct region_end end = { .iterations = 6, .calls = 3 };
	unsigned char modules[sizeof(module) + 5];
	size_t at = 0;

	if (seed > 0)
		return 0;
	memcpy(facts.magic, REGION_MAGIC, sizeof(facts.magic));
	memcpy(modules, &module, sizeof(module));
	memcpy(modules + sizeof(module), "/bin/", 5);
	at = add_chunk(data, at, REGION_FACTS, &facts, sizeof(facts));
	at = add_chunk(data, at, REGION_MODULES, modules, sizeof(modules));
	at = add_chunk(data, at, REGION_SITES, &site, sizeof(site));
	at = add_chunk(data, at, REGION_PHASES, phase, sizeof(phase));
	at = add_chunk(data, at, REGION_EVENTS, events, sizeof(events));
	at = add_chunk(data, at, REGION_GROUPS, &group, sizeof(group));
	at = add_chunk(data, at, REGION_COUNTS, &counts, sizeof(counts));
	at = add_chunk(data, at, REGION_CALLS, call, sizeof(call));
	return add_chunk(data, at, REGION_END, &end, sizeof(end));
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}
