/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch job that this process runs in, as the environment tells. */
#ifndef PHASEMUX_AGENT_JOB_H
#define PHASEMUX_AGENT_JOB_H

#include <stdint.h>

/* Plain data; texts are "" where there is none, and are fit to be parts of file names. */
struct job {
	char id[64];
	char step[16]; /* of Slurm: "0" */
	char partition[64];
	uint32_t nodes; /* of the step, or of the job; 0: not known */
};

/* look(name) is getenv or a stand-in. */
void job_read(struct job *job, char *(*look)(const char *name));

#endif
