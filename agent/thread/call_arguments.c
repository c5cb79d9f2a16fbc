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
	uint8_t made, started, requests, child, window, opens, wait, done, which;
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
#define OPENS(n)                 .opens = n
#define WAIT(n)                  .wait = n
#define DONE(n)                  .done = n
#define WHICH(n)                 .which = n
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

/* Returns whether a call starts several requests, or several of a list end in it. */
static bool has_several(const struct argument_places *of)
{
	return of->requests && (!of->which || of->done);
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
			bit_if(has_several(of), ARGUMENT_REQUESTS) |
			bit_if(of->wait, ARGUMENT_BACK) |
			bit_if((of->wait || of->started) && has_several(of), ARGUMENT_STEP) |
			bit_if(of->wait && has_several(of), ARGUMENT_WHICH);
}

bool call_arguments_opens(unsigned call)
{
	return call < MPI_CALLS && (places[call].opens || places[call].started);
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline void forget_values(struct call_arguments *arguments)
{
	for (unsigned i = 0; i < ARGUMENTS; i++)
		arguments->value[i] = ARGUMENT_UNKNOWN;
}

/* ---- handles that were used before ---- */

#define KEY_FORTRAN (UINT64_C(1) << 62)

static inline uint64_t key_of(long handle, bool fortran)
{
	return fortran ? (uint64_t)handle ^ KEY_FORTRAN : (uint64_t)handle;
}

static inline size_t place_of(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CALL_KNOWN_BITS);
}

static inline uint64_t freed_now(const struct call_arguments *arguments)
{
	return atomic_load_explicit(arguments->mpi->freed, memory_order_relaxed);
}

static __attribute__((noinline)) bool ask_member(struct call_arguments *arguments, long handle,
		bool fortran, struct mpi_member *member)
{
	uint64_t key = key_of(handle, fortran);

	if (!arguments->mpi->member(handle, fortran, member))
		return false;
	arguments->communicator[place_of(key)] =
			(struct call_communicator){ key, freed_now(arguments), *member };
	return true;
}

/* Returns false if the communicator is none. */
static inline bool find_member(struct call_arguments *arguments, long handle, bool fortran,
		struct mpi_member *member)
{
	uint64_t key = key_of(handle, fortran);
	const struct call_communicator *known = &arguments->communicator[place_of(key)];

	if (__builtin_expect(known->key != key || known->freed != freed_now(arguments), 0))
		return ask_member(arguments, handle, fortran, member);
	*member = known->member;
	return true;
}

/* Returns false if the window is none. */
static bool find_window_rank(struct call_arguments *arguments, long handle, bool fortran, int *rank)
{
	uint64_t key = key_of(handle, fortran);
	struct call_window *known = &arguments->window[place_of(key)];

	if (known->key != key || known->freed != freed_now(arguments)) {
		if (!arguments->mpi->window_rank(handle, fortran, rank))
			return false;
		*known = (struct call_window){ key, freed_now(arguments), *rank };
	}
	*rank = known->rank;
	return true;
}

/* Asks for the bytes of a datatype, and whether it is named. */
static __attribute__((noinline)) int ask_bytes(struct call_arguments *arguments, long handle,
		bool fortran)
{
	uint64_t key = key_of(handle, fortran);
	struct call_type *known = &arguments->type[place_of(key)];
	int bytes = arguments->mpi->type_bytes(handle, fortran);

	/* a handle of a type that the program has made is never that of a named one, and the other way round */
	if (bytes >= 0)
		*known = (struct call_type){ key, bytes, true,
			arguments->mpi->type_is_named(handle, fortran) };
	return bytes;
}

/* Returns the bytes of an element of a datatype, or -1. */
static inline int find_bytes(struct call_arguments *arguments, long handle, bool fortran)
{
	uint64_t key = key_of(handle, fortran);
	const struct call_type *known = &arguments->type[place_of(key)];

	if (__builtin_expect(known->key != key || !known->known, 0))
		return ask_bytes(arguments, handle, fortran);
	return known->named ? known->bytes : arguments->mpi->type_bytes(handle, fortran);
}

/* ---- the call that starts ---- */

/* The arguments of a call. Where the compiler knows the form, it makes no test of it. */
struct given {
	const long *value; /* by number, from 1 */
	enum preload_form form;
};

static inline bool is_fortran(struct given given)
{
	return given.form == PRELOAD_FORTRAN || given.form == PRELOAD_FORTRAN_LARGE;
}

/* Returns an argument that is an int: a rank, a tag, or a handle of Fortran. */
static inline int int_of(struct given given, unsigned number)
{
	return is_fortran(given) ? *(const int *)given.value[number] : (int)given.value[number];
}

static inline long handle_of(struct given given, unsigned number)
{
	return is_fortran(given) ? int_of(given, number) : given.value[number];
}

static inline int64_t count_of(struct given given, unsigned number)
{
	if (given.form == PRELOAD_C_LARGE)
		return given.value[number];
	if (given.form == PRELOAD_FORTRAN_LARGE)
		return *(const int64_t *)given.value[number];
	return int_of(given, number);
}

/* Returns an element of an argument that is a list of counts. */
static int64_t count_in(struct given given, unsigned number, int index)
{
	bool is_large = given.form == PRELOAD_C_LARGE || given.form == PRELOAD_FORTRAN_LARGE;

	return is_large ? ((const int64_t *)given.value[number])[index] :
			  ((const int *)given.value[number])[index];
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
static __attribute__((noinline)) int64_t listed_bytes(struct call_arguments *arguments,
		struct given given, const struct argument_places *of, struct message_size size,
		const struct mpi_member *own)
{
	const struct mpi_arguments *mpi = arguments->mpi;
	bool fortran = is_fortran(given), own_alone = size.form == SIZE_OWN;
	int first = own_alone ? own->rank : 0,
	    end = own_alone ? first + 1 : mpi->members(handle_of(given, of->communicator), fortran);
	int64_t sum = 0;
	int bytes = 0;

	/* between two groups, the lists are those of the other group */
	if (own->inter || !given.value[size.count] || !given.value[size.type] || first >= end)
		return ARGUMENT_UNKNOWN;
	if (size.form != SIZE_TYPES)
		bytes = find_bytes(arguments, handle_of(given, size.type), fortran);
	for (int i = first; i < end && bytes >= 0; i++) {
		int64_t count = count_in(given, size.count, i);

		/* what comes from a rank that sends nothing need have no type */
		if (size.form == SIZE_TYPES && count)
			bytes = find_bytes(arguments,
					handle_in(arguments, (const void *)given.value[size.type],
							fortran, i),
					fortran);
		sum += count * bytes;
	}
	return bytes < 0 ? ARGUMENT_UNKNOWN : sum;
}

static ALWAYS_INLINE int64_t bytes_of(struct call_arguments *arguments, struct given given,
		const struct argument_places *of, struct message_size size,
		const struct mpi_member *own)
{
	int bytes;

	if (size.form != SIZE_PLAIN)
		return listed_bytes(arguments, given, of, size, own);
	bytes = find_bytes(arguments, handle_of(given, size.type), is_fortran(given));
	return bytes < 0 ? ARGUMENT_UNKNOWN : bytes * count_of(given, size.count);
}

static inline int64_t tag_of(const struct call_arguments *arguments, int tag)
{
	return tag == arguments->mpi->any_tag ? ARGUMENT_ANY : tag;
}

static inline int64_t peer_of(const struct call_arguments *arguments, const struct mpi_member *own,
		int peer)
{
	if (peer == arguments->mpi->proc_null)
		return ARGUMENT_NONE;
	if (peer == arguments->mpi->any_source)
		return ARGUMENT_ANY;
	return peer - own->rank;
}

/* Notes the size of the own part of a collective with a root. */
static ALWAYS_INLINE void note_rooted(struct call_arguments *arguments, struct given given,
		const struct argument_places *of, const struct mpi_member *own)
{
	int root = int_of(given, of->root);

	/* between two groups, the root may be MPI_ROOT or MPI_PROC_NULL, and then other arguments mean nothing */
	if (own->inter)
		return;
	arguments->value[ARGUMENT_ROOT] = root;
	if (!of->bytes.count)
		return;
	if (of->at_root.count && root == own->rank)
		arguments->value[ARGUMENT_BYTES] = bytes_of(arguments, given, of, of->at_root, own);
	else
		arguments->value[ARGUMENT_BYTES] = bytes_of(arguments, given, of, of->bytes, own);
}

static ALWAYS_INLINE void note_message(struct call_arguments *arguments, struct given given,
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

/* Returns whether the last request with a handle that is numbered was persistent. */
static bool is_persistent(struct call_arguments *arguments, long handle)
{
	const struct call_request *request = request_at(arguments, handle);

	return request->number && request->handle == handle;
}

/* Returns the place of a handle in a list. */
static const void *place_in(const struct call_arguments *arguments, const void *list, bool fortran,
		int index)
{
	size_t bytes = fortran ? sizeof(int) : arguments->mpi->handle_bytes;

	return (const char *)list + (size_t)index * bytes;
}

/* Numbers the requests that are opened because persistent ones are started. */
static void open_started(struct call_arguments *arguments, const void *list, int count,
		bool fortran)
{
	if (count > REQUESTS_MAX) {
		arguments->open.opened += (uint64_t)count;
		requests_forget(&arguments->open);
		return;
	}
	for (int i = 0; i < count; i++)
		requests_open(&arguments->open, handle_in(arguments, list, fortran, i),
				place_in(arguments, list, fortran, i));
}

/* Returns the number of the persistent request at a place of a list, or 0 if it is not known. */
static int64_t number_in(struct call_arguments *arguments, const void *list, bool fortran,
		int index)
{
	long handle = handle_in(arguments, list, fortran, index);

	return is_persistent(arguments, handle) ? request_at(arguments, handle)->number : 0;
}

/* Returns how far the numbers of the persistent requests in a list are apart, or ARGUMENT_UNKNOWN if that differs. */
static int64_t step_in(struct call_arguments *arguments, const void *list, bool fortran, int count)
{
	int64_t last = number_in(arguments, list, fortran, 0), step = 1;
	bool same = last && count <= REQUESTS_MAX;

	for (int i = 1; same && i < count; i++) {
		int64_t number = number_in(arguments, list, fortran, i);

		same = number && (i == 1 || number - last == step);
		step = number - last;
		last = number;
	}
	return same ? step : ARGUMENT_UNKNOWN;
}

/* Notes the requests that the call starts. */
static void note_started(struct call_arguments *arguments, struct given given,
		const struct argument_places *of)
{
	int count = of->requests ? int_of(given, of->requests) : 1;
	const void *list = (const void *)given.value[of->started];
	bool fortran = is_fortran(given);
	int64_t first;

	arguments->value[ARGUMENT_REQUESTS] = count;
	arguments->value[ARGUMENT_STEP] = 1;
	if (count < 1 || !list)
		return;
	first = number_in(arguments, list, fortran, 0);
	if (first)
		arguments->value[ARGUMENT_REQUEST] = first;
	if (count > 1)
		arguments->value[ARGUMENT_STEP] = step_in(arguments, list, fortran, count);
	if (arguments->follows)
		open_started(arguments, list, count, fortran);
}

/* ---- calls that wait ---- */

/*
 * Finds the request at a place, which the call ends. Returns false if there is none: MPI_REQUEST_NULL, or a persistent one that
 * is not started.
 */
static bool take_request(struct call_arguments *arguments, long handle, const void *place,
		bool fortran, struct request *request)
{
	if (handle == arguments->mpi->request_null[fortran])
		return false;
	*request = requests_take(&arguments->open, handle, place);
	if (request->open || !request->known)
		return true;
	request->known = false;
	return !is_persistent(arguments, handle);
}

/* Notes the request at a place as the only one that the call ends. */
static void note_one(struct call_arguments *arguments, long handle, const void *place, bool fortran)
{
	struct request request;

	if (!take_request(arguments, handle, place, fortran, &request))
		arguments->value[ARGUMENT_BACK] = ARGUMENT_NONE;
	else if (request.known)
		arguments->value[ARGUMENT_BACK] =
				(int64_t)requests_distance(&arguments->open, request.number);
}

static void gather_one(struct call_arguments *arguments, long handle, const void *place,
		bool fortran)
{
	struct request request;

	if (take_request(arguments, handle, place, fortran, &request))
		requests_add(&arguments->open, request);
}

/* Notes the requests that were gathered as those that the call ends. */
static void note_gathered(struct call_arguments *arguments)
{
	const struct request_set set = requests_gathered(&arguments->open);
	int64_t *value = arguments->value;

	value[ARGUMENT_REQUESTS] = (int64_t)set.count;
	if (!set.count)
		value[ARGUMENT_BACK] = ARGUMENT_NONE;
	else if (set.oldest)
		value[ARGUMENT_BACK] = (int64_t)requests_distance(&arguments->open, set.oldest);
	if (set.step)
		value[ARGUMENT_STEP] = (int64_t)set.step;
	if (set.bits)
		value[ARGUMENT_WHICH] = (int64_t)set.bits;
}

/* Keeps the handles of a list, because those that have ended are not there any more when the call has returned. */
static void keep_list(struct call_arguments *arguments, struct given given,
		const struct argument_places *of, int count)
{
	struct call_list *list = &arguments->list;

	list->at = (const void *)given.value[of->wait];
	list->done = of->done ? (const int *)given.value[of->done] : NULL;
	list->which = (const int *)given.value[of->which];
	list->count = count;
	for (int i = 0; i < count; i++)
		list->handle[i] = handle_in(arguments, list->at, is_fortran(given), i);
	arguments->later = CALL_LATER_ENDED;
}

/* Notes the requests for which the call waits. */
static __attribute__((noinline)) void note_waits(struct call_arguments *arguments,
		struct given given, const struct argument_places *of)
{
	const void *list = (const void *)given.value[of->wait];
	int count = of->requests ? int_of(given, of->requests) : 1;
	bool fortran = is_fortran(given);

	if (count > REQUESTS_MAX || (count > 0 && !list))
		return;
	if (of->which) {
		keep_list(arguments, given, of, count);
		return;
	}
	if (!of->requests) {
		note_one(arguments, handle_in(arguments, list, fortran, 0), list, fortran);
		return;
	}
	requests_gather(&arguments->open);
	for (int i = 0; i < count; i++)
		gather_one(arguments, handle_in(arguments, list, fortran, i),
				place_in(arguments, list, fortran, i), fortran);
	note_gathered(arguments);
}

/* Returns whether a request of the list may have ended in the call: a persistent one, or one whose handle is not there any more. */
static bool may_have_ended(struct call_arguments *arguments, int index)
{
	const struct call_list *list = &arguments->list;
	bool fortran = arguments->made_fortran;
	long null = arguments->mpi->request_null[fortran];

	return index >= 0 && index < list->count && list->handle[index] != null &&
			(handle_in(arguments, list->at, fortran, index) == null ||
					is_persistent(arguments, list->handle[index]));
}

/* Returns which number a call gives to the first request of a list: 1 in Fortran, but 0 in MPICH's mpi_f08 (MPICH 4.0). */
static int first_number(struct call_arguments *arguments, int ended)
{
	const struct call_list *list = &arguments->list;

	if (!arguments->made_fortran)
		return 0;
	for (int i = 0; i < ended && i < list->count; i++)
		if (!may_have_ended(arguments, list->which[i] - 1))
			return 0;
	return 1;
}

/* Notes which requests of the list have ended. MPI has put MPI_UNDEFINED, which is negative, if there was none to wait for. */
static void note_ended(struct call_arguments *arguments)
{
	const struct call_list *list = &arguments->list;
	bool fortran = arguments->made_fortran;
	int ended = list->done ? *list->done : 1, first = first_number(arguments, ended);

	requests_gather(&arguments->open);
	for (int i = 0; i < ended && i < list->count; i++) {
		int index = list->which[i] - first;

		if (index < 0 || index >= list->count)
			continue;
		gather_one(arguments, list->handle[index],
				place_in(arguments, list->at, fortran, index), fortran);
	}
	note_gathered(arguments);
}

/* ---- what a call has made ---- */

/* Notes what is known only now that the call has returned. A handle of a request that was freed may be that of another one. */
static __attribute__((noinline)) void note_later(struct call_arguments *arguments)
{
	enum call_later later = arguments->later;
	long handle = 0;

	arguments->later = CALL_LATER_NOTHING;
	if (later == CALL_LATER_ENDED) {
		note_ended(arguments);
		return;
	}
	handle = handle_in(arguments, arguments->made, arguments->made_fortran, 0);
	if (later == CALL_LATER_OPENED) {
		requests_open(&arguments->open, handle, arguments->made);
	} else if (later == CALL_LATER_CHILD) {
		arguments->mpi->made(handle, arguments->made_fortran, arguments->child);
	} else {
		*request_at(arguments, handle) =
				(struct call_request){ handle, ++arguments->requests };
		arguments->value[ARGUMENT_REQUEST] = arguments->requests;
	}
}

/* ---- all of them ---- */

static ALWAYS_INLINE void note_places(struct call_arguments *arguments, struct given given,
		const struct argument_places *of)
{
	const struct mpi_arguments *mpi = arguments->mpi;
	struct mpi_member own = { .rank = 0 };
	bool fortran = is_fortran(given);

	arguments->made_fortran = fortran;
	if (of->made || (of->opens && arguments->follows)) {
		arguments->made = (const void *)given.value[of->made ? of->made : of->opens];
		arguments->later = of->made ? CALL_LATER_PERSISTENT : CALL_LATER_OPENED;
	}
	if (of->started)
		note_started(arguments, given, of);
	if (of->wait && arguments->follows)
		note_waits(arguments, given, of);
	if (of->communicator) {
		/* without a communicator the call is an error of the program, or of no meaning */
		if (!find_member(arguments, handle_of(given, of->communicator), fortran, &own))
			return;
		arguments->value[ARGUMENT_COMMUNICATOR] = own.communicator;
	}
	if (of->window &&
			!find_window_rank(arguments, handle_of(given, of->window), fortran,
					&own.rank))
		return;
	if (of->child) {
		arguments->made = (const void *)given.value[of->child];
		arguments->child = mpi->make(handle_of(given, of->communicator), fortran);
		arguments->later = CALL_LATER_CHILD;
	}
	if (of->root)
		note_rooted(arguments, given, of, &own);
	else
		note_message(arguments, given, of, &own);
}

/* Notes the arguments of a call by code of its own, in which its places and the form are constants. */
static ALWAYS_INLINE void note_call(struct call_arguments *arguments, struct given given,
		enum runtime_call call)
{
	switch (call) {
#define MPI_ARGUMENTS(name, ...)                                                                   \
	case MPI_CALL_##name:                                                                      \
		note_places(arguments, given, &places[MPI_CALL_##name]);                           \
		break;
#include "agent/boundary/mpi_arguments.def"
#undef MPI_ARGUMENTS
	default:
		break;
	}
}

static __attribute__((hot)) void note_c(struct call_arguments *arguments, const long *value,
		enum runtime_call call)
{
	note_call(arguments, (struct given){ value, PRELOAD_C }, call);
}

static __attribute__((hot)) void note_fortran(struct call_arguments *arguments, const long *value,
		enum runtime_call call)
{
	note_call(arguments, (struct given){ value, PRELOAD_FORTRAN }, call);
}

void call_arguments_note(struct call_arguments *arguments, struct preload_arguments *given,
		enum runtime_call call)
{
	arguments->noted = false;
	arguments->later = CALL_LATER_NOTHING;
	if (!given->known || given->call != call || call >= MPI_CALLS)
		return;
	given->known = false;
	forget_values(arguments);
	arguments->noted = true;
	if (given->form == PRELOAD_C)
		note_c(arguments, given->value, call);
	else if (given->form == PRELOAD_FORTRAN)
		note_fortran(arguments, given->value, call);
	else
		note_places(arguments, (struct given){ given->value, given->form }, &places[call]);
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
	if (__builtin_expect(arguments->later != CALL_LATER_NOTHING, 0))
		note_later(arguments);
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
