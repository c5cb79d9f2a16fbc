#include "sampling/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIFT_TO 512

int descriptor_lift(int fd)
{
	struct rlimit limit;
	int lowest = LIFT_TO, lifted;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * LIFT_TO)
		lowest = (int)(limit.rlim_cur / 2);
	if (fd >= lowest)
		return fd;
	lifted = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	if (lifted < 0)
		return fd;
	close(fd);
	return lifted;
}
