/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/checkpoint.h"

#include <string.h>

#include "agent/host/log.h"
#include "agent/iterations/iterations.h"
#include "agent/ledger/book.h"

static void save_length(const struct span_length *length, struct spool_length *copy)
{
	copy->unread = (float)(length->left +
			atomic_load_explicit(&length->unread, memory_order_relaxed));
	copy->unread_ticks = (float)(length->left_ticks +
			(double)atomic_load_explicit(&length->unread_ticks, memory_order_relaxed));
	copy->variance = atomic_load_explicit(&length->variance, memory_order_relaxed);
	copy->ticks_variance = atomic_load_explicit(&length->ticks_variance, memory_order_relaxed);
	copy->cut = length->cut;
	for (unsigned k = 0; k < SPAN_SHARES_MAX; k++) {
		copy->prototype[k] = (uint16_t)length->share[k].prototype;
		copy->share_read[k] = (float)length->share[k].read;
		copy->mean_ticks[k] = length->share[k].mean_ticks;
		copy->mean_unread[k] = length->share[k].mean_unread;
	}
}

/* Saves the span, and those of its lengths whose number is below `room`. */
static void save_span(const struct site_table *sites, const struct span *span, uint32_t room,
		struct spool_thread *to)
{
	struct spool_span *copy = &to->span[span - sites->span];

	copy->from = span->from;
	copy->to = span->to;
	copy->lengths = 0;
	memcpy(copy->bin, span->bin, sizeof(copy->bin));
	for (unsigned l = 0; l < span->lengths && span_length_number(span, l) < room; l++) {
		uint32_t number = span_length_number(span, l);

		copy->length[copy->lengths++] = (uint16_t)number;
		save_length(&sites->length[number], &to->length[number]);
	}
}

/* Saves the spans that have changed, as far as `room` spans and `lengths` lengths allow. */
static void save_spans(struct spool *spool, int thread, struct site_table *sites, uint32_t room,
		uint32_t lengths, struct spool_thread *to)
{
	for (uint32_t w = 0; w < SPAN_WORDS; w++) {
		uint64_t changed = atomic_exchange_explicit(&sites->unread_since[w], 0,
						   memory_order_relaxed) |
				atomic_exchange_explicit(&sites->noted_since[w], 0,
						memory_order_relaxed);

		for (; changed; changed &= changed - 1) {
			uint32_t number = w * 64 + (uint32_t)__builtin_ctzll(changed);

			if (number >= room) {
				span_mark(sites->noted_since, number);
				continue;
			}
			save_span(sites, &sites->span[number], lengths, to);
			spool_touch_span(spool, thread, number);
		}
	}
	if (lengths)
		save_length(&sites->length[0], &to->length[0]);
	to->spans = room;
	to->lengths = lengths;
}

/* Saves sites and paths, which never change once they are added, and the spans. */
static void save_sites(struct spool *spool, int thread, struct site_table *sites,
		struct spool_thread *to)
{
	/* pairs with the release in add_site: if a site is seen, its path is, too */
	uint32_t count = atomic_load_explicit(&sites->sites, memory_order_acquire) + 1;
	uint32_t paths = sites->paths.count, spans = sites->spans + 1;
	uint32_t lengths = sites->lengths + 1;

	spool_thread_room(spool, thread, &count, &spans, &lengths, &paths);
	for (; to->paths < paths; to->paths++) {
		const struct path *path = &sites->paths.path[to->paths];
		struct spool_path *copy = &to->path[to->paths];

		copy->frames = path->frames;
		for (unsigned i = 0; i < path->frames; i++)
			copy->address[i] = path->address[i];
	}
	for (; to->sites < count; to->sites++) {
		const struct site *site = &sites->site[to->sites];

		to->site[to->sites] = (struct spool_site){ site->path, site->call };
	}
	save_spans(spool, thread, sites, spans, lengths, to);
}

static void save_open(struct ledger *ledger, struct thread *thread, struct spool_thread *to)
{
	const uint16_t *prototypes;
	unsigned group, count;
	double group_weight;

	count = quantum_prototypes(thread->drain.gathered, &prototypes, &group, &group_weight);
	/* a quantum with too many prototypes is cut: no burst is lost, but it counts as two quanta */
	if (count > SPOOL_OPEN_MAX) {
		ledger_fold_quantum(ledger, thread);
		count = 0;
	}
	to->open = count;
	to->open_group = group;
	to->open_weight = group_weight;
	for (unsigned i = 0; i < count; i++) {
		to->open_prototype[i] = prototypes[i];
		quantum_save(thread->drain.gathered, prototypes[i], to->open_fields[i]);
	}
}

static void checkpoint(struct ledger *ledger, struct thread *thread, uint64_t now, bool quiet,
		bool structure)
{
	struct spool_thread *to;

	/* pairs with the release below and in ledger_drain */
	if (atomic_flag_test_and_set_explicit(&thread->drain.busy, memory_order_acquire))
		return;
	pthread_mutex_lock(&ledger->lock);
	if (ledger->kept)
		goto out;
	if (quiet)
		book_pour(ledger, &thread->timeline, now);
	book_pour(ledger, &thread->drain.timeline, now);
	if (!ledger->spool)
		goto out;
	if (thread->drain.spooled >= 0) {
		to = spool_thread(ledger->spool, thread->drain.spooled);
		thread_account(thread, &to->account);
		/* in a recovery, bursts that no prototype claims yet stay unclassified */
		for (const struct pending *place = thread->drain.pending.first; place;
				place = place->next) {
			to->account.unclassified_bursts++;
			to->account.unclassified_ticks += (double)place->burst.ticks;
		}
		if (quiet)
			save_sites(ledger->spool, thread->drain.spooled, &thread->sites, to);
		if (structure)
			spool_keep_structure(ledger->spool, thread->drain.spooled,
					&(struct spool_structure){ thread->structure.loops,
							thread->structure.arguments, &thread->sites,
							iterations_sample(thread),
							recurrence_find(thread->structure
											.recurrences,
									thread->structure.loops
											->calls) });
		save_open(ledger, thread, to);
		spool_touch_thread(ledger->spool, thread->drain.spooled);
	}
	spool_keep_timeline(ledger->spool, &ledger->timeline);
	spool_side(ledger->spool)->now = now;
	spool_side(ledger->spool)->burst_min_ns = ledger->burst_min_ns;
	spool_commit(ledger->spool);
out:
	pthread_mutex_unlock(&ledger->lock);
	atomic_flag_clear_explicit(&thread->drain.busy, memory_order_release);
}

void ledger_checkpoint(struct ledger *ledger, struct thread *thread, uint64_t now, bool quiet)
{
	checkpoint(ledger, thread, now, quiet, false);
}

void ledger_checkpoint_structure(struct ledger *ledger, struct thread *thread, uint64_t now)
{
	checkpoint(ledger, thread, now, true, true);
}

void ledger_save_table(struct ledger *ledger, const struct prototype_table *table)
{
	struct spool_side *side;
	int error;

	if (!ledger->spool)
		return;
	pthread_mutex_lock(&ledger->lock);
	error = spool_room(ledger->spool, table->count, table->phases);
	if (error && !spool_is_shut_out(error))
		log_line("no room to keep what is new: %s; should the run be killed, it is lost",
				strerror(-error));
	side = spool_side(ledger->spool);
	side->rounds++;
	side->generation = table->generation;
	side->prototypes = table->count;
	side->phases = table->phases;
	for (uint32_t p = 0; p < table->count; p++)
		side->phase[p] = table->all[p].phase;
	pthread_mutex_unlock(&ledger->lock);
}
