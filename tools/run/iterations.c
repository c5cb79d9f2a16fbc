/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/run/iterations.h"

#include <stdlib.h>

#include "cluster/loops/iteration.h"
#include "tools/results/spools.h"

#define FOLDERS_DEEP 2 /* FOLDER/phasemux.USER/RUN */

/* Is a `visit`: adds the iterations of a process. data: struct iterations. */
static void visit_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	struct iterations *iterations = spools->data;
	struct spool_image *image = malloc(sizeof(*image));
	struct iteration iteration;
	char why[256];

	(void)folder;
	/* a process that starts or ends has no complete file */
	if (!image || spool_image_read(image, folder_fd, name, why, sizeof(why))) {
		free(image);
		return;
	}
	if (image->structure && iteration_find(image->structure, NULL, &iteration)) {
		if (!iterations->known || iteration.rounds < iterations->least)
			iterations->least = iteration.rounds;
		iterations->known = true;
	}
	spool_image_fini(image);
	free(image);
}

void iterations_look(const char *folder, struct iterations *iterations)
{
	struct spools *spools = calloc(1, sizeof(*spools));

	*iterations = (struct iterations){ .known = false };
	if (!spools)
		return;
	spools->visit = visit_rank;
	spools->data = iterations;
	spools_visit_folder(spools, folder, FOLDERS_DEEP, 0);
	free(spools);
}
