#include "agent/early.h"

#include <linux/membarrier.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/descriptor.h"

int early_is_rank(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
		"SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (getenv(variables[i]))
			return 1;
	return 0;
}

/* The kernel's table of descriptors grows to where those of counters will be. */
static void grow_descriptors(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd >= 0)
		close(descriptor_lift(fd));
}

/* liburcu registers in its constructor, and then finds it done. */
static void register_barriers(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void early_prepare(void)
{
	grow_descriptors();
	register_barriers();
}
