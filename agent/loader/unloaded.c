/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/unloaded.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/host/file_status.h"

#define UNLOADED_MAX 128

struct snapshot {
	unsigned before, after;
	struct module module[MODULES_MAX], later[MODULES_MAX];
};

/* Attributes that distinguish two files of the same path. */
struct identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

static struct {
	atomic_flag taken;
	unsigned count;
	struct module module[UNLOADED_MAX];
	struct identity identity[UNLOADED_MAX];
} unloaded = { .taken = ATOMIC_FLAG_INIT };

static void unloaded_take(void)
{
	while (atomic_flag_test_and_set_explicit(&unloaded.taken, memory_order_acquire))
		sched_yield();
}

static void give(void)
{
	atomic_flag_clear_explicit(&unloaded.taken, memory_order_release);
}

/* Returns the identity of a file, zeros if there is none. */
static struct identity identify(const char *path)
{
	struct identity identity;
	struct stat status;

	memset(&identity, 0, sizeof(identity));
	if (*path && file_status_at(path, &status) == 0) {
		identity.device = status.st_dev;
		identity.inode = status.st_ino;
		identity.size = status.st_size;
		identity.changed = status.st_ctim;
	}
	return identity;
}

static bool is_file(const struct identity *identity, const char *path)
{
	struct identity now = identify(path);

	return now.inode && memcmp(&now, identity, sizeof(now)) == 0;
}

/* Extends the last entry by a file for which there is no room. The entry covers both, and names no file. */
static void widen_entry(struct module *last, const struct module *module)
{
	last->begin = module->begin < last->begin ? module->begin : last->begin;
	last->end = module->end > last->end ? module->end : last->end;
	last->path[0] = '\0';
}

static void remember_module(const struct module *module)
{
	struct identity identity = identify(module->path);

	for (unsigned i = 0; i < unloaded.count; i++) {
		struct module *known = &unloaded.module[i];

		if (known->base != module->base || known->begin != module->begin ||
				known->end != module->end)
			continue;
		if (!modules_are_same(known, module) ||
				memcmp(&unloaded.identity[i], &identity, sizeof(identity)) != 0)
			known->path[0] = '\0';
		return;
	}
	if (unloaded.count == UNLOADED_MAX) {
		widen_entry(&unloaded.module[UNLOADED_MAX - 1], module);
		return;
	}
	unloaded.module[unloaded.count] = *module;
	unloaded.identity[unloaded.count++] = identity;
}

void *unloaded_look(void)
{
	struct snapshot *snapshot = mmap(NULL, sizeof(*snapshot), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (snapshot == MAP_FAILED)
		return NULL;
	snapshot->before = modules_now(snapshot->module, MODULES_MAX);
	return snapshot;
}

void unloaded_note(void *before)
{
	struct snapshot *snapshot = before;

	if (!snapshot)
		return;
	snapshot->after = modules_now(snapshot->later, MODULES_MAX);
	for (unsigned i = 0; i < snapshot->before; i++) {
		unsigned k = 0;

		while (k < snapshot->after &&
				!modules_are_same(&snapshot->module[i], &snapshot->later[k]))
			k++;
		if (k < snapshot->after)
			continue;
		unloaded_take();
		remember_module(&snapshot->module[i]);
		give();
	}
	munmap(snapshot, sizeof(*snapshot));
}

unsigned unloaded_modules(struct module *modules, unsigned max)
{
	unsigned count;

	unloaded_take();
	count = unloaded.count < max ? unloaded.count : max;
	for (unsigned i = 0; i < count; i++) {
		modules[i] = unloaded.module[i];
		if (!is_file(&unloaded.identity[i], modules[i].path))
			modules[i].path[0] = '\0';
	}
	give();
	return count;
}
