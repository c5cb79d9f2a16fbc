/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/boundary/kin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/boundary/preload.h"

#define KIN_FOLDER "/phasemux"

bool kin_folder(char *folder, size_t size)
{
	size_t length = strlen(folder);

	/* the longest path that is tried must fit, so that a long name is an error and not another folder */
	if (length + sizeof(KIN_FOLDER "/" PRELOAD_CORE_FILE) > size)
		return false;
	strcpy(folder + length, KIN_FOLDER "/" PRELOAD_CORE_FILE);
	length += access(folder, F_OK) ? 0 : strlen(KIN_FOLDER);
	folder[length] = '\0';
	return true;
}
