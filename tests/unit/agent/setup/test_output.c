/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the folder of the results: no other user can plant, read or overwrite anything in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "agent/setup/output.h"
#include "tests/tap.h"

static char base[] = "/tmp/phasemux-output-XXXXXX";

static char *in_base(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", base, name);
	return path;
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	return lstat(path, &status) ? 0 : status.st_mode & 07777;
}

static int writes_too_much(void *data)
{
	struct rlimit limit = { 4, 4 };

	setrlimit(RLIMIT_FSIZE, &limit);
	return output_write(*(int *)data, "large", 1, "txt", "12345", 5) != -EFBIG;
}

static void test_files(void)
{
	static const struct output_name files[] = { { "report", "txt" }, { "trace", "json" } };
	char path[256];
	int folder = output_open(in_base(path, sizeof(path), "results"));

	ok(folder >= 0, "a folder that is not there is made");
	is_int(mode_of(path), 0700, "for its owner alone");
	is_int(output_write(folder, "report", 1, "txt", "hello", 5), 0, "a file is written");
	is_int(mode_of(in_base(path, sizeof(path), "results/report.txt")), 0600,
			"for its owner alone");
	is_int(output_write(folder, "report", 1, "txt", "other", 5), -EEXIST, "never over one");
	is_int(output_number(folder, files, 2), 2, "the next one has another number");
	if (symlink("/dev/null", in_base(path, sizeof(path), "results/report-2.txt")))
		diag("no link");
	is_int(output_write(folder, "report", 2, "txt", "other", 5), -EEXIST, "nor through a link");
	is_int(output_number(folder, files, 2), 3, "which counts as there");
	is_int(output_write(folder, "trace", 3, "json", "{}", 2), 0, "another file is written");
	is_int(output_number(folder, files, 2), 4, "whose number counts as well");
	output_remove(folder, "trace", 3, "json");
	ok(tap_survives(writes_too_much, &folder, 10), "a limit on files is an error, no signal");
	is_int(mode_of(in_base(path, sizeof(path), "results/large.txt")), 0, "and leaves nothing");
	unlink(in_base(path, sizeof(path), "results/report.txt"));
	unlink(in_base(path, sizeof(path), "results/report-2.txt"));
	close(folder);
	rmdir(in_base(path, sizeof(path), "results"));
}

static void test_folders(void)
{
	char path[256], link[256];
	int error;

	mkdir(in_base(path, sizeof(path), "elsewhere"), 0700);
	if (symlink(path, in_base(link, sizeof(link), "planted")))
		diag("no link");
	error = output_open(link);
	ok(error == -ELOOP || error == -ENOTDIR, "a link is no folder");
	chmod(path, 0770);
	is_int(output_open(path), -EPERM, "nor is one that others can write to");
	if (geteuid() == 0 && chmod(path, 0700) == 0 && chown(path, 65534, 65534) == 0)
		is_int(output_open(path), -EPERM, "nor is one of another user");
	else
		skip("nor is one of another user", "only root can give a folder away");
	rmdir(path);
	unlink(link);
	close(open(in_base(path, sizeof(path), "file"), O_CREAT | O_WRONLY, 0600));
	is_int(output_open(path), -ENOTDIR, "nor a file");
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(base))
		return 1;
	test_files();
	test_folders();
	ok(rmdir(base) == 0, "nothing is left behind");
	return tap_done();
}
