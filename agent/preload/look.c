/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/boundary/preload.h"
#include "agent/host/file_status.h"
#include "agent/host/quiet.h"
#include "sampling/descriptor.h"

#define LOOK                                                                                       \
	"PHASEMUX_LOOK" /* "FILE DEVICE INODE"; after SEEN, or only that: the command is observed itself */
#define SEEN       "seen "
#define LOOK_BYTES 128 /* maximum length of the text, with its NUL */

/* Bytes of the file. */
#define MARK_SEEN 'x'
#define MARK_TOLD 't'

static struct {
	int fd;
	pid_t pid; /* of the launcher; 0: this process is no launcher */
} look;

/* Returns whether a batch system says that the job may have several hosts. */
static bool has_hosts(void)
{
	static const char *const variables[] = { "PBS_NODEFILE", "LSB_HOSTS", "LSB_MCPU_HOSTS",
		"PE_HOSTFILE", "COBALT_NODEFILE", "FLUX_URI" };
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (getenv(variables[i]))
			return true;
	return nodes && strcmp(nodes, "1") != 0;
}

/*
 * Returns whether a word is a command that runs others on hosts of its choice, or an option that names hosts.
 */
static bool is_of_hosts(const char *word)
{
	static const char *const words[] = { "srun", "sbatch", "salloc", "ssh", "flux", "jsrun",
		"aprun", "qsub", "bsub", "-H", "-host", "--host", "-hosts", "-hostfile",
		"--hostfile", "-f", "-machinefile", "--machinefile", "-machine", "--rankfile",
		"-rf", "--default-hostfile", "--dvm" };
	const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(base, words[i]) == 0)
			return true;
	return false;
}

/* Returns whether the command may start processes on other hosts; true also if its words cannot be read. */
static bool may_be_elsewhere(void)
{
	char words[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, words, sizeof(words) - 1);
	bool found = has_hosts() || bytes < 0;

	if (fd >= 0)
		close(fd);
	if (bytes < 0)
		return true;
	words[bytes] = '\0';
	for (ssize_t at = 0; at < bytes && !found; at += (ssize_t)strlen(words + at) + 1)
		found = is_of_hosts(words + at);
	return found;
}

/* Returns whether the command has been observed itself, by what the environment says. */
static bool is_seen(const char *text)
{
	return strncmp(text, SEEN, strlen(SEEN)) == 0;
}

/* Writes what names the file with this path and status. Returns the text. */
static const char *look_text(char text[LOOK_BYTES], const char *path, const struct stat *status)
{
	snprintf(text, LOOK_BYTES, "%s %ju %ju", path, (uintmax_t)status->st_dev,
			(uintmax_t)status->st_ino);
	return text;
}

void look_start(void)
{
	char path[64], text[LOOK_BYTES];
	struct stat status;
	int fd;

	const char *before = getenv(LOOK);

	/* the process was another program until now */
	if (before && is_seen(before))
		return;
	unsetenv(LOOK);
	if (may_be_elsewhere())
		return;
	fd = (int)syscall(SYS_memfd_create, "phasemux", MFD_CLOEXEC); /* glibc has it since 2.27 */
	if (fd < 0)
		return;
	fd = descriptor_lift(fd);
	if (file_status(fd, &status)) {
		close(fd);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), fd);
	if (setenv(LOOK, look_text(text, path, &status), 1)) {
		close(fd);
		return;
	}
	look.fd = fd;
	look.pid = getpid();
}

void look_seen_itself(void)
{
	const char *before = getenv(LOOK); /* of a launcher that has started the command */
	char text[LOOK_BYTES + sizeof(SEEN)];

	if (before && is_seen(before))
		return;
	snprintf(text, sizeof(text), SEEN "%s", before ? before : "");
	setenv(LOOK, text, 1);
}

static void write_mark(char mark)
{
	const char *text = getenv(LOOK);
	char path[64], same[LOOK_BYTES];
	struct stat status;
	int fd;

	if (text && is_seen(text))
		text += strlen(SEEN);
	if (!text || strncmp(text, "/proc/", 6) != 0)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(text, " "), text);
	fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* in a container with other process numbers, it may be another file */
	if (file_status(fd, &status) == 0 && strcmp(text, look_text(same, path, &status)) == 0)
		quiet_write(fd, &mark, 1);
	close(fd);
}

void look_seen(void)
{
	write_mark(MARK_SEEN);
}

void look_told(void)
{
	write_mark(MARK_TOLD);
}

/* Returns whether a process has told what becomes of its report; true also if the file cannot be read. */
static bool is_told(void)
{
	char marks[4096];
	ssize_t count;

	for (off_t at = 0; (count = pread(look.fd, marks, sizeof(marks), at)) > 0; at += count)
		if (memchr(marks, MARK_TOLD, (size_t)count))
			return true;
	return count < 0;
}

void look_end(void)
{
	struct stat status;

	if (!look.pid || look.pid != getpid() || file_status(look.fd, &status))
		return;
	look.pid = 0;
	if (status.st_size > 0) {
		if (!is_told() && !getenv(PRELOAD_LIMITED))
			quiet_say("phasemux: no report: all processes that were observed have ended early, or "
				  "were killed; phasemux recover makes the report of what they left\n");
		return;
	}
	quiet_say("phasemux: no report: nothing that this command started was observed. A program is observed "
		  "if it calls MPI_Init or uses OpenMP with libphasemux.so preloaded: not if it is linked "
		  "statically, looks MPI up itself (dlopen), runs with other rights, or starts without "
		  "LD_PRELOAD (env -i, a container). One without MPI and OpenMP is observed if it is itself "
		  "the command of phasemux run\n");
}
