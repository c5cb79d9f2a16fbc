/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes what runs have left from one host to another one: as an archive of tar on stdout, which a command such as ssh
 * carries. The paths in the archive are those on the host, without the leading slash.
 */
#ifndef PHASEMUX_TOOLS_RECOVER_ARCHIVE_H
#define PHASEMUX_TOOLS_RECOVER_ARCHIVE_H

#include <stdbool.h>

/*
 * Writes the ranks' files in these folders to stdout as an archive, which is empty if there are none. Folders that do not exist
 * are skipped. count 0: the usual folders of this machine. remove: what was written is gone afterwards. Returns 0, or 1 after
 * a line on stderr.
 */
int archive_send(char **folders, int count, bool remove);

/*
 * Unpacks into `folder` the archive that the command `words` writes, which ends with NULL. folder NULL: what the command
 * writes is thrown away. Returns whether the command and the unpacking ended with 0; else there is a line on stderr that
 * begins with `name`.
 */
bool archive_take(const char *name, char *const *words, const char *folder);

#endif
