/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The status of a file, from the kernel, whose structure is that of the C library on 64-bit processors. The functions of
 * glibc for it have these names since 2.33 alone, and the preload must load in programs of older ones.
 */
#ifndef PHASEMUX_AGENT_HOST_FILE_STATUS_H
#define PHASEMUX_AGENT_HOST_FILE_STATUS_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns 0; or -1, and errno tells why. */
static inline int file_status(int fd, struct stat *status)
{
	return (int)syscall(SYS_fstat, fd, status);
}

/* Returns 0; or -1, and errno tells why. */
static inline int file_status_at(const char *path, struct stat *status)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

#endif
