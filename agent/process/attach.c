/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of the core, which is a library that the preload opens in a process that is a target. It decides
 * with the other ranks what to count. If anything fails, one line on stderr says so, and the program runs on
 * without the agent.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/core.h"
#include "agent/core/predecessor.h"
#include "agent/core/rules.h"
#include "agent/core/storage.h"
#include "agent/core/toggle.h"
#include "agent/core/helper.h"
#include "agent/host/float_env.h"
#include "agent/host/hash.h"
#include "agent/host/launcher.h"
#include "agent/host/log.h"
#include "agent/host/plain_locale.h"
#include "agent/host/quiet.h"
#include "agent/loader/modules.h"
#include "agent/process/alone.h"
#include "agent/process/control.h"
#include "agent/process/finalize.h"
#include "agent/process/first_thread.h"
#include "agent/process/fork.h"
#include "agent/process/hooks.h"
#include "agent/process/service.h"
#include "agent/process/threads.h"
#include "agent/setup/agreement.h"
#include "agent/setup/output.h"
#include "agent/thread/unwind.h"
#include "sampling/clock.h"

/* The process' mark if there is no page for it. */
static unsigned char mark_of_all = 1;

/*
 * Returns a byte that is 1 in this process and 0 in its copies. It is 1 in all if the kernel cannot clear it.
 */
static volatile unsigned char *mark_process(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (mark == MAP_FAILED)
		return &mark_of_all;
	*mark = 1;
	madvise(mark, page, MADV_WIPEONFORK);
	return mark;
}

/* Frees the mark of mark_process. */
static void unmark_process(void)
{
	if (core.process.mark && core.process.mark != &mark_of_all)
		munmap((void *)core.process.mark, (size_t)sysconf(_SC_PAGESIZE));
	core.process.mark = NULL;
}

/* Returns a number that no other run has; 0 on all ranks except rank 0. */
static double run_number(void)
{
	struct timespec now;

	if (core.adapter && core.world.rank != 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	/* a double holds 52 bits */
	return (double)((((uint64_t)now.tv_sec << 20 | (uint64_t)now.tv_nsec >> 10) +
					((uint64_t)getpid() << 30)) &
			0xfffffffffffff);
}

/* Reads the name of this machine. A name that is too long is cut. */
static void read_host(void)
{
	if (gethostname(core.host, sizeof(core.host)))
		strcpy(core.host, "?");
	core.host[sizeof(core.host) - 1] = '\0';
}

/* Returns a number that other hosts' names hardly have. */
static double host_number(void)
{
	/* a double holds 52 bits */
	return (double)(hash_bytes(HASH_START, core.host, strlen(core.host)) & 0xfffffffffffff);
}

/* Prints what is wrong with this rank, and which one it is if others are sound. */
static void log_rank(const char *before, bool others_are_sound, const char *what)
{
	char rank[320] = "";

	if (others_are_sound)
		launcher_name_rank(core.world.rank, rank, sizeof(rank));
	log_line("%s%s%s", before, rank, what);
}

/* Returns whether the arguments of calls are wanted, and MPI can say what they mean. Spared ranks check them. */
static bool reads_arguments(void)
{
	bool are_wanted = core.settings.arguments || core.settings.leads != SETTINGS_LEADS_ALL;

	return are_wanted && core.adapter && core.adapter->arguments->open() == 0;
}

/* Returns whether a region is wanted, which ranks can only agree on together. */
static bool wants_region(void)
{
	return core.adapter &&
			(core.settings.region_iterations > 0 || core.settings.region_bytes > 0);
}

/*
 * Decides together with all ranks what to count, and sets *run to the number of the run on each of them.
 * `trouble`: 0 or this rank's error, with the text `why`. Returns 0, or -EINVAL, and then no rank counts.
 */
static int agree(int trouble, const char *why, double *run)
{
	double host = host_number();
	bool reads = reads_arguments();
	struct agreement agreement = { .run = run_number(),
		/* leads follow the loops of the calls */
		.no_structure = !core.settings.structure &&
				core.settings.leads == SETTINGS_LEADS_ALL && !wants_region(),
		.no_arguments = !(core.settings.arguments && reads),
		.no_region = !wants_region(),
		.sound = !trouble,
		.host = host,
		.minus_host = -host };
	struct counting_limits *limits = &agreement.limits;

	if (!trouble)
		counting_limits(&core.counting, limits);
	else
		limits->trouble = core.world.rank + 1;
	if (core.adapter && core.adapter->max((double *)&agreement, AGREEMENT_LENGTH))
		return -EINVAL;
	/* the rank without a core says so */
	if (agreement.coreless > 0)
		return -EINVAL;
	*run = agreement.run;
	core.several_hosts = agreement.host != -agreement.minus_host;
	core.settings.structure = agreement.no_structure == 0;
	core.settings.arguments = agreement.no_arguments == 0;
	core.reads_arguments = reads;
	core.region = agreement.no_region == 0;
	if (limits->trouble > 0) {
		/* of the ranks with an error, one writes the message */
		log_speaker(trouble && limits->trouble == core.world.rank + 1);
		log_rank("off: ", agreement.sound > 0, why);
		return -EINVAL;
	}
	counting_settle(&core.counting, limits);
	if (core.settings.scheme == SCHEME_NONE &&
			core.settings.group >= core.counting.plan.groups) {
		log_line("off: invalid value PHASEMUX_GROUP=%u (expected: 0 to %u)",
				core.settings.group, core.counting.plan.groups - 1);
		return -EINVAL;
	}
	return 0;
}

/* Reads the program and its arguments from the kernel. Cuts them if they are too long. */
static void read_command(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, core.command, sizeof(core.command));

	if (fd >= 0)
		close(fd);
	core.command_bytes = bytes > 0 ? (size_t)bytes : 0;
}

/*
 * Opens the spool and, without MPI, the family of the processes that this one may fork. A family needs the
 * helper, which starts only if bursts may be cut. It also needs the spool, through which the results of its
 * processes are added up. *spool_error: 0 or -errno.
 */
static void found_family(int *spool_error, double run)
{
	if (!core.preload->with_mpi && core.rules.long_ticks)
		core.family = family_new(core.process.start);
	*spool_error = storage_open_spool(run);
	if (*spool_error) {
		family_free(core.family);
		core.family = NULL;
	}
}

/* Notes when the run began, by both clocks. */
static void note_start(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	core.process.start = clock_now();
	core.process.started = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Looks for a name in the environment. */
static char *look_in_environment(const char *name)
{
	return core.preload->first.slot ? core.preload->first.look(name) : getenv(name);
}

/*
 * Returns whether this process may have been observed before, as another program: it is the one that `phasemux run`
 * became, or one without MPI below it, because a launcher that waits (timeout) may have started it.
 */
static bool may_have_predecessor(void)
{
	const char *target = look_in_environment(PRELOAD_TARGET);

	return target && *target &&
			(!core.preload->with_mpi || atol(target) == (long)core.process.pid);
}

/*
 * Opens all that this process needs. Returns 0 or -ENOMEM. *spool_error: 0 or -errno; the run needs no spool.
 * The caller undoes all of it on failure, here or on another rank.
 */
static int open_process(const struct preload *preload, double run, int *spool_error)
{
	read_command();
	modules_remember(preload->unloaded);
	core.process.pid = getpid();
	core.process.mark = mark_process();
	core.process.main_thread = preload->first.slot ? preload->first.thread : pthread_self();
	rules_make();
	if (unwind_setup())
		log_line("no unwinder (libgcc_s): call sites are known without their callers");
	note_start();
	found_family(spool_error, run);
	if (core.spool && may_have_predecessor())
		predecessor_remove(core.spool_folder);
	if (storage_open_ledger() || threads_start())
		return -ENOMEM;
	alone_prepare();
	return fork_prepare(run);
}

/* Starts the core on all ranks, or on none. Returns 0 or -ENOMEM. */
static int start_together(const struct preload *preload, double run)
{
	/* each becomes its maximum over all ranks */
	struct {
		double failed;
		double no_spool; /* 1 + rank if the rank has no spool */
		double spool;    /* 1: this rank has one */
	} ranks = { 0 };
	int spool_error = 0;

	ranks.failed = open_process(preload, run, &spool_error) != 0;
	ranks.no_spool = spool_error ? core.world.rank + 1 : 0;
	ranks.spool = core.spool != NULL;
	if ((core.adapter && core.adapter->max((double *)&ranks, sizeof(ranks) / sizeof(double))) ||
			ranks.failed > 0)
		return -ENOMEM;
	if (ranks.no_spool > 0) {
		char why[sizeof(core.spool_folder) + 256];

		/* of the ranks without a spool, one writes the message */
		log_speaker(ranks.no_spool == core.world.rank + 1);
		snprintf(why, sizeof(why),
				"%s: %s; should the run be killed, there will be no report of %s",
				core.spool_folder, strerror(-spool_error),
				ranks.spool > 0 ? "this rank" : "it");
		log_rank("", ranks.spool > 0, why);
		log_speaker(core.world.rank == 0);
	}
	return 0;
}

/*
 * Notes the time that the agent took to start, without the wait for ranks that were late. Call when all is
 * prepared.
 */
static void account_start(void)
{
	double took = (double)(clock_monotonic() - core.preload->attach_ns -
			core.preload->waited_ns);

	/* the program does not wait if another thread opens the core, but takes turns with it */
	core.process.start_seconds =
			(core.preload->first.slot ? (double)clock_thread_ns(0) : took) * 1e-9;
	/* the end takes about as long as the start */
	core.rules.fixed_ticks = 2 * core.process.start_seconds * 1e9 / clock_here.ns_per_tick;
	if (core.spool)
		spool_side(core.spool)->start_seconds = core.process.start_seconds;
}

/* Makes the helper, which calls this, stand for the process in its family. */
static bool stand_in_family(void)
{
	if (core.family)
		family_stand(core.family, 0);
	return true;
}

/* Returns whether a thread counts one group after the other. */
static bool groups_change(void)
{
	enum scheme_kind kind = core.settings.scheme;

	return core.rules.groups > 1 && kind != SCHEME_NONE && kind != SCHEME_SPACE;
}

static bool begin_watch(void)
{
	return true;
}

static void keep_nothing(void)
{
}

/*
 * Starts the helper if bursts may be cut. With MPI it only looks after long bursts, and never calls MPI. If the
 * thread cannot be made, the run goes on without a helper.
 */
static void start_helper(struct preload_first *first)
{
	static const struct helper_tasks all = { .begin = stand_in_family,
		.look = service_all_threads,
		.keep = finalize_keep };
	static const struct helper_tasks long_bursts = { .begin = begin_watch,
		.look = service_long_bursts,
		.keep = keep_nothing };

	if (!core.rules.long_ticks || (core.adapter && !groups_change()))
		return;
	core.rules.switching = groups_change();
	if (first->slot)
		first->serve = helper_become(&all);
	else if (!helper_start(core.adapter ? &long_bursts : &all))
		core.rules.switching = false;
}

/* Finds what can be counted, and where the results go. Returns 0, or -errno with one line in `why`. */
static int find_means(char *why, size_t why_size)
{
	int error = counting_look(&core.counting, core.settings.events,
			look_in_environment("PHASEMUX_PMU"), why, why_size);

	if (!error &&
			output_folder(core.settings.output, &core.job, core.result_folder,
					sizeof(core.result_folder))) {
		snprintf(why, why_size, "PHASEMUX_OUTPUT is too long");
		error = -EINVAL;
	}
	return error;
}

/* Begins to observe. */
static FLOAT_ENV_COMPUTES void observe(struct preload *preload)
{
	/* the launcher waits for the process, and not for the end of its stderr */
	if (preload->with_mpi)
		log_hold();
	storage_record_bursts();
	core.process.attached = true;
	start_helper(&preload->first);
	if (core.settings.arguments)
		preload->keep_arguments(true);
	if (preload->first.slot) {
		first_thread_observe(core.process.pid, preload->first.slot);
		control_start();
	}
	preload->set_hooks(&hooks);
	toggle_start(core.settings.toggle_ns);
}

static FLOAT_ENV_COMPUTES int attach(struct preload *preload)
{
	char why[512] = "";
	double run;
	int trouble, error, rank = preload->first.slot ? -1 : launcher_rank();

	if (getauxval(AT_SECURE))
		return -EPERM;
	core.preload = preload;
	log_speaker(rank <= 0);
	log_open();
	quiet_set_taker(preload->hand_over);
	core.adapter = preload->adapter;
	core.world = (struct mpi_world){ .rank = rank < 0 ? 0 : rank, .size = 1 };
	strcpy(core.world.library, preload->with_mpi ? "an MPI without an adapter" : "no MPI");
	if (core.adapter)
		core.world = preload->world;
	trouble = settings_read(&core.settings, look_in_environment, why, sizeof(why));
	if (trouble && !core.adapter) {
		log_line("off: %s", why);
		return -EINVAL;
	}
	job_read(&core.job, look_in_environment);
	read_host();
	if (!core.adapter && preload->with_mpi) {
		log_speaker(launcher_is_first_here());
		log_line("each rank on %s learns and reports alone: %s", core.host,
				preload->why_alone);
	}
	log_speaker(core.world.rank == 0);
	clock_calibrate(&preload->early);
	if (!trouble)
		trouble = find_means(why, sizeof(why));
	error = agree(trouble, why, &run);
	if (error)
		goto close_counting;
	error = start_together(preload, run);
	if (error) {
		log_line("off: a rank of the job has no memory for it");
		goto stop;
	}
	exchange_rehearse(core.exchange);
	storage_share_folder();
	account_start();
	return 0;

stop: /* undo open_process(), which may have failed halfway, or on another rank */
	threads_stop();
	storage_close();
	family_free(core.family);
	core.family = NULL;
	unmark_process();
close_counting:
	counting_fini(&core.counting);
	if (core.adapter)
		core.adapter->close();
	return error;
}

static void begin_observing(struct preload *preload)
{
	struct float_env kept = float_env_hold();
	struct plain_locale plain = plain_locale_enter();

	observe(preload);
	plain_locale_leave(&plain);
	float_env_release(kept);
}

__attribute__((visibility("default"))) int phasemux_core_attach(struct preload *preload);

int phasemux_core_attach(struct preload *preload)
{
	struct float_env kept = float_env_hold();
	struct plain_locale plain = plain_locale_enter();
	int error = attach(preload);

	preload->begin = begin_observing;
	plain_locale_leave(&plain);
	float_env_release(kept);
	return error;
}
