/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process has left in its spool, read back. The file is untrusted: whatever bytes it holds,
 * it is refused in one line, or what is filled here holds: texts end, numbers are finite and not
 * negative, and every index is within the array that it is for.
 */
#ifndef PHASEMUX_AGENT_SPOOL_IMAGE_H
#define PHASEMUX_AGENT_SPOOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/spool.h"

struct spool_image {
	struct spool_facts facts;
	struct spool_side side;
	struct profile profile;      /* of prototypes that there are */
	double *sums;                /* facts.sums_length; owned */
	struct spool_thread *thread; /* side.threads; owned */
	bool mine;                   /* the file belongs to the user that reads it */
};

/* Reads an image from the bytes of a file. 0; -EINVAL with one line in why; -ENOMEM. */
int spool_image_parse(struct spool_image *image, const void *bytes, size_t length, char *why,
		size_t why_size);

/*
 * Reads the file of that name in the folder, also while its process writes to it. Never through a
 * link, nor from anything but a plain file. As spool_image_parse, or another -errno.
 */
int spool_image_read(struct spool_image *image, int folder_fd, const char *name, char *why,
		size_t why_size);

void spool_image_fini(struct spool_image *image);

#endif
