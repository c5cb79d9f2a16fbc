/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/kinds.h"

#include "agent/thread/call_arguments.h"
#include "cluster/loops/compare.h"
#include "multiplex/mix.h"

/* Returns a signature of a symbol that is equal on all ranks. */
static uint64_t signature_of(const void *data, uint32_t symbol)
{
	const struct site_table *sites = data;
	const struct site *site = &sites->site[symbol % SITES_MAX];

	return mix_bits(sites->paths.path[site->path].signature + site->call);
}

uint64_t kinds_shape(const struct thread *thread, unsigned cell)
{
	const struct loops_names names = { signature_of, &thread->sites };
	const struct loops_token *token = arena_look(thread->structure.loops, cell);

	return token->kind == LOOPS_CALL ?
			signature_of(&thread->sites, token->symbol) :
			compare_hash_body(thread->structure.loops, cell, &names, false);
}

/* Returns whether the loop has the symbol at one place. */
static bool is_once(const struct follow *follow, uint32_t symbol)
{
	unsigned places = 0;

	for (unsigned i = 0; i < follow->calls; i++)
		places += follow->call[i].symbol == symbol;
	return places == 1;
}

static bool is_better(const struct thread *thread, const struct region_anchor *best,
		uint32_t symbol, bool rows)
{
	if (!best->shape || best->rows != rows)
		return !best->shape || best->rows;
	return signature_of(&thread->sites, symbol) < signature_of(&thread->sites, best->site);
}

struct region_anchor kinds_anchor(const struct thread *thread, unsigned cell,
		const struct follow *follow)
{
	const struct loops *loops = thread->structure.loops;
	const struct loops_token *token = arena_look(loops, cell);
	uint64_t shape = kinds_shape(thread, cell);
	struct region_anchor best = { 0 };

	if (token->kind == LOOPS_CALL)
		return (struct region_anchor){ shape, token->symbol % SITES_MAX, false };
	for (unsigned at = token->first; at; at = token->next) {
		bool rows;

		token = arena_look(loops, at);
		rows = token->most > 1 || token->count > 1;
		if (token->kind == LOOPS_CALL && is_once(follow, token->symbol) &&
				is_better(thread, &best, token->symbol, rows))
			best = (struct region_anchor){ shape, token->symbol % SITES_MAX, rows };
	}
	return best;
}

/* Different peers of one argument of a site that are told apart. */
#define PEERS_MAX 16

/* The different values of a stream. */
struct peers {
	unsigned count; /* PEERS_MAX + 1: more than there is room for */
	int64_t peer[PEERS_MAX];
};

/* The peers of a loop, while they are gathered. */
struct gathering {
	const struct thread *thread;
	int64_t ranks;
	double sum[2], peers[2]; /* relative ranks to which messages go, and from which they come */
};

/* Returns the relative rank that is the same modulo the number of ranks, and nearest to 0. */
static int64_t modulo(int64_t peer, int64_t ranks)
{
	if (peer >= STREAM_MARK)
		return peer;
	if (2 * peer > ranks)
		return peer - ranks;
	return 2 * peer <= -ranks ? peer + ranks : peer;
}

static void add_value(struct peers *peers, int64_t peer)
{
	for (unsigned i = 0; i < peers->count && i < PEERS_MAX; i++)
		if (peers->peer[i] == peer)
			return;
	if (peers->count < PEERS_MAX)
		peers->peer[peers->count] = peer;
	peers->count += peers->count <= PEERS_MAX;
}

/* Adds the values of the items of a stream from `item` on. */
static void add_items(const struct streams *streams, unsigned item, int64_t ranks,
		struct peers *peers)
{
	for (; item; item = streams->item[item].next) {
		const struct stream_item *of = &streams->item[item];

		if (of->first)
			add_items(streams, of->first, ranks, peers);
		else
			add_value(peers, modulo(of->value, ranks));
	}
}

/*
 * Returns the signature of an argument of a site, which is a peer. The order of the peers is not part of it, because ranks
 * vote at different moments. All sets of too many peers have one signature.
 */
static uint64_t add_peers(struct gathering *gathering, const struct stream *stream,
		uint64_t signature, bool from)
{
	struct peers peers = { 0 };
	uint64_t sum = 0;

	add_items(&gathering->thread->structure.arguments->streams, stream->first, gathering->ranks,
			&peers);
	if (peers.count > PEERS_MAX)
		return mix_bits(signature + PEERS_MAX);
	for (unsigned i = 0; i < peers.count; i++) {
		sum += mix_bits(signature + mix_bits((uint64_t)peers.peer[i]));
		/* marks are any source, and no peer at all */
		if (peers.peer[i] >= STREAM_MARK)
			continue;
		gathering->sum[from] += (double)peers.peer[i];
		gathering->peers[from]++;
	}
	return sum;
}

/* Returns the signature of all peers of a site, or 0 if it has none. */
static uint64_t add_site(struct gathering *gathering, uint32_t site)
{
	const struct call_arguments *arguments = gathering->thread->structure.arguments;
	uint64_t signature = signature_of(&gathering->thread->sites, site), peers = 0;
	const struct stream *stream;

	if (!arguments->first[site])
		return 0;
	stream = &arguments->streams.stream[arguments->first[site] - 1];
	for (unsigned left = arguments->kinds[site]; left; left &= left - 1, stream++) {
		enum argument argument = (enum argument)__builtin_ctz(left);

		if (argument == ARGUMENT_TO || argument == ARGUMENT_FROM)
			peers += add_peers(gathering, stream, signature + argument,
					argument == ARGUMENT_FROM);
	}
	return peers;
}

static float mean_of(const struct gathering *gathering, bool from)
{
	return gathering->peers[from] > 0 ? (float)(gathering->sum[from] / gathering->peers[from]) :
					    0;
}

void kinds_peers(const struct thread *thread, const struct follow *follow, uint32_t ranks,
		struct vote_kind *kind)
{
	struct gathering gathering = { .thread = thread, .ranks = ranks };

	kind->peers = 0;
	if (!thread->structure.arguments)
		return;
	/* a sum, because the loop may begin at another call on another rank */
	for (unsigned i = 0; i < follow->calls; i++)
		kind->peers += add_site(&gathering, follow->call[i].symbol % SITES_MAX);
	kind->to = mean_of(&gathering, false);
	kind->from = mean_of(&gathering, true);
}
