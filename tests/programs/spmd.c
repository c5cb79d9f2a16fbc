/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI programs of two ranks or more whose behaviours are known. Each shape has behaviours with names, and every
 * burst is of one of them. They differ clearly in length or in the function that they are in.
 *
 *	spmd SHAPE [SECONDS [WORK [alike]]]
 *
 * A burst takes its time by the clock, so that another program on the machine changes little. At the end each
 * rank prints, for each behaviour, its number of bursts and their time by its own clock:
 *
 *	truth RANK NUMBER BEHAVIOUR BURSTS SECONDS
 *
 * Some shapes can be changed, so that a change that was foreseen can be made: WORK multiplies the work of a function, and with
 * `alike` all ranks have the same work in it. In others, WORK multiplies the time of the messages.
 *
 * Without SHAPE it prints the names of the shapes whose bursts compute. A preload may read burst_log_tag, the number of the
 * behaviour of the burst under way. It may set it to -1 at the end of the burst.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BEHAVIOURS_MAX 8
#define TOUCHED_BYTES  (1u << 20)
#define PAGE_BYTES     4096
#define RANDOM_STEP    6364136223846793005u
#define HERE           __attribute__((noinline, noclone, visibility("default")))
#define NO_TAIL_CALL   __asm__ volatile("")

int burst_log_tag = -1;

static int rank, ranks;
static double work = 1;
static bool alike_work;
static struct {
	const char *name;
	long bursts;
	double seconds;
} behaviour[BEHAVIOURS_MAX];

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Computes until `seconds` have passed since `begin`, as one burst or a part of one. */
static void burn_since(double begin, int number, const char *name, double seconds)
{
	double at;

	burst_log_tag = number;
	do
		at = now();
	while (at < begin + seconds);
	behaviour[number].name = name;
	behaviour[number].bursts++;
	behaviour[number].seconds += at - begin;
}

static void burn(int number, const char *name, double seconds)
{
	burn_since(now(), number, name, seconds);
}

/* Like burn(), but sleeps, so that other programs on the machine change the time even less. */
static void rest(int number, const char *name, double seconds)
{
	double begin = now(), end = begin + seconds;
	struct timespec until = { .tv_sec = (time_t)end };
	until.tv_nsec = (long)(1e9 * (end - (double)until.tv_sec));
	burst_log_tag = number;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	behaviour[number].name = name;
	behaviour[number].bursts++;
	behaviour[number].seconds += now() - begin;
}

static void meet(void)
{
	double mine = 1, sum;

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Returns a number in [0, 1). The sequence is the same on each rank and in each run. */
static double draw(void)
{
	static unsigned long state = 1;

	state = state * RANDOM_STEP + 1442695040888963407u;
	return (double)(state >> 11) * 0x1p-53;
}

/* A function that computes and then waits for the other ranks. */
#define STEP(function, number, ms)                                                                 \
	HERE void function(void)                                                                   \
	{                                                                                          \
		burn(number, #function, 1e-3 * (ms));                                              \
		meet();                                                                            \
		NO_TAIL_CALL;                                                                      \
	}

static long times(double seconds, double of_one)
{
	return (long)(seconds / of_one + 0.5);
}

/* ---- the shapes ---- */

/* Some long bursts of a setup come first, then the many bursts of a solver. */
STEP(assemble, 0, 60)
STEP(solve, 1, 3)

static void setup(double seconds)
{
	for (long i = times(0.4 * seconds, 0.060); i > 0; i--)
		assemble();
	for (long i = times(0.6 * seconds, 0.003); i > 0; i--)
		solve();
}

/* One site has bursts of four lengths, in an order that does not repeat. */
static void discrete(double seconds)
{
	static const struct {
		const char *name;
		double ms;
	} lengths[] = { { "tiny", 0.25 }, { "small", 1 }, { "medium", 5 }, { "large", 20 } };

	for (long i = times(seconds, 0.006563); i > 0; i--) {
		int k = (int)(4 * draw());

		burn(k, lengths[k].name, 1e-3 * lengths[k].ms);
		meet();
	}
}

/* One site has bursts of all lengths between 0.5 and 5 ms. */
static void continuous(double seconds)
{
	for (long i = times(seconds, 0.00275); i > 0; i--) {
		burn(0, "any", 0.0005 + 0.0045 * draw());
		meet();
	}
}

/* Three functions have bursts of one length, in turn. */
STEP(x_sweep, 0, 2)
STEP(y_sweep, 1, 2)
STEP(z_sweep, 2, 2)

static void alike(double seconds)
{
	for (long i = times(seconds, 0.006); i > 0; i--) {
		x_sweep();
		y_sweep();
		z_sweep();
	}
}

/* One rank computes. The others ask by two calls in turn until it is done, and then compute too. */
static void ask(MPI_Request *request)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int done = 0, count, index;
	MPI_Status status;

	while (!done) {
		burn(2, "ask", 3e-7);
		MPI_Testsome(1, &none, &count, &index, &status);
		burn(2, "ask", 3e-7);
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
	}
}

static void polling(double seconds)
{
	for (long i = times(seconds, 0.006); i > 0; i--) {
		int token = 0;
		MPI_Request request;

		if (rank == 0) {
			burn(0, "master", 0.005);
			for (int other = 1; other < ranks; other++)
				MPI_Send(&token, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
		} else {
			MPI_Irecv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
			ask(&request);
			burn(1, "worker", 0.001);
		}
		meet();
	}
}

/* Calls come over 4^7 call paths. The length depends on the place at which the program starts its descent. */
HERE void descend(int depth, unsigned way)
{
	if (depth == 0) {
		meet();
		NO_TAIL_CALL;
		return;
	}
	/* four calls, because each has a return address of its own */
	switch (way & 3) {
	case 0:
		descend(depth - 1, way >> 2);
		__asm__ volatile("nop");
		break;
	case 1:
		descend(depth - 1, way >> 2);
		__asm__ volatile("nop; nop");
		break;
	case 2:
		descend(depth - 1, way >> 2);
		__asm__ volatile("nop; nop; nop");
		break;
	default:
		descend(depth - 1, way >> 2);
		__asm__ volatile("nop; nop; nop; nop");
	}
}

static void paths(double seconds)
{
	for (long i = times(seconds, 0.0009); i > 0; i--) {
		burn(0, "brief", 0.0002);
		descend(7, (unsigned)(10000 * draw()));
		burn(1, "lengthy", 0.0007);
		descend(7, (unsigned)(10000 * draw()));
	}
}

/* Ranks with an odd number have a quarter of the work. */
static void differ(double seconds)
{
	for (long i = times(seconds, 0.004); i > 0; i--) {
		if (rank % 2)
			burn(1, "quarter", 0.001);
		else
			burn(0, "whole", 0.004);
		meet();
	}
}

/* In the middle of the run two behaviours end, and two others start. */
STEP(prestart_short, 0, 1)
STEP(prestart_long, 1, 3)
STEP(late_short, 2, 0.5)
STEP(late_long, 3, 7)

static void changes(double seconds)
{
	for (long i = times(0.5 * seconds, 0.004); i > 0; i--) {
		prestart_short();
		prestart_long();
	}
	for (long i = times(0.5 * seconds, 0.0075); i > 0; i--) {
		late_short();
		late_long();
	}
}

/* The time has many short bursts: 99 of 100 take 15 us each, and together 30% of the time. */
static void mixed(double seconds)
{
	for (long i = times(seconds, 0.005); i > 0; i--) {
		for (int k = 0; k < 99; k++) {
			burn(0, "short", 15e-6);
			MPI_Barrier(MPI_COMM_SELF);
		}
		burn(1, "main", 0.0035);
		meet();
	}
}

/* The first bursts touch new memory, and therefore take longer. */
static void cold(double seconds)
{
	for (long i = times(0.3 * seconds, 0.012); i > 0; i--) {
		double begin = now();
		volatile char *fresh = mmap(NULL, TOUCHED_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t at = 0; at < TOUCHED_BYTES; at += PAGE_BYTES)
			fresh[at] = 1;
		burn_since(begin, 0, "cold", 0.012);
		meet();
		munmap((void *)fresh, TOUCHED_BYTES);
	}
	for (long i = times(0.7 * seconds, 0.004); i > 0; i--) {
		burn(1, "warm", 0.004);
		meet();
	}
}

/* Two layers are around each call. There are three behaviours, two of them of one length. */
HERE void layer_low(void)
{
	meet();
	NO_TAIL_CALL;
}

HERE void layer_high(void)
{
	layer_low();
	NO_TAIL_CALL;
}

#define WRAPPED(function, number, ms)                                                              \
	HERE void function(void)                                                                   \
	{                                                                                          \
		burn(number, #function, 1e-3 * (ms));                                              \
		layer_high();                                                                      \
		NO_TAIL_CALL;                                                                      \
	}
WRAPPED(pressure, 0, 1.5)
WRAPPED(velocity, 1, 1.5)
WRAPPED(energy, 2, 4)

static void wrapped(double seconds)
{
	for (long i = times(seconds, 0.007); i > 0; i--) {
		pressure();
		velocity();
		energy();
	}
}

/* The bursts of one phase get longer while the program runs, from 2 to 2.6 ms. */
static void grows(double seconds)
{
	long all = times(seconds, 0.0023);

	for (long i = 0; i < all; i++) {
		burn(0, "growing", 0.002 + 0.0006 * (double)i / (double)all);
		meet();
	}
}

/* Returns the work of this rank in ms: 32 in the first rank, 96 in the last one, and 64 in the mean. from_last: the other way. */
static double uneven_ms(bool from_last)
{
	int place = from_last ? ranks - 1 - rank : rank;

	return alike_work || ranks < 2 ? 64 : 32 + 64. * place / (ranks - 1);
}

/* A function that sleeps, so that its time is what was asked for, and then waits for the other ranks. */
#define REST(function, number, ms)                                                                 \
	HERE void function(void)                                                                   \
	{                                                                                          \
		rest(number, #function, 1e-3 * (ms));                                              \
		meet();                                                                            \
		NO_TAIL_CALL;                                                                      \
	}

/* Two functions in turn, in the second of which the last rank has most work. WORK and `alike` are of the second one. */
REST(predict, 0, 48)
REST(correct, 1, work *uneven_ms(false))

static void uneven(double seconds)
{
	for (long i = times(seconds, 0.144); i > 0; i--) {
		predict();
		correct();
	}
}

/* In two functions in turn, first the first rank has most work, and then the last one. WORK and `alike` are of the first one. */
REST(ahead, 0, work *uneven_ms(true))
REST(behind, 1, 32 + 64. * rank / (ranks > 1 ? ranks - 1 : 1))

static void across(double seconds)
{
	for (long i = times(seconds, 0.192); i > 0; i--) {
		ahead();
		behind();
	}
}

/* In the functions of `across`, but without waiting between them. */
HERE void ahead_alone(void)
{
	rest(0, "ahead_alone", 1e-3 * work * uneven_ms(true));
	MPI_Barrier(MPI_COMM_SELF);
	NO_TAIL_CALL;
}

static void loose(double seconds)
{
	for (long i = times(seconds, 0.128); i > 0; i--) {
		ahead_alone();
		behind();
	}
}

/* ---- the shapes with messages that take a known time ---- */

#define MESSAGE_MS 40

/* Adds numbers as MPI_SUM does, but needs MESSAGE_MS, which WORK multiplies. The ranks are in a call meanwhile. */
static void add_slowly(void *in, void *sum, int *count, MPI_Datatype *type)
{
	(void)type;
	rest(7, "message", 1e-3 * work * MESSAGE_MS);
	for (int i = 0; i < *count; i++)
		((double *)sum)[i] += ((double *)in)[i];
}

/* Waits for the other ranks, and then for a message. With two ranks it is one message. */
HERE void exchange(void)
{
	static MPI_Op add;
	static bool has_add;
	double mine = 1, sum;

	if (!has_add)
		MPI_Op_create(add_slowly, 1, &add);
	has_add = true;
	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, add, MPI_COMM_WORLD);
	NO_TAIL_CALL;
}

/* The last rank has most work each time. */
HERE void carry(void)
{
	rest(0, "carry", 1e-3 * uneven_ms(false));
	exchange();
	NO_TAIL_CALL;
}

static void carrying(double seconds)
{
	for (long i = times(seconds, 0.136); i > 0; i--)
		carry();
}

/* Each time another rank has most work, so that all have the same in the end. */
HERE void turn(bool mine)
{
	rest(1, "turn", mine ? 0.096 : 0.032);
	exchange();
	NO_TAIL_CALL;
}

static void turning(double seconds)
{
	for (long i = times(seconds, 0.272); i > 0; i--) {
		turn(rank % 2);
		turn(!(rank % 2));
	}
}

/* Ranks that wait for each other only at the end of an iteration: the first rank has most work at first, and then the last one. */
HERE void hurry(void)
{
	rest(2, "hurry", 1e-3 * uneven_ms(true));
	MPI_Barrier(MPI_COMM_SELF);
	NO_TAIL_CALL;
}

static void hurrying(double seconds)
{
	for (long i = times(seconds, 0.168); i > 0; i--) {
		hurry();
		carry();
	}
}

static const struct {
	const char *name;
	void (*run)(double seconds);
	bool sleeps; /* its bursts do not compute */
} shapes[] = { { "setup", setup, false }, { "discrete", discrete, false },
	{ "continuous", continuous, false }, { "alike", alike, false },
	{ "polling", polling, false }, { "paths", paths, false }, { "differ", differ, false },
	{ "changes", changes, false }, { "mixed", mixed, false }, { "cold", cold, false },
	{ "wrapped", wrapped, false }, { "grows", grows, false }, { "uneven", uneven, true },
	{ "across", across, true }, { "loose", loose, true }, { "carrying", carrying, true },
	{ "turning", turning, true }, { "hurrying", hurrying, true } };

#define SHAPES (int)(sizeof(shapes) / sizeof(shapes[0]))

static void print_names(void)
{
	for (int i = 0; i < SHAPES; i++)
		if (!shapes[i].sleeps)
			printf("%s\n", shapes[i].name);
}

static void print_truth(void)
{
	for (int b = 0; b < BEHAVIOURS_MAX; b++)
		if (behaviour[b].bursts)
			printf("truth %d %d %s %ld %.9f\n", rank, b, behaviour[b].name,
					behaviour[b].bursts, behaviour[b].seconds);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 4;
	int shape = 0;

	work = argc > 3 ? atof(argv[3]) : 1;
	alike_work = argc > 4;
	if (argc < 2) {
		print_names();
		return 0;
	}
	while (shape < SHAPES && strcmp(shapes[shape].name, argv[1]) != 0)
		shape++;
	if (shape == SHAPES) {
		fprintf(stderr, "spmd: no shape %s\n", argv[1]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	meet();
	shapes[shape].run(seconds);
	burst_log_tag = -1;
	print_truth();
	MPI_Finalize();
	return 0;
}
