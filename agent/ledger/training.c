/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/host/own_heap.h"
#include "agent/host/rcu.h"
#include "agent/ledger/checkpoint.h"
#include "agent/ledger/ledger_state.h"
#include "sampling/clock.h"

/* Adds a thread's bin, in ticks, to a round's bins, in nanoseconds: clocks differ between machines. */
static void add_length(double seconds_by_length[HISTOGRAM_BINS], unsigned bin,
		const _Atomic uint64_t *ticks)
{
	double length = clock_ns(histogram_floor(bin));

	seconds_by_length[histogram_bin((uint64_t)length)] +=
			clock_ns(atomic_load_explicit(ticks, memory_order_relaxed)) * 1e-9;
}

/* Sums bursts that have ended, and slices of bursts under way, because these may last as long as the run. */
static void sum_lengths(const struct ledger *ledger, const struct thread *threads,
		double seconds_by_length[HISTOGRAM_BINS])
{
	memset(seconds_by_length, 0, HISTOGRAM_BINS * sizeof(*seconds_by_length));
	for (const struct thread *thread = threads; thread; thread = thread->next) {
		for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++)
			add_length(seconds_by_length, bin, &thread->counts.histogram[bin]);
		add_length(seconds_by_length, histogram_bin(thread_cut_length(ledger->rules)),
				&thread->drain.slicer.ahead_ticks);
	}
}

void ledger_part(struct ledger *ledger, const struct thread *threads, struct ledger_part *part)
{
	sum_lengths(ledger, threads, part->seconds_by_length);
	pthread_mutex_lock(&ledger->lock);
	part->sample = ledger->sample;
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_give(struct ledger *ledger, const struct thread *threads, struct ledger_part *part)
{
	double seconds_by_length[HISTOGRAM_BINS];

	sum_lengths(ledger, threads, seconds_by_length);
	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
		part->seconds_by_length[bin] += seconds_by_length[bin] - ledger->given[bin];
		ledger->given[bin] = seconds_by_length[bin];
	}
	pthread_mutex_lock(&ledger->lock);
	reservoir_merge(&part->sample, &ledger->sample);
	ledger->sample.count = 0;
	/* bursts that the merged sample rejects need not be offered */
	atomic_store_explicit(&ledger->sample_limit,
			part->sample.count == RESERVOIR_MAX ? part->sample.burst[0].key : INFINITY,
			memory_order_relaxed);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_part_merge(const void *in, void *inout)
{
	const struct ledger_part *from = in;
	struct ledger_part *into = inout;

	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++)
		into->seconds_by_length[bin] += from->seconds_by_length[bin];
	reservoir_merge(&into->sample, &from->sample);
}

/* Returns the CPU time of the calling thread in ns. Wall time would include other threads on its processor. */
static double thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void ledger_train(struct ledger *ledger, const struct ledger_part *all,
		struct ledger_answer *answer)
{
	uint32_t count = all->sample.count, *task, *place;
	struct training_sample training = { .count = 0 };
	double *metrics, *seconds;
	float *regular;
	uint64_t *execution, kept_ns;
	double begin = thread_ns();

	own_heap_begin();
	metrics = malloc((count + 1) * ledger->metrics * sizeof(*metrics));
	seconds = malloc((count + 1) * sizeof(*seconds));
	task = malloc((count + 1) * sizeof(*task));
	execution = malloc((count + 1) * sizeof(*execution));
	place = malloc((count + 1) * sizeof(*place));
	regular = malloc((count + 1) * sizeof(*regular));
	kept_ns = ledger->burst_min_given ? ledger->burst_min_ns :
					    histogram_keep(all->seconds_by_length, 0.99);
	/* phases are found among bursts of at least kept_ns; half of it keeps them if bursts become shorter */
	answer->burst_min_ns = ledger->burst_min_given ? kept_ns : kept_ns / 2;
	answer->table = *ledger->table;
	if (!metrics || !seconds || !task || !execution || !place || !regular)
		goto out;
	for (uint32_t i = 0; i < count; i++) {
		const struct sampled_burst *burst = &all->sample.burst[i];
		size_t at = training.count;

		if (burst->seconds * 1e9 < (double)kept_ns)
			continue;
		for (unsigned d = 0; d < ledger->metrics; d++)
			metrics[at * ledger->metrics + d] = burst->metric[d];
		seconds[at] = burst->seconds;
		task[at] = burst->task;
		execution[at] = burst->execution;
		place[at] = burst->place;
		regular[at] = burst->regular;
		training.count++;
	}
	training.metrics = metrics;
	training.duration = seconds;
	training.task = task;
	training.process_tasks = LEDGER_TASK_THREADS;
	training.execution = execution;
	if (ledger->by_place) {
		training.place = place;
		training.regular = regular;
	}
	/* if training fails, the answer holds the table as it was */
	if (training.count)
		prototypes_train(&training, ledger->table, &answer->table);
out:
	free(metrics);
	free(seconds);
	free(task);
	free(execution);
	free(place);
	free(regular);
	own_heap_end();
	ledger->training_ns += thread_ns() - begin;
}

double ledger_training_ns(const struct ledger *ledger)
{
	return ledger->training_ns;
}

/* Returns which groups are worth more quanta, learnt from the sums; NULL: the scheme is not adaptive. */
static struct adaptive *learn_shares(struct ledger *ledger, const struct prototype_table *table)
{
	struct thread_rules *rules = ledger->rules;
	struct adaptive *next = &ledger->adaptive[rules->adaptive == &ledger->adaptive[0]];
	uint32_t phase[PROTOTYPES_MAX] = { 0 };

	if (rules->scheme.kind != SCHEME_ADAPTIVE)
		return NULL;
	if (rules->adaptive)
		*next = *rules->adaptive;
	else
		adaptive_init(next, rules->scheme.groups);
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
	pthread_mutex_lock(&ledger->lock);
	adaptive_learn(next, ledger->sums, phase);
	pthread_mutex_unlock(&ledger->lock);
	return next;
}

/* Returns which phases are worth more reads, learnt from the sums if the budget does not allow all reads. */
static float *learn_preference(struct ledger *ledger, const struct prototype_table *table)
{
	float *next = ledger->preferences[ledger->preference == ledger->preferences[0]];
	uint32_t phase[PROTOTYPES_MAX] = { 0 };

	if (!isfinite(ledger->budget))
		return ledger->preference;
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
	pthread_mutex_lock(&ledger->lock);
	preference_learn(ledger->sums, phase, next, &ledger->scratch);
	pthread_mutex_unlock(&ledger->lock);
	return next;
}

void ledger_publish(struct ledger *ledger, const struct ledger_answer *answer)
{
	struct prototype_table *old = ledger->table;
	float *preference;
	struct adaptive *shares;

	*ledger->spare = answer->table;
	ledger_save_table(ledger, ledger->spare);
	shares = learn_shares(ledger, ledger->spare);
	preference = learn_preference(ledger, ledger->spare);
	/* pair with rcu_dereference in ledger_drain, choose_group and group_weight_now */
	rcu_announce(ledger->rules);
	rcu_assign_pointer(ledger->table, ledger->spare);
	rcu_assign_pointer(ledger->rules->adaptive, shares);
	rcu_assign_pointer(ledger->preference, preference);
	rcu_wait(ledger->rules);
	ledger->spare = old;
	pthread_mutex_lock(&ledger->lock);
	ledger->burst_min_ns = answer->burst_min_ns;
	pthread_mutex_unlock(&ledger->lock);
	atomic_store_explicit(&ledger->rules->burst_min, clock_ticks((double)answer->burst_min_ns),
			memory_order_relaxed);
}
