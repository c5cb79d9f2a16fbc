/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/call_arguments.h"

#include "multiplex/mix.h"

/* Which counts a size has. */
enum size_form {
	SIZE_PLAIN,
	SIZE_OWN,   /* that of this rank in a list */
	SIZE_ALL,   /* all of a list */
	SIZE_TYPES, /* all of a list, each with a type of its own */
};

/* The numbers of arguments, from 1; 0: there is none. */
struct message_size {
	uint8_t count, type;
	uint8_t form; /* enum size_form */
};

struct argument_places {
	uint8_t to, from, root, tag, from_tag, communicator;
	uint8_t made, started, requests, child, window;
	struct message_size bytes, at_root, from_bytes;
};

#define TO(n)                    .to = n
#define FROM(n)                  .from = n
#define ROOT(n)                  .root = n
#define TAG(n)                   .tag = n
#define FROM_TAG(n)              .from_tag = n
#define REQUEST(n)               .made = n
#define START(n)                 .started = n
#define REQUESTS(n)              .requests = n
#define COMM(n)                  .communicator = n
#define CHILD(n)                 .child = n
#define WINDOW(n)                .window = n
#define BYTES(count, type)       .bytes = { count, type, SIZE_PLAIN }
#define AT_ROOT(count, type)     .at_root = { count, type, SIZE_PLAIN }
#define FROM_BYTES(count, type)  .from_bytes = { count, type, SIZE_PLAIN }
#define OWN_BYTES(count, type)   .bytes = { count, type, SIZE_OWN }
#define AT_ROOT_OWN(count, type) .at_root = { count, type, SIZE_OWN }
#define ALL_BYTES(count, type)   .bytes = { count, type, SIZE_ALL }
#define ALL_TYPES(count, type)   .bytes = { count, type, SIZE_TYPES }
static const struct argument_places places[MPI_CALLS] = {
#define MPI_ARGUMENTS(name, ...) [MPI_CALL_##name] = { __VA_ARGS__ },
#include "agent/boundary/mpi_arguments.def"
#undef MPI_ARGUMENTS
};

static unsigned bit_if(bool set, enum argument argument)
{
	return set ? 1u << argument : 0;
}

unsigned call_arguments_of(unsigned call)
{
	const struct argument_places *of = call < MPI_CALLS ? &places[call] : NULL;

	if (!of)
		return 0;
	return bit_if(of->to, ARGUMENT_TO) | bit_if(of->from, ARGUMENT_FROM) |
			bit_if(of->root, ARGUMENT_ROOT) | bit_if(of->bytes.count, ARGUMENT_BYTES) |
			bit_if(of->tag, ARGUMENT_TAG) |
			bit_if(of->from_bytes.count, ARGUMENT_FROM_BYTES) |
			bit_if(of->from_tag, ARGUMENT_FROM_TAG) |
			bit_if(of->communicator, ARGUMENT_COMMUNICATOR) |
			bit_if(of->made || of->started, ARGUMENT_REQUEST) |
			bit_if(of->requests, ARGUMENT_REQUESTS);
}

static inline void forget_values(struct call_arguments *arguments)
{
	for (unsigned i = 0; i < ARGUMENTS; i++)
		arguments->value[i] = ARGUMENT_UNKNOWN;
}

/* ---- the call that starts ---- */

static bool is_fortran(const struct preload_arguments *given)
{
	return given->form == PRELOAD_FORTRAN || given->form == PRELOAD_FORTRAN_LARGE;
}

/* Returns an argument that is an int: a rank, a tag, or a handle of Fortran. */
static int int_of(const struct preload_arguments *given, unsigned number)
{
	return is_fortran(given) ? *(const int *)given->value[number] : (int)given->value[number];
}

static long handle_of(const struct preload_arguments *given, unsigned number)
{
	return is_fortran(given) ? int_of(given, number) : given->value[number];
}

static int64_t count_of(const struct preload_arguments *given, unsigned number)
{
	if (given->form == PRELOAD_C_LARGE)
		return given->value[number];
	if (given->form == PRELOAD_FORTRAN_LARGE)
		return *(const int64_t *)given->value[number];
	return int_of(given, number);
}

/* Returns an element of an argument that is a list of counts. */
static int64_t count_in(const struct preload_arguments *given, unsigned number, int index)
{
	bool is_large = given->form == PRELOAD_C_LARGE || given->form == PRELOAD_FORTRAN_LARGE;

	return is_large ? ((const int64_t *)given->value[number])[index] :
			  ((const int *)given->value[number])[index];
}

/* Returns a handle in a list. */
static long handle_in(const struct call_arguments *arguments, const void *list, bool fortran,
		int index)
{
	if (fortran || arguments->mpi->handle_bytes == sizeof(int))
		return ((const int *)list)[index];
	return ((const long *)list)[index];
}

/* Returns the bytes of a size that a list of counts has, or ARGUMENT_UNKNOWN. */
static int64_t listed_bytes(const struct call_arguments *arguments,
		const struct preload_arguments *given, const struct argument_places *of,
		struct message_size size, const struct mpi_member *own)
{
	const struct mpi_arguments *mpi = arguments->mpi;
	bool fortran = is_fortran(given), own_alone = size.form == SIZE_OWN;
	int first = own_alone ? own->rank : 0,
	    end = own_alone ? first + 1 : mpi->members(handle_of(given, of->communicator), fortran);
	int64_t sum = 0;
	int bytes = 0;

	/* between two groups, the lists are those of the other group */
	if (own->inter || !given->value[size.count] || !given->value[size.type] || first >= end)
		return ARGUMENT_UNKNOWN;
	if (size.form != SIZE_TYPES)
		bytes = mpi->type_bytes(handle_of(given, size.type), fortran);
	for (int i = first; i < end && bytes >= 0; i++) {
		int64_t count = count_in(given, size.count, i);

		/* what comes from a rank that sends nothing need have no type */
		if (size.form == SIZE_TYPES && count)
			bytes = mpi->type_bytes(
					handle_in(arguments, (const void *)given->value[size.type],
							fortran, i),
					fortran);
		sum += count * bytes;
	}
	return bytes < 0 ? ARGUMENT_UNKNOWN : sum;
}

static int64_t bytes_of(const struct call_arguments *arguments,
		const struct preload_arguments *given, const struct argument_places *of,
		struct message_size size, const struct mpi_member *own)
{
	int bytes;

	if (size.form != SIZE_PLAIN)
		return listed_bytes(arguments, given, of, size, own);
	bytes = arguments->mpi->type_bytes(handle_of(given, size.type), is_fortran(given));
	return bytes < 0 ? ARGUMENT_UNKNOWN : bytes * count_of(given, size.count);
}

static int64_t tag_of(const struct call_arguments *arguments, int tag)
{
	return tag == arguments->mpi->any_tag ? ARGUMENT_ANY : tag;
}

static int64_t peer_of(const struct call_arguments *arguments, const struct mpi_member *own,
		int peer)
{
	if (peer == arguments->mpi->proc_null)
		return ARGUMENT_NONE;
	if (peer == arguments->mpi->any_source)
		return ARGUMENT_ANY;
	return peer - own->rank;
}

/* Notes the size of the own part of a collective with a root. */
static void note_rooted(struct call_arguments *arguments, const struct preload_arguments *given,
		const struct argument_places *of, const struct mpi_member *own)
{
	int root = int_of(given, of->root);
	bool at_root = root == own->rank && of->at_root.count;

	/* between two groups, the root may be MPI_ROOT or MPI_PROC_NULL, and then other arguments mean nothing */
	if (own->inter)
		return;
	arguments->value[ARGUMENT_ROOT] = root;
	if (of->bytes.count)
		arguments->value[ARGUMENT_BYTES] = bytes_of(arguments, given, of,
				at_root ? of->at_root : of->bytes, own);
}

static void note_message(struct call_arguments *arguments, const struct preload_arguments *given,
		const struct argument_places *of, const struct mpi_member *own)
{
	int64_t *value = arguments->value;

	if (of->to)
		value[ARGUMENT_TO] = peer_of(arguments, own, int_of(given, of->to));
	if (of->from)
		value[ARGUMENT_FROM] = peer_of(arguments, own, int_of(given, of->from));
	if (of->bytes.count)
		value[ARGUMENT_BYTES] = bytes_of(arguments, given, of, of->bytes, own);
	if (of->from_bytes.count)
		value[ARGUMENT_FROM_BYTES] = bytes_of(arguments, given, of, of->from_bytes, own);
	if (of->tag)
		value[ARGUMENT_TAG] = tag_of(arguments, int_of(given, of->tag));
	if (of->from_tag)
		value[ARGUMENT_FROM_TAG] = tag_of(arguments, int_of(given, of->from_tag));
}

/* ---- persistent requests ---- */

/* Handles with equal numbers that are kept side by side. */
#define REQUESTS_NEAR 16

/* Returns the place of a handle: its own, else a free one, else that of another handle. */
static struct call_request *request_at(struct call_arguments *arguments, long handle)
{
	uint64_t at = mix_bits((uint64_t)handle);
	struct call_request *found = NULL;

	for (unsigned i = 0; i < REQUESTS_NEAR; i++) {
		struct call_request *request = &arguments->request[(at + i) % CALL_REQUESTS_MAX];

		if (request->number && request->handle == handle)
			return request;
		if (!request->number && !found)
			found = request;
	}
	return found ? found : &arguments->request[at % CALL_REQUESTS_MAX];
}

/* Numbers what the call has made. A handle of a request that was freed may be that of another one. */
static void number_made(struct call_arguments *arguments)
{
	long handle = handle_in(arguments, arguments->made, arguments->made_fortran, 0);

	if (arguments->child) {
		arguments->mpi->made(handle, arguments->made_fortran, arguments->child);
		arguments->made = NULL;
		return;
	}
	*request_at(arguments, handle) = (struct call_request){ handle, ++arguments->requests };
	arguments->value[ARGUMENT_REQUEST] = arguments->requests;
	arguments->made = NULL;
}

/* Notes the requests that the call starts. */
static void note_started(struct call_arguments *arguments, const struct preload_arguments *given,
		const struct argument_places *of)
{
	int count = of->requests ? int_of(given, of->requests) : 1;
	const void *list = (const void *)given->value[of->started];
	const struct call_request *request;
	long handle;

	arguments->value[ARGUMENT_REQUESTS] = count;
	if (count < 1 || !list)
		return;
	handle = handle_in(arguments, list, is_fortran(given), 0);
	request = request_at(arguments, handle);
	if (request->number && request->handle == handle)
		arguments->value[ARGUMENT_REQUEST] = request->number;
}

void call_arguments_note(struct call_arguments *arguments, struct preload_arguments *given,
		enum runtime_call call)
{
	const struct argument_places *of = call < MPI_CALLS ? &places[call] : NULL;
	struct mpi_member own = { .rank = 0 };

	arguments->noted = false;
	arguments->made = NULL;
	arguments->child = 0;
	if (!given->known || given->call != call || !of)
		return;
	given->known = false;
	forget_values(arguments);
	arguments->noted = true;
	arguments->made = of->made ? (const void *)given->value[of->made] : NULL;
	arguments->made_fortran = is_fortran(given);
	if (of->started)
		note_started(arguments, given, of);
	if (of->communicator) {
		/* without a communicator the call is an error of the program, or of no meaning */
		if (!arguments->mpi->member(handle_of(given, of->communicator), is_fortran(given),
				    &own))
			return;
		arguments->value[ARGUMENT_COMMUNICATOR] = own.communicator;
	}
	if (of->window &&
			!arguments->mpi->window_rank(handle_of(given, of->window),
					is_fortran(given), &own.rank))
		return;
	if (of->child) {
		arguments->made = (const void *)given->value[of->child];
		arguments->child = arguments->mpi->make(handle_of(given, of->communicator),
				is_fortran(given));
	}
	if (of->root)
		note_rooted(arguments, given, of, &own);
	else
		note_message(arguments, given, of, &own);
}

/* ---- the call that has returned ---- */

/* Makes the streams of a site that has none. Returns false if its call has no arguments, or there is no room. */
static bool make_streams(struct call_arguments *arguments, const struct site_table *sites,
		uint32_t site)
{
	/* site 0 stands for different calls */
	unsigned kinds = site ? call_arguments_of(sites->site[site].call) : 0;
	uint32_t first;

	if (!kinds)
		return false;
	first = stream_new(&arguments->streams, (uint32_t)__builtin_popcount(kinds));
	if (first == STREAMS_MAX) {
		arguments->left_out++;
		return false;
	}
	arguments->first[site] = (uint16_t)(first + 1);
	arguments->kinds[site] = (uint16_t)kinds;
	return true;
}

void call_arguments_add(struct call_arguments *arguments, const struct site_table *sites,
		uint32_t site)
{
	if (__builtin_expect(arguments->made != NULL, 0))
		number_made(arguments);
	if (arguments->first[site] || make_streams(arguments, sites, site)) {
		if (__builtin_expect(!arguments->noted, 0))
			forget_values(arguments);
		stream_add_all(&arguments->streams, arguments->first[site] - 1u, arguments->value,
				arguments->kinds[site]);
	}
	arguments->noted = false;
}

void call_arguments_finish(struct call_arguments *arguments)
{
	for (uint32_t i = 0; i < arguments->streams.count; i++)
		stream_finish(&arguments->streams, i);
}
