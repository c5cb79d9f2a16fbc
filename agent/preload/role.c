/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/role.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Launchers that start one program as their child, and perhaps helpers of their own, and wait for it. */
static const char *const starters[] = { "timeout", "time", "flock", "runuser", "su", "script",
	"dbus-run-session", "unshare", "nsenter",
	/* unbuffer */
	"expect", "tclsh8.6", "tclsh9.0" };

static const char *const launchers[] = { "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh",
	"tcsh", "csh", "bsd-csh", "fish", "busybox", "env", "nice", "ionice", "nohup", "taskset",
	"numactl", "stdbuf", "faketime", "setsid", "chrt", "setarch", "sudo", "xargs", "make",
	"gmake", "ninja", "cmake", "ctest", "parallel", "perf", "gdb", "strace", "ltrace", "srun",
	"sbatch", "salloc", "jsrun", "aprun", "flux", "ssh", "phasemux", "bwrap", "apptainer",
	"singularity", "ch-run", "enroot", "podman", "docker",
	/* helpers of a starter */
	"dbus-daemon" };

/* Launchers that show their user the threads or the calls of what they start. */
static const char *const tracers[] = { "gdb", "strace", "ltrace" };

/* Launchers of an MPI, which start ranks and wait for them. */
static const char *const mpi_launchers[] = { "mpirun", "mpiexec", "mpirun.openmpi",
	"mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "orterun", "prterun",
	"prun" };

/* Their helpers, which start ranks, too. */
static const char *const mpi_daemons[] = { "hydra_pmi_proxy", "orted", "prte", "prted" };

/* Returns the name of a file without its folder. */
static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_in(const char *path, const char *const *names, size_t count)
{
	const char *base = base_of(path);

	for (size_t i = 0; i < count; i++)
		if (strcmp(base, names[i]) == 0)
			return true;
	return false;
}

static bool is_starter(const char *path)
{
	return is_in(path, starters, sizeof(starters) / sizeof(*starters));
}

static bool is_mpi_launcher(const char *path)
{
	return is_in(path, mpi_launchers, sizeof(mpi_launchers) / sizeof(*mpi_launchers));
}

static bool starts_ranks(const char *path)
{
	return is_mpi_launcher(path) ||
			is_in(path, mpi_daemons, sizeof(mpi_daemons) / sizeof(*mpi_daemons));
}

/* Finds the file that a process runs; "" if it is not known. process: "self" or a number. */
static void file_of(const char *process, char *path, size_t size)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%s/exe", process);
	length = readlink(link, path, size - 1);
	path[length > 0 ? length : 0] = '\0';
}

static void file_of_number(long process, char *path, size_t size)
{
	char number[32];

	snprintf(number, sizeof(number), "%ld", process);
	file_of(number, path, size);
}

/* Returns whether a file starts programs other than the ranks of an MPI. */
static bool is_plain_launcher(const char *path)
{
	return is_starter(path) || is_in(path, launchers, sizeof(launchers) / sizeof(*launchers));
}

/* Returns whether a file is one of the system's programs. */
static bool is_of_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/bin/", "/sbin/", "/lib" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return strncmp(path, "/usr/local/", strlen("/usr/local/")) != 0;
	return false;
}

/* Returns whether a file interprets a language in which people compute: Python, R, Octave. */
static bool is_interpreter(const char *path)
{
	static const char *const names[] = { "python", "pypy", "octave" };
	const char *base = base_of(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return strcmp(base, "R") == 0;
}

ssize_t role_words(char *words, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, words, size - 1);

	if (fd >= 0)
		close(fd);
	words[bytes > 0 ? bytes : 0] = '\0';
	return bytes;
}

/*
 * Returns whether this process, an interpreter, has a script or a module. Workers of other interpreters have a text (`-c` of
 * Python's multiprocessing, `-e` of R's parallel), or are of loky.
 */
static bool has_script(void)
{
	char words[4096];
	ssize_t bytes = role_words(words, sizeof(words));

	for (ssize_t at = (ssize_t)strlen(words) + 1; at < bytes;
			at += (ssize_t)strlen(words + at) + 1) {
		const char *word = words + at;

		if (strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0)
			return false;
		if (*word != '-' || strncmp(word, "--file=", strlen("--file=")) == 0)
			return strncmp(word, "joblib.", strlen("joblib.")) != 0 &&
					strncmp(word, "loky.", strlen("loky.")) != 0;
	}
	return false;
}

/* Returns whether this process, which runs the file `path`, is a worker of its parent, which runs the file `parent`. */
static bool is_worker(const char *path, const char *parent)
{
	return strcmp(path, parent) == 0 && !(is_interpreter(path) && has_script());
}

bool role_is_of_user(void)
{
	char path[4096], parent[4096];

	file_of("self", path, sizeof(path));
	if (!*path || is_plain_launcher(path) || starts_ranks(path) ||
			(is_of_system(path) && !is_interpreter(path)))
		return false;
	file_of_number(getppid(), parent, sizeof(parent));
	return *parent && !is_worker(path, parent) && !starts_ranks(parent) &&
			!is_in(parent, tracers, sizeof(tracers) / sizeof(*tracers));
}

enum wrap_role role_below(long command)
{
	char path[4096];

	if (command == (long)getpid())
		return ROLE_COMMAND;
	if (command != (long)getppid())
		return ROLE_BELOW;
	file_of_number(command, path, sizeof(path));
	return is_starter(path) ? ROLE_COMMAND : ROLE_BELOW;
}

bool role_is_launcher(void)
{
	char path[4096];

	file_of("self", path, sizeof(path));
	if (!*path) /* without /proc, use the name by which it was called */
		snprintf(path, sizeof(path), "%s", (const char *)getauxval(AT_EXECFN));
	return is_plain_launcher(path) || starts_ranks(path);
}

bool role_is_waiting(void)
{
	char path[4096];

	file_of("self", path, sizeof(path));
	return is_starter(path) || is_mpi_launcher(path);
}

bool role_is_mpi_launcher(long process)
{
	char path[4096];

	file_of_number(process, path, sizeof(path));
	return starts_ranks(path);
}

bool role_is_rank(void)
{
	return role_is_mpi_launcher(getppid());
}
