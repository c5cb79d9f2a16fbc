/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that the profiles of several processes, whose addresses differ, become one. Places are known by the
 * loaded file and the offset in it. The order of merging makes no difference, and the size does not depend on
 * the number of profiles.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/spool/profile.h"
#include "tests/tap.h"

static struct module module_at(uintptr_t base, const char *path)
{
	struct module module = { .base = base, .begin = base + 0x1000, .end = base + 0x200000 };

	snprintf(module.path, sizeof(module.path), "%s", path);
	return module;
}

static struct profile_total *new_total(void)
{
	struct profile_total *total = calloc(1, sizeof(*total));

	return total ? total : (abort(), total);
}

static struct profile *new_profile(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	return profile ? profile : (abort(), profile);
}

/* Returns the key of samples in a prototype, without callers. */
static struct profile_key of(uint16_t prototype)
{
	return (struct profile_key){ prototype, STACK_NONE };
}

/* Returns the number of samples at the address in the prototype. */
static long samples_at(const struct profile *profile, uintptr_t address, uint32_t prototype)
{
	long samples = 0;

	for (size_t i = 0; i < PROFILE_ENTRIES; i++)
		if (profile->entry[i].address == address &&
				profile->entry[i].key.prototype == prototype)
			samples += profile->entry[i].samples;
	return samples;
}

static long all_samples(const struct profile_total *total)
{
	long samples = 0;

	for (uint32_t i = 0; i < total->places; i++)
		samples += total->place[i].samples;
	return samples;
}

static void test_addresses(void)
{
	struct module first[2] = { module_at(0x400000, "/bin/a"),
		module_at(0x7f0000000000, "/lib/b") };
	struct module second[3] = { module_at(0x555500000000, "/bin/a"),
		module_at(0x7e0000000000, "/lib/b"), module_at(0x7d0000000000, "/lib/c") };
	struct profile *one = new_profile(), *two = new_profile(), *back = new_profile();
	struct profile_total *total = new_total(), *other = new_total();
	struct module modules[8];
	unsigned count;

	profile_add(one, 0x400000 + 0x1234, of(1), 10);
	profile_add(one, 0x7f0000000000 + 0x2000, of(1), 3);
	profile_add(two, 0x555500000000 + 0x1234, of(1), 7);
	profile_add(two, 0x555500000000 + 0x1234, of(2), 1);
	profile_add(two, 0x7d0000000000 + 0x3000, of(2), 5);
	profile_add(two, 0x1000, of(2), 2);
	profile_share(one, first, 2, total);
	profile_share(two, second, 3, other);
	profile_merge(other, total);
	is_int(total->places, 5, "places of two processes");
	is_int(all_samples(total), 28, "with all their samples");

	memcpy(modules, first, sizeof(first));
	count = profile_restore(total, modules, 2, 8, back);
	is_int(count, 3, "a file that another process alone has loaded is appended");
	is_str(modules[2].path, "/lib/c", "by its path");
	is_int(samples_at(back, 0x400000 + 0x1234, 1), 17, "the same place is one");
	is_int(samples_at(back, 0x400000 + 0x1234, 2), 1, "except for its prototype");
	is_int(samples_at(back, 0x7f0000000000 + 0x2000, 1), 3, "what one process had");
	is_int(samples_at(back, modules[2].base + 0x3000, 2), 5, "what the other had");
	is_int(samples_at(back, 1, 2), 2, "an address in no file stays in no file");
	ok(modules[2].begin <= modules[2].base + 0x3000 &&
					modules[2].end > modules[2].base + 0x3000,
			"a place lies in its file");

	memset(back, 0, sizeof(*back));
	memcpy(modules, first, sizeof(first));
	is_int(profile_restore(total, modules, 2, 2, back), 2, "without room for the file");
	is_int(samples_at(back, 1, 2), 7, "its samples are in none");
	free(one);
	free(two);
	free(back);
	free(total);
	free(other);
}

/* Merges profiles of many processes, each with places of its own and one common place. */
static void test_bounds(void)
{
	struct module module = module_at(0x400000, "/bin/a");
	struct profile_total *forth = new_total(), *part = new_total(), *tree[8];
	struct profile *profile = new_profile();

	for (unsigned rank = 0; rank < 8; rank++) {
		tree[rank] = new_total();
		memset(profile, 0, sizeof(*profile));
		memset(part, 0, sizeof(*part));
		for (unsigned i = 0; i < 1000; i++)
			profile_add(profile, 0x402000 + (rank * 1000 + i) * 16, of(1), 1);
		profile_add(profile, 0x401000, of(1), 500);
		profile_share(profile, &module, 1, part);
		profile_merge(part, forth);
		*tree[rank] = *part;
	}
	for (unsigned step = 1; step < 8; step *= 2)
		for (unsigned rank = 0; rank + step < 8; rank += 2 * step)
			profile_merge(tree[rank + step], tree[rank]);
	is_int(forth->places, PROFILE_PLACES, "what finds no room is left out");
	is_int(forth->files.count, 1, "one file is one");
	memset(profile, 0, sizeof(*profile));
	profile_restore(forth, &module, 1, 1, profile);
	is_int(samples_at(profile, 0x401000, 1), 4000, "what all have is whole");
	memset(profile, 0, sizeof(*profile));
	profile_restore(tree[0], &module, 1, 1, profile);
	is_int(samples_at(profile, 0x401000, 1), 4000, "also when they are merged as a tree");
	for (unsigned rank = 0; rank < 8; rank++)
		free(tree[rank]);
	free(forth);
	free(part);
	free(profile);
}

/* Returns the number of samples below these callers, innermost first. deeper: and others above them. */
static long samples_below(const struct profile *profile, const uint64_t *callers, unsigned count,
		uint16_t end)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint16_t above;
	long samples = 0;

	for (size_t i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address &&
				stack_tree_list(profile->stack, STACK_TREE_NODES, entry->key.stack,
						frames, &above) == count &&
				above == end &&
				(!count || memcmp(frames, callers, count * sizeof(*callers)) == 0))
			samples += entry->samples;
	}
	return samples;
}

/* Samples at base + 0x1000, below callers at base + the offsets. */
static void add_below(struct profile *profile, uintptr_t base, const uint64_t *offsets,
		unsigned count, uint32_t samples)
{
	uint64_t frames[STACK_FRAMES_MAX];

	for (unsigned i = 0; i < count; i++)
		frames[i] = base + offsets[i];
	profile_add(profile, base + 0x1000,
			(struct profile_key){ 1,
					stack_tree_add(profile->stack, STACK_TREE_NODES, frames,
							count, false) },
			samples);
}

static void test_stacks(void)
{
	static const uint64_t one[] = { 0x2000, 0x3000 }, two[] = { 0x2010, 0x3000 },
			      cut[] = { 0x2000, 0x900000000000 };
	static const uint64_t whole[] = { 0x402000, 0x403000 }, other[] = { 0x402010, 0x403000 };
	struct module first = module_at(0x400000, "/bin/a");
	struct module second = module_at(0x555500000000, "/bin/a");
	struct profile *profile = new_profile(), *back = new_profile();
	struct profile_total *total = new_total(), *from = new_total();
	struct profile_key lost = { 1, STACK_LOST }, deeper = { 1, STACK_DEEPER };

	add_below(profile, 0x400000, one, 2, 10);
	add_below(profile, 0x400000, two, 2, 5);
	profile_add(profile, 0x401000, lost, 2);
	profile_add(profile, 0x401000, deeper, 1);
	profile_share(profile, &first, 1, total);
	memset(profile, 0, sizeof(*profile));
	add_below(profile, 0x555500000000, two, 2, 7);
	add_below(profile, 0x555500000000, cut, 2, 3);
	profile_share(profile, &second, 1, from);
	profile_merge(from, total);
	profile_restore(total, &first, 1, 1, back);
	is_int(samples_below(back, whole, 2, STACK_NONE), 10, "a stack of one process");
	is_int(samples_below(back, other, 2, STACK_NONE), 12, "one that two processes have");
	is_int(samples_below(back, whole, 1, STACK_NONE), 3,
			"one ends before a word that is in no file");
	is_int(samples_below(back, whole, 0, STACK_LOST), 2, "samples whose stack was lost");
	is_int(samples_below(back, whole, 0, STACK_DEEPER), 1, "samples with too deep a stack");
	is_int(samples_at(back, 0x401000, 1), 28, "all samples");
	free(profile);
	free(back);
	free(total);
	free(from);
}

/* Each of many processes has stacks of its own, and one that all have. */
static void test_stack_bounds(void)
{
	struct module module = module_at(0x400000, "/bin/a");
	struct profile_total *total = new_total(), *part = new_total();
	struct profile *profile = new_profile();
	uint64_t common[] = { 0x2000, 0x3000 }, frames[] = { 0x402000, 0x403000 };

	for (unsigned rank = 0; rank < 8; rank++) {
		memset(profile, 0, sizeof(*profile));
		memset(part, 0, sizeof(*part));
		for (unsigned i = 0; i < 500; i++) {
			uint64_t own[] = { 0x10000 + (rank * 500 + i) * 16, 0x3000 };

			add_below(profile, 0x400000, own, 2, 1);
		}
		add_below(profile, 0x400000, common, 2, 100);
		profile_share(profile, &module, 1, part);
		profile_merge(part, total);
	}
	is_int(all_samples(total) + total->left_out[1], 8 * 600, "no sample is forgotten");
	memset(profile, 0, sizeof(*profile));
	profile_restore(total, &module, 1, 1, profile);
	is_int(samples_below(profile, frames, 2, STACK_NONE), 800, "the largest stack is whole");
	ok(samples_below(profile, NULL, 0, STACK_LOST) + profile->left_out[1] >=
					4000 - STACK_TREE_NODES,
			"some find no room");
	is_int(profile->left_out[1], total->left_out[1], "the others are known to be missing");
	free(total);
	free(part);
	free(profile);
}

static void test_long_path(void)
{
	struct module module = module_at(0x400000, "/");
	struct profile_total *total = new_total();
	struct profile *profile = new_profile(), *back = new_profile();
	struct module none[1];

	memset(module.path, 'x', sizeof(module.path) - 1);
	profile_add(profile, 0x402000, of(3), 4);
	profile_share(profile, &module, 1, total);
	is_int(profile_restore(total, none, 0, 1, back), 0, "a path that is too long is not told");
	is_int(samples_at(back, 1, 3), 4, "but its samples are counted");
	memset(back, 0, sizeof(*back));
	profile_restore(total, &module, 1, 1, back);
	is_int(samples_at(back, 0x402000, 3), 4, "and the process that has the file knows it");
	free(profile);
	free(back);
	free(total);
}

int main(void)
{
	test_addresses();
	test_bounds();
	test_stacks();
	test_stack_bounds();
	test_long_path();
	return tap_done();
}
