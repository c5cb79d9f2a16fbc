/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin for QEMU's user mode. `qemu-x86_64 -plugin libemulated-counts.so,prefix=PREFIX PROGRAM` counts the
 * retired instructions of each thread, by kind (emulated.h), in the file PREFIX.PID. Their sum is exact.
 *
 * The kinds only resemble those of a processor. Divisions and floating-point arithmetic are known by the
 * opcode. Memory follows a model of a cache (32 KiB, 8 ways, the least recently used line leaves), whose
 * accesses take the place of plain instructions. A block is mispredicted if another one came in its place the
 * last time. Therefore counts depend on data and on history, as real counts do.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/emulated/qemu_interface.h"
#include "tests/pmu/emulated.h"

#define CACHE_SETS 64
#define CACHE_WAYS 8
#define LINE_BITS  6

struct block {
	struct block *follower; /* the block that came after it the last time */
	uint32_t instructions, kind[EMULATED_KIND_COUNT];
};

static struct emulated_counts *counts;
static __thread struct emulated_thread *thread;
static __thread bool uncounted;
static __thread struct block *last;
static __thread uint64_t cache[CACHE_SETS][CACHE_WAYS]; /* the most recently used first */
static __thread uint32_t found, missed;                 /* accesses that the next block pays for */

/* Returns the calling thread's counts, or NULL if there is no room for it. */
static struct emulated_thread *myself(void)
{
	uint64_t id;

	if (thread || uncounted)
		return thread;
	id = (uint64_t)syscall(SYS_gettid);
	for (unsigned i = 0; i < EMULATED_THREADS && !thread; i++) {
		uint64_t nobody = 0;

		if (atomic_compare_exchange_strong(&counts->thread[i].id, &nobody, id))
			thread = &counts->thread[i];
	}
	uncounted = !thread;
	return thread;
}

/* Adds to a count, which only its own thread writes. */
static void add(struct emulated_thread *mine, enum emulated_kind kind, uint64_t more)
{
	uint64_t count = atomic_load_explicit(&mine->count[kind], memory_order_relaxed);

	atomic_store_explicit(&mine->count[kind], count + more, memory_order_relaxed);
}

/* Takes at most `most` of an amount, which keeps the rest. Returns what was taken. */
static uint32_t take(uint32_t *amount, uint32_t most)
{
	uint32_t taken = *amount < most ? *amount : most;

	*amount -= taken;
	return taken;
}

/* Runs when a block is about to run. Counts the block, and the memory accesses of the blocks before it. */
static void executed(unsigned processor, void *data)
{
	struct emulated_thread *mine = myself();
	struct block *block = data;

	(void)processor;
	if (!mine)
		return;
	if (last && last->follower != block) {
		last->follower = block;
		add(mine, EMULATED_MISPREDICTED, block->instructions);
	} else {
		uint32_t plain = block->kind[EMULATED_PLAIN];
		uint32_t misses = take(&missed, plain);
		uint32_t hits = take(&found, plain - misses);

		add(mine, EMULATED_PLAIN, plain - misses - hits);
		add(mine, EMULATED_ACCESS, hits);
		add(mine, EMULATED_MISS, misses);
		add(mine, EMULATED_FLOATING, block->kind[EMULATED_FLOATING]);
		add(mine, EMULATED_DIVISION, block->kind[EMULATED_DIVISION]);
		/*
		 * accesses beyond the block's plain instructions, as after a copy, are dropped and not left to
		 * the next block
		 */
		found = missed = 0;
	}
	last = block;
}

/*
 * Returns the set of a line by a hash, as the outer caches of processors do. With the lowest bits alone the
 * relative places of the program's large arrays would decide, and with them every page that the agent maps.
 */
static unsigned set_of(uint64_t line)
{
	return (unsigned)(line * UINT64_C(0x9e3779b97f4a7c15) >> 58) % CACHE_SETS;
}

static void accessed(unsigned processor, uint32_t how, uint64_t address, void *data)
{
	uint64_t line = address >> LINE_BITS, *set = cache[set_of(line)];
	unsigned way = 0;

	(void)processor;
	(void)how;
	(void)data;
	while (way < CACHE_WAYS - 1 && set[way] != line)
		way++;
	*(set[way] == line ? &found : &missed) += 1;
	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = line;
}

static bool is_prefix(unsigned char byte)
{
	return (byte & 0xf0) == 0x40 || (byte && strchr("\x66\xf2\xf3\xf0\x64\x65\x2e\x3e", byte));
}

/*
 * Returns the kind of an instruction by its opcode in the legacy encoding of x86-64, which code for a processor
 * without AVX uses.
 */
static enum emulated_kind kind_of(const unsigned char *code, size_t size)
{
	while (size > 2 && is_prefix(*code)) {
		code++;
		size--;
	}
	if (size > 2 && code[0] == 0x0f) {
		switch (code[1]) {
		case 0x51: /* sqrt */
		case 0x5e: /* div */
			return EMULATED_DIVISION;
		case 0x58: /* add */
		case 0x59: /* mul */
		case 0x5c: /* sub */
		case 0x5d: /* min */
		case 0x5f: /* max */
			return EMULATED_FLOATING;
		}
	}
	if (size > 1 && (code[0] & 0xfe) == 0xf6 && (code[1] >> 3 & 6) == 6)
		return EMULATED_DIVISION;
	return EMULATED_PLAIN;
}

/*
 * Counts the instructions of a new block by kind. A block is never freed, because QEMU may run it until the
 * program ends.
 */
static void translated(plugin_id id, struct qemu_plugin_tb *source)
{
	struct block *block = calloc(1, sizeof(*block));

	(void)id;
	if (!block) {
		fprintf(stderr, "emulated counts: no memory\n");
		_exit(1);
	}
	block->instructions = (uint32_t)qemu_plugin_tb_n_insns(source);
	for (size_t i = 0; i < block->instructions; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(source, i);

		block->kind[kind_of(qemu_plugin_insn_data(instruction),
				qemu_plugin_insn_size(instruction))]++;
		qemu_plugin_register_vcpu_mem_cb(instruction, accessed, NO_REGISTERS,
				READS_AND_WRITES, NULL);
	}
	qemu_plugin_register_vcpu_tb_exec_cb(source, executed, NO_REGISTERS, block);
}

extern int qemu_plugin_version;
extern int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = PLUGIN_INTERFACE;

EXPORT int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv)
{
	char name[4096];
	int fd;

	(void)info;
	if (argc != 1 || strncmp(argv[0], "prefix=", 7) != 0) {
		fprintf(stderr, "emulated counts: say prefix=PREFIX\n");
		return -1;
	}
	snprintf(name, sizeof(name), "%s.%ld", argv[0] + 7, (long)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*counts)) < 0) {
		perror(name);
		return -1;
	}
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counts == MAP_FAILED) {
		perror(name);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
