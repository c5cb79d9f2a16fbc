/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/recover/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/page/page.h"
#include "agent/setup/output.h"
#include "agent/spool/spool_image.h"
#include "agent/text/report_text.h"
#include "agent/trace/trace_pack.h"

#define LOCK_FILE "lock" /* holds the number of the report that was written last */

/* The files of a report. A run without a structure has no trace. */
#define FILES 4
static const struct output_name files[FILES] = { { "report", "txt" }, { "report", "json" },
	{ "report", "html" }, { "trace", "json" } };

struct merge {
	char output[SPOOL_OUTPUT_MAX];
	char folder[SPOOL_OUTPUT_MAX + 32]; /* folder of the ranks, within output */
	int output_fd, folder_fd, lock_fd;
	unsigned size, nodes; /* number of ranks and nodes of the run; 0: not known */
};

static bool is_rank(const char *name)
{
	return strncmp(name, "rank-", 5) == 0;
}

/* Calls visit for every rank's file. Returns their number, or the first error. */
static int each_rank(int folder_fd, int (*visit)(void *data, int folder_fd, const char *name),
		void *data)
{
	/* a descriptor of its own, because reading to the end changes its position */
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0, error = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!entries)
		return -errno;
	while (!error && (entry = readdir(entries)))
		if (is_rank(entry->d_name)) {
			error = visit(data, folder_fd, entry->d_name);
			count++;
		}
	closedir(entries);
	return error ? error : count;
}

/* Reads the folder of the report from a rank's file. Any rank knows it. */
static int read_facts(void *data, int folder_fd, const char *name)
{
	struct merge *merge = data;
	struct spool_image *image;
	char why[256];

	if (merge->size)
		return 0;
	image = malloc(sizeof(*image));
	if (!image)
		return -ENOMEM;
	/* a damaged file is left out of the report with a message */
	if (spool_image_read(image, folder_fd, name, why, sizeof(why)) == 0) {
		const struct spool_facts *facts = &image->facts;

		if (image->owned && *facts->output == '/') {
			snprintf(merge->output, sizeof(merge->output), "%s", facts->output);
			snprintf(merge->folder, sizeof(merge->folder), "%s/%013llx", merge->output,
					(unsigned long long)facts->run);
			/* forked processes are all on this node */
			merge->size = facts->family ? 1 : (unsigned)facts->size;
			merge->nodes = facts->job.nodes;
		}
		spool_image_fini(image);
	}
	free(image);
	return 0;
}

static int copy_file(int from, int to)
{
	char bytes[65536];
	ssize_t length;

	while ((length = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0, written; at < length; at += written) {
			written = write(to, bytes + at, (size_t)(length - at));
			if (written <= 0)
				return written ? -errno : -EIO;
		}
	return length ? -errno : 0;
}

static int move_rank(void *data, int folder_fd, const char *name)
{
	const struct merge *merge = data;
	int from = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int to, error;

	if (from < 0)
		return -errno;
	to = openat(merge->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	error = to < 0 ? -errno : copy_file(from, to);
	close(from);
	if (to >= 0 && close(to) && !error)
		error = -errno;
	if (error && to >= 0)
		unlinkat(merge->folder_fd, name, 0);
	/* already here since an earlier try */
	if (!error || error == -EEXIST)
		error = unlinkat(folder_fd, name, 0) ? -errno : 0;
	return error;
}

static int remove_rank(void *data, int folder_fd, const char *name)
{
	(void)data;
	return unlinkat(folder_fd, name, 0) ? -errno : 0;
}

/* Opens the folders, and takes the lock. */
static int open_folders(struct merge *merge)
{
	merge->output_fd = output_open(merge->output);
	if (merge->output_fd < 0)
		return merge->output_fd;
	merge->folder_fd = output_open(merge->folder);
	if (merge->folder_fd < 0)
		return merge->folder_fd;
	merge->lock_fd = openat(merge->folder_fd, LOCK_FILE,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return merge->lock_fd < 0 || flock(merge->lock_fd, LOCK_EX) ? -errno : 0;
}

/* Moves the ranks' files from a folder. The first one says where the results are. */
static int add_folder(struct merge *merge, int from, char *why, size_t why_size)
{
	int error = each_rank(from, read_facts, merge);

	if (error < 0)
		return error;
	if (!merge->size) {
		snprintf(why, why_size, "no rank of yours has left anything there");
		return -ENOENT;
	}
	error = merge->lock_fd < 0 ? open_folders(merge) : 0;
	if (!error)
		error = each_rank(from, move_rank, merge);
	if (error < 0)
		snprintf(why, why_size, "%s: %s", merge->folder, strerror(-error));
	return error;
}

int merge_add(struct merge *merge, const char *folder, char *why, size_t why_size)
{
	int from = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char reason[SPOOL_OUTPUT_MAX + 128] = "";
	int error = from < 0 ? -errno : add_folder(merge, from, reason, sizeof(reason));

	if (from >= 0)
		close(from);
	if (error >= 0)
		return 0;
	/* a reason that names a folder is about the results */
	if (*reason == '/')
		snprintf(why, why_size, "%s", reason);
	else
		snprintf(why, why_size, "%s: %s", folder, *reason ? reason : strerror(-error));
	return error;
}

struct merge *merge_new(void)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge)
		merge->output_fd = merge->folder_fd = merge->lock_fd = -1;
	return merge;
}

const char *merge_folder(const struct merge *merge)
{
	return merge->folder;
}

/* Returns the number of the run's report: that of an earlier one, if there is one. */
static unsigned take_number(struct merge *merge)
{
	char text[16] = "";
	unsigned number;

	if (pread(merge->lock_fd, text, sizeof(text) - 1, 0) > 0) {
		number = (unsigned)strtoul(text, NULL, 10);
		for (size_t i = 0; i < FILES && number; i++)
			output_remove(merge->output_fd, files[i].base, number, files[i].suffix);
		if (number)
			return number;
	}
	number = output_number(merge->output_fd, files, FILES);
	snprintf(text, sizeof(text), "%u", number);
	return pwrite(merge->lock_fd, text, strlen(text), 0) > 0 ? number : 0;
}

/* Removes the ranks' files. Call when no other node will come. */
static void clean(struct merge *merge)
{
	each_rank(merge->folder_fd, remove_rank, NULL);
	unlinkat(merge->folder_fd, LOCK_FILE, 0);
	rmdir(merge->folder);
}

int merge_write(struct merge *merge, const json_t *report, unsigned ranks, char *why,
		size_t why_size)
{
	char *text[FILES] = { report_text(report, why, why_size),
		json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17)),
		page_html(report, why, why_size),
		trace_pack_exists(report) ? trace_pack_text(report, why, why_size) : NULL };
	unsigned number = take_number(merge);
	int error = number && text[0] && text[1] && text[2] ? 0 : -EIO;

	for (unsigned i = 0; i < FILES && !error; i++)
		if (text[i])
			error = output_write(merge->output_fd, files[i].base, number,
					files[i].suffix, text[i], strlen(text[i]));
	if (error)
		snprintf(why, why_size, "%s: %s", merge->output, strerror(-error));
	else if (ranks >= merge->size || merge->nodes == 1)
		clean(merge);
	for (unsigned i = 0; i < FILES; i++)
		free(text[i]);
	return error;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	if (merge->lock_fd >= 0)
		close(merge->lock_fd);
	if (merge->folder_fd >= 0)
		close(merge->folder_fd);
	if (merge->output_fd >= 0)
		close(merge->output_fd);
	free(merge);
}
