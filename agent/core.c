/*
 * The core: what the preload opens in a process that is a target. It decides with the other ranks
 * what to count, takes the boundaries of bursts from the preload, and reports when MPI_Finalize is
 * about to run. Whatever goes wrong here is one line on stderr, and the program runs on without us.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "agent/counting.h"
#include "agent/exchange.h"
#include "agent/job.h"
#include "agent/ledger.h"
#include "agent/log.h"
#include "agent/mpi_adapter.h"
#include "agent/mpi_adapters.h"
#include "agent/output.h"
#include "agent/preload.h"
#include "agent/report.h"
#include "agent/report_text.h"
#include "agent/settings.h"
#include "agent/source.h"
#include "agent/spool.h"
#include "agent/thread.h"
#include "sampling/clock.h"
#include "sampling/path.h"

#define THREADS_MAX 64

#define SERVICE_NS      10e6 /* how often a thread looks after what is not urgent ... */
#define SERVICE_BUSY_NS 1e6  /* ... and while a round is under way */
#define QUANTUM_NS      10e6 /* a group stays at least that long */

/* Of the budget, what reads may cost and what switching groups may; the rest is for rounds. */
#define BUDGET_READS    0.7
#define BUDGET_SWITCHES 0.2

static struct {
	struct settings settings;
	struct job job;
	struct counting counting;
	struct mpi_world world;
	const struct mpi_adapter *adapter; /* NULL: this rank is alone */
	struct thread_rules rules;
	bool attached;
	struct spool *spool; /* NULL: what is kept dies with the process */
	char spool_folder[4096];
	struct ledger *ledger;
	struct exchange *exchange;
	struct burst_table *bursts; /* NULL unless asked for */
	const struct preload *preload;
	char folder[4096];
	char command[4096]; /* the program and its arguments, each with its NUL */
	size_t command_bytes;
	uint64_t start;
	double call_ticks; /* what the two hooks cost where nothing is read */
	pid_t pid;
	pthread_t main_thread; /* that called MPI_Init */
	pthread_key_t thread_ends;
	/* newest first; a thread is never taken out */
	_Atomic(struct thread *) threads;
	_Atomic unsigned thread_count;
	atomic_flag stepping; /* without MPI: a thread is in a round */
} core;

/* ---- threads ---- */

/* What the thread has read is booked, and outlives the process. As ledger_checkpoint. */
static void drain(struct thread *thread, uint64_t now)
{
	ledger_drain(core.ledger, thread);
	ledger_checkpoint(core.ledger, thread, now);
}

/* At the end of a thread: what it read is booked, its counters are closed. */
static void thread_ends(void *data)
{
	struct thread *thread = data;

	if (getpid() != core.pid)
		return;
	if (!atomic_load_explicit(&core.rules.finished, memory_order_acquire)) {
		if (thread->open) {
			thread->at = thread->born;
			thread_end_burst(thread, &core.rules, THREAD_pthread_create, clock_now());
		}
		drain(thread, clock_now());
	}
	thread_close(thread);
}

/* The calling thread is new to us. NULL: it is not observed. */
static struct thread *adopt(void)
{
	unsigned index = atomic_fetch_add_explicit(&core.thread_count, 1, memory_order_relaxed);
	struct thread *thread, *newest;

	if (index >= THREADS_MAX)
		return NULL;
	thread = thread_new(&core.rules, core.counting.pmu, core.counting.event,
			&core.counting.plan, (uint64_t)core.world.rank + index,
			core.counting.probe.method);
	if (!thread)
		return NULL;
	if (ledger_admit(core.ledger, thread)) {
		thread_close(thread);
		thread_free(thread);
		return NULL;
	}
	if (thread->open_error)
		log_line("counters of a thread cannot be opened: %s",
				strerror(-thread->open_error));
	path_init(&thread->sites.paths);
	if (core.spool && thread->spooled < 0)
		log_line("%s: no room for a thread: %s", core.spool_folder,
				strerror(-thread->spooled));
	pthread_setspecific(core.thread_ends, thread);
	rcu_register_thread();
	thread->main = pthread_equal(pthread_self(), core.main_thread);
	newest = atomic_load_explicit(&core.threads, memory_order_relaxed);
	do
		thread->next = newest;
	/* pairs with the acquire in all_threads: publishes the thread */
	while (!atomic_compare_exchange_weak_explicit(&core.threads, &newest, thread,
			memory_order_release, memory_order_relaxed));
	return thread;
}

static struct thread *all_threads(void)
{
	return atomic_load_explicit(&core.threads, memory_order_acquire);
}

/* ---- the boundaries of bursts ---- */

/* Without MPI: this thread alone may now look after rounds, until it clears the flag. */
static bool try_step(void)
{
	/* pairs with the release of whoever had it: what its step has done */
	return !atomic_flag_test_and_set_explicit(&core.stepping, memory_order_acquire);
}

/* What is not urgent: drains, rounds. Between two bursts, so that it is in neither. */
static __attribute__((noinline)) void service(struct thread *thread, uint64_t now)
{
	int kept = errno;
	uint64_t pause;

	drain(thread, now);
	/* one thread speaks MPI; without it, any may, one at a time */
	if (core.adapter ? thread->main : try_step()) {
		exchange_step(core.exchange, all_threads(), now);
		if (!core.adapter) /* pairs with the acquire above: what the step has done */
			atomic_flag_clear_explicit(&core.stepping, memory_order_release);
	}
	pause = core.rules.service_ticks;
	if ((thread->main || !core.adapter) && exchange_busy(core.exchange))
		pause = clock_ticks(SERVICE_BUSY_NS);
	thread->service_at = now + pause;
	site_add(&thread->counts.service_ticks, clock_now() - now);
	errno = kept;
}

/* Stands in a thread's word when the thread is not observed. */
static char unobserved;

static __attribute__((noinline)) void meet(void **slot)
{
	int kept = errno;

	*slot = adopt();
	if (!*slot)
		*slot = &unobserved;
	errno = kept;
}

static inline bool is_observed(const void *slot)
{
	return slot && slot != &unobserved;
}

/* Before a call that may wait, there is time for what is not urgent. */
static const bool waits[MPI_CALLS] = {
#define WAITS    true
#define PASSES   false
#define INIT     false
#define FINALIZE false
#define ABORTS   false
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind) kind,
#include "agent/mpi_calls.def"
#undef MPI_CALL
};

/* The run is to be aborted: all that there is to know of this thread stays in the spool. */
static __attribute__((noinline)) void leave_behind(struct thread *thread, uint64_t now)
{
	int kept = errno;

	drain(thread, now);
	log_speaker(true);
	if (core.spool)
		log_line("aborted; phasemux recover %s makes the report", core.spool_folder);
	errno = kept;
}

static void hook_before(void **slot, enum runtime_call call, void *site, const void *frame)
{
	uint64_t now = clock_now();
	struct thread *thread = *slot;

	if (!is_observed(thread))
		return;
	thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	thread->entered = now;
	thread_end_burst(thread, &core.rules, call, now);
	if (call == MPI_CALL_Abort)
		leave_behind(thread, now);
	else if ((call >= MPI_CALLS || waits[call]) &&
			(now >= thread->service_at ||
					ring_used(&thread->ring) >= THREAD_RING_BURSTS / 16))
		service(thread, now);
}

static void hook_after(void **slot, enum runtime_call call, void *site, const void *frame)
{
	struct thread *thread = *slot;
	bool is_new = false;
	uint64_t now;

	if (!thread) {
		meet(slot);
		thread = *slot;
		is_new = true;
	}
	if (!is_observed(thread))
		return;
	/* a call is where it began; but of a region, this is the beginning */
	if (is_new || call >= MPI_CALLS)
		thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	if (is_new)
		thread->born = thread->at;
	now = clock_now();
	if (call < MPI_CALLS && !is_new)
		site_add(&thread->counts.mpi_ticks, now - thread->entered);
	/* no call waited for long: do it all the same */
	if (now >= thread->service_at + core.rules.service_ticks ||
			ring_used(&thread->ring) >= THREAD_RING_BURSTS / 2) {
		service(thread, now);
		now = clock_now();
	}
	thread_begin_burst(thread, &core.rules, call, now);
}

/* ---- the end ---- */

/* The agent's own account, in seconds. */
static double own_seconds(void)
{
	const struct probe *probe = &core.counting.probe;
	double ticks = 0, reads = 0;

	for (const struct thread *thread = all_threads(); thread; thread = thread->next) {
		const struct thread_counts *counts = &thread->counts;

		ticks += (double)atomic_load(&counts->switch_ticks) +
			 (double)atomic_load(&counts->service_ticks) +
			 (double)atomic_load(&counts->calls) * core.call_ticks;
		reads += (double)atomic_load(&counts->reads);
	}
	return (ticks * clock_here.ns_per_tick + reads * probe->read_ns) * 1e-9;
}

/* That the thread which speaks MPI was in it. */
static double mpi_seconds(void)
{
	uint64_t ticks = 0;

	for (const struct thread *thread = all_threads(); thread; thread = thread->next)
		if (thread->main)
			ticks += atomic_load(&thread->counts.mpi_ticks);
	return clock_ns(ticks) * 1e-9;
}

static double most_computing(void)
{
	double seconds = 0, threads = 0;

	for (const struct thread *thread = all_threads(); thread; thread = thread->next) {
		seconds += clock_ns(atomic_load(&thread->counts.ticks)) * 1e-9;
		threads++;
	}
	return threads > 0 ? seconds / threads : 0;
}

static void write_report(const json_t *report)
{
	static const char *const suffixes[] = { "txt", "json", "csv" };
	unsigned wanted = core.settings.report, number;
	char why[256];
	char *text[3] = { report_text(report, why, sizeof(why)),
		json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17)),
		report_csv(report, why, sizeof(why)) };
	int folder;

	if ((wanted & REPORT_TEXT) && text[0] && log_speaks()) {
		fflush(stderr);
		log_text(text[0], strlen(text[0]));
	}
	folder = output_open(core.folder);
	if (folder < 0)
		log_line("results cannot be written to %s: %s", core.folder, strerror(-folder));
	number = folder < 0 ? 0 : output_number(folder, "report", suffixes, 3);
	for (unsigned i = 0; i < 3 && number; i++) {
		int error = 0;

		if (text[i] && (wanted & 1u << i))
			error = output_write(folder, "report", number, suffixes[i], text[i],
					strlen(text[i]));
		if (error)
			log_line("%s/report.%s cannot be written: %s", core.folder, suffixes[i],
					strerror(-error));
	}
	if (folder >= 0)
		close(folder);
	for (unsigned i = 0; i < 3; i++)
		free(text[i]);
}

/* What names the addresses of this process; NULL without memory. */
static struct source *open_source(void)
{
	struct source_module *modules = malloc(SOURCE_MODULES_MAX * sizeof(*modules));
	struct source *source = NULL;

	if (modules)
		source = source_open(core.preload->folder, modules,
				source_modules(modules, SOURCE_MODULES_MAX));
	free(modules);
	return source;
}

/* Merges the ranks' sums; what rank 0 then knows becomes the report. 0, or -EIO: MPI said no. */
static int reduce_and_report(double wall_seconds)
{
	double most[2] = { wall_seconds, most_computing() };
	struct thread *threads = all_threads();
	const struct site_table *sites[THREADS_MAX];
	struct report_facts facts = { .command = core.command,
		.command_bytes = core.command_bytes, .job = &core.job,
		.scheme = core.settings.scheme,
		.counting = &core.counting,
		.world = &core.world,
		.sites = sites,
		.rounds = exchange_rounds(core.exchange),
		.alone = !core.adapter };
	size_t length;
	double *sums = ledger_close(core.ledger, threads, &length);
	struct totals *totals = (struct totals *)sums;
	json_t *report;

	for (const struct thread *thread = threads; thread; thread = thread->next)
		if (facts.site_tables < THREADS_MAX)
			sites[facts.site_tables++] = &thread->sites;
	totals->outside_mpi_seconds = totals->threads * (wall_seconds - mpi_seconds());
	totals->agent_seconds = own_seconds();
	totals->agent_bytes += (double)exchange_bytes();
	if (core.adapter && (core.adapter->sum(sums, length, false) || core.adapter->max(most, 2)))
		return -EIO;
	if (core.adapter && core.world.rank != 0)
		return 0;
	facts.totals = totals;
	facts.sums = ledger_sums(core.ledger);
	facts.table = ledger_table(core.ledger);
	facts.burst_min_seconds = (double)ledger_burst_min_ns(core.ledger) * 1e-9;
	facts.wall_seconds = most[0];
	facts.compute_seconds_most = most[1];
	facts.source = open_source();
	report = report_build(&facts);
	source_close(facts.source);
	if (report)
		write_report(report);
	else
		log_line("no report: out of memory");
	json_decref(report);
	return 0;
}

/* The spool goes when the report is there: not before rank 0 has made it. */
static void finish(double wall_seconds)
{
	double failed = exchange_finish(core.exchange, all_threads()) ||
			reduce_and_report(wall_seconds);

	if (core.adapter && core.adapter->max(&failed, 1))
		failed = true;
	if (!failed && core.spool)
		spool_remove(core.spool);
	else if (core.spool)
		log_line("no report: MPI refused a collective; phasemux recover %s makes it",
				core.spool_folder);
	else if (failed)
		log_line("no report: MPI refused a collective");
}

/* Numbers are written and read with a point, whatever the program's locale is. */
static locale_t plain_numbers(locale_t *kept)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);

	*kept = plain ? uselocale(plain) : NULL;
	return plain;
}

static void restore_numbers(locale_t plain, locale_t kept)
{
	if (plain) {
		uselocale(kept);
		freelocale(plain);
	}
}

static void end_recording(void)
{
	int error;

	if (!core.bursts)
		return;
	ledger_record(core.ledger, NULL);
	error = burst_table_close(core.bursts);
	core.bursts = NULL;
	if (error)
		log_line("bursts could not be recorded to the end: %s", strerror(-error));
}

static void hook_finalize(void **slot, void *site, const void *frame)
{
	uint64_t now = clock_now();
	locale_t kept, plain = plain_numbers(&kept);
	struct thread *thread = *slot;

	if (is_observed(thread)) {
		thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
		thread_end_burst(thread, &core.rules, MPI_CALL_Finalize, now);
	}
	/* pairs with the acquire in thread_ends; other threads begin no further burst */
	atomic_store_explicit(&core.rules.finished, true, memory_order_release);
	for (struct thread *each = all_threads(); each; each = each->next)
		drain(each, now);
	/* without MPI, another thread may be in a round; it does not take long */
	for (int tries = 0; !core.adapter && tries < 1000 && !try_step(); tries++)
		usleep(1000);
	finish(clock_ns(now - core.start) * 1e-9);
	end_recording();
	if (core.adapter)
		core.adapter->close();
	core.preload->set_hooks(NULL);
	if (is_observed(thread))
		thread_close(thread);
	restore_numbers(plain, kept);
}

/* A program of MPI ends without MPI_Finalize: its sums stay. Takes no lock: who holds it may be gone. */
__attribute__((destructor)) static void ended(void)
{
	if (!core.attached || !core.preload->with_mpi || getpid() != core.pid ||
			atomic_load_explicit(&core.rules.finished, memory_order_relaxed))
		return;
	if (core.spool)
		log_line("MPI_Finalize was not called; phasemux recover %s makes the report",
				core.spool_folder);
	else
		log_line("no report: MPI_Finalize was not called");
}

/* ---- the beginning ---- */

/* In the child of a fork: it is not a target, and must not touch its parent's counters. */
static void forked(void)
{
	core.preload->set_hooks(NULL);
	for (struct thread *thread = all_threads(); thread; thread = thread->next)
		for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
			if (thread->groups[g].count)
				group_abandon(&thread->groups[g]);
}

/* The adapter for the MPI library that this process has loaded, or NULL. */
static const struct mpi_adapter *find_adapter(const char *folder)
{
	for (size_t i = 0; mpi_adapters[i].name; i++) {
		const struct mpi_adapter *(*entry)(void);
		char path[sizeof(core.folder) + 64];
		void *library = dlopen(mpi_adapters[i].soname, RTLD_NOLOAD | RTLD_LAZY);
		void *adapter;

		if (!library)
			continue;
		dlclose(library);
		snprintf(path, sizeof(path), "%s/%s", folder, mpi_adapters[i].file);
		adapter = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!adapter)
			continue;
		*(void **)&entry = dlsym(adapter, MPI_ADAPTER_ENTRY);
		if (entry)
			return entry();
	}
	return NULL;
}

static void make_rules(void)
{
	const struct settings *settings = &core.settings;
	const struct probe *probe = &core.counting.probe;
	const struct plan *plan = &core.counting.plan;
	struct thread_rules *rules = &core.rules;
	double budget = settings->budget, quantum = settings->quantum_ns;

	rules->scheme = (struct scheme){ .kind = settings->scheme, .groups = plan->groups,
		.fixed = settings->group, .seed = 1 };
	rules->groups = plan->groups;
	for (unsigned g = 0; g < plan->groups; g++)
		rules->counts[g] = plan->group[g].count;
	/* a probability of more than one is one */
	rules->pay = isfinite(budget) && probe->read_ns > 0 ?
				     budget * BUDGET_READS / (2 * (double)clock_ticks(probe->read_ns)) :
				     1e18;
	if (!quantum && isfinite(budget))
		quantum = probe->switch_ns / (budget * BUDGET_SWITCHES);
	if (!settings->quantum_ns)
		quantum = fmax(quantum, QUANTUM_NS);
	rules->quantum_ticks = clock_ticks(quantum);
	rules->quantum_bursts = settings->quantum_bursts;
	rules->service_ticks = clock_ticks(SERVICE_NS);
}

/* What two calls of a hook cost where nothing is read: mostly their time stamps. */
static double measure_call(void)
{
	uint64_t begin = clock_now();

	for (int i = 0; i < 64; i++)
		clock_now();
	return (double)(clock_now() - begin) / 64 * 4;
}

/* All ranks decide together what they count. 0, or -EINVAL: none of them counts. */
static int agree(int trouble, const char *why)
{
	struct counting_limits limits = { .trouble = 0 };

	if (!trouble)
		counting_limits(&core.counting, &limits);
	else
		limits.trouble = core.world.rank + 1;
	if (core.adapter && core.adapter->max((double *)&limits, sizeof(limits) / sizeof(double)))
		return -EINVAL;
	if (limits.trouble > 0) {
		/* one of those that are in trouble speaks for all */
		log_speaker(trouble && limits.trouble == core.world.rank + 1);
		log_line("off: %s", why);
		return -EINVAL;
	}
	counting_settle(&core.counting, &limits);
	if (core.settings.scheme == SCHEME_NONE && core.settings.group >= core.counting.plan.groups) {
		log_line("off: PHASEMUX_GROUP=%u makes no sense; there are groups 0 to %u",
				core.settings.group, core.counting.plan.groups - 1);
		return -EINVAL;
	}
	return 0;
}

/* The program and its arguments, as the kernel knows them; what is too long is cut. */
static void read_command(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, core.command, sizeof(core.command));

	if (fd >= 0)
		close(fd);
	core.command_bytes = bytes > 0 ? (size_t)bytes : 0;
}

/* PHASEMUX_REPORT=bursts: all ranks write into rank 0's folder. */
static void record_bursts(void)
{
	char why[sizeof(core.folder) + 128];

	if (!(core.settings.report & REPORT_BURSTS))
		return;
	if (core.adapter && (core.adapter->broadcast_start(core.folder, sizeof(core.folder)) ||
					core.adapter->wait()))
		return;
	core.bursts = burst_table_new(core.folder, &core.counting, core.world.rank, core.start, why,
			sizeof(why));
	if (!core.bursts)
		log_line("bursts are not recorded: %s", why);
	ledger_record(core.ledger, core.bursts);
}

/* The same number on all ranks of this run, and on no other's. 0 or -EIO. */
static int agree_on_run(double *run)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*run = 0;
	if (core.world.rank == 0 || !core.adapter)
		/* a double holds 52 bits */
		*run = (double)((((uint64_t)now.tv_sec << 20 | (uint64_t)now.tv_nsec >> 10) +
						((uint64_t)getpid() << 30)) &
				0xfffffffffffff);
	return core.adapter ? core.adapter->max(run, 1) : 0;
}

/* Makes the spool, so that a run that is killed has its report. 0 or -errno. */
static int open_spool(double run)
{
	struct spool_facts *facts = calloc(1, sizeof(*facts));
	struct timespec now;
	int error;

	if (!facts)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	spool_describe(facts, &core.counting);
	facts->run = (uint64_t)run;
	facts->rank = core.world.rank;
	facts->size = core.adapter ? core.world.size : core.world.rank + 1;
	facts->pid = core.pid;
	facts->started = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	facts->start = core.start;
	facts->ns_per_tick = clock_here.ns_per_tick;
	facts->call_ticks = core.call_ticks;
	facts->thread_memory = (double)thread_bytes();
	facts->scheme = core.settings.scheme;
	facts->alone = !core.adapter;
	snprintf(facts->library, sizeof(facts->library), "%s", core.world.library);
	memcpy(facts->command, core.command, sizeof(core.command));
	facts->command_bytes = (uint32_t)core.command_bytes;
	facts->job = core.job;
	snprintf(facts->output, sizeof(facts->output), "%s", core.folder);
	facts->modules = source_modules(facts->module, SPOOL_MODULES_MAX);
	core.spool = spool_new(facts, core.settings.spool, core.spool_folder,
			sizeof(core.spool_folder), &error);
	free(facts);
	return core.spool ? 0 : error;
}

/* *spool_error: 0 or -errno; without a spool the run goes on. */
static int start(const struct preload *preload, double run, int *spool_error)
{
	read_command();
	core.pid = getpid();
	core.main_thread = pthread_self();
	core.preload = preload;
	core.call_ticks = measure_call();
	make_rules();
	if (path_setup())
		log_line("no unwinder (libgcc_s): call sites are known without their callers");
	core.start = clock_now();
	*spool_error = open_spool(run);
	core.ledger = ledger_new(&core.counting, &core.rules, &core.settings, core.world.rank,
			core.start, core.spool);
	if (!core.ledger)
		return -ENOMEM;
	core.exchange = exchange_new(core.adapter, core.ledger, core.world.rank, core.start);
	if (!core.exchange)
		return -ENOMEM;
	if (core.spool)
		spool_side(core.spool)->own_bytes =
				(double)(ledger_bytes(core.ledger) + exchange_bytes());
	if (pthread_key_create(&core.thread_ends, thread_ends) || pthread_atfork(NULL, NULL, forked))
		return -ENOMEM;
	return 0;
}

static const struct preload_hooks hooks = {
	.before = hook_before,
	.after = hook_after,
	.finalize = hook_finalize,
};

/* All ranks start together, or none does. */
static int start_together(const struct preload *preload)
{
	double run, failed[2] = { 0, 0 };
	int spool_error = 0;

	if (agree_on_run(&run))
		return -EIO;
	failed[0] = start(preload, run, &spool_error) != 0;
	failed[1] = spool_error ? core.world.rank + 1 : 0;
	if ((core.adapter && core.adapter->max(failed, 2)) || failed[0])
		return -ENOMEM;
	if (failed[1] > 0) {
		/* one of those that have none speaks for all */
		log_speaker(failed[1] == core.world.rank + 1);
		log_line("%s: %s; should the run be killed, there will be no report of it",
				core.spool_folder, strerror(-spool_error));
		log_speaker(core.world.rank == 0);
	}
	return 0;
}

static int attach(struct preload *preload)
{
	char why[512] = "";
	int trouble;

	if (getauxval(AT_SECURE))
		return -EPERM;
	log_open();
	/* the settings are the same on all ranks, and so is what is wrong with them */
	if (settings_read(&core.settings, getenv, why, sizeof(why))) {
		log_line("off: %s", why);
		return -EINVAL;
	}
	if (core.settings.disable)
		return 0;
	job_read(&core.job, getenv);
	core.adapter = preload->with_mpi ? find_adapter(preload->folder) : NULL;
	core.world = (struct mpi_world){ .rank = log_announced_rank(), .size = 1 };
	strcpy(core.world.library, preload->with_mpi ? "an MPI without an adapter" : "no MPI");
	if (core.adapter && core.adapter->open(&core.world)) {
		log_line("off: MPI refused a communicator");
		return -EIO;
	}
	log_speaker(core.world.rank == 0);
	if (!core.adapter && preload->with_mpi)
		log_line("no adapter for this MPI: each rank learns and reports alone");
	clock_calibrate();
	trouble = counting_look(&core.counting, core.settings.events, getenv("PHASEMUX_PMU"), why,
			sizeof(why));
	if (!trouble && output_folder(core.settings.output, &core.job, core.folder, sizeof(core.folder))) {
		snprintf(why, sizeof(why), "PHASEMUX_OUTPUT is too long");
		trouble = -EINVAL;
	}
	if (agree(trouble, why)) {
		if (core.adapter)
			core.adapter->close();
		return -EINVAL;
	}
	if (start_together(preload)) {
		log_line("off: a rank of the job has no memory for it");
		exchange_free(core.exchange);
		ledger_free(core.ledger);
		if (core.spool)
			spool_remove(core.spool);
		spool_free(core.spool);
		core.spool = NULL;
		return -ENOMEM;
	}
	record_bursts();
	core.attached = true;
	preload->set_hooks(&hooks);
	return 0;
}

__attribute__((visibility("default"))) int phasemux_core_attach(struct preload *preload);

int phasemux_core_attach(struct preload *preload)
{
	locale_t kept, plain = plain_numbers(&kept);
	int error = attach(preload);

	restore_numbers(plain, kept);
	return error;
}
