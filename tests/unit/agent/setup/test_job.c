/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the batch job as the environment describes it, and the folder of its results. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/setup/job.h"
#include "agent/setup/output.h"
#include "tests/tap.h"

static const char *const *environment; /* NAME, value, ..., NULL */

static char *look(const char *name)
{
	for (const char *const *at = environment; *at; at += 2)
		if (strcmp(at[0], name) == 0)
			return (char *)at[1];
	return NULL;
}

static const struct {
	const char *name;
	const char *variables[9];
	struct job job;
	const char *folder; /* result for the pattern /r/%j */
} cases[] = {
	{ "a step of Slurm",
			{ "SLURM_JOB_ID", "4711", "SLURM_STEP_ID", "2", "SLURM_JOB_PARTITION",
					"main", "SLURM_STEP_NUM_NODES", "3" },
			{ "4711", "2", "main", 3 }, "/r/4711/step.2" },
	{ "a batch script", { "SLURM_JOB_ID", "4711", "SLURM_JOB_NUM_NODES", "2" },
			{ "4711", "", "", 2 }, "/r/4711" },
	{ "Slurm's number of a batch script",
			{ "SLURM_JOB_ID", "4711", "SLURM_STEP_ID", "4294967291" },
			{ "4711", "", "", 0 }, "/r/4711" },
	{ "PBS", { "PBS_JOBID", "12[3].host", "PBS_QUEUE", "long" },
			{ "12[3].host", "", "long", 0 }, "/r/12[3].host" },
	{ "a step without a job", { "SLURM_STEP_ID", "2" }, { "", "", "", 0 }, NULL },
	{ "a job that is a path", { "SLURM_JOB_ID", "../x" }, { "", "", "", 0 }, NULL },
	{ "a job of dots", { "SLURM_JOB_ID", ".." }, { "", "", "", 0 }, NULL },
	{ "a job of two lines", { "SLURM_JOB_ID", "1\n2" }, { "", "", "", 0 }, NULL },
	{ "a step that is a path", { "SLURM_JOB_ID", "1", "SLURM_STEP_ID", "a/b" },
			{ "1", "", "", 0 }, "/r/1" },
	{ "nonsense for nodes", { "SLURM_JOB_ID", "1", "SLURM_JOB_NUM_NODES", "x" },
			{ "1", "", "", 0 }, "/r/1" },
	{ "a partition that is too long",
			{ "SLURM_JOB_ID", "1", "SLURM_JOB_PARTITION",
					"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
			{ "1", "", "", 0 }, "/r/1" },
};

static void test_folders(void)
{
	char top[] = "/tmp/test_job.XXXXXX", job[64], step[64], link[64];
	struct stat status;
	int fd;

	if (!mkdtemp(top))
		return;
	snprintf(job, sizeof(job), "%s/job", top);
	snprintf(step, sizeof(step), "%s/job/" OUTPUT_STEP "0", top);
	snprintf(link, sizeof(link), "%s/link/" OUTPUT_STEP "0", top);
	fd = output_open(step);
	ok(fd >= 0 && stat(job, &status) == 0 && (status.st_mode & 0777) == 0700,
			"the folder of a step is made, and that of its job");
	close(fd);
	fd = output_open(step);
	ok(fd >= 0, "and found again");
	close(fd);
	chmod(job, 0777);
	is_int(output_open(step), -EPERM, "not in a folder that others can write to");
	chmod(job, 0700);
	snprintf(link, sizeof(link), "%s/link", top);
	ok(symlink(job, link) == 0, "a link to it");
	snprintf(link, sizeof(link), "%s/link/" OUTPUT_STEP "0", top);
	ok(output_open(link) < 0, "is not gone through");
	snprintf(link, sizeof(link), "%s/link", top);
	unlink(link);
	rmdir(step);
	rmdir(job);
	rmdir(top);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char folder[256] = "";
		struct job job;

		environment = cases[i].variables;
		job_read(&job, look);
		ok(memcmp(&job, &cases[i].job, sizeof(job)) == 0, "%s", cases[i].name);
		if (!cases[i].folder)
			continue;
		output_folder("/r/%j", &job, folder, sizeof(folder));
		is_str(folder, cases[i].folder, "its folder");
		is_int(output_folder("/r/%j", &job, folder, strlen(cases[i].folder)), -ENAMETOOLONG,
				"which does not fit into less");
	}
	test_folders();
	return tap_done();
}
