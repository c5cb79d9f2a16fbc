/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin for QEMU's user mode: `qemu-x86_64 -plugin libphasemux-emulator.so,core=NAME PROGRAM` gives each
 * thread of the program a modelled core (core_model.h), and shares its counts with the agent
 * (emulated_counts.h). Instructions are counted as a processor retires them. With `sizes=all` behind the core, the
 * misses of other sizes of its last cache are counted, too.
 *
 * QEMU translates and runs a program in blocks. Instructions are counted when their block starts. A branch
 * ends its block, and its outcome is known when the next block starts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/descriptor.h"
#include "sampling/emulated/core_model.h"
#include "sampling/emulated/emulated_counts.h"
#include "sampling/emulated/qemu_interface.h"
#include "sampling/emulated/x86_code.h"

/*
 * Number of blocks between two looks at the processor time, which decides about samples: some 0.3 ms. A look is a system
 * call of 0.3 us.
 */
#define LOOK_BLOCKS 4096

/* A translated block, and the instruction that ends it. */
struct block {
	uint64_t start, last,
			next; /* addresses of the first, the last, and the following instruction */
	uint32_t instructions, floating, divisions;
	enum x86_kind end;
	bool repeats; /* the last instruction is one that the emulator may run once more for each repetition */
};

static struct emulated_counts *shared;
static const struct core_spec *spec;
static bool has_rings; /* the shared memory has them */

/* The calling thread. All are initial-exec, because each block reads them. */
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD struct core *core;
OF_THREAD struct emulated_thread
		*counted; /* NULL: it has no core yet, or there is no room for it */
OF_THREAD bool refused;
OF_THREAD const struct block *previous_block; /* the block that ran last */
OF_THREAD uint32_t until_look;                /* number of blocks */
OF_THREAD uint64_t sampled_ns;                /* processor time at the last sample */

/* Gives the calling thread a core. */
static __attribute__((noinline)) void begin(void)
{
	uint64_t id = (uint64_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < EMULATED_THREADS && !counted; i++) {
		uint64_t nobody = 0;

		if (atomic_compare_exchange_strong(&shared->thread[i].id, &nobody, id))
			counted = &shared->thread[i];
	}
	if (counted) {
		atomic_store(&counted->sampling.period_ns, 0);
		atomic_store(&counted->sampling.ring_bytes, 0);
	}
	core = counted ? core_new(spec, &counted->counts) : NULL;
	if (core && shared->sizes && core_follow_sizes(core)) {
		core_free(core);
		core = NULL;
	}
	refused = !core;
	if (counted && refused)
		atomic_store(&counted->id, 0);
	if (refused)
		counted = NULL;
}

/* Takes the calling thread's core away. */
static void end(void)
{
	if (counted)
		atomic_store(&counted->id, 0);
	core_free(core);
	core = NULL;
	counted = NULL;
	previous_block = NULL;
}

static void thread_ended(plugin_id id, unsigned processor)
{
	(void)id;
	(void)processor;
	end();
}

/* Prepares the child of a fork, whose thread takes a place of its own. The counts of its parent go on. */
static void forked(void)
{
	counted = NULL;
	end();
}

/* Follows the branch that ended the last block, now that the next one starts. */
static inline void resolve(const struct block *last, uint64_t next)
{
	switch (last->end) {
	case X86_CONDITIONAL:
		core_branch(core, last->last, next != last->next);
		break;
	case X86_JUMP:
		core_add(&counted->counts, CORE_BRANCHES, 1);
		break;
	case X86_CALL:
		core_call(core, last->next);
		break;
	case X86_RETURN:
		core_return(core, next);
		break;
	case X86_INDIRECT_CALL:
		core_call(core, last->next);
		core_indirect(core, last->last, next);
		break;
	case X86_INDIRECT:
		core_indirect(core, last->last, next);
		break;
	default:
		break;
	}
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Takes a sample of the calling thread, which is about to run the block, if that is due. */
static __attribute__((noinline)) void look_for_sample(const struct block *block)
{
	struct emulated_sampling *sampling = &counted->sampling;
	uint64_t period_ns = atomic_load_explicit(&sampling->period_ns, memory_order_relaxed);
	struct emulated_moment moment = { .address = block->start };

	until_look = LOOK_BLOCKS;
	if (!period_ns || !has_rings)
		return;
	moment.ran_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
	if (moment.ran_ns - sampled_ns < period_ns)
		return;
	moment.time = read_clock(CLOCK_MONOTONIC);
	if (emulated_sample(sampling, (unsigned char *)shared + emulated_ring_at(shared, counted),
			    spec, &counted->counts, &moment))
		sampled_ns = moment.ran_ns;
}

/* Runs when a block is about to run. */
static void executed(unsigned processor, void *data)
{
	const struct block *block = data, *last = previous_block;
	uint32_t instructions = block->instructions;

	(void)processor;
	if (!core) {
		if (refused)
			return;
		begin();
		if (!core)
			return;
	}
	if (!until_look--)
		look_for_sample(block);
	if (last) {
		resolve(last, block->start);
		/* the emulator starts a block of its own for each repetition of one instruction */
		if (last->repeats && last->last == block->start)
			instructions--;
	}
	core_add(&counted->counts, CORE_INSTRUCTIONS, instructions);
	if (block->floating)
		core_add(&counted->counts, CORE_FLOATING, block->floating);
	if (block->divisions)
		core_add(&counted->counts, CORE_DIVISIONS, block->divisions);
	previous_block = block;
}

/*
 * Runs after an access to memory. QEMU 7.2 takes loads for stores if it is asked for one of them alone, so it
 * is asked for both.
 */
static void accessed(unsigned processor, uint32_t how, uint64_t address, void *data)
{
	(void)processor;
	(void)data;
	if (!core)
		return;
	if (qemu_plugin_mem_is_store(how))
		core_store(core, address);
	else
		core_load(core, address);
}

/* Describes a new block. A description is never freed, because QEMU may run the block until the program ends. */
static void translated(plugin_id id, struct qemu_plugin_tb *source)
{
	struct block *block = calloc(1, sizeof(*block));

	(void)id;
	if (!block) {
		fprintf(stderr, "phasemux: no memory for the emulator\n");
		_exit(1);
	}
	block->start = qemu_plugin_tb_vaddr(source);
	block->instructions = (uint32_t)qemu_plugin_tb_n_insns(source);
	for (size_t i = 0; i < block->instructions; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(source, i);
		size_t size = qemu_plugin_insn_size(instruction);
		struct x86_code code = x86_look(qemu_plugin_insn_data(instruction), size);

		block->floating += code.kind == X86_FLOATING;
		block->divisions += code.kind == X86_DIVISION;
		block->end = code.kind;
		block->repeats = code.repeats;
		block->last = qemu_plugin_insn_vaddr(instruction);
		block->next = block->last + size;
		qemu_plugin_register_vcpu_mem_cb(instruction, accessed, NO_REGISTERS,
				READS_AND_WRITES, NULL);
	}
	qemu_plugin_register_vcpu_tb_exec_cb(source, executed, NO_REGISTERS, block);
}

/* Makes the shared memory. Returns false if that is impossible. */
static bool counts_share(unsigned model, bool sizes)
{
	int fd = memfd_create(EMULATED_FILE, MFD_CLOEXEC);
	size_t bytes = EMULATED_FILE_BYTES;
	struct rlimit limit;

	if (fd < 0)
		return false;
	fd = descriptor_lift(fd);
	/* a larger file than is allowed would end the process */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		bytes = sizeof(*shared);
	has_rings = bytes == EMULATED_FILE_BYTES;
	if (ftruncate(fd, (off_t)bytes) < 0)
		return false;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return false;
	shared->version = EMULATED_VERSION;
	shared->core = model;
	shared->sizes = sizes;
	return true;
}

extern int qemu_plugin_version;
extern int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = PLUGIN_INTERFACE;

EXPORT int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv)
{
	int model = argc && strncmp(argv[0], "core=", 5) == 0 ? core_spec_find(argv[0] + 5) : -1;
	bool sizes = argc == 2 && strcmp(argv[1], EMULATED_SIZES) == 0;

	(void)info;
	if (model < 0 || argc > 1 + sizes) {
		fprintf(stderr,
				"phasemux: the emulator's plugin needs core=NAME, a core model, and takes " EMULATED_SIZES
				"\n");
		return -1;
	}
	spec = core_spec_of((unsigned)model);
	if (!counts_share((unsigned)model, sizes) || pthread_atfork(NULL, NULL, forked)) {
		perror("phasemux: the emulator's plugin");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_exit_cb(id, thread_ended);
	return 0;
}
