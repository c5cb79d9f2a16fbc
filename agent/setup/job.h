/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from the environment in which batch job this process runs. */
#ifndef PHASEMUX_AGENT_SETUP_JOB_H
#define PHASEMUX_AGENT_SETUP_JOB_H

#include <stdint.h>

/* Plain data. Texts are "" if they are not known, and can be parts of file names. */
struct job {
	char id[64];
	char step[16]; /* Slurm's job step: "0" */
	char partition[64];
	uint32_t nodes; /* number of nodes of the step, or of the job; 0: not known */
};

/* Fills the job. look(name) is getenv or a stand-in. */
void job_read(struct job *job, char *(*look)(const char *name));

#endif
