#include "sampling/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPARE_SHARE 4 /* of what the limit allows, a quarter may be ours */

int descriptor_lift(int fd)
{
	struct rlimit limit;
	int lowest = DESCRIPTOR_LIFTED, lifted;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * DESCRIPTOR_LIFTED)
		lowest = (int)(limit.rlim_cur / 2);
	if (fd >= lowest)
		return fd;
	lifted = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	if (lifted < 0)
		return fd;
	close(fd);
	return lifted;
}

bool descriptor_is_spare(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / SPARE_SHARE > (rlim_t)fd;
}
