/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the file of a region (region_format.h). Returns and keeps errors in struct region; no function changes errno. */
#ifndef PHASEMUX_AGENT_REGION_REGION_FILE_H
#define PHASEMUX_AGENT_REGION_REGION_FILE_H

#include "agent/region/region_state.h"

/* Creates the file, and writes the facts and the loaded files of the program. Enters the loader. Sets region->error. */
void region_file_open(struct region *region);

/* Writes the calls of the buffer, after the definitions that they need, and empties it. */
void region_file_flush(struct region *region, const struct site_table *sites);

/* Writes the end, and closes the file. Does nothing without a file. */
void region_file_close(struct region *region, const struct site_table *sites,
		const struct region_end *end);

#endif
