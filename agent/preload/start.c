/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preload does when a process starts. */
#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "agent/loader/real.h"
#include "agent/loader/visible.h"
#include "agent/host/launcher.h"
#include "agent/host/quiet.h"
#include "agent/preload/emulate.h"
#include "agent/preload/look.h"
#include "agent/preload/role.h"
#include "agent/preload/target.h"
#include "agent/preload/wrap.h"
#include "agent/preload/wrap_threads.h"
#include "sampling/decimal.h"

/*
 * `phasemux run` leaves the number of its process, which becomes its command's (role.h). The command is a
 * target from its start, even if it was a launcher before, and became the program by exec.
 */
static __attribute__((constructor)) void begin(void)
{
	const char *target = getenv(PRELOAD_TARGET);
	int kept = errno;

	quiet_set_taker(look_hand_over);
	real_start();
	wrap_threads_start();
	visible_start();
	if (!target_is_disabled())
		emulate(target && *target && role_below(decimal_read(target)) == ROLE_COMMAND);
	if (launcher_rank() >= 0 && !target_is_disabled())
		target_prepare();
	/* a launcher has started this rank, so that MPI_Init will come, even if MPI is not loaded yet */
	if (launcher_is_of_mpi())
		target = NULL;
	if (target && *target) {
		wrap_role = role_below(decimal_read(target));
		if (wrap_role == ROLE_COMMAND && role_is_launcher() && !target_is_disabled()) {
			look_start();
		} else if (wrap_role == ROLE_COMMAND && !target_has_mpi()) {
			target_attach(WITH_NOTHING, NULL);
			look_seen_itself();
			/* the first burst starts with the program */
			wrap_thread.depth = 1;
			wrap_leave(THREAD_pthread_create, (char *)getauxval(AT_ENTRY) + 1, NULL);
		} else if (wrap_role == ROLE_BELOW && launcher_rank() < 0 &&
				!emulate_is_missing() && role_is_of_user()) {
			target_wait();
		}
	}
	errno = kept;
}
