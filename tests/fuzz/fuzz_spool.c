/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the input of `phasemux recover`. Every spool that is accepted makes a report, as text too. */
#include <math.h>

#include "agent/report/recovery.h"
#include "agent/spool/spool_image.h"
#include "agent/text/report_text.h"
#include "cluster/loops/loops.h"
#include "multiplex/estimate/layout.h"
#include "tests/fuzz/fuzz.h"

static bool fuzz_one(const unsigned char *data, size_t size)
{
	static struct spool_image image;
	struct recovery *recovery;
	json_t *report;
	char why[256] = "";
	char *text;

	if (spool_image_parse(&image, data, size, why, sizeof(why))) {
		if (!*why)
			abort();
		return false;
	}
	recovery = recovery_new();
	if (recovery_add(recovery, &image, why, sizeof(why)))
		abort();
	/* the same rank twice is refused */
	if (recovery_add(recovery, &image, why, sizeof(why)) == 0)
		abort();
	report = recovery_report(recovery, "");
	text = report ? report_text(report, why, sizeof(why)) : NULL;
	if (!text)
		abort();
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' && *at != '\n')
			abort();
	free(text);
	json_decref(report);
	recovery_free(recovery);
	spool_image_fini(&image);
	return true;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	struct spool_facts *facts = (struct spool_facts *)data;

	if (size >= sizeof(*facts))
		facts->checksum = spool_checksum(facts);
}

static void fill_facts(struct spool_facts *facts, unsigned seed)
{
	memcpy(facts->magic, SPOOL_MAGIC, sizeof(facts->magic));
	facts->version = SPOOL_VERSION;
	facts->facts_bytes = sizeof(*facts);
	facts->side_bytes = sizeof(struct spool_side);
	facts->thread_bytes = sizeof(struct spool_thread);
	facts->loops_bytes = sizeof(struct loops);
	facts->run = 77;
	facts->size = 4;
	facts->rank = 1;
	facts->ns_per_tick = 0.4;
	facts->prototypes = PROTOTYPES_MAX;
	facts->hardware = seed > 0;
	facts->counters = 4;
	facts->warnings = 1;
	facts->command_bytes = 9;
	memcpy(facts->command, "lmp\0-in\0x", 9);
	plan_pack(&facts->plan, seed ? 6 : 1, seed ? 2 : 1, 4, NULL);
	for (unsigned e = 0; e < facts->plan.events; e++) {
		snprintf(facts->event[e], sizeof(facts->event[e]), "event%u", e);
		facts->model_event[e] = e;
	}
	snprintf(facts->host, sizeof(facts->host), "node%u", seed);
	snprintf(facts->model, sizeof(facts->model), "%s", seed ? "zen4" : "software");
	facts->sums_length = sums_length_for(&facts->plan, PROTOTYPES_MAX);
}

static void fill_thread(struct spool_thread *thread, const struct spool_facts *facts)
{
	thread->account =
			(struct account){ .calls = 100, .bursts = 100, .ticks = 1e9, .reads = 200 };
	thread->spans = 2;
	thread->span[0] = (struct spool_span){ .from = 1,
		.to = 2,
		.lengths = 1,
		.bin = { 80 },
		.length = { 1 } };
	thread->lengths = 2;
	thread->length[1] = (struct spool_length){ .unread = 3,
		.unread_ticks = 1e6,
		.share_read = { 40 },
		.mean_ticks = { 1e6f } };
	thread->open = 1;
	thread->open_group = facts->plan.groups - 1;
	thread->open_weight = 1;
	for (unsigned i = 0; i < QUANTUM_FIELDS; i++)
		thread->open_fields[0][i] = 5 + i;
	thread->paths = 3;
	thread->path[1].frames = 2;
	thread->sites = 4;
	for (unsigned i = 0; i < thread->sites; i++)
		thread->site[i].path = 1;
	thread->site[2].call = MPI_CALL_Isend;
}

/* Loops of the thread's sites, with counts that vary. */
static void fill_structure(struct loops *loops)
{
	loops_init(loops);
	for (unsigned step = 0; step < 60; step++) {
		loops_add(loops, 1, 1000, 10);
		for (unsigned inner = 1 + step * step % 5; inner; inner--) {
			loops_add(loops, 2, 500, 10);
			loops_add(loops, 3, 500, 10);
		}
		if (step == 20)
			loops_skip(loops, 7, 700, 70);
	}
}

/* The arguments of the calls of site 2. Returns the length of their image. */
static uint32_t fill_arguments(uint8_t *image)
{
	static struct call_arguments arguments;
	static struct site_table sites;

	memset(&arguments, 0, sizeof(arguments));
	sites.sites = 3;
	sites.site[2].call = MPI_CALL_Isend;
	for (unsigned step = 0; step < 160; step++) {
		arguments.noted = true;
		arguments.value[ARGUMENT_TO] = step % 5 ? (int64_t)(step % 3) - 1 : ARGUMENT_NONE;
		arguments.value[ARGUMENT_BYTES] = 8 * (step * step % 11);
		call_arguments_add(&arguments, &sites, 2);
	}
	return (uint32_t)arguments_image_write(&arguments, &sites, image);
}

/* Some iterations that were measured. Returns the bytes of the sample. */
static uint32_t fill_iterations(struct iteration_sample *sample)
{
	iteration_sample_start(sample, &(struct anchor){ 3, 1 });
	for (unsigned step = 0; step < 40; step++)
		iteration_sample_add(sample, 1000 + step, &(struct iteration_part){ 1, 500 }, 1);
	return (uint32_t)iteration_sample_bytes(sample);
}

static void fill_sums(struct spool_image *image)
{
	struct sums *sums = sums_over(&image->facts.plan, PROTOTYPES_MAX, image->sums);

	for (unsigned p = 0; p < 3; p++)
		for (size_t i = 0; i < sums->stride; i++)
			sums_common(sums, p)[i] = 10 + p * (i % BLOCK_FIELDS + 1);
	sums_free(sums);
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	static struct spool_facts facts;
	struct spool_image image;
	struct spool_side *side;
	size_t size;

	if (seed > 1)
		return 0;
	memset(&facts, 0, sizeof(facts));
	fill_facts(&facts, seed);
	size = spool_thread_at(facts.sums_length, 1, 0);
	memset(data, 0, size);
	facts.checksum = spool_checksum(&facts);
	memcpy(data, &facts, sizeof(facts));
	side = (struct spool_side *)(data + spool_side_at(0));
	side->now = 1000000000;
	side->threads = 1;
	side->prototypes = 3;
	side->phases = 2;
	side->structure = 1;
	fill_structure((struct loops *)(data + spool_structure_at(facts.sums_length, 0)));
	side->iterations = fill_iterations((struct iteration_sample *)(data +
			spool_iterations_at(facts.sums_length, 0)));
	side->arguments = fill_arguments(data + spool_arguments_at(facts.sums_length, 0));
	side->phase[0] = side->phase[1] = 1;
	side->phase[2] = 2;
	image.facts = facts;
	image.sums = (double *)(data + spool_sums_at(facts.sums_length, 0));
	fill_sums(&image);
	fill_thread((struct spool_thread *)(data + spool_thread_at(facts.sums_length, 0, 0)),
			&facts);
	return size;
}
