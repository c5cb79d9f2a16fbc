/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command that is validated under `phasemux run`, as a child. */
#ifndef PHASEMUX_TOOLS_VALIDATE_CHILD_H
#define PHASEMUX_TOOLS_VALIDATE_CHILD_H

#include <jansson.h>

/*
 * Runs `phasemux run OPTIONS --output FOLDER -- COMMAND`, and waits for its end. options and command end with
 * NULL. What the program prints goes to the file FOLDER.log. Returns the report, which the caller frees, or NULL
 * if there is none; then the end of the log is on stderr.
 */
json_t *child_run(const char *const *options, const char *folder, char **command);

/* Removes a folder with all that is in it. */
void child_remove(const char *folder);

#endif
