/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/setup/job.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* First of Slurm's step numbers that mean a batch script, the shell of salloc, and the like. */
#define FIRST_NO_STEP 0xfffffff0ul

/* Takes the first variable that is set. The text becomes a part of a path, and of a report. */
static void take_first(char *text, size_t size, const char *const variables[], size_t count,
		char *(*look)(const char *name))
{
	const char *value = NULL;

	*text = '\0';
	for (size_t i = 0; i < count && !(value && *value); i++)
		value = look(variables[i]);
	if (!value || strlen(value) >= size || *value == '.')
		return;
	for (const char *at = value; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-[]", *at))
			return;
	strcpy(text, value);
}

#define TAKE(text, ...)                                                                            \
	take_first(text, sizeof(text), (const char *const[]){ __VA_ARGS__ },                       \
			sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), look)

void job_read(struct job *job, char *(*look)(const char *name))
{
	char nodes[16];

	memset(job, 0, sizeof(*job));
	TAKE(job->id, "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID");
	if (!*job->id)
		return;
	TAKE(job->step, "SLURM_STEP_ID");
	if (strtoul(job->step, NULL, 10) >= FIRST_NO_STEP)
		memset(job->step, 0, sizeof(job->step));
	TAKE(job->partition, "SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE");
	TAKE(nodes, "SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES");
	job->nodes = (uint32_t)strtoul(nodes, NULL, 10);
}
