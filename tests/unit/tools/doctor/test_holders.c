/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests other holders of counters, in a folder made to look like /proc, and in the real one. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sampling/event.h"
#include "sampling/group.h"
#include "tests/tap.h"
#include "tools/doctor/holders.h"

static char proc[64] = "/tmp/test_holders.XXXXXX";

static void make_process(int pid, const char *name, unsigned events)
{
	char path[256];
	FILE *comm;

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/comm", proc, pid);
	comm = fopen(path, "w");
	fprintf(comm, "%s\n", name);
	fclose(comm);
	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/fd/1", proc, pid);
	if (symlink("/dev/null", path) < 0)
		abort();
	snprintf(path, sizeof(path), "%s/%d/fd/2", proc, pid);
	if (symlink("anon_inode:[perf_event]s", path) < 0)
		abort();
	for (unsigned i = 0; i < events; i++) {
		snprintf(path, sizeof(path), "%s/%d/fd/%u", proc, pid, 512 + i);
		if (symlink("anon_inode:[perf_event]", path) < 0)
			abort();
	}
}

static void test_made_up(void)
{
	struct holder holders[3];
	char command[96];

	if (!mkdtemp(proc))
		abort();
	make_process(2000001, "perf", 3);
	make_process(2000002, "nothing", 0);
	make_process(2000003, "od\033[31md", 7);
	make_process(2000004, "one", 1);
	make_process(2000005, "five", 5);
	is_int(holders_find(proc, holders, 3), 4, "processes with perf events are counted");
	ok(holders[0].pid == 2000003 && holders[0].descriptors == 7, "the largest comes first");
	is_str(holders[0].name, "od?[31md", "a name can be printed");
	is_str(holders[1].name, "five", "then the next");
	is_str(holders[2].name, "perf", "and as many as there is room for");
	is_int(holders_find(proc, NULL, 0), 4, "none need be kept");
	is_int(holders_find("/nonexistent", holders, 3), 0, "without /proc there are none");
	snprintf(command, sizeof(command), "rm -r %s", proc);
	is_int(system(command), 0, "cleaned up");
}

static void test_real(void)
{
	static const struct event clock = {
		.name = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};
	const struct event *const events[] = { &clock, &clock };
	struct holder holders[64];
	bool found = false;
	unsigned count, bad;
	int ready[2];
	char byte = 0;
	pid_t child;

	if (pipe(ready) < 0)
		abort();
	child = fork();
	if (child == 0) {
		struct group group;

		byte = group_open(&group, pmu_kernel(), events, 2, READ_SYSCALL, &bad) == 0;
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
	}
	if (read(ready[0], &byte, 1) != 1 || !byte) {
		skip("another process with events", "none can be opened here");
	} else {
		count = holders_find("/proc", holders, 64);
		for (unsigned i = 0; i < count && i < 64; i++)
			found |= holders[i].pid == child && holders[i].descriptors >= 1;
		ok(found, "another process with events is found");
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	test_made_up();
	test_real();
	return tap_done();
}
