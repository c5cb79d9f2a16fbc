/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the calls of several ranks in one table. */
#include <math.h>
#include <stdlib.h>

#include "agent/boundary/calls.h"
#include "agent/spool/arguments_image.h"
#include "agent/structures/argument_table.h"
#include "tests/tap.h"

static struct site_table sites;
static struct place_files files;
static struct call_arguments arguments;
static struct argument_table total, one;
static uint8_t image[ARGUMENTS_IMAGE_MAX];

/* Makes two sites, which have the same place if they look alike. */
static void start_job(bool alike)
{
	memset(&total, 0, sizeof(total));
	memset(&files, 0, sizeof(files));
	sites.sites = 2;
	sites.paths.count = 3;
	for (unsigned site = 1; site <= 2; site++) {
		sites.site[site].call = MPI_CALL_Bcast;
		sites.site[site].path = (uint16_t)site;
		sites.paths.path[site].frames = 1;
		sites.paths.path[site].address[0] = 0x400100 + (alike ? 0 : 16 * site);
	}
}

static void call(uint32_t site, int64_t root, int64_t bytes)
{
	arguments.noted = true;
	arguments.value[ARGUMENT_ROOT] = root;
	arguments.value[ARGUMENT_BYTES] = bytes;
	call_arguments_add(&arguments, &sites, site);
}

static void end_rank(uint32_t rank)
{
	const struct module module = { 0x400000, 0x400000, 0x500000, "/bin/program" };
	const struct structures_thread thread = { NULL, &sites, 1, rank, &module, 1, { 0 } };
	size_t length;

	call_arguments_finish(&arguments);
	length = arguments_image_write(&arguments, &sites, image);
	memset(&one, 0, sizeof(one));
	argument_table_share(&thread, image, length, &files, &one);
	argument_table_merge(&one, &total);
	memset(&arguments, 0, sizeof(arguments));
}

/* Sums over the variants of an argument. */
static struct argument_variant sum_of(enum argument argument, unsigned *variants)
{
	struct argument_variant sum = { .least = INFINITY, .most = -INFINITY };

	*variants = 0;
	for (uint32_t i = 0; i < total.variants; i++) {
		const struct argument_variant *variant = &total.variant[i];

		if (variant->argument != argument)
			continue;
		++*variants;
		sum.ranks += variant->ranks;
		sum.values += variant->values;
		sum.sum += variant->sum;
		sum.least = fmin(sum.least, variant->least);
		sum.most = fmax(sum.most, variant->most);
	}
	return sum;
}

static void test_equal(void)
{
	struct argument_variant sum;
	struct rank_set set;
	unsigned variants;

	start_job(false);
	for (uint32_t rank = 0; rank < 12; rank++) {
		for (int i = 0; i < 100; i++)
			call(1, rank % 3, i % 4);
		end_rank(rank);
	}
	ok(total.paths == 1, "ranks with one path have one");
	sum = sum_of(ARGUMENT_BYTES, &variants);
	ok(variants == 1 && sum.ranks == 12 && sum.values == 1200 && sum.sum == 1800 &&
					sum.least == 0 && sum.most == 3,
			"equal sequences are one variant, whose numbers are those of all ranks");
	sum = sum_of(ARGUMENT_ROOT, &variants);
	ok(variants == 3 && sum.ranks == 12, "others are several, and each rank is in one");
	for (uint32_t i = 0; i < total.variants; i++)
		if (total.variant[i].argument == ARGUMENT_ROOT) {
			set = rank_lists_read(&total.ranks, total.variant[i].first_range);
			ok(set.count == 1 && set.range[0].step == 3 && set.range[0].count == 4 &&
							set.range[0].first == total.variant[i].most,
					"every third rank has this root");
		}
}

/* Sequences that do not find room leave their summary. */
static void test_room(void)
{
	struct argument_variant sum;
	double expected = 0;
	unsigned variants, state = 1, lossy = 0;

	start_job(false);
	for (uint32_t rank = 0; rank < 300; rank++) {
		for (int i = 0; i < 500; i++) {
			state = state * 1664525u + 1013904223u;
			call(1, 0, state >> 8);
			expected += state >> 8;
		}
		end_rank(rank);
	}
	sum = sum_of(ARGUMENT_BYTES, &variants);
	for (uint32_t i = 0; i < total.variants; i++)
		if (total.variant[i].argument == ARGUMENT_BYTES && !total.variant[i].bytes) {
			lossy++;
			ok(total.variant[i].exact == 0 && total.variant[i].ranks > 1,
					"sequences without room are one variant, of which no value is known");
		}
	ok(lossy == 1 && variants > 1 && total.bytes <= ARGUMENT_BYTES_MAX, "the table is bounded");
	ok(sum.ranks == 300 && sum.values == 150000 && sum.sum == expected,
			"no rank, no value and no sum is lost");
}

/* It is not known in which order two sites with the same place were called. */
static void test_alike(void)
{
	struct argument_variant sum;
	unsigned variants;

	start_job(true);
	for (int i = 0; i < 10; i++) {
		call(1, 0, 8);
		call(2, 0, 16);
	}
	end_rank(0);
	sum = sum_of(ARGUMENT_BYTES, &variants);
	ok(total.paths == 1 && variants == 1 && sum.values == 10 && total.variant[0].bytes == 0 &&
					total.variant[0].exact == 0,
			"two sites that look alike have no sequence");
	ok(total.left_out_values == 30,
			"the values of the three arguments of one of them are counted");
}

static void test_unknown(void)
{
	const struct structures_thread thread = { .sites = &sites };

	start_job(false);
	memset(&one, 0, sizeof(one));
	argument_table_share(&thread, NULL, 0, &files, &one);
	argument_table_merge(&one, &total);
	ok(total.left_out == 1 && !total.variants, "a rank without arguments is counted");
}

int main(void)
{
	test_equal();
	test_room();
	test_alike();
	test_unknown();
	return tap_done();
}
