/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "multiplex/mix.h"
#include "tools/machine.h"

#define LINKS_MAX 16 /* symbolic links from a name to its file */

/* in the folder tools/replay of the sources */
struct source {
	const char *name, *simulated; /* simulated: another one for a simulated machine, or NULL */
};
static const struct source replayer[] = {
	{ "program/replayer", NULL },
	{ "program/changes", NULL },
	{ "program/made_calls", NULL },
	{ "program/pace", "program/pace_simulated" },
	{ "plan/cursor", NULL },
	{ "plan/persistent", NULL },
	{ "plan/values", NULL },
	{ "plan/sample", NULL },
	{ "plan/plan", NULL },
	{ "plan/calls", NULL },
};
static const struct source pingpong[] = { { "program/pingpong", NULL } };

#define SOURCES_MAX (sizeof(replayer) / sizeof(*replayer))

/* Returns the sources of the program that is started. */
static const struct source *sources_of(const struct launch *launch, size_t *count)
{
	*count = launch->measures ? sizeof(pingpong) / sizeof(*pingpong) : SOURCES_MAX;
	return launch->measures ? pingpong : replayer;
}

/* Writes the name of a source's file. */
static void name_source(const struct launch *launch, const char *folder,
		const struct source *source, char *file, size_t size)
{
	const char *name =
			launch->simulated && source->simulated ? source->simulated : source->name;

	snprintf(file, size, "%s/tools/replay/%s.c", folder, name);
}

/* ---- the compiler ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the ending of a launcher's name: ".openmpi" of "mpirun.openmpi". NULL: it is none. */
static const char *ending_of(const char *path)
{
	const char *name = base_of(path);

	if (strncmp(name, "mpirun", 6) == 0)
		return name + 6;
	return strncmp(name, "mpiexec", 7) == 0 ? name + 7 : NULL;
}

/* Finds a command in PATH. Returns false if there is none. */
static bool find_command(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return access(path, X_OK) == 0;
	}
	for (const char *at = folders ? folders : ""; *at;) {
		size_t length = strcspn(at, ":");

		snprintf(path, size, "%.*s/%s", (int)length, at, name);
		if (access(path, X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

bool launch_finds(const char *name)
{
	char path[2 * PATH_MAX];

	return find_command(name, path, sizeof(path));
}

/* Goes from a symbolic link to the file that it names. Returns false if it is none. */
static bool follow_link(char *path, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	size_t folder = (size_t)(base_of(path) - path);

	if (length <= 0)
		return false;
	target[length] = 0;
	if (*target == '/')
		folder = 0;
	snprintf(path + folder, size - folder, "%s", target);
	return true;
}

void launch_compiler(char *const *launcher, char *compiler, size_t size)
{
	char path[2 * PATH_MAX] = "";

	snprintf(compiler, size, "mpicc");
	while (*launcher && !ending_of(*launcher))
		launcher++;
	if (!*launcher || !find_command(*launcher, path, sizeof(path)))
		return;
	for (unsigned i = 0; i < LINKS_MAX && ending_of(path); i++) {
		char beside[3 * PATH_MAX];

		snprintf(beside, sizeof(beside), "%.*smpicc%s", (int)(base_of(path) - path), path,
				ending_of(path));
		/* the last name says most */
		if (access(beside, X_OK) == 0 && strlen(beside) < size)
			snprintf(compiler, size, "%s", beside);
		if (!follow_link(path, sizeof(path)))
			break;
	}
}

/* ---- children ---- */

/* Runs a command and waits for it. log: file of its output; NULL: it goes to stderr. Returns its exit code, or -1. */
static int run_words(char *const *words, const char *log)
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (log ? freopen(log, "w", stderr) == NULL : false)
			_exit(127);
		if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
			execvp(words[0], words);
		fprintf(stderr, "phasemux: cannot start %s: %s\n", words[0], strerror(errno));
		fflush(stderr);
		_exit(127);
	}
	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Copies the first line of a file. */
static void first_line(const char *file, char *line, size_t size)
{
	FILE *in = fopen(file, "r");

	if (!in || !fgets(line, (int)size, in))
		snprintf(line, size, "no message");
	line[strcspn(line, "\n")] = 0;
	if (in)
		fclose(in);
}

/* ---- the program ---- */

/* Finds the folder of the sources. */
static bool find_sources(char *folder, size_t size)
{
	static const char *const places[] = { "replay", REPLAY_PATH };
	char bin[PATH_MAX], tried[3 * PATH_MAX];

	if (machine_find_bin(bin, sizeof(bin)))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(folder, size, "%s/%s", bin, places[i]);
		snprintf(tried, sizeof(tried), "%s/tools/replay/%s.c", folder, replayer[0].name);
		if (access(tried, R_OK) == 0)
			return true;
	}
	return false;
}

/* Returns a number that is another one for other sources, or for another compiler. */
static uint64_t hash_of(const struct launch *launch, const char *compiler, const char *folder)
{
	uint64_t hash = 0;
	size_t count;
	const struct source *sources = sources_of(launch, &count);

	for (const char *at = compiler; *at; at++)
		hash = mix_bits(hash + (unsigned char)*at);
	for (size_t i = 0; i < count; i++) {
		char file[3 * PATH_MAX];
		struct stat status = { .st_size = 0 };

		name_source(launch, folder, &sources[i], file, sizeof(file));
		if (stat(file, &status) == 0)
			hash = mix_bits(hash + (uint64_t)status.st_size) +
					(uint64_t)status.st_mtim.tv_sec;
	}
	return mix_bits(hash);
}

/* Builds the program from the sources in a folder. Returns false with one line in `why`. */
static bool build(const struct launch *launch, const char *compiler, const char *folder,
		const char *program, char *why, size_t why_size)
{
	char file[SOURCES_MAX][3 * PATH_MAX], include[2 * PATH_MAX + 8];
	char made[PATH_MAX + 32], log[PATH_MAX + 32], line[300];
	char *words[SOURCES_MAX + 8] = { (char *)compiler, (char *)"-O2", include };
	size_t count = 3, number;
	const struct source *sources = sources_of(launch, &number);
	int code;

	snprintf(include, sizeof(include), "-I%s", folder);
	for (size_t i = 0; i < number; i++) {
		name_source(launch, folder, &sources[i], file[i], sizeof(file[i]));
		words[count++] = file[i];
	}
	snprintf(made, sizeof(made), "%s.%ld", program, (long)getpid());
	snprintf(log, sizeof(log), "%s.log", program);
	words[count++] = (char *)"-o";
	words[count++] = made;
	words[count] = (char *)"-lm";
	code = run_words(words, log);
	if (code == 0 && rename(made, program) == 0) {
		unlink(log);
		return true;
	}
	first_line(log, line, sizeof(line));
	snprintf(why, why_size, "%s does not build the program that %s (%s: %s)%s", compiler,
			launch->measures ? "measures" : "replays", log, line,
			launch->simulated || launch->measures ?
					"" :
					"; name the compiler of the launcher's MPI with --mpicc");
	return false;
}

static size_t length_of(char *const *words)
{
	size_t length = 0;

	while (words[length])
		length++;
	return length;
}

static void read_result(const char *file, struct launch_result *result)
{
	FILE *in = fopen(file, "r");

	result->has_ended = in &&
			fscanf(in, "ranks %ld seconds %lf deprived %lf", &result->ranks,
					&result->seconds, &result->deprived) == 3;
	if (in)
		fclose(in);
}

/* Starts the program under the launcher. */
static bool start_replayer(const struct launch *launch, const char *program,
		struct launch_result *result)
{
	char file[PATH_MAX + 32], seed[32], copies[32], stall[32], window[32];
	size_t length = length_of(launch->launcher);
	size_t changes = launch->changes ? length_of(launch->changes) : 0;
	char **words = calloc(length + changes + 9, sizeof(*words));

	if (!words)
		return false;
	snprintf(file, sizeof(file), "%s/result", launch->folder);
	snprintf(seed, sizeof(seed), "%zu", launch->seed);
	snprintf(copies, sizeof(copies), "%u", launch->copies);
	snprintf(stall, sizeof(stall), "%.0f", launch->stall);
	snprintf(window, sizeof(window), "%zu", launch->window);
	memcpy(words, launch->launcher, length * sizeof(*words));
	words[length++] = (char *)program;
	if (!launch->measures)
		words[length++] = (char *)launch->plan;
	words[length++] = file;
	if (!launch->measures) {
		words[length++] = seed;
		words[length++] = copies;
		words[length++] = stall;
		words[length++] = window;
	}
	if (changes)
		memcpy(words + length, launch->changes, changes * sizeof(*words));
	unlink(file);
	result->code = run_words(words, launch->log);
	read_result(file, result);
	free(words);
	return result->code >= 0;
}

bool launch_run(const struct launch *launch, struct launch_result *result, char *why,
		size_t why_size)
{
	char program[PATH_MAX], compiler[PATH_MAX], folder[2 * PATH_MAX];

	if (launch->compiler)
		snprintf(compiler, sizeof(compiler), "%s", launch->compiler);
	else
		launch_compiler(launch->launcher, compiler, sizeof(compiler));
	if (!find_sources(folder, sizeof(folder))) {
		snprintf(why, why_size, "the sources of the program that replays are missing");
		return false;
	}
	/* each compiler and each version has a program of its own */
	snprintf(program, sizeof(program), "%s/%s-%08x", launch->folder,
			launch->measures ? "pingpong" : "replayer",
			(unsigned)hash_of(launch, compiler, folder));
	if (access(program, X_OK) != 0 && !build(launch, compiler, folder, program, why, why_size))
		return false;
	if (start_replayer(launch, program, result))
		return true;
	snprintf(why, why_size, "the launcher cannot be started");
	return false;
}
