/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the image of the arguments of calls that a killed process leaves. What is accepted is merged, and becomes JSON. */
#include "agent/report/parts/structure.h"
#include "agent/spool/arguments_image.h"
#include "agent/structures/argument_table.h"
#include "fuzz.h"

#define SITES 3

static struct call_arguments arguments;
static struct site_table sites;

static void make_sites(void)
{
	static const uint16_t call[SITES + 1] = { 0, MPI_CALL_Isend, MPI_CALL_Sendrecv,
		MPI_CALL_Waitall };

	sites.sites = SITES;
	sites.paths.count = SITES + 1;
	for (unsigned site = 1; site <= SITES; site++) {
		sites.site[site].call = call[site];
		sites.site[site].path = (uint16_t)site;
		sites.paths.path[site].frames = 1;
		sites.paths.path[site].address[0] = 0x400100 + 16 * site;
	}
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	static struct argument_table table, total;
	static struct structures structures;
	static struct place_files files;
	static const struct prototype_table prototypes = { .count = 0 };
	static const unsigned number[PROTOTYPES_MAX + 1];
	const struct module module = { 0x400000, 0x400000, 0x500000, "/bin/program" };
	const struct structures_thread thread = { NULL, &sites, 1, 0, &module, 1, { 0 } };
	const struct structure_facts facts = { &structures, &total, &prototypes, number, NULL };
	struct places *places = places_new(NULL, &structures, NULL);
	bool accepted = size >= sizeof(uint64_t);
	json_t *json;

	make_sites();
	memset(&table, 0, sizeof(table));
	memset(&total, 0, sizeof(total));
	argument_table_share(&thread, accepted ? data : NULL, size, &files, &table);
	argument_table_merge(&table, &total);
	argument_table_merge(&table, &total);
	accepted = accepted && table.variants;
	json = structure_json(&facts, places);
	if (!json)
		abort();
	json_decref(json);
	places_free(places);
	return accepted;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	if (seed > 3)
		return 0;
	make_sites();
	memset(&arguments, 0, sizeof(arguments));
	for (unsigned step = 0; step < (seed ? 60 * seed : 1); step++)
		for (unsigned site = 1; site <= SITES; site++) {
			arguments.noted = true;
			for (unsigned i = 0; i < ARGUMENTS; i++)
				arguments.value[i] = (int64_t)(step * step * i % 7) - 3;
			if (step % 5 == seed)
				arguments.value[ARGUMENT_TO] = ARGUMENT_NONE;
			call_arguments_add(&arguments, &sites, site);
		}
	if (arguments_image_bound(&arguments) > FUZZ_ROOM)
		abort();
	return arguments_image_write(&arguments, &sites, data);
}
