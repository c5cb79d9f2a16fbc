/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command under a seccomp filter that refuses perf_event_open, as container runtimes do.
 *
 *	no_perf ERRNO COMMAND...	ERRNO: EPERM, EACCES or ENOSYS
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned refusal;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "EPERM") == 0)
		refusal = EPERM;
	else if (strcmp(argv[1], "EACCES") == 0)
		refusal = EACCES;
	else if (strcmp(argv[1], "ENOSYS") == 0)
		refusal = ENOSYS;
	else
		return 2;

	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusal),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("no_perf: seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
