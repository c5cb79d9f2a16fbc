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

/* The sum and the number of relative peers. */
struct mean {
	double sum, values;
};

/*
 * Returns the signature of an argument of a site, which is a peer. The order of the peers is not part of it, because ranks
 * vote at different moments.
 */
static uint64_t add_peer(const struct stream *stream, uint64_t signature, struct mean *mean)
{
	uint64_t hash = mix_bits(signature + (uint64_t)stream->least);

	mean->sum += stream->sum;
	mean->values += (double)(stream->count - stream->marks);
	hash = mix_bits(hash + (uint64_t)stream->most);
	/* marks are any source, and no peer at all */
	return mix_bits(hash + (stream->marks > 0) + 2 * (stream->marks < stream->count));
}

/* Returns the signature of all peers of a site, or 0 if it has none. */
static uint64_t add_site(const struct thread *thread, uint32_t site, struct mean *to,
		struct mean *from)
{
	const struct call_arguments *arguments = thread->structure.arguments;
	uint64_t signature = signature_of(&thread->sites, site), peers = 0;
	const struct stream *stream;

	if (!arguments->first[site])
		return 0;
	stream = &arguments->streams.stream[arguments->first[site] - 1];
	for (unsigned left = arguments->kinds[site]; left; left &= left - 1, stream++) {
		enum argument argument = (enum argument)__builtin_ctz(left);

		if (argument == ARGUMENT_TO || argument == ARGUMENT_FROM)
			peers += add_peer(stream, signature + argument,
					argument == ARGUMENT_TO ? to : from);
	}
	return peers;
}

static float mean_of(const struct mean *mean)
{
	return mean->values > 0 ? (float)(mean->sum / mean->values) : 0;
}

void kinds_peers(const struct thread *thread, const struct follow *follow, struct vote_kind *kind)
{
	struct mean to = { 0 }, from = { 0 };

	kind->peers = 0;
	if (!thread->structure.arguments)
		return;
	/* a sum, because the loop may begin at another call on another rank */
	for (unsigned i = 0; i < follow->calls; i++)
		kind->peers += add_site(thread, follow->call[i].symbol % SITES_MAX, &to, &from);
	kind->to = mean_of(&to);
	kind->from = mean_of(&from);
}
