/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface of MPI (mpi_abi.h). */
#include "agent/mpi/mpi_channel.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/host/quiet.h"
#include "agent/mpi/mpi_functions.h"
#include "agent/mpi/mpi_version.h"
#include "agent/mpi/roll.h"
#include "sampling/clock.h"

/*
 * A tag below those of Open MPI's own messages, until a program has made 8 million non-blocking collective
 * calls. Its 24 lowest bits, which are all that some transports keep, are a negative number, too.
 */
#define HIDDEN_TAG (-(1 << 30) + (1 << 23) + 608)

/* Distance of the tag from the highest tag of MPI, which programs are more likely to use. */
#define SEEN_TAG_BELOW 4711
#define TAG_GUARANTEED 32767 /* a tag that every MPI allows, by its standard */

/* Number of looks for messages without a rest between them, and the length of a rest after these in ns. */
#define LOOKS   2000
#define REST_NS 1000000

static struct {
	int rank, tag, word;
	bool has_names;          /* this MPI's launchers keep names */
	bool published, refused; /* this rank's name; this launcher keeps no names */
	MPI_Request request;     /* of the receive for the next word */
	MPI_Errhandler of_world, of_self;
} channel;

/* ---- messages that programs do not see ---- */

#ifdef ABI_OPENMPI
#define HAS_HIDDEN_TAG true

static bool allow_any_tag(void)
{
	bool *check = abi_symbols.ompi_mpi_param_check;
	bool kept = check && *check;

	if (kept)
		*check = false;
	return kept;
}

static void restore_check(bool kept)
{
	if (kept)
		*(bool *)abi_symbols.ompi_mpi_param_check = true;
}
#else
#define HAS_HIDDEN_TAG false

static bool allow_any_tag(void)
{
	return false;
}

static void restore_check(bool kept)
{
	(void)kept;
}
#endif

static int receive(void)
{
	bool kept = allow_any_tag();
	int result = pmpi.Irecv(&channel.word, 1, MPI_INT, MPI_ANY_SOURCE, channel.tag,
			MPI_COMM_WORLD, &channel.request);

	restore_check(kept);
	if (result != MPI_SUCCESS)
		channel.request = MPI_REQUEST_NULL;
	return result == MPI_SUCCESS ? 0 : -EIO;
}

/* Starts a send and does not wait for its end, because a rank without an agent may never receive it. */
static void send(int rank, enum roll_word word)
{
	static const int words[ROLL_WORDS] = { 0, 1, 2, 3, 4, 5, 6 };
	bool kept = allow_any_tag();
	MPI_Request request;

	if (pmpi.Isend(&words[word], 1, MPI_INT, rank, channel.tag, MPI_COMM_WORLD, &request) ==
			MPI_SUCCESS)
		pmpi.Request_free(&request);
	restore_check(kept);
}

static int choose_tag(void)
{
	int *highest, found = 0;

	channel.tag = HIDDEN_TAG;
	if (HAS_HIDDEN_TAG && receive() == 0)
		return 0;
	channel.tag = TAG_GUARANTEED - SEEN_TAG_BELOW;
	if (pmpi.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &found) == MPI_SUCCESS &&
			found)
		channel.tag = *highest - SEEN_TAG_BELOW;
	return receive();
}

static bool is_hidden(void)
{
	return channel.tag < 0;
}

/* ---- names ---- */

/*
 * Makes the name under which a rank is published. Worlds that a program spawns share the launcher and its
 * names. A rank may therefore find a name of another world. Then a message goes to a rank that may have no
 * agent, and nothing else is wrong.
 */
static void make_name(int rank, char *name, size_t size)
{
	MPI_Comm parent = MPI_COMM_NULL;

	pmpi.Comm_get_parent(&parent);
	snprintf(name, size, "phasemux.%s%d", parent == MPI_COMM_NULL ? "" : "spawned.", rank);
}

static void announce(void)
{
	char name[64];

	if (is_hidden() || channel.published || channel.refused)
		return;
	make_name(channel.rank, name, sizeof(name));
	channel.published = channel.has_names &&
			pmpi.Publish_name(name, MPI_INFO_NULL, name) == MPI_SUCCESS;
	channel.refused = !channel.published;
}

static bool reaches(int rank)
{
	char name[64], port[MPI_MAX_PORT_NAME];

	if (is_hidden())
		return true;
	make_name(rank, name, sizeof(name));
	if (channel.has_names && !channel.refused &&
			pmpi.Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS)
		return true;
	/* if this rank cannot publish its own name, the launcher keeps no names */
	announce();
	return channel.refused;
}

static void withdraw(void)
{
	char name[64];

	if (!channel.published)
		return;
	make_name(channel.rank, name, sizeof(name));
	pmpi.Unpublish_name(name, MPI_INFO_NULL, name);
	channel.published = false;
}

static bool is_seen(void)
{
	return !is_hidden() && channel.refused;
}

/* ---- the roll ---- */

/*
 * Returns whether errors without a communicator go to MPI_COMM_SELF from the start. In MPICH they go to
 * MPI_COMM_WORLD, until a program sets a handler of MPI_COMM_SELF. That one cannot be taken back, so this adapter must
 * not set it either.
 */
static bool self_has_errors(void)
{
	return !mpi_version_is_mpich();
}

/* Keeps errors of the channel from the program's error handlers, because the default one ends the program. */
static void take_errors(void)
{
	pmpi.Comm_get_errhandler(MPI_COMM_WORLD, &channel.of_world);
	pmpi.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (!self_has_errors())
		return;
	pmpi.Comm_get_errhandler(MPI_COMM_SELF, &channel.of_self);
	pmpi.Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void return_errors(void)
{
	pmpi.Comm_set_errhandler(MPI_COMM_WORLD, channel.of_world);
	pmpi.Errhandler_free(&channel.of_world);
	if (!self_has_errors())
		return;
	pmpi.Comm_set_errhandler(MPI_COMM_SELF, channel.of_self);
	pmpi.Errhandler_free(&channel.of_self);
}

/* Takes the messages that have arrived. Returns 0 or -EIO. */
static int hear(struct roll *roll)
{
	MPI_Status status;
	int arrived;

	for (;;) {
		if (pmpi.Test(&channel.request, &arrived, &status) != MPI_SUCCESS)
			return -EIO;
		if (!arrived)
			return 0;
		roll_hear(roll, status.MPI_SOURCE, channel.word);
		if (receive())
			return -EIO;
	}
}

static void rest(unsigned looks)
{
	const struct timespec short_time = { 0, REST_NS };

	if (looks < LOOKS)
		sched_yield();
	else
		nanosleep(&short_time, NULL);
}

/*
 * Stops receiving. A message that arrives meanwhile is lost, which is harmless because no sender waits for an
 * answer.
 */
static void stop_receiving(void)
{
	if (channel.request == MPI_REQUEST_NULL)
		return;
	pmpi.Cancel(&channel.request);
	pmpi.Wait(&channel.request, MPI_STATUS_IGNORE);
}

static void tell(const struct roll *roll)
{
	char ranks[256];

	if (!roll_speaks(roll))
		return;
	roll_name_missing(roll, ranks, sizeof(ranks));
	quiet_say("phasemux: off: without an answer from rank %s of %d: started without phasemux or its "
		  "libraries, or %u s late; all ranks run on unobserved; preload phasemux in all "
		  "ranks or in none\n",
			ranks, roll->size, (unsigned)(ROLL_PATIENCE_NS / 1000000000u));
}

static int call_roll(struct roll *roll)
{
	enum roll_state state;
	int error = 0;

	for (unsigned looks = 0;; looks++) {
		error = hear(roll);
		state = roll_step(roll, clock_monotonic());
		if (error || state == ROLL_HAS_ALL || state == ROLL_MISSES)
			break;
		rest(looks);
	}
	withdraw();
	stop_receiving();
	if (error)
		return error;
	if (state == ROLL_HAS_ALL)
		return 0;
	tell(roll);
	return -ENOTCONN;
}

/*
 * Returns whether looking for a name that is not published ends the program: MPICH since 4.1 reads through a null pointer if
 * PMI-2 says so (seen with MPICH 4.2.1 under Slurm 24.11). Slurm's PMI-2 sets PMI_JOBID, and the launcher of MPICH itself,
 * which speaks PMI-1, sets HYDI_CONTROL_FD.
 */
static bool names_are_unsafe(void)
{
	char name[128];
	int major, minor;

	mpi_version_name(name, sizeof(name));
	return sscanf(name, "MPICH Version %d.%d", &major, &minor) == 2 &&
			(major > 4 || (major == 4 && minor >= 1)) && getenv("PMI_JOBID") &&
			!getenv("HYDI_CONTROL_FD");
}

int mpi_channel_call_roll(int rank, int size)
{
	static const struct roll_channel messages = {
		.reaches = reaches,
		.announce = announce,
		.send = send,
		.is_seen = is_seen,
	};
	struct roll roll;
	int error;

	if (size == 1)
		return 0;
	channel.rank = rank;
	channel.has_names = mpi_version_is_mpich() && !names_are_unsafe();
	take_errors();
	error = choose_tag();
	if (!error) {
		roll_start(&roll, &messages, rank, size, clock_monotonic());
		error = call_roll(&roll);
		roll_end(&roll);
	}
	return_errors();
	return error;
}
