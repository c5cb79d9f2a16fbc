/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/boundary/preload.h"
#include "agent/candidate/kept_environment.h"
#include "agent/host/file_status.h"
#include "agent/host/launcher.h"
#include "agent/host/quiet.h"
#include "agent/preload/role.h"
#include "sampling/cancellation.h"
#include "sampling/decimal.h"
#include "sampling/descriptor.h"

#define LOOK                                                                                       \
	"PHASEMUX_LOOK" /* "FILE DEVICE INODE TAKES"; after SEEN, or only that: the command is observed itself */
#define SEEN       "seen "
#define LOOK_BYTES 128 /* maximum length of the text, with its NUL */

/* Bytes of the file. The others are of texts that were handed over. */
#define MARK_SEEN '\1'
#define MARK_TOLD '\2'

#define MPI_LEVELS_MAX 16 /* launchers of an MPI above a rank that start each other */

static struct {
	int fd;
	int stderr_fd; /* another descriptor of stderr, because programs close 2 when they end; -1: takes no texts */
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
	ssize_t bytes = role_words(words, sizeof(words));
	bool found = has_hosts() || bytes < 0;

	for (ssize_t at = 0; at < bytes && !found; at += (ssize_t)strlen(words + at) + 1)
		found = is_of_hosts(words + at);
	return found;
}

/* Returns whether the command has been observed itself, by what the environment says. */
static bool is_seen(const char *text)
{
	return strncmp(text, SEEN, strlen(SEEN)) == 0;
}

/* The file of a launcher above. */
struct file {
	int fd;
	bool takes; /* the launcher takes texts */
	long launcher;
};

/* Writes what names the file with this path and status. Returns the text. */
static const char *look_text(char text[LOOK_BYTES], const char *path, const struct stat *status,
		bool takes)
{
	snprintf(text, LOOK_BYTES, "%s %ju %ju %d", path, (uintmax_t)status->st_dev,
			(uintmax_t)status->st_ino, takes);
	return text;
}

/* Opens the file that the environment names. Returns false if there is none, or its launcher is gone. */
static bool open_file(struct file *file)
{
	static const char processes[] = "/proc/";
	const char *text = kept_environment_look(LOOK);
	char path[64], same[LOOK_BYTES];
	struct stat status;
	size_t length;

	if (text && is_seen(text))
		text += strlen(SEEN);
	if (!text || strncmp(text, processes, strlen(processes)) != 0)
		return false;
	length = strlen(text);
	file->takes = text[length - 1] == '1';
	file->launcher = decimal_read(text + strlen(processes));
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(text, " "), text);
	file->fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0)
		return false;
	/* in a container with other process numbers, it may be another file */
	if (file_status(file->fd, &status) == 0 &&
			strcmp(text, look_text(same, path, &status, file->takes)) == 0)
		return true;
	close(file->fd);
	return false;
}

static void write_mark(char mark)
{
	struct file file;

	if (!open_file(&file))
		return;
	quiet_write(file.fd, &mark, 1);
	close(file.fd);
}

/*
 * Returns whether a launcher above has a file. elsewhere: this launcher may start processes on other hosts. Then the one
 * above is not to say that nothing was observed, because it cannot know.
 */
static bool is_below_another(bool elsewhere)
{
	static const char marks[] = { MARK_SEEN, MARK_TOLD };
	struct file file;

	if (!open_file(&file))
		return false;
	if (elsewhere)
		quiet_write(file.fd, marks, sizeof(marks));
	close(file.fd);
	return true;
}

void look_start(void)
{
	char path[64], text[LOOK_BYTES];
	struct stat status;
	int fd;

	const char *before = getenv(LOOK);
	bool elsewhere = may_be_elsewhere(), takes = role_is_waiting();

	/* the process was another program until now */
	if ((before && is_seen(before)) || is_below_another(elsewhere))
		return;
	unsetenv(LOOK);
	if (elsewhere)
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
	look.stderr_fd = takes ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
	if (look.stderr_fd >= 0)
		look.stderr_fd = descriptor_lift(look.stderr_fd);
	if (setenv(LOOK, look_text(text, path, &status, look.stderr_fd >= 0), 1)) {
		close(look.stderr_fd);
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

void look_seen(void)
{
	write_mark(MARK_SEEN);
}

void look_told(void)
{
	write_mark(MARK_TOLD);
}

/* What the kernel says of a process. */
struct process {
	char name[32]; /* in /proc */
	long parent;
	int session;
	int terminal; /* device of the session's terminal; 0: there is none */
};

/* Reads what the kernel says of the process with this name in /proc. */
static bool read_process(struct process *process)
{
	char path[64], text[512];
	const char *at;
	ssize_t length;
	int fd, *numbers[] = { &process->session, &process->terminal };

	snprintf(path, sizeof(path), "/proc/%s/stat", process->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	/* "NUMBER (NAME) STATE PARENT GROUP SESSION TERMINAL ...", and any name */
	at = strrchr(text, ')');
	if (!at || strlen(at) < strlen(") S "))
		return false;
	at += strlen(") S ");
	process->parent = decimal_read(at);
	at += strcspn(at, " ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && *at; i++) {
		at += 1 + strcspn(at + 1, " ");
		*numbers[i] = decimal_read(*at ? at + 1 : at);
	}
	return true;
}

/* Finds the file that is the stderr of a process. */
static bool find_stderr(const struct process *process, struct stat *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/fd/%d", process->name, STDERR_FILENO);
	return file_status_at(path, status) == 0;
}

/* Goes from a rank to the outermost launcher of its MPI below the one with this number, which reads its stderr. */
static bool go_to_mpi_launcher(struct process *process, long below)
{
	bool gone = false;

	for (unsigned i = 0; i < MPI_LEVELS_MAX && process->parent != below &&
			role_is_mpi_launcher(process->parent);
			i++) {
		snprintf(process->name, sizeof(process->name), "%ld", process->parent);
		if (!read_process(process))
			return false;
		gone = true;
	}
	return gone;
}

/* Returns whether what this process says appears on a terminal that was made below the launcher. */
static bool is_aside(long launcher)
{
	struct process above, process = { .name = "self" };
	struct stat status;

	snprintf(above.name, sizeof(above.name), "%ld", launcher);
	if (!read_process(&above) || !read_process(&process) || !find_stderr(&process, &status))
		return false;
	if (S_ISFIFO(status.st_mode) && launcher_is_of_mpi() &&
			(!go_to_mpi_launcher(&process, launcher) ||
					!find_stderr(&process, &status)))
		return false;
	/* the kernel gives both numbers in one form */
	return process.session != above.session && S_ISCHR(status.st_mode) && process.terminal &&
			(int)status.st_rdev == process.terminal;
}

bool look_hand_over(const char *text, size_t length)
{
	int kept = errno, state = cancellation_hold();
	struct file file;
	bool is_taken = false;

	if (open_file(&file)) {
		is_taken = file.takes && is_aside(file.launcher) &&
				quiet_has_room(file.fd, length) &&
				quiet_write(file.fd, text, length) == 0;
		close(file.fd);
	}
	cancellation_release(state);
	errno = kept;
	return is_taken;
}

/* Writes the texts that were handed over to the stderr that the launcher had when it started. */
static void write_texts(void)
{
	char texts[4096];
	ssize_t count;

	if (look.stderr_fd < 0)
		return;
	dup2(look.stderr_fd, STDERR_FILENO);
	for (off_t at = 0; (count = pread(look.fd, texts, sizeof(texts), at)) > 0; at += count) {
		size_t length = 0;

		for (ssize_t i = 0; i < count; i++)
			if (texts[i] != MARK_SEEN && texts[i] != MARK_TOLD)
				texts[length++] = texts[i];
		quiet_tell(STDERR_FILENO, texts, length);
	}
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
	write_texts();
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
		  "the command of phasemux run, or if it is none of the system's, no mpirun or srun is "
		  "above it, its parent runs another file, and it computes for 50 ms\n");
}
