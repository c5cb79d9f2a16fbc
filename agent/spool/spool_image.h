/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what a process has left in its spool. The file is untrusted. It is either refused with one line, or the
 * image is valid: texts end, numbers are finite and not negative, and every index is within its array. A structure of
 * calls that is invalid is left out.
 */
#ifndef PHASEMUX_AGENT_SPOOL_SPOOL_IMAGE_H
#define PHASEMUX_AGENT_SPOOL_SPOOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/spool/spool.h"

struct spool_image {
	struct spool_facts facts;
	struct spool_side side;
	struct profile profile;                 /* has only existing prototypes */
	struct timeline_bin bin[TIMELINE_BINS]; /* of the timeline; side.bins of them are in use */
	double *sums;                           /* facts.sums_length doubles; owned */
	struct spool_thread *thread;            /* side.threads elements; owned */
	struct loops *structure; /* of the thread side.structure - 1; owned; NULL: there is none */
	/* of its iterations; owned; NULL: there is none; whether it is of the structure is not known */
	struct iteration_sample *iterations;
	uint8_t *arguments; /* of its calls, side.arguments bytes (arguments_image.h); owned; NULL: not known */
	bool owned; /* the file belongs to the user that reads it */
};

/* Reads an image from the bytes of a file. Returns 0, -EINVAL with one line in why, or -ENOMEM. */
int spool_image_parse(struct spool_image *image, const void *bytes, size_t length, char *why,
		size_t why_size);

/*
 * Reads the file `name` in the folder, also while its process writes to it. Follows no symbolic link, and reads
 * only a plain file. Returns 0, -EINVAL with one line in why, or another -errno.
 */
int spool_image_read(struct spool_image *image, int folder_fd, const char *name, char *why,
		size_t why_size);

void spool_image_fini(struct spool_image *image);

#endif
