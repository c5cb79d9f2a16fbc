/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes before a replay: the folder for its files, the plan, and whether the calls of the ranks fit together. */
#ifndef PHASEMUX_TOOLS_REPLAY_PREPARE_H
#define PHASEMUX_TOOLS_REPLAY_PREPARE_H

#include <jansson.h>
#include <stddef.h>

#include "tools/replay/outcome.h"
#include "tools/replay/plan/plan.h"

/*
 * Finds the folder for what a replay writes, and makes it: `output`, or without it `replay` beside the result's file at
 * `path`. Returns an exit code, after one line on stderr if it is not 0.
 */
int prepare_folder(const char *output, const char *path, char *folder, size_t size);

/*
 * Writes the plan of a report to a file, reads it as the program that replays does, and checks that the calls fit together.
 * path: of the report, for messages. plan: gets the plan, which the caller frees with plan_free also after a failure; NULL:
 * there is none. outcome: gets all but its seed; the report must live as long. Returns as prepare_folder().
 */
int prepare_plan(const char *path, const json_t *report, const char *file, struct plan **plan,
		struct outcome *outcome);

#endif
