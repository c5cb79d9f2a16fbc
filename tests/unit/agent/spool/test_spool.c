/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the crash-safe sums. A process that is killed at any instruction leaves a consistent spool. A reader
 * sees the state of one moment, even while the process writes. No other user can plant anything.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/spool/spool_image.h"
#include "cluster/loops/loops.h"
#include "multiplex/estimate/layout.h"
#include "tests/tap.h"

#define RUN   0x123456789abcdu
#define KILLS 40
#define READS 300

static char base[] = "/tmp/phasemux-spool-XXXXXX";
static struct spool_facts facts;
static struct loops calls;
static struct call_arguments arguments;
static struct site_table own_sites;
static struct iteration_sample sample;

static void describe(void)
{
	facts.run = RUN;
	facts.rank = 3;
	facts.size = 8;
	facts.ns_per_tick = 0.5;
	facts.prototypes = PROTOTYPES_MAX;
	plan_pack(&facts.plan, 12, 2, 4, NULL);
	facts.sums_length = sums_length_for(&facts.plan, PROTOTYPES_MAX);
	snprintf(facts.event[1], sizeof(facts.event[1]), "instructions");
}

static char *path_in(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/phasemux.%u%s", base, (unsigned)geteuid(), name);
	return path;
}

static int read_back(struct spool_image *image, char *why, size_t size)
{
	char path[256];
	int folder = open(path_in(path, sizeof(path), "/123456789abcd"), O_RDONLY | O_DIRECTORY);
	int error = folder < 0 ? -errno : spool_image_read(image, folder, "rank-3", why, size);

	if (folder >= 0)
		close(folder);
	return error;
}

static struct spool *make(int *error)
{
	char folder[4096];

	return spool_new(&facts, base, folder, sizeof(folder), error);
}

/* ---- what belongs together ---- */

/*
 * Writes the next step: the sums of some blocks, and the account, the open quantum and the calls of a thread, which
 * has made a call in each step.
 */
static void advance(struct spool *spool, struct sums *sums, int thread, uint64_t step)
{
	struct spool_thread *to = spool_thread(spool, thread);
	uint32_t sites = 1, spans = 201, lengths = 8, paths = 1;

	spool_room(spool, 20, 2);
	spool_thread_room(spool, thread, &sites, &spans, &lengths, &paths);
	for (unsigned p = 0; p < 20; p++)
		for (unsigned g = 0; g < facts.plan.groups; g++) {
			double *block = sums_block(sums, p, g);

			for (unsigned i = 0; i < BLOCK_FIELDS; i++)
				block[i] = (double)step;
			spool_touch(spool, p, g);
		}
	to->account.bursts = (double)step;
	to->spans = 1 + step % 200;
	to->span[to->spans - 1].lengths = 1;
	to->span[to->spans - 1].length[0] = 7;
	to->lengths = 8;
	to->length[7].unread = (float)step;
	to->open = 1 + step % SPOOL_OPEN_MAX;
	to->open_weight = 1;
	to->open_fields[to->open - 1][0] = (double)step;
	loops_add(&calls, (uint32_t)(step * step % 97), 100, 10);
	arguments.value[ARGUMENT_COMMUNICATOR] = (int64_t)(step * step % 13);
	arguments.noted = true;
	call_arguments_add(&arguments, &own_sites, 1);
	if (!sample.stride)
		iteration_sample_start(&sample, &(struct anchor){ 1, 2 });
	iteration_sample_add(&sample, step, &(struct iteration_part){ 7, (float)step }, 1);
	spool_keep_structure(spool, thread,
			&(struct spool_structure){ &calls, &arguments, &own_sites, &sample,
					{ .rounds = (double)step } });
	spool_touch_span(spool, thread, to->spans - 1);
	spool_touch_thread(spool, thread);
	spool_side(spool)->now = step;
	spool_commit(spool);
}

static void write_for_ever(unsigned pause_us)
{
	int error;
	struct spool *spool = make(&error);
	struct sums *sums =
			spool ? sums_over(&facts.plan, PROTOTYPES_MAX, spool_sums(spool)) : NULL;
	int thread = spool ? spool_admit(spool) : -1;

	if (!sums || thread < 0)
		_exit(1);
	loops_init(&calls);
	own_sites.sites = 1;
	own_sites.site[1].call = MPI_CALL_Barrier;
	for (uint64_t step = 1;; step++) {
		advance(spool, sums, thread, step);
		if (pause_us)
			usleep(pause_us);
	}
}

/* Returns whether the image has the arguments of the calls of all steps. */
static bool has_arguments(const struct spool_image *image)
{
	struct arguments_record record;
	size_t at = 0;

	return image->arguments &&
			arguments_image_next(image->arguments, image->side.arguments, &at, 1,
					&record) &&
			record.count == image->side.now && record.exact == STREAM_ALL &&
			at == image->side.arguments;
}

/* Returns whether the last iteration in the image is that of the step. */
static bool has_iteration(const struct spool_image *image, uint64_t step)
{
	const struct iteration_sample *of = image->iterations;

	return of && of->count && of->iteration[of->count - 1].ticks == step &&
			(uint64_t)of->part[of->parts - 1].ticks == step;
}

/* Returns the step that all of the image belongs to, or -1. */
static int64_t step_of(struct spool_image *image)
{
	struct sums *sums = sums_over(&facts.plan, PROTOTYPES_MAX, image->sums);
	double step = (double)image->side.now;
	bool same = true;

	/* killed before the first commit */
	if (image->side.now == 0 && image->side.threads == 0) {
		sums_free(sums);
		return 0;
	}
	for (unsigned p = 0; p < 20; p++)
		for (unsigned g = 0; g < facts.plan.groups; g++)
			for (unsigned i = 0; i < BLOCK_FIELDS; i++)
				same = same && sums_block(sums, p, g)[i] == step;
	sums_free(sums);
	if (image->side.threads != 1)
		return -1;
	same = same && image->thread[0].account.bursts == step &&
			image->thread[0].spans == 1 + image->side.now % 200 &&
			image->thread[0].length[7].unread == step && image->structure &&
			image->structure->calls == image->side.now &&
			image->side.recurrence.rounds == (double)image->side.now &&
			has_arguments(image) && has_iteration(image, image->side.now) &&
			image->thread[0].open == 1 + image->side.now % SPOOL_OPEN_MAX &&
			image->thread[0].open_fields[image->thread[0].open - 1][0] == step;
	return same ? (int64_t)image->side.now : -1;
}

static pid_t fork_writer(unsigned pause_us)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		write_for_ever(pause_us);
	}
	return pid;
}

static void remove_file(void)
{
	char path[256];

	unlink(path_in(path, sizeof(path), "/123456789abcd/rank-3"));
}

static void test_kills(void)
{
	int torn = 0, unread = 0, begun = 0;

	srand(7);
	for (int i = 0; i < KILLS; i++) {
		/*
		 * the time until the first commit depends on the machine, so that some pauses are long enough
		 */
		struct timespec pause = { 0, 2000000 + rand() % (2000000 * (i + 1)) };
		struct spool_image image;
		pid_t pid = fork_writer(0);
		char why[256];
		int error;

		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		error = read_back(&image, why, sizeof(why));
		if (error == 0) {
			int64_t step = step_of(&image);

			torn += step < 0;
			begun += step > 0;
			spool_image_fini(&image);
		} else if (error != -ENOENT && error != -EINVAL) {
			/* not killed before the file existed or was complete */
			unread++;
			diag("%s", why);
		}
		remove_file();
	}
	is_int(torn, 0, "killed at any moment: the spool is consistent");
	is_int(unread, 0, "and can be read");
	ok(begun > 0, "%d of %d kills came after the first commit", begun, KILLS);
}

static void test_live(void)
{
	pid_t pid = fork_writer(1000); /* at most as often as a thread of the agent commits */
	int64_t last = 0;
	int good = 0, back = 0, torn = 0, tries = 0, status = 0;

	/* the first commit may take a while on a busy machine */
	while (good < READS && tries++ < 100000) {
		struct spool_image image;
		char why[256];
		int64_t step;

		if (read_back(&image, why, sizeof(why))) {
			usleep(100);
			continue;
		}
		step = step_of(&image);
		torn += step < 0;
		back += step < last;
		last = step;
		good++;
		spool_image_fini(&image);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	is_int(good, READS, "read while it is written");
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && last > 1,
			"which it was to the end (step %lld)", (long long)last);
	is_int(torn, 0, "every reading is of one moment");
	is_int(back, 0, "and none is older than the one before");
	remove_file();
}

/* ---- who may read it, and what is in the way ---- */

/* Returns the number of bytes of the file at `path` that are mapped readable. */
static size_t readable(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, end;
	char line[4096], mode[8];
	size_t bytes = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, path) && sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 &&
				mode[0] == 'r')
			bytes += end - begin;
	if (maps)
		fclose(maps);
	return bytes;
}

/* Memory with room has storage behind it, so that no page of the mapping kills a process that writes to it. */
static void test_room(void)
{
	int error;
	struct spool *spool = make(&error);
	struct sums *sums = sums_over(&facts.plan, PROTOTYPES_MAX, spool_sums(spool));
	uint32_t sites = 60, spans = 70, lengths = 90, paths = 40;
	size_t before = spool_bytes(spool);
	struct stat empty, status;
	int thread = spool_admit(spool);
	char path[256];

	path_in(path, sizeof(path), "/123456789abcd/rank-3");
	stat(path, &empty);
	ok(thread >= 0 && spool_room(spool, 37, 5) == 0, "room for prototypes and a thread");
	spool_thread_room(spool, thread, &sites, &spans, &lengths, &paths);
	ok(sites == 60 && spans == 70 && lengths == 90 && paths == 40, "and for its call sites");
	stat(path, &status);
	ok((size_t)status.st_blocks * 512 >= spool_bytes(spool), "has storage (%zu bytes)",
			spool_bytes(spool));
	ok(spool_bytes(spool) < before + 320000, "not for more");
	is_int(readable(path), status.st_size, "no page behind the file's end can be touched");
	memset(sums_flat(sums), 1, sums_prototype_at(sums, 37) * sizeof(double));
	memset(sums_flat(sums) + sums_sketch_at(sums, 1), 1,
			(sums_sketch_at(sums, 6) - sums_sketch_at(sums, 1)) * sizeof(double));
	memset(spool_thread(spool, thread), 1, offsetof(struct spool_thread, span[70]));
	memset(spool_thread(spool, thread)->site, 1, 60 * sizeof(struct spool_site));
	memset(spool_thread(spool, thread)->path, 1, 40 * sizeof(struct spool_path));
	stat(path, &empty);
	ok(empty.st_blocks <= status.st_blocks, "to fill it takes no storage more");
	unlink(path);
	is_int(spool_room(spool, PROTOTYPES_MAX, 16), -ENOENT,
			"if the file was removed, there is no room");
	memset(sums_flat(sums), 0, sums_length(sums) * sizeof(double));
	ok(true, "and sums can be written nevertheless");
	sums_free(sums);
	spool_remove(spool);
	spool_free(spool);
}

/*
 * The memory of each thread is mapped when it is admitted, and the image that is read back is as large as what
 * was written.
 */
static void test_many_threads(void)
{
	int error, last = 0;
	struct spool *spool = make(&error);
	struct spool_image image;
	char why[256] = "";
	double bursts = 0;

	for (int i = 0; i < SPOOL_THREADS_MAX && last >= 0; i++) {
		last = spool_admit(spool);
		if (last < 0)
			break;
		spool_thread(spool, last)->account.bursts = i;
		spool_touch_thread(spool, last);
	}
	is_int(last, SPOOL_THREADS_MAX - 1, "room for as many threads as may be observed");
	is_int(spool_admit(spool), -ENOSPC, "and for no more");
	spool_commit(spool);
	error = read_back(&image, why, sizeof(why));
	ok(error == 0, "they are read back: %s", error ? why : "all");
	for (uint32_t i = 0; i < image.side.threads; i++)
		bursts += image.thread[i].account.bursts;
	ok(bursts == SPOOL_THREADS_MAX * (SPOOL_THREADS_MAX - 1) / 2, "each with what it has");
	spool_image_fini(&image);
	spool_remove(spool);
	spool_free(spool);
}

static int removes_without_descriptors(void *spool)
{
	struct rlimit none = { 0, 0 };
	char path[256];

	if (setrlimit(RLIMIT_NOFILE, &none))
		return 1;
	spool_remove(spool);
	return access(path_in(path, sizeof(path), "/123456789abcd/rank-3"), F_OK) == 0;
}

static void test_modes(void)
{
	char path[256];
	struct stat status;
	struct spool_image image;
	int error;
	struct spool *spool = make(&error);
	char why[256];

	ok(spool != NULL, "made in a folder that is not there yet");
	if (!spool)
		return;
	stat(path_in(path, sizeof(path), ""), &status);
	is_int(status.st_mode & 07777, 0700, "the folder is its owner's alone");
	stat(path_in(path, sizeof(path), "/123456789abcd"), &status);
	is_int(status.st_mode & 07777, 0700, "so is the run's");
	stat(path_in(path, sizeof(path), "/123456789abcd/rank-3"), &status);
	is_int(status.st_mode & 07777, 0600, "and the file");
	ok((size_t)status.st_blocks * 512 >= spool_bytes(spool) && spool_bytes(spool) > 0,
			"with storage behind what it begins with");
	ok(read_back(&image, why, sizeof(why)) == 0 && image.facts.size == 8 &&
					strcmp(image.facts.event[1], "instructions") == 0,
			"and can be read at once");
	spool_image_fini(&image);
	ok(!make(&error) && error == -EEXIST, "never over a file that is there");
	ok(tap_survives(removes_without_descriptors, spool, 10),
			"a process that has no descriptor left can remove it");
	ok(stat(path_in(path, sizeof(path), ""), &status) && errno == ENOENT,
			"the normal end leaves nothing, not even folders");
	spool_free(spool);
}

static int passes_the_limit(void *data)
{
	struct rlimit limit = { 65536, 65536 };
	int error;

	(void)data;
	setrlimit(RLIMIT_FSIZE, &limit);
	return make(&error) || error != -EFBIG;
}

static void test_planted(void)
{
	char path[256], elsewhere[256];
	int error;

	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", base);
	mkdir(elsewhere, 0700);
	path_in(path, sizeof(path), "");
	if (symlink(elsewhere, path))
		diag("no link");
	ok(!make(&error) && (error == -ENOTDIR || error == -ELOOP), "not through a planted link");
	ok(rmdir(elsewhere) == 0, "and nothing was made behind it");
	unlink(path);
	mkdir(path, 0700);
	chmod(path, 0777);
	ok(!make(&error) && error == -EPERM, "not in a folder that others can write to");
	chmod(path, 0700);
	mkdir(path_in(path, sizeof(path), "/123456789abcd"), 0700);
	if (symlink("/dev/null", path_in(path, sizeof(path), "/123456789abcd/rank-3")))
		diag("no link");
	ok(!make(&error) && error == -EEXIST, "nor through a planted file");
	unlink(path);
	ok(tap_survives(passes_the_limit, NULL, 10), "a limit on files is an error, no signal");
	rmdir(path_in(path, sizeof(path), "/123456789abcd"));
	rmdir(path_in(path, sizeof(path), ""));
}

/* ---- hostile bytes ---- */

static void test_bytes(void)
{
	size_t length = spool_thread_at(facts.sums_length, 1, 0);
	unsigned char *bytes = calloc(1, length);
	struct spool_facts *head = (struct spool_facts *)bytes;
	struct spool_image image;
	char why[256] = "";
	int accepted = 0;

	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), -EINVAL,
			"zeros are refused");
	*head = facts;
	memcpy(head->magic, SPOOL_MAGIC, sizeof(head->magic));
	head->version = SPOOL_VERSION;
	head->facts_bytes = sizeof(*head);
	head->side_bytes = sizeof(struct spool_side);
	head->thread_bytes = sizeof(struct spool_thread);
	head->loops_bytes = sizeof(struct loops);
	head->checksum = spool_checksum(head);
	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), 0, "these are not");
	spool_image_fini(&image);
	for (size_t cut = 0; cut < spool_thread_at(facts.sums_length, 0, 0); cut += 977)
		accepted += spool_image_parse(&image, bytes, cut, why, sizeof(why)) == 0;
	is_int(accepted, 0, "cut short, they are refused");
	for (size_t at = 0; at < sizeof(*head); at += 61) {
		bytes[at] ^= 0x40;
		accepted += spool_image_parse(&image, bytes, length, why, sizeof(why)) == 0;
		bytes[at] ^= 0x40;
	}
	is_int(accepted, 0, "with a flipped bit in the constant part, they are refused");
	((struct spool_side *)(bytes + spool_side_at(0)))->recurrence.likeness = 1.5;
	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), -EINVAL,
			"a likeness above 1 is refused");
	((struct spool_side *)(bytes + spool_side_at(0)))->recurrence.likeness = 1;
	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), 0,
			"and one of 1 is not");
	spool_image_fini(&image);
	((double *)(bytes + spool_sums_at(facts.sums_length, 0)))[7] = NAN;
	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), -EINVAL,
			"a sum that is no number is refused");
	is_str(why, "damaged", "and the reason is given");
	head->plan.group[0].event[1] = 200;
	head->checksum = spool_checksum(head);
	is_int(spool_image_parse(&image, bytes, length, why, sizeof(why)), -EINVAL,
			"an event that is none is refused, whatever the checksum says");
	free(bytes);
}

int main(void)
{
	if (!mkdtemp(base))
		return 1;
	describe();
	test_modes();
	test_room();
	test_many_threads();
	test_planted();
	test_bytes();
	test_kills();
	test_live();
	{
		char path[256];

		rmdir(path_in(path, sizeof(path), "/123456789abcd"));
		rmdir(path_in(path, sizeof(path), ""));
		ok(rmdir(base) == 0, "nothing is left behind");
	}
	return tap_done();
}
