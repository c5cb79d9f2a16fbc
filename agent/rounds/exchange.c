/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/rounds/exchange.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/memory.h"
#include "agent/leads/leads.h"
#include "agent/region/region.h"
#include "sampling/clock.h"

/* The first round is early, so that few bursts have to wait for it. Each later one is twice as late. */
#define FIRST_ROUND_NS 50e6
/*
 * If the last training found the known phases again, the next round is so late that trainings keep their share.
 * It is at most LATEST_ROUND times as late as the last one, because the program may change.
 */
#define LATEST_ROUND 16
/*
 * If leads are named, rounds of votes come before the next training, each this many times as late as the last round. They
 * are cheap, and ranks that begin a loop wait less for its leads.
 */
#define VOTES_ROUND 1.25

enum stage {
	STAGE_RESTING, /* until the next round's time */
	STAGE_REDUCING,
	STAGE_BROADCASTING,
	STAGE_BROKEN, /* MPI refused a call; no further round starts */
};

/* What a rank gives to a round; to a round of votes without the last member. Plain data. */
struct part {
	struct votes votes;
	struct region_part region;
	struct ledger_part ledger;
};

/* What rank 0 answers; in a round of votes without the last member. Plain data. */
struct answer {
	double next_ns;      /* when the next round is due, since the start */
	uint64_t votes_only; /* 1: the next round is one of votes */
	struct votes votes;
	struct region_order region;
	struct ledger_answer ledger;
};

struct exchange {
	const struct mpi_adapter *adapter;
	struct family *family; /* used instead of an adapter; NULL: none */
	struct ledger *ledger;
	bool root;
	enum stage stage;
	bool votes_only; /* in the round under way, or the next one */
	unsigned rounds; /* started */
	unsigned last;   /* largest `rounds` of all ranks when they met */
	uint64_t start, next;
	double share;          /* part of the time that trainings may take */
	bool names_leads;      /* on rank 0 */
	bool medoids;          /* as in struct votes */
	unsigned groups;       /* of events */
	struct votes leads;    /* on rank 0: the shapes that had leads; of each the last answer */
	struct votes clusters; /* on rank 0: the last answer to the votes of most ranks */
	bool has_region;
	struct region_choice region; /* on rank 0 */
	uint64_t round_start;        /* when the round under way started */
	struct part part, scratch;   /* of this rank and all below it; of one below it */
	struct answer answer;
	struct history history; /* on rank 0 */
};

struct exchange *exchange_new(const struct mpi_adapter *adapter, struct family *family,
		struct ledger *ledger, int rank, double share, uint64_t start)
{
	struct exchange *exchange = memory_map(sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->adapter = adapter;
	exchange->family = family;
	exchange->ledger = ledger;
	exchange->root = rank == 0 || !adapter;
	exchange->stage = STAGE_RESTING;
	exchange->share = share;
	exchange->start = start;
	exchange->next = start + clock_ticks(FIRST_ROUND_NS);
	return exchange;
}

void exchange_name_leads(struct exchange *exchange, uint32_t readers, unsigned groups, bool medoids)
{
	exchange->names_leads = exchange->root;
	exchange->medoids = medoids;
	exchange->leads.readers = readers;
	exchange->groups = groups;
}

void exchange_choose_region(struct exchange *exchange, const struct region_wish *wish)
{
	exchange->has_region = true;
	exchange->region.wish = *wish;
}

const struct region_choice *exchange_region(const struct exchange *exchange)
{
	return exchange->has_region ? &exchange->region : NULL;
}

const struct votes *exchange_leads(const struct exchange *exchange)
{
	return exchange->names_leads ? &exchange->leads : NULL;
}

const struct votes *exchange_clusters(const struct exchange *exchange)
{
	return exchange->names_leads ? &exchange->clusters : NULL;
}

const struct reservoir *exchange_sample(const struct exchange *exchange)
{
	/* the last round is one of training, and the part of its root is that of all ranks */
	return exchange->family ? family_sample(exchange->family) : &exchange->part.ledger.sample;
}

const struct history *exchange_history(const struct exchange *exchange)
{
	return exchange->family ? family_history(exchange->family) : &exchange->history;
}

void exchange_free(struct exchange *exchange)
{
	memory_unmap(exchange, sizeof(*exchange));
}

size_t exchange_bytes(const struct exchange *exchange)
{
	return memory_resident(exchange, sizeof(*exchange));
}

bool exchange_busy(const struct exchange *exchange)
{
	return exchange->stage == STAGE_REDUCING || exchange->stage == STAGE_BROADCASTING;
}

unsigned exchange_rounds(const struct exchange *exchange)
{
	return exchange->family ? family_rounds(exchange->family) : exchange->rounds;
}

static void enter(struct exchange *exchange, int error, enum stage stage)
{
	exchange->stage = error ? STAGE_BROKEN : stage;
}

void exchange_rehearse(struct exchange *exchange)
{
	_Static_assert(sizeof(exchange->part) >= sizeof(exchange->answer), "one buffer for both");

	if (exchange->adapter &&
			exchange->adapter->rehearse(&exchange->part, &exchange->scratch,
					sizeof(exchange->part), sizeof(exchange->answer)))
		exchange->stage = STAGE_BROKEN;
}

static void part_merge(const void *in, void *inout)
{
	const struct part *from = in;
	struct part *into = inout;

	ledger_part_merge(&from->ledger, &into->ledger);
	votes_merge(&from->votes, &into->votes);
	region_part_merge(&from->region, &into->region);
}

static void part_merge_votes(const void *in, void *inout)
{
	const struct part *from = in;
	struct part *into = inout;

	votes_merge(&from->votes, &into->votes);
	region_part_merge(&from->region, &into->region);
}

/* Returns the bits of the phases of which this rank has not read bursts in each group of events. */
static uint64_t unread_phases(struct exchange *exchange)
{
	const struct prototype_table *table = ledger_table(exchange->ledger);
	uint64_t unread = 0;

	for (uint32_t phase = 1; phase <= table->phases; phase++)
		if (!ledger_has_read(exchange->ledger, phase))
			unread |= votes_phase(phase);
	return unread;
}

/* Adds the votes of the main thread. */
static void vote(struct exchange *exchange, struct thread *threads)
{
	const struct prototype_table *table = ledger_table(exchange->ledger);

	exchange->part.votes = (struct votes){ .medoids = exchange->medoids };
	exchange->part.region = (struct region_part){ 0 };
	if (!exchange->adapter)
		return;
	for (struct thread *thread = threads; thread; thread = thread->next)
		if (thread->structure.leads) {
			leads_vote(thread, table, unread_phases(exchange), &exchange->part.votes);
			leads_vote_region(thread, table, &exchange->part.region);
		}
}

static void start_round(struct exchange *exchange, struct thread *threads)
{
	if (!exchange->votes_only)
		ledger_part(exchange->ledger, threads, &exchange->part.ledger);
	exchange->round_start = clock_now();
	vote(exchange, threads);
	ledger_keep_bytes(exchange->ledger, threads, exchange_bytes(exchange));
	exchange->rounds++;
	if (!exchange->adapter) {
		exchange->stage = STAGE_REDUCING;
		return;
	}
	enter(exchange,
			exchange->adapter->reduce_start(&exchange->part, &exchange->scratch,
					exchange->votes_only ? offsetof(struct part, ledger) :
							       sizeof(exchange->part),
					exchange->votes_only ? part_merge_votes : part_merge),
			STAGE_REDUCING);
}

/* Returns the time since the start in ns. */
static double elapsed_ns(const struct exchange *exchange)
{
	return fmax(clock_ns(clock_now() - exchange->start), FIRST_ROUND_NS);
}

/* Returns when the next training is due, in ns since the start. */
static double next_training_ns(const struct exchange *exchange)
{
	double now = elapsed_ns(exchange), next = 2 * now;

	if (exchange->answer.ledger.table.steady)
		next = fmax(next,
				fmin(ledger_training_ns(exchange->ledger) / exchange->share,
						LATEST_ROUND * now));
	return next;
}

static void train(struct exchange *exchange)
{
	ledger_train(exchange->ledger, &exchange->part.ledger, &exchange->answer.ledger);
	history_add(&exchange->history, clock_ns(clock_now() - exchange->start) * 1e-9,
			&exchange->part.ledger, &exchange->answer.ledger.table);
	exchange->answer.ledger.next_ns = next_training_ns(exchange);
}

static bool looks_for_region(const struct exchange *exchange)
{
	return exchange->has_region && !exchange->region.order.iterations;
}

/* Plans the next round. All ranks use the answer of rank 0. */
static void plan_next(struct exchange *exchange)
{
	struct answer *answer = &exchange->answer;
	double votes_ns = VOTES_ROUND * elapsed_ns(exchange);

	answer->next_ns = answer->ledger.next_ns;
	answer->votes_only = (exchange->names_leads || looks_for_region(exchange)) &&
			answer->ledger.table.count > 0 && VOTES_ROUND * votes_ns < answer->next_ns;
	if (answer->votes_only)
		answer->next_ns = votes_ns;
}

/* Keeps the last answer on each shape. The first VOTES_SHAPES_MAX shapes are kept. */
static void keep_leads(struct votes *kept, const struct votes *answer)
{
	for (unsigned i = 0; i < answer->shapes; i++) {
		unsigned at = 0;

		while (at < kept->shapes &&
				!votes_is_kind(&kept->vote[at].kind, &answer->vote[i].kind))
			at++;
		if (at == VOTES_SHAPES_MAX)
			continue;
		kept->vote[at] = answer->vote[i];
		kept->shapes += at == kept->shapes;
	}
}

/* Answers the votes. A rank that has another setting than rank 0 may have voted in vain. */
static void name_leads(struct exchange *exchange)
{
	struct votes *votes = &exchange->answer.votes;

	memset(votes, 0, sizeof(*votes));
	if (!exchange->names_leads)
		return;
	*votes = exchange->part.votes;
	votes_answer(votes, exchange->leads.readers, exchange->groups);
	keep_leads(&exchange->leads, votes);
	if (votes->ranks && votes->ranks >= exchange->clusters.ranks)
		exchange->clusters = *votes;
}

/* Looks if the program is steady, and answers with the region that was ordered. Without phases, nothing is compared. */
static void choose_region(struct exchange *exchange)
{
	uint64_t now = clock_now();

	if (looks_for_region(exchange) && exchange->answer.ledger.table.count)
		region_choice_look(&exchange->region, &exchange->part.region,
				clock_ns(now - exchange->start) * 1e-9,
				clock_ns(now - exchange->round_start) * 1e-9);
	exchange->answer.region = exchange->region.order;
}

static void reduced(struct exchange *exchange)
{
	if (exchange->root) {
		if (!exchange->votes_only)
			train(exchange);
		name_leads(exchange);
		choose_region(exchange);
		plan_next(exchange);
	}
	if (!exchange->adapter) {
		exchange->stage = STAGE_BROADCASTING;
		return;
	}
	enter(exchange,
			exchange->adapter->broadcast_start(&exchange->answer,
					exchange->votes_only ? offsetof(struct answer, ledger) :
							       sizeof(exchange->answer)),
			STAGE_BROADCASTING);
}

static void broadcast(struct exchange *exchange, struct thread *threads)
{
	/* the table before the new one is that of the votes */
	for (struct thread *thread = threads; thread && exchange->adapter; thread = thread->next) {
		leads_answer(thread, ledger_table(exchange->ledger), &exchange->answer.votes);
		if (thread->structure.region)
			region_take_order(thread, &exchange->answer.region);
	}
	if (!exchange->votes_only)
		ledger_publish(exchange->ledger, &exchange->answer.ledger);
	exchange->votes_only = exchange->answer.votes_only;
	exchange->next = exchange->start + clock_ticks(exchange->answer.next_ns);
	exchange->stage = STAGE_RESTING;
}

/* Goes on to the next stage, because the messages of the present one have arrived. */
static void advance(struct exchange *exchange, struct thread *threads)
{
	if (exchange->stage == STAGE_REDUCING)
		reduced(exchange);
	else if (exchange->stage == STAGE_BROADCASTING)
		broadcast(exchange, threads);
}

void exchange_step(struct exchange *exchange, struct thread *threads, uint64_t now)
{
	int done;

	if (exchange->stage == STAGE_BROKEN)
		return;
	if (exchange->family) {
		family_step(exchange->family, exchange->ledger, threads, &exchange->answer.ledger,
				false);
		return;
	}
	if (exchange->stage == STAGE_RESTING) {
		if ((int64_t)(now - exchange->next) >= 0)
			start_round(exchange, threads);
		return;
	}
	done = exchange->adapter ? exchange->adapter->test() : 1;
	if (done < 0)
		exchange->stage = STAGE_BROKEN;
	else if (done)
		advance(exchange, threads);
}

/* Waits until no round is under way. */
static void exchange_settle(struct exchange *exchange, struct thread *threads)
{
	while (exchange_busy(exchange)) {
		if (exchange->adapter && exchange->adapter->wait())
			exchange->stage = STAGE_BROKEN;
		else
			advance(exchange, threads);
	}
}

int exchange_meet(struct exchange *exchange)
{
	double rounds = exchange->rounds;

	/*
	 * another rank may be in a round that this one has not started; its messages do not meet those of `max`
	 */
	if (exchange->adapter && exchange->stage != STAGE_BROKEN &&
			exchange->adapter->max(&rounds, 1))
		exchange->stage = STAGE_BROKEN;
	exchange->last = (unsigned)rounds;
	return exchange->stage == STAGE_BROKEN ? -EIO : 0;
}

int exchange_finish(struct exchange *exchange, struct thread *threads)
{
	if (exchange->family) {
		family_step(exchange->family, exchange->ledger, threads, &exchange->answer.ledger,
				true);
		return 0;
	}
	exchange_settle(exchange, threads);
	/* the rounds that this rank has not started yet, and the last one */
	while (exchange->stage == STAGE_RESTING && exchange->rounds <= exchange->last) {
		if (exchange->rounds == exchange->last)
			exchange->votes_only = false;
		start_round(exchange, threads);
		exchange_settle(exchange, threads);
	}
	return exchange->stage == STAGE_BROKEN ? -EIO : 0;
}
