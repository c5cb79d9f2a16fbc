/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/leads.h"

#include <errno.h>

#include "agent/host/memory.h"
#include "agent/leads/kinds.h"

/* Number of tokens at the end of the text among which a loop is looked for. */
#define LOOK_BACK 8

#define PHASE_SHARE_MIN 0.01 /* of the loop's time: a lead must execute the phase */
#define READ_SHARE_MIN  0.05 /* the rank itself must have read it */

int leads_open(struct thread *thread, uint32_t rank, uint32_t ranks,
		const struct mpi_arguments *mpi, void (*keep_arguments)(bool wanted))
{
	struct leads *leads = memory_map(sizeof(*leads));

	if (!leads)
		return -ENOMEM;
	leads->rank = rank;
	leads->ranks = ranks;
	leads->given.mpi = mpi;
	leads->keep_arguments = keep_arguments;
	thread->structure.leads_bytes = sizeof(*leads);
	thread->structure.leads = leads;
	return 0;
}

/* ---- the loops of a thread ---- */

static uint8_t bit_of(const struct leads *leads, const struct leads_loop *loop)
{
	return (uint8_t)(1u << (loop - leads->loop));
}

/* Sets or clears the bit of a loop for each site that it has. */
static void mark_sites(struct leads *leads, const struct leads_loop *loop, bool has)
{
	uint8_t bit = bit_of(leads, loop);

	for (unsigned i = 0; i < loop->follow.calls; i++) {
		uint8_t *loops = &leads->loops_of[loop->follow.call[i].symbol % SITES_MAX];

		*loops = (uint8_t)(has ? *loops | bit : *loops & ~bit);
	}
}

static void learn(struct leads_loop *loop, const struct thread *thread, unsigned cell)
{
	struct leads *leads = thread->structure.leads;
	const struct follow *follow = &loop->follow;
	bool is_there = follow->calls && follow->at != FOLLOW_LOST;
	uint32_t last = is_there ? follow->call[follow->at].symbol : 0;

	mark_sites(leads, loop, false);
	loop->left = false;
	/* a loop that cannot be followed has no calls */
	if (!follow_make(&loop->follow, thread->structure.loops, cell))
		loop->follow.calls = 0;
	if (thread->structure.region)
		loop->anchor = kinds_anchor(thread, cell, &loop->follow);
	/* the thread may have come to the loop already */
	if (is_there)
		follow_start(&loop->follow, last);
	mark_sites(leads, loop, true);
}

/* Returns a place for a new loop: a free one, or that of the loop to which the thread has not come for longest. */
static struct leads_loop *take_place(struct leads *leads)
{
	struct leads_loop *oldest = leads->loop;

	/* the loop of the thread, and the one that it may be in, keep their places */
	_Static_assert(LEADS_LOOPS_MAX > 2, "there is a place for a new loop");
	while (oldest == leads->now.loop || oldest == leads->candidate.loop)
		oldest++;
	for (struct leads_loop *loop = oldest; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (loop != leads->now.loop && loop != leads->candidate.loop &&
				loop->entered < oldest->entered)
			oldest = loop;
	mark_sites(leads, oldest, false);
	for (unsigned site = 0; site < SITES_MAX; site++)
		leads->reads_in[site] &= (uint8_t)~bit_of(leads, oldest);
	*oldest = (struct leads_loop){ 0 };
	return oldest;
}

/* Returns the loop with the text of a token, or with the same text from another call on; NULL: it is not known. */
static struct leads_loop *find_known(struct leads *leads, const struct loops_token *token,
		uint64_t shape)
{
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (shape ? loop->kind.shape == shape :
			    loop->own_shape == token->shape && loop->own_calls == token->symbol)
			return loop;
	return NULL;
}

/* Returns the loop of a token, which is added if it is not known. */
static struct leads_loop *leads_loop_find(struct thread *thread, unsigned cell)
{
	struct leads *leads = thread->structure.leads;
	const struct loops_token *token = arena_look(thread->structure.loops, cell);
	struct leads_loop *loop = find_known(leads, token, 0);

	if (!loop) {
		uint64_t shape = kinds_shape(thread, cell);

		loop = find_known(leads, token, shape);
		if (!loop) {
			loop = take_place(leads);
			loop->kind.shape = shape;
			loop->entered = ++leads->entered;
			learn(loop, thread, cell);
		}
		loop->own_shape = token->shape;
		loop->own_calls = token->symbol;
	}
	if (loop->left)
		learn(loop, thread, cell);
	return loop;
}

/*
 * Returns a loop near the end of the text in which the call fits, or NULL. The text ends with the loop, with a round of it
 * that is not complete, or with inner loops of such a round. known: also one whose leads are known.
 */
static struct leads_loop *search(struct thread *thread, uint32_t call, bool known)
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
		loop = leads_loop_find(thread, cell);
		if ((known || loop->role == ROLE_NONE) && follow_start(&loop->follow, call))
			return loop;
	}
	return NULL;
}

/* ---- states ---- */

static void come_to(struct leads *leads, struct leads_place *place, struct leads_loop *loop,
		uint32_t fits)
{
	*place = (struct leads_place){ loop, fits };
	loop->followed = true;
	loop->entered = ++leads->entered;
}

/* Returns whether the call fits in the loop of the place, which is left if not. */
static bool goes_on(struct leads_place *place, uint32_t call)
{
	if (!place->loop)
		return false;
	if (follow_step(&place->loop->follow, call)) {
		place->fits += place->fits < UINT32_MAX;
		return true;
	}
	place->loop->left = true;
	*place = (struct leads_place){ 0 };
	return false;
}

/*
 * Comes to a loop that has the call, and whose leads are known, if there is one: preferably one that has it after the last
 * call, and the longest of several.
 */
static void recall(struct leads *leads, uint32_t call)
{
	struct leads_loop *best = NULL;
	bool best_joins = false;

	for (unsigned loops = leads->loops_of[call % SITES_MAX]; loops; loops &= loops - 1) {
		struct leads_loop *loop = &leads->loop[__builtin_ctz(loops)];
		bool joins;

		if (loop->role == ROLE_NONE)
			continue;
		joins = leads->last && follow_join(&loop->follow, leads->last, call);
		if (!joins && !follow_start(&loop->follow, call))
			continue;
		if (best &&
				(joins != best_joins ? best_joins :
						       loop->follow.calls <= best->follow.calls))
			continue;
		best = loop;
		best_joins = joins;
	}
	if (best)
		come_to(leads, &leads->now, best, 1 + best_joins);
}

/* Comes to a loop that the text has shown, if there is one. */
static void discover(struct thread *thread, uint32_t call)
{
	struct leads *leads = thread->structure.leads;
	struct leads_loop *loop = search(thread, call, !leads->now.loop);

	if (loop)
		come_to(leads, loop->role == ROLE_NONE ? &leads->candidate : &leads->now, loop, 1);
}

static bool is_in_l(const struct leads *leads)
{
	/* what begins with a call of the loop may be something else */
	return leads->now.loop &&
			(leads->now.fits >= LEADS_CALLS_MIN ||
					leads->now.fits >= leads->now.loop->follow.calls);
}

static void decide(struct thread *thread)
{
	const struct leads *leads = thread->structure.leads;

	thread->structure.spared = is_in_l(leads) && leads->now.loop->role == ROLE_SPARED &&
			!(leads->reads_in[leads->last % SITES_MAX] &
					bit_of(leads, leads->now.loop));
}

/* Puts the loops that the thread is in into their places, after their leads may have changed. */
static void rearrange(struct leads *leads)
{
	struct leads_place *now = &leads->now, *candidate = &leads->candidate;

	if (now->loop && now->loop->role == ROLE_NONE) {
		if (!candidate->loop)
			*candidate = *now;
		*now = (struct leads_place){ 0 };
	}
	if (candidate->loop && candidate->loop->role != ROLE_NONE) {
		if (!now->loop || candidate->loop->follow.calls > now->loop->follow.calls)
			*now = *candidate;
		*candidate = (struct leads_place){ 0 };
	}
}

/* ---- checks of arguments ---- */

/* Notes the arguments of the calls that start from now on, or (false) does not. If they are kept anyway, they are noted. */
static void note_arguments(struct thread *thread, bool wanted)
{
	struct leads *leads = thread->structure.leads;

	if (thread->structure.arguments)
		return;
	thread->structure.noting = wanted ? &leads->given : NULL;
	leads->keep_arguments(wanted);
}

static void stop_check(struct thread *thread)
{
	struct leads *leads = thread->structure.leads;

	if (!leads->checked)
		return;
	checks_stop(&leads->checked->checks);
	leads->checked = NULL;
	note_arguments(thread, false);
}

/*
 * Leaves L for C, because the calls of a loop have other arguments than before. Loops with calls of this loop may have
 * changed with it.
 */
static void read_again(struct thread *thread, struct leads_loop *changed)
{
	struct leads *leads = thread->structure.leads;
	unsigned sharing = 0;

	for (unsigned i = 0; i < changed->follow.calls; i++)
		sharing |= leads->loops_of[changed->follow.call[i].symbol % SITES_MAX];
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++) {
		if (!(sharing & bit_of(leads, loop)) || loop->role != ROLE_SPARED)
			continue;
		loop->role = ROLE_NONE;
		loop->waits = LEADS_WAITS;
	}
	rearrange(leads);
	decide(thread);
}

/* Counts a check that says something, and acts upon it. */
static void note_check(struct thread *thread, struct leads_loop *loop)
{
	bool differs = loop->checks.differs;

	site_add(&thread->counts.checks, 1);
	site_add(&thread->counts.differing_checks, differs);
	if (!differs) {
		loop->changes = 0;
	} else if (loop->changes < LEADS_CHANGES_MAX) {
		loop->changes++;
		read_again(thread, loop);
	}
}

/* Starts a check after a call, or looks at a call of the one under way, and ends it with the last one. */
static __attribute__((noinline, cold)) void check_call(struct thread *thread, uint32_t site)
{
	struct leads *leads = thread->structure.leads;
	struct leads_loop *loop = leads->now.loop;
	struct checks *checks = &loop->checks;

	if (!leads->given.mpi)
		return;
	if (!leads->checked) {
		checks_begin(checks, loop->follow.calls);
		leads->checked = loop;
		note_arguments(thread, true);
		return;
	}
	if (checks_add(checks, site, thread->structure.noting))
		return;
	leads->checked = NULL;
	note_arguments(thread, false);
	if (checks_end(checks, loop->follow.calls))
		note_check(thread, loop);
}

/* Checks the arguments of a call, if this rank is in L, others read for it, and a check is due. */
static void check_arguments(struct thread *thread, uint32_t site)
{
	struct leads *leads = thread->structure.leads;
	struct leads_loop *loop = leads->now.loop;
	bool is_spared = is_in_l(leads) && loop->role == ROLE_SPARED;

	if (__builtin_expect(leads->checked && (!is_spared || leads->checked != loop), 0))
		stop_check(thread);
	if (!is_spared)
		return;
	if (__builtin_expect(loop->checks.till > 1, 1))
		loop->checks.till--;
	else
		check_call(thread, site);
}

/* ---- states that change ---- */

/* Adds the time since the last call to that in state L, counts this call, and notes its time. */
static void account(struct thread *thread, uint64_t now)
{
	struct leads *leads = thread->structure.leads;
	bool is_in = is_in_l(leads);

	if (leads->seen) {
		site_add(&thread->counts.repeated_ticks, now - leads->seen);
		site_add(&thread->counts.left_loops, !is_in);
	}
	site_add(&thread->counts.repeated_calls, is_in);
	leads->seen = is_in ? now : 0;
}

void leads_look_at(struct thread *thread, uint32_t site, uint64_t now)
{
	struct leads *leads = thread->structure.leads;
	bool fits;

	if (leads->ended)
		return;
	fits = goes_on(&leads->now, site);
	if (!fits)
		recall(leads, site);
	if (!goes_on(&leads->candidate, site) && !fits)
		discover(thread, site);
	leads->last = site;
	if (thread->structure.region)
		region_look(thread, site, now);
	account(thread, now);
	decide(thread);
	check_arguments(thread, site);
}

void leads_lose(struct thread *thread)
{
	struct leads *leads = thread->structure.leads;

	if (!leads)
		return;
	leads->last = 0;
	if (leads->now.loop)
		follow_lose(&leads->now.loop->follow);
	if (leads->candidate.loop)
		follow_lose(&leads->candidate.loop->follow);
}

void leads_end(struct thread *thread, uint64_t now)
{
	struct leads *leads = thread->structure.leads;

	if (!leads)
		return;
	stop_check(thread);
	leads->now = leads->candidate = (struct leads_place){ 0 };
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

/* Returns whether a loop has bursts of a span. */
static bool has_span(const struct leads *leads, const struct leads_loop *loop,
		const struct span *span)
{
	return span->used &&
			leads->loops_of[span->from] & leads->loops_of[span->to] &
			bit_of(leads, loop);
}

/* Sums the loop's ticks by phase. Caller holds the thread's drain. */
static void add_loop(const struct leads *leads, const struct leads_loop *loop,
		const struct site_table *sites, const struct prototype_table *table,
		double ticks[PROTOTYPES_MAX + 1])
{
	for (uint32_t i = 0; i <= sites->spans; i++)
		if (has_span(leads, loop, &sites->span[i]))
			add_span(sites, &sites->span[i], table, ticks);
}

/* Returns the phases that have at least this share of the ticks. */
static uint64_t phases_above(const double ticks[PROTOTYPES_MAX + 1], double share)
{
	double all = 0;
	uint64_t phases = 0;

	for (unsigned phase = 0; phase <= PROTOTYPES_MAX; phase++)
		all += ticks[phase];
	for (unsigned phase = 1; phase <= PROTOTYPES_MAX && all > 0; phase++)
		if (ticks[phase] > 0 && ticks[phase] >= share * all)
			phases |= votes_phase(phase);
	return phases;
}

/* Learns what a loop that was followed since the last vote has executed, and whether it may have a vote. */
static void prepare_vote(struct thread *thread, struct leads_loop *loop,
		const struct prototype_table *table, uint64_t unread)
{
	struct leads *leads = thread->structure.leads;
	double ticks[PROTOTYPES_MAX + 1] = { 0 };

	loop->voted = false;
	loop->recent = loop->followed;
	if (!loop->followed)
		return;
	loop->followed = loop == leads->now.loop || loop == leads->candidate.loop;
	add_loop(leads, loop, &thread->sites, table, ticks);
	loop->ticks = 0;
	for (unsigned phase = 0; phase <= PROTOTYPES_MAX; phase++)
		loop->ticks += ticks[phase];
	loop->phases = phases_above(ticks, PHASE_SHARE_MIN);
	/* other ranks read for a rank only once its own reads can stand for its bursts */
	loop->lacks = phases_above(ticks, READ_SHARE_MIN) & unread;
	loop->voted = loop->phases & ~loop->lacks;
	if (!loop->voted)
		loop->role = ROLE_NONE;
}

/* Returns the loops, as bits, that have all calls of a loop and other calls. */
static unsigned loops_around(const struct leads *leads, const struct leads_loop *loop)
{
	unsigned around = UINT8_MAX;

	for (unsigned i = 0; i < loop->follow.calls; i++)
		around &= leads->loops_of[loop->follow.call[i].symbol % SITES_MAX];
	for (const struct leads_loop *other = leads->loop; other < leads->loop + LEADS_LOOPS_MAX;
			other++)
		if (other->follow.calls <= loop->follow.calls || !other->voted)
			around &= ~(unsigned)bit_of(leads, other);
	return around;
}

void leads_vote(struct thread *thread, const struct prototype_table *table, uint64_t unread,
		struct votes *votes)
{
	struct leads *leads = thread->structure.leads;
	bool any = false;

	if (!leads || leads->ended || !table->count)
		return;
	thread_hold(thread);
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		prepare_vote(thread, loop, table, unread);
	/* an inner loop needs no leads of its own */
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++) {
		loop->voted = loop->voted && !loops_around(leads, loop);
		if (!loop->voted)
			continue;
		any = true;
		kinds_peers(thread, &loop->follow, leads->ranks, &loop->kind);
		votes_add(votes, &loop->kind, leads->rank, loop->phases);
	}
	votes->ranks += any;
	rearrange(leads);
	decide(thread);
	thread_let_go(thread);
}

void leads_vote_region(struct thread *thread, const struct prototype_table *table,
		struct region_part *part)
{
	struct leads *leads = thread->structure.leads;
	const struct leads_loop *best = NULL;
	static const struct region_anchor none;

	if (!thread->structure.region)
		return;
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (loop->recent && loop->anchor.shape &&
				(!best || loop->ticks > best->ticks ||
						(loop->ticks >= best->ticks &&
								loop->follow.calls >
										best->follow.calls)))
			best = loop;
	region_vote(thread, best ? &best->anchor : &none, table, part);
}

/* Notes after which sites a spared rank reads in a loop: those of bursts of these phases. */
static void note_reads(struct thread *thread, const struct leads_loop *loop,
		const struct prototype_table *table, uint64_t phases)
{
	struct leads *leads = thread->structure.leads;
	const struct site_table *sites = &thread->sites;
	uint8_t bit = bit_of(leads, loop);

	for (unsigned i = 0; i < loop->follow.calls; i++)
		leads->reads_in[loop->follow.call[i].symbol % SITES_MAX] &= (uint8_t)~bit;
	for (uint32_t i = 0; i <= sites->spans && phases; i++) {
		const struct span *span = &sites->span[i];
		double ticks[PROTOTYPES_MAX + 1] = { 0 };

		if (!has_span(leads, loop, span))
			continue;
		add_span(sites, span, table, ticks);
		if (phases_above(ticks, 0) & phases)
			leads->reads_in[span->from] |= bit;
	}
}

/* Learns the role of this rank in a loop. vote: NULL: it has no leads. */
static void learn_role(struct thread *thread, struct leads_loop *loop,
		const struct prototype_table *table, const struct vote *vote)
{
	bool was_spared = loop->role == ROLE_SPARED;
	uint64_t lacks;

	loop->role = ROLE_NONE;
	if (!vote)
		return;
	lacks = loop->lacks | (loop->phases & ~vote_phases(vote));
	if (vote_leads(vote, thread->structure.leads->rank))
		loop->role = ROLE_LEAD;
	else if (loop->waits)
		loop->waits--;
	else if (loop->phases & ~lacks)
		loop->role = ROLE_SPARED;
	/* leads of this loop are new to this rank */
	if (loop->role == ROLE_SPARED && !was_spared) {
		if (loop == thread->structure.leads->checked)
			stop_check(thread);
		loop->checks = (struct checks){ 0 };
	}
	note_reads(thread, loop, table, lacks);
}

void leads_answer(struct thread *thread, const struct prototype_table *table,
		const struct votes *answer)
{
	struct leads *leads = thread->structure.leads;

	if (!leads || leads->ended)
		return;
	thread_hold(thread);
	for (struct leads_loop *loop = leads->loop; loop < leads->loop + LEADS_LOOPS_MAX; loop++)
		if (loop->voted)
			learn_role(thread, loop, table, votes_find(answer, &loop->kind));
	rearrange(leads);
	decide(thread);
	thread_let_go(thread);
}
