/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/leads.h"

#include <errno.h>

#include "agent/host/memory.h"
#include "cluster/loops/compare.h"
#include "multiplex/mix.h"

/* Number of tokens at the end of the text among which a loop is looked for. */
#define LOOK_BACK 8

#define PHASE_SHARE_MIN 0.01 /* of the loop's time: a lead must execute the phase */
#define READ_SHARE_MIN  0.05 /* the rank itself must have read it */

int leads_open(struct thread *thread, uint32_t rank)
{
	struct leads *leads = memory_map(sizeof(*leads));

	if (!leads)
		return -ENOMEM;
	leads->rank = rank;
	thread->structure.leads_bytes = sizeof(*leads);
	thread->structure.leads = leads;
	return 0;
}

/* ---- the loops of a thread ---- */

/* Returns a signature of a symbol that is equal on all ranks. */
static uint64_t signature_of(const void *data, uint32_t symbol)
{
	const struct site_table *sites = data;
	const struct site *site = &sites->site[symbol % SITES_MAX];

	return mix_bits(sites->paths.path[site->path].signature + site->call);
}

/* Returns the shape of a loop, or of a call that is repeated in a row. */
static uint64_t shape_of(const struct thread *thread, unsigned cell)
{
	const struct loops_names names = { signature_of, &thread->sites };
	const struct loops_token *token = arena_look(thread->structure.loops, cell);

	return token->kind == LOOPS_CALL ?
			signature_of(&thread->sites, token->symbol) :
			compare_hash_body(thread->structure.loops, cell, &names, false);
}

static void learn(struct leads_loop *loop, const struct thread *thread, unsigned cell)
{
	loop->left = false;
	/* a loop that cannot be followed has no calls */
	if (!follow_make(&loop->follow, thread->structure.loops, cell))
		loop->follow.calls = 0;
	else
		loop->shape = shape_of(thread, cell);
}

/* Returns the loop of a token, which is added if it is not known. */
static struct leads_loop *find(struct thread *thread, unsigned cell)
{
	struct leads *leads = thread->structure.leads;
	const struct loops_token *token = arena_look(thread->structure.loops, cell);
	struct leads_loop *loop = leads->loop;

	for (; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (loop->own_shape == token->shape && loop->own_calls == token->symbol) {
			if (loop->left)
				learn(loop, thread, cell);
			return loop;
		}
	loop = &leads->loop[leads->next++ % LEADS_LOOPS_MAX];
	*loop = (struct leads_loop){ .own_shape = token->shape, .own_calls = token->symbol };
	learn(loop, thread, cell);
	return loop;
}

/*
 * Returns a loop near the end of the text in which the call fits, or NULL. The text ends with the loop, with a round of it
 * that is not complete, or with inner loops of such a round.
 */
static struct leads_loop *search(struct thread *thread, uint32_t call)
{
	const struct loops *loops = thread->structure.loops;
	unsigned least = loops->tokens > LOOK_BACK ? loops->tokens - LOOK_BACK : 0;

	for (unsigned place = loops->tokens; place > least; place--) {
		unsigned cell = loops->cell[place - 1];
		const struct loops_token *token = arena_look(loops, cell);
		struct leads_loop *loop;

		if (token->kind == LOOPS_HOLE)
			return NULL;
		if (token->count < LEADS_ROUNDS_MIN)
			continue;
		loop = find(thread, cell);
		if (!loop->follow.calls)
			continue;
		follow_lose(&loop->follow);
		if (follow_step(&loop->follow, call))
			return loop;
	}
	return NULL;
}

/* ---- states ---- */

static bool is_in_l(const struct leads *leads)
{
	/* what begins with a call of the loop may be something else */
	return leads->now && leads->now->role != ROLE_NONE &&
			leads->fits >= leads->now->follow.calls;
}

static void decide(struct thread *thread)
{
	const struct leads *leads = thread->structure.leads;

	thread->structure.spared = is_in_l(leads) && leads->now->role == ROLE_SPARED;
}

/* Adds the time since the last call to that in state L, and notes the time of this one. */
static void account(struct thread *thread, uint64_t now)
{
	struct leads *leads = thread->structure.leads;

	if (leads->seen)
		site_add(&thread->counts.repeated_ticks, now - leads->seen);
	leads->seen = is_in_l(leads) ? now : 0;
}

void leads_look_at(struct thread *thread, uint32_t site, uint64_t now)
{
	struct leads *leads = thread->structure.leads;

	if (leads->ended)
		return;
	if (leads->now && !follow_step(&leads->now->follow, site)) {
		leads->now->left = true;
		leads->now = NULL;
		leads->fits = 0;
	}
	if (!leads->now) {
		leads->now = search(thread, site);
		if (leads->now)
			leads->now->followed = true;
	}
	leads->fits += leads->now && leads->fits < UINT32_MAX;
	account(thread, now);
	decide(thread);
}

void leads_lose(struct thread *thread)
{
	struct leads *leads = thread->structure.leads;

	if (leads && leads->now)
		follow_lose(&leads->now->follow);
}

void leads_end(struct thread *thread, uint64_t now)
{
	struct leads *leads = thread->structure.leads;

	if (!leads)
		return;
	leads->now = NULL;
	leads->ended = true;
	account(thread, now);
	decide(thread);
}

/* ---- votes ---- */

/* Adds the ticks of a span by phase. */
static void add_span(const struct site_table *sites, const struct span *span,
		const struct prototype_table *table, double ticks[PROTOTYPES_MAX + 1])
{
	for (unsigned l = 0; l < span->lengths; l++) {
		const struct span_length *length = &sites->length[span_length_number(span, l)];

		for (unsigned s = 0; s < SPAN_SHARES_MAX && length->share[s].read; s++) {
			uint32_t prototype = length->share[s].prototype;

			if (prototype < table->count)
				ticks[table->all[prototype].phase] +=
						span_share_ticks(&length->share[s]);
		}
	}
}

/* Sums the loop's ticks by phase. Caller holds the thread's drain. */
static void add_loop(const struct leads_loop *loop, const struct site_table *sites,
		const struct prototype_table *table, double ticks[PROTOTYPES_MAX + 1])
{
	for (uint32_t i = 0; i <= sites->spans; i++) {
		const struct span *span = &sites->span[i];

		if (span->used && follow_has(&loop->follow, span->from) &&
				follow_has(&loop->follow, span->to))
			add_span(sites, span, table, ticks);
	}
}

/* Returns the phases that have at least this share of the ticks. */
static uint64_t phases_above(const double ticks[PROTOTYPES_MAX + 1], double share)
{
	double all = 0;
	uint64_t phases = 0;

	for (unsigned phase = 0; phase <= PROTOTYPES_MAX; phase++)
		all += ticks[phase];
	for (unsigned phase = 1; phase <= PROTOTYPES_MAX && all > 0; phase++)
		if (ticks[phase] >= share * all)
			phases |= votes_phase(phase);
	return phases;
}

void leads_vote(struct thread *thread, const struct prototype_table *table, uint64_t unread,
		struct votes *votes)
{
	struct leads *leads = thread->structure.leads;

	if (!leads || leads->ended || !table->count)
		return;
	thread_hold(thread);
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++) {
		double ticks[PROTOTYPES_MAX + 1] = { 0 };

		loop->voted = false;
		if (!loop->followed)
			continue;
		loop->followed = loop == leads->now;
		add_loop(loop, &thread->sites, table, ticks);
		loop->phases = phases_above(ticks, PHASE_SHARE_MIN);
		/* other ranks read for a rank only once its own reads can stand for its bursts */
		if (!loop->phases || phases_above(ticks, READ_SHARE_MIN) & unread) {
			loop->role = ROLE_NONE;
			continue;
		}
		loop->voted = !votes_find(votes, loop->shape);
		if (loop->voted)
			votes_add(votes, loop->shape, leads->rank, loop->phases);
	}
	decide(thread);
	thread_let_go(thread);
}

static enum lead_role role_in(const struct leads_loop *loop, const struct vote *vote, uint32_t rank)
{
	if (!vote)
		return ROLE_NONE;
	if (vote_leads(vote, rank))
		return ROLE_LEAD;
	return loop->phases & ~vote_phases(vote) ? ROLE_NONE : ROLE_SPARED;
}

void leads_answer(struct thread *thread, const struct votes *answer)
{
	struct leads *leads = thread->structure.leads;

	if (!leads)
		return;
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (loop->voted)
			loop->role = role_in(loop, votes_find(answer, loop->shape), leads->rank);
	decide(thread);
}
