/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers what a run has left on several hosts in a temporary folder of this one. A command such as ssh starts phasemux
 * on each of them.
 */
#ifndef PHASEMUX_TOOLS_RECOVER_GATHER_H
#define PHASEMUX_TOOLS_RECOVER_GATHER_H

#include <limits.h>
#include <stdbool.h>

struct gather {
	const char *hosts; /* comma list */
	const char *via;   /* words before the name of a host, with blanks between them */
	char **folders;    /* to be looked at on each host */
	int count;         /* of folders; 0: the usual ones */

	char place[PATH_MAX]; /* has a folder for each host that was asked */
	char **found;         /* folders with ranks' files, below `place` */
	int found_count;
	bool complete; /* every host has answered */
};

/* Returns whether each host of the list has a name that can be one, and is named once. */
bool gather_hosts_are_valid(const char *hosts);

/*
 * Fills in the lower part of `gather`. A host that cannot be asked, or that has nothing, is named on stderr. Returns false
 * after a line on stderr if nothing can be gathered here.
 */
bool gather_fetch(struct gather *gather);

/* Removes what was gathered from the hosts. Returns false after a line on stderr. */
bool gather_remove_there(const struct gather *gather);

/* Turns the path of a gathered folder into "HOST:/path", as it was on the host. */
void gather_name(const struct gather *gather, char *path);

/* Removes the temporary folder. */
void gather_end(struct gather *gather);

#endif
