/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands behind libphasemux.so in LD_PRELOAD. It keeps every burst of every thread in memory, and writes them
 * at MPI_Finalize. burst_log.h says how its times are taken.
 *
 * BURST_LOG is the start of the files' names. For rank R and its thread T there are
 *	NAME.R.T.bursts	records, in the form of struct record below
 *	NAME.R.T.paths	a line for each call path: its number, its frames, innermost first, separated
 *			by tabs, each as function, module and offset separated by spaces
 *	NAME.calls	the names of the calls, by number, one a line
 *
 * A program that exports `int burst_log_tag` tells with it what it computes. Each record holds the value at the
 * end of its burst, and the value is then set to -1.
 */
#include "tests/bench/burst_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/loader/real.h"
#include "agent/preload/wrap.h" /* P_1, A_1: lists of parameters */

#define FRAMES_MAX 32
/* frames of this library and of the preload, above those of the program */
#define FRAMES_OF_OWN 8
/* a power of two, and the largest number of paths that are found by their hash */
#define PATHS_MAX     (1 << 16)
#define CHUNK_RECORDS (1 << 20)
#define CHUNKS_MAX    64
#define NO_TAG        -1

struct record {
	uint64_t begin, end; /* ns of CLOCK_MONOTONIC */
	uint32_t from, to;   /* paths of the calls before and after it */
	uint16_t from_call, to_call;
	int32_t tag;  /* NO_TAG: the program set none for this burst */
	uint64_t cpu; /* ns of the thread's processor time in the burst */
};

struct frames {
	uint32_t count; /* 0: free */
	const void *address[FRAMES_MAX];
};

/* The log of a thread. It is mapped and never freed. */
struct thread_log {
	struct thread_log *next;
	unsigned depth;    /* number of intercepted calls under way, one within the other */
	const void *frame; /* stack of the outermost call, as in struct burst_edge */
	void *return_to;   /* return address of that call, while its return is diverted */
	uint32_t path, from;
	uint16_t call, from_call;
	bool open; /* a burst is under way */
	int clock; /* descriptor of the clock of processor time; < 0: there is none */
	uint64_t begin;
	uint64_t returned, cpu_at_return; /* the return of the real call before the burst */
	uint64_t records;
	struct record *chunk[CHUNKS_MAX];
	struct frames paths[PATHS_MAX];
};

__thread struct burst_edge burst_edge
		__attribute__((tls_model("initial-exec"), visibility("default")));
static __thread struct thread_log *own_log __attribute__((tls_model("initial-exec")));
static _Atomic(struct thread_log *) logs;
static _Atomic bool finished;
static int *tag;
static int (*backtrace_fast)(void **buffer, int size);

enum burst_call {
#define MPI_CALL(name, fortran, count, fortran_count, kind) BURST_CALL_##name,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
	BURST_CALLS,
};

static const char *const call_names[BURST_CALLS] = {
#define MPI_CALL(name, fortran, count, fortran_count, kind) "MPI_" #name,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
};

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		fprintf(stderr, "burst_log: no memory\n");
		exit(1);
	}
	return at;
}

static __attribute__((constructor)) void prepare(void)
{
	/* RTLD_LOCAL: libunwind must not replace the unwinder of a C++ program */
	void *unwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	tag = dlsym(RTLD_DEFAULT, "burst_log_tag");
	if (unwind)
		*(void **)&backtrace_fast = dlsym(unwind, "unw_backtrace");
}

static struct thread_log *open_log(void)
{
	struct thread_log *log = map(sizeof(*log)), *first = atomic_load(&logs);
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1 };

	log->clock = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	do
		log->next = first;
	while (!atomic_compare_exchange_weak(&logs, &first, log));
	own_log = log;
	return log;
}

/* ---- call paths ---- */

/*
 * Fills frames with the call path that starts at `site`, or with that address alone if the path is not found.
 */
static void walk(const void *site, struct frames *frames)
{
	void *all[FRAMES_MAX + FRAMES_OF_OWN];
	int count = backtrace_fast ? backtrace_fast(all, FRAMES_MAX + FRAMES_OF_OWN) : 0;
	int first = 0;

	while (first < count && all[first] != site)
		first++;
	frames->address[0] = site;
	frames->count = 1;
	for (int i = first + 1; i < count && frames->count < FRAMES_MAX; i++)
		frames->address[frames->count++] = all[i];
}

/* Returns the number of the calling thread's path, or 0 if there are too many. */
static uint32_t find_path(struct thread_log *log, const void *site)
{
	struct frames frames;
	uint64_t hash = 0;
	uint32_t at;

	walk(site, &frames);
	for (uint32_t i = 0; i < frames.count; i++)
		hash = (hash ^ (uintptr_t)frames.address[i]) * 0x9e3779b97f4a7c15u;
	at = (uint32_t)(hash >> 40);
	for (unsigned probes = 0; probes < 64; probes++, at++) {
		struct frames *known = &log->paths[at % (PATHS_MAX - 1) + 1];

		if (!known->count)
			memcpy(known, &frames, sizeof(frames));
		if (known->count == frames.count &&
				memcmp(known->address, frames.address,
						frames.count * sizeof(frames.address[0])) == 0)
			return (uint32_t)(known - log->paths);
	}
	return 0;
}

/* ---- files ---- */

static FILE *open_file(const char *rank, unsigned thread, const char *kind)
{
	const char *name = getenv("BURST_LOG");
	char path[4096];

	if (rank)
		snprintf(path, sizeof(path), "%s.%s.%u.%s", name, rank, thread, kind);
	else
		snprintf(path, sizeof(path), "%s.%s", name, kind);
	return fopen(path, "w");
}

static void write_frame(FILE *file, const void *address)
{
	const ElfW(Sym) *symbol = NULL;
	/* address is the return address of the call */
	const char *call = (const char *)address - 1;
	Dl_info info = { .dli_fname = "?" };
	bool named = dladdr1(call, &info, (void **)&symbol, RTLD_DL_SYMENT) && info.dli_sname;

	/* an address behind the symbol's end is not part of the function */
	if (named && symbol && call >= (const char *)info.dli_saddr + symbol->st_size)
		named = false;
	fprintf(file, "\t%s %s %lx", named ? info.dli_sname : "?", info.dli_fname,
			(unsigned long)(call - (const char *)info.dli_fbase));
}

static void write_paths(FILE *file, const struct thread_log *log)
{
	for (uint32_t i = 1; i < PATHS_MAX; i++) {
		const struct frames *frames = &log->paths[i];

		if (!frames->count)
			continue;
		fprintf(file, "%u", i);
		for (uint32_t k = 0; k < frames->count; k++)
			write_frame(file, frames->address[k]);
		fprintf(file, "\n");
	}
}

static void write_log(const struct thread_log *log, const char *rank, unsigned thread)
{
	FILE *bursts = open_file(rank, thread, "bursts"), *paths = open_file(rank, thread, "paths");
	uint64_t left = log->records;

	for (unsigned i = 0; bursts && left; i++) {
		uint64_t count = left < CHUNK_RECORDS ? left : CHUNK_RECORDS;

		fwrite(log->chunk[i], sizeof(struct record), count, bursts);
		left -= count;
	}
	if (paths)
		write_paths(paths, log);
	if (!bursts || !paths || fclose(bursts) || fclose(paths))
		fprintf(stderr, "burst_log: the log of rank %s cannot be written\n", rank);
}

static void write_all(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	unsigned thread = 0;
	FILE *calls;

	if (!getenv("BURST_LOG"))
		return;
	if (!rank)
		rank = getenv("PMI_RANK");
	if (!rank)
		rank = "0";
	for (struct thread_log *log = atomic_load(&logs); log; log = log->next)
		write_log(log, rank, thread++);
	calls = strcmp(rank, "0") == 0 ? open_file(NULL, 0, "calls") : NULL;
	if (calls) {
		for (int i = 0; i < BURST_CALLS; i++)
			fprintf(calls, "%s\n", call_names[i]);
		fclose(calls);
	}
}

/* ---- the ends of bursts ---- */

/*
 * Returns the calling thread's processor time in ns. The kernel's task-clock tells it as in phasemux, if that
 * can be opened.
 */
static uint64_t cpu_now(const struct thread_log *log)
{
	uint64_t value;

	if (log->clock >= 0 && read(log->clock, &value, sizeof(value)) == sizeof(value))
		return value;
	return burst_clock(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Returns the processor time of a burst that ends. The clock of that time is slow to read, so it is read at the
 * two ends of the real calls. The time between these and the burst is the work of phasemux, during which the
 * thread is assumed to have had a processor.
 */
static uint64_t cpu_of_burst(const struct thread_log *log, uint64_t end)
{
	uint64_t cpu = cpu_now(log) - log->cpu_at_return;
	uint64_t around = burst_clock(CLOCK_MONOTONIC) - end + log->begin - log->returned;
	uint64_t length = end - log->begin;

	cpu = cpu > around ? cpu - around : 0;
	return cpu < length ? cpu : length;
}

static void keep_burst(struct thread_log *log, uint64_t end)
{
	uint64_t chunk = log->records / CHUNK_RECORDS;
	struct record *record;

	if (chunk >= CHUNKS_MAX)
		return;
	if (!log->chunk[chunk])
		log->chunk[chunk] = map(CHUNK_RECORDS * sizeof(*record));
	record = &log->chunk[chunk][log->records++ % CHUNK_RECORDS];
	*record = (struct record){ log->begin, end, log->from, log->path, log->from_call, log->call,
		tag ? *tag : NO_TAG, cpu_of_burst(log, end) };
	if (tag)
		*tag = NO_TAG;
}

/* Runs at the address of a diverted return. Returns the address at which the program continues. */
__attribute__((used)) static void *burst_log_resume(void)
{
	struct thread_log *log = own_log;
	int kept = errno;

	log->begin = burst_clock(CLOCK_MONOTONIC);
	errno = kept;
	return log->return_to;
}

#if defined(__x86_64__)
#define DIVERTS true
/* Starts the thread's burst, while the result of the call stays in rax. */
__asm__(".text\n"
	".type burst_log_return, @function\n"
	"burst_log_return:\n"
	"	sub $8, %rsp\n"
	"	push %rax\n"
	"	call burst_log_resume\n"
	"	mov %rax, 8(%rsp)\n"
	"	pop %rax\n"
	"	ret\n"
	".size burst_log_return, . - burst_log_return\n");
void burst_log_return(void);

/* Makes the call that was entered with the stack at log->frame return to burst_log_return. */
static void divert(struct thread_log *log)
{
	void *volatile *slot = (void *volatile *)log->frame - 1;

	log->return_to = *slot;
	*slot = (void *)burst_log_return;
}
#else
#define DIVERTS false
static void divert(struct thread_log *log)
{
	(void)log;
}
#endif

static void enter(enum burst_call call, const void *site, const void *frame)
{
	struct burst_edge edge = burst_edge;
	uint64_t end = edge.frame ? edge.ns : burst_clock(CLOCK_MONOTONIC);
	struct thread_log *log = own_log ? own_log : open_log();

	if (edge.frame) {
		frame = edge.frame;
		site = ((const void *const *)frame)[-1];
	}
	/*
	 * a call deeper in the stack is made by the one under way, but any other call shows that this one was
	 * left
	 */
	if (log->depth && frame < log->frame) {
		log->depth++;
		return;
	}
	log->depth = 1;
	log->frame = frame;
	log->path = find_path(log, site);
	log->call = (uint16_t)call;
	if (log->open && !atomic_load_explicit(&finished, memory_order_relaxed))
		keep_burst(log, end);
	log->open = false;
	if (call == BURST_CALL_Finalize && !atomic_exchange(&finished, true))
		write_all();
}

static void leave(void)
{
	struct thread_log *log = own_log;
	bool edge = burst_edge.frame != NULL;

	if (log->depth > 1) {
		log->depth--;
		return;
	}
	log->depth = 0;
	log->from = log->path;
	log->from_call = log->call;
	log->open = true;
	log->cpu_at_return = cpu_now(log);
	log->returned = log->begin = burst_clock(CLOCK_MONOTONIC);
	if (edge && DIVERTS)
		divert(log);
}

/* ---- the calls ---- */

static void *find_real(const char *symbol)
{
	void *real = real_find(symbol, __builtin_return_address(0));

	if (!real) {
		fprintf(stderr, "burst_log: no MPI library here has %s\n", symbol);
		exit(1);
	}
	return real;
}

#define FORM(symbol, call, count)                                                                  \
	static long (*_Atomic real_##symbol)(P_##count);                                           \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) =                                                          \
				atomic_load_explicit(&real_##symbol, memory_order_acquire);        \
		int kept = errno;                                                                  \
		long result;                                                                       \
                                                                                                   \
		enter(BURST_CALL_##call, CALLER);                                                  \
		if (!real) {                                                                       \
			real = (long (*)(P_##count))find_real(#symbol);                            \
			atomic_store_explicit(&real_##symbol, real, memory_order_release);         \
		}                                                                                  \
		errno = kept;                                                                      \
		result = real(A_##count);                                                          \
		kept = errno;                                                                      \
		leave();                                                                           \
		errno = kept;                                                                      \
		return result;                                                                     \
	}
#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	BURST_FORMS(FORM, name, fortran, count, fortran_count)
#include "agent/boundary/mpi_calls.def"
