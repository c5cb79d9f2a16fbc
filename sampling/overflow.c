/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/overflow.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECORD_BYTES 96 /* size of a sample with five values */
#define STACK_BYTES  96 /* of its callers, if there are nine */

/* A record as the kernel writes it for SAMPLED: the callers follow after the values. */
#define SAMPLED (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ)

struct record {
	uint64_t id, address, time, events;
	uint64_t values[GROUP_EVENTS_MAX + 1];
};

#define RECORD_HEAD offsetof(struct record, values)

/* The largest list of callers: a mark of the kernel, the sampled address, and one caller more than has room. */
#define CHAIN_MAX (OVERFLOW_CALLERS_MAX + 3)

struct lost_record {
	uint64_t id, lost;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Adds the event to the group that samples it, with callers or without. Returns 0 or -errno. */
static int add_event(struct group *group, uint64_t period_ns, bool stacks)
{
	struct perf_event_attr attr = {
		.size = PMU_ATTR_BYTES,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = stacks ? SAMPLED | PERF_SAMPLE_CALLCHAIN : SAMPLED,
		.read_format = PERF_FORMAT_GROUP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = stacks,
		/* one more than has room tells that there are more */
		.sample_max_stack = stacks ? OVERFLOW_CALLERS_MAX + 2 : 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* no thread waits for the ring */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};

	return group_sample(group, &attr);
}

int overflow_open(struct overflow *overflow, struct group *group, uint64_t period_ns,
		unsigned samples)
{
	size_t pages = 1, bytes = RECORD_BYTES + STACK_BYTES;
	int error = add_event(group, period_ns, true);

	overflow->stacks = !error;
	if (error) {
		/* the kernel is set to fewer callers (perf_event_max_stack), or too old to limit their number */
		error = add_event(group, period_ns, false);
		bytes = RECORD_BYTES;
	}
	if (error)
		return error;
	while (pages * page_bytes() < (size_t)samples * bytes)
		pages *= 2;
	overflow->pmu = group->pmu;
	for (; pages && !overflow->page; pages /= 2) {
		overflow->bytes = (1 + pages) * page_bytes();
		overflow->page = group->pmu->map(group->fd[group->count], overflow->bytes, true);
	}
	overflow->fd = group->fd[group->count];
	return overflow->page ? 0 : -EPERM;
}

int overflow_add(struct overflow *overflow, struct group *group, uint64_t period_ns)
{
	int error = add_event(group, period_ns, overflow->stacks);

	/* the first group's sampling event owns the ring */
	return error ? error :
		       group->pmu->ioctl(group->fd[group->count], PERF_EVENT_IOC_SET_OUTPUT,
				       (unsigned long)overflow->fd);
}

void overflow_close(struct overflow *overflow)
{
	if (overflow->page)
		overflow->pmu->unmap(overflow->page, overflow->bytes);
	overflow_abandon(overflow);
}

void overflow_abandon(struct overflow *overflow)
{
	overflow->page = NULL;
	overflow->bytes = 0;
}

/* ---- reading ---- */

/* Copies bytes from the ring, also across its end. */
static void overflow_copy(const struct overflow *overflow, uint64_t from, void *to, size_t bytes)
{
	size_t page = page_bytes(), size = overflow->bytes - page, at = from & (size - 1);
	const unsigned char *data = (const unsigned char *)overflow->page + page;
	size_t first = bytes < size - at ? bytes : size - at;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, bytes - first);
}

/* Reads a sample at `from`, without its callers. Returns false if it is invalid. */
static bool read_sample(const struct overflow *overflow, uint64_t from,
		const struct perf_event_header *header, struct overflow_sample *sample)
{
	size_t bytes = header->size - sizeof(*header), values;
	struct record record;

	if (bytes < RECORD_HEAD)
		return false;
	overflow_copy(overflow, from + sizeof(*header), &record, RECORD_HEAD);
	/* the sampling event is the last one */
	if (record.events < 1 || record.events > GROUP_EVENTS_MAX + 1)
		return false;
	values = record.events * sizeof(record.values[0]);
	if (overflow->stacks ? bytes < RECORD_HEAD + values : bytes != RECORD_HEAD + values)
		return false;
	overflow_copy(overflow, from + sizeof(*header) + RECORD_HEAD, record.values, values);
	sample->address = record.address;
	sample->time = record.time;
	sample->id = record.id;
	sample->lost = overflow->lost;
	sample->count = (unsigned)record.events - 1;
	sample->clock = record.values[sample->count];
	memcpy(sample->values, record.values, sample->count * sizeof(record.values[0]));
	return true;
}

/* Takes the callers out of a chain of the kernel, which has marks in it, and begins with the sampled address. */
static void take_callers(const uint64_t *chain, size_t count, struct overflow_stack *stack)
{
	bool sampled = false;

	for (size_t i = 0; i < count; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		if (!sampled)
			sampled = true;
		else if (stack->callers < OVERFLOW_CALLERS_MAX)
			stack->caller[stack->callers++] = chain[i];
		else
			stack->deeper = true;
	}
}

void overflow_callers(const struct overflow *overflow, struct overflow_stack *stack)
{
	size_t at = sizeof(struct perf_event_header) + RECORD_HEAD;
	uint64_t events, count, chain[CHAIN_MAX];
	struct perf_event_header header;

	stack->callers = 0;
	stack->deeper = false;
	if (!overflow->stacks)
		return;
	overflow_copy(overflow, overflow->tail, &header, sizeof(header));
	overflow_copy(overflow, overflow->tail + at - sizeof(events), &events, sizeof(events));
	/* the program may write to the ring, so nothing is believed twice */
	if (events > GROUP_EVENTS_MAX + 1)
		return;
	at += events * sizeof(uint64_t);
	if (header.size < at + sizeof(count))
		return;
	overflow_copy(overflow, overflow->tail + at, &count, sizeof(count));
	at += sizeof(count);
	if (count > CHAIN_MAX || count * sizeof(chain[0]) > header.size - at)
		return;
	overflow_copy(overflow, overflow->tail + at, chain, count * sizeof(chain[0]));
	take_callers(chain, count, stack);
}

static void overflow_move(struct overflow *overflow, uint64_t tail)
{
	overflow->tail = tail;
	/* pairs with the kernel's read of the tail before it writes: the records are no longer needed */
	__atomic_store_n(&overflow->page->data_tail, tail, __ATOMIC_RELEASE);
}

bool overflow_peek(struct overflow *overflow, uint64_t head, struct overflow_sample *sample)
{
	while (overflow->page && (int64_t)(head - overflow->tail) > 0) {
		struct perf_event_header header;

		overflow_copy(overflow, overflow->tail, &header, sizeof(header));
		if (header.size < sizeof(header)) {
			/* invalid, because the program has written to the ring */
			overflow_move(overflow, head);
			return false;
		}
		if (header.type == PERF_RECORD_SAMPLE &&
				read_sample(overflow, overflow->tail, &header, sample))
			return true;
		if (header.type == PERF_RECORD_LOST) {
			struct lost_record record;

			overflow_copy(overflow, overflow->tail + sizeof(header), &record,
					sizeof(record));
			overflow->lost += record.lost;
		}
		overflow_move(overflow, overflow->tail + header.size);
	}
	return false;
}

unsigned overflow_count(const struct overflow *overflow, uint64_t head, uint64_t from, uint64_t to,
		unsigned most)
{
	struct perf_event_header header;
	struct overflow_sample sample;
	unsigned count = 0;

	for (uint64_t at = overflow->tail;
			overflow->page && (int64_t)(head - at) > 0 && count < most;
			at += header.size) {
		overflow_copy(overflow, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.type == PERF_RECORD_SAMPLE &&
				read_sample(overflow, at, &header, &sample))
			count += sample.time >= from && sample.time < to;
	}
	return count;
}

void overflow_take(struct overflow *overflow)
{
	struct perf_event_header header;

	overflow_copy(overflow, overflow->tail, &header, sizeof(header));
	overflow_move(overflow, overflow->tail + header.size);
}
