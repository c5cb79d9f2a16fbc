/* SPDX-License-Identifier: BSD-3-Clause */
/* The check before a replay, with rounds left out that come again: its verdict is that of the check that goes through all calls. */
#include "multiplex/mix.h"
#include "tests/tap.h"
#include "tools/replay/matching.h"

#include <stdlib.h>

#define PLANS      3000
#define RANKS      2
#define SEGMENTS   4
#define MOTIF      3
#define WALKED_MAX 400 /* calls of a plan with few segments, whatever the number of its rounds */

/* Values: segments, each of which is a few values that come several times. */
struct series {
	size_t segments;
	struct segment {
		uint64_t times;
		size_t count;
		int value[MOTIF];
	} segment[SEGMENTS];
};

enum form { PLAIN, NESTED, REQUESTS, ROTATED, REPEATED, FORMS };
enum fault { NONE, TAG, BYTES, SIZE, ROUNDS, COUNT, FAULTS };

/* A program of two ranks that send each other messages, and sum. */
struct program {
	enum form form;
	enum fault fault;
	uint64_t rounds, inner, at; /* at: number of the value with the fault */
	struct series tags, bytes;
};

static size_t below(uint64_t *random, size_t end)
{
	return mix_next(random) % end;
}

static struct series random_series(uint64_t *random, uint64_t values)
{
	struct series series = { .segments = 0 };

	while (values) {
		struct segment *segment = &series.segment[series.segments++];
		bool last = series.segments == SEGMENTS || below(random, 2);

		segment->count = 1 + below(random, MOTIF);
		if (segment->count > values || last)
			segment->count = values % segment->count || segment->count > values ?
					1 :
					segment->count;
		segment->times = values / segment->count;
		if (!last)
			segment->times = 1 + below(random, segment->times);
		for (size_t i = 0; i < segment->count; i++)
			segment->value[i] = 1 + (int)below(random, 3);
		values -= segment->times * segment->count;
	}
	return series;
}

/* Writes a stream, in which the value with number `at` is another one; at = UINT64_MAX: none is. */
static void write_series(FILE *out, const struct series *series, uint64_t at)
{
	size_t items = 0;
	char *text;
	size_t size;
	FILE *list = open_memstream(&text, &size);

	for (size_t i = 0; list && i < series->segments; i++) {
		const struct segment *segment = &series->segment[i];
		uint64_t length = segment->times * segment->count;
		uint64_t parts[3] = { segment->times, 0, 0 };

		if (at < length) {
			parts[0] = at / segment->count;
			parts[1] = 1;
			parts[2] = segment->times - parts[0] - 1;
		}
		for (unsigned j = 0; j < 3; j++) {
			if (!parts[j])
				continue;
			fprintf(list, " %llu ( %zu", (unsigned long long)parts[j], segment->count);
			for (size_t k = 0; k < segment->count; k++)
				fprintf(list, " 1 %d",
						segment->value[k] +
								(j == 1 && k == at % segment->count ?
												5 :
												0));
			items++;
		}
		at = at < length ? UINT64_MAX : at - (at == UINT64_MAX ? 0 : length);
	}
	if (list)
		fclose(list);
	fprintf(out, "%zu%s ", items, text);
	free(text);
}

/* ---- plans ---- */

static void write_value(FILE *out, int rank, const char *stream)
{
	fprintf(out, "1 1 %d 1 1 1000 ? %s ", rank, stream);
}

static void write_values(FILE *out, int rank, const struct series *series, uint64_t at)
{
	fprintf(out, "1 1 %d 1 1 1000 ? ", rank);
	write_series(out, series, at);
}

/* The paths of a rank: a send, a receive, and a sum. */
static void write_paths(FILE *out, const struct program *p, int rank)
{
	uint64_t tag = p->fault == TAG && rank ? p->at : UINT64_MAX;
	uint64_t size = p->fault == SIZE && rank ? p->at : UINT64_MAX;
	uint64_t bytes = p->fault == BYTES && rank ? p->at : UINT64_MAX;
	static const struct series eight = { 1, { { 1000000000, 1, { 8 } } } };

	write_value(out, rank, rank ? "1 1000000000 -1" : "1 1000000000 1");
	fputs("0 0 ", out);
	write_values(out, rank, &eight, size);
	write_values(out, rank, &p->tags, UINT64_MAX);
	fputs("0 0 ", out);
	write_value(out, rank, "1 1000000000 0");

	fputs("0 ", out);
	write_value(out, rank, rank ? "1 1000000000 -1" : "1 1000000000 1");
	fputs("0 ", out);
	write_values(out, rank, &eight, UINT64_MAX);
	write_values(out, rank, &p->tags, tag);
	fputs("0 0 ", out);
	write_value(out, rank, "1 1000000000 0");

	fputs("0 0 0 ", out);
	write_values(out, rank, &p->bytes, bytes);
	fputs("0 0 0 ", out);
	write_value(out, rank, "1 1000000000 0");
}

#define CALL(name) "call " name " %d -1 0 0 0 0 "

/* The text of a rank, and the counts of its tokens. */
static void write_text(FILE *out, const struct program *p, int rank)
{
	unsigned long long rounds = p->rounds - (p->fault == ROUNDS && rank), inner = p->inner;
	int send = 3 * rank, receive = send + 1, sum = send + 2;

	if (p->form == PLAIN)
		fprintf(out, "1 loop 3 " CALL("MPI_Send") CALL("MPI_Recv") CALL("MPI_Allreduce"),
				send, receive, sum);
	else if (p->form == NESTED)
		fprintf(out, "1 loop 2 loop 2 " CALL("MPI_Send") CALL("MPI_Recv") CALL("MPI_Scan"),
				send, receive, sum);
	else if (p->form == REQUESTS)
		fprintf(out,
				"1 loop 4 " CALL("MPI_Irecv") CALL("MPI_Isend") CALL("MPI_Waitall")
						CALL("MPI_Allreduce"),
				receive, send, -1, sum);
	else if (p->form == ROTATED && rank)
		fprintf(out,
				"4 " CALL("MPI_Send") "loop 3 " CALL("MPI_Recv") CALL("MPI_Bcast")
						CALL("MPI_Send") CALL("MPI_Recv") CALL("MPI_Bcast"),
				send, receive, -1, send, receive, -1);
	else if (p->form == ROTATED)
		fprintf(out, "1 loop 3 " CALL("MPI_Send") CALL("MPI_Recv") CALL("MPI_Bcast"), send,
				receive, -1);
	else
		fprintf(out, "2 " CALL("MPI_Sendrecv_replace") CALL("MPI_Allreduce"), -1, sum);
	fprintf(out, "1 1 %d 1 1 -1 ", rank);
	if (p->form == NESTED && p->fault == COUNT)
		/* another number of inner rounds once */
		fprintf(out, "1 %llu 1 3 %llu %llu %llu 1 %llu %llu 1 1 1 1 1 1 1 1 1", rounds,
				inner, (unsigned long long)p->at, inner + 1 + (rank && p->at % 2),
				inner, rounds - (unsigned long long)p->at);
	else if (p->form == NESTED)
		fprintf(out, "1 %llu 1 1 %llu 1 1 1 1 1 1 1 1 1 1", rounds, inner);
	else if (p->form == ROTATED && rank)
		fprintf(out, "1 1 1 1 %llu 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", rounds - 1);
	else if (p->form == REPEATED)
		fprintf(out, "1 1 1 1 %llu 1", rounds);
	else
		fprintf(out, "1 %llu 1 1 1 1 1 1 1 1 1 1%s", rounds,
				p->form == REQUESTS ? " 1 1 1" : "");
	fputc(' ', out);
}

static struct plan *plan_of(const struct program *program)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct plan *plan = NULL;

	if (!out)
		return NULL;
	fprintf(out, "phasemux_replay_plan 1 ranks %d seconds 1 call_most 1 bytes_most 0 phases 0 paths %d ",
			RANKS, 3 * RANKS);
	for (int rank = 0; rank < RANKS; rank++)
		write_paths(out, program, rank);
	fprintf(out, "structures %d ", RANKS);
	for (int rank = 0; rank < RANKS; rank++)
		write_text(out, program, rank);
	fputs("end", out);
	if (!fclose(out))
		plan = plan_parse(text, size);
	free(text);
	return plan;
}

static struct program random_program(uint64_t *random)
{
	struct program p = {
		.form = below(random, FORMS),
		.fault = below(random, FAULTS),
		.rounds = 2 + below(random, 120),
		.inner = 1 + below(random, 40),
	};
	uint64_t messages = p.form == NESTED ? p.rounds * p.inner : p.rounds;

	p.tags = random_series(random, messages);
	p.bytes = random_series(random, p.rounds);
	/* also in the first and the last round */
	p.at = below(random, 4) ? below(random, p.rounds) : below(random, 2) * (p.rounds - 1);
	if (p.fault == COUNT && !p.at)
		p.at = 1;
	return p;
}

/* ---- the check ---- */

static int check(const struct plan *plan, bool all, struct matching *matching)
{
	struct sample none = { .loops = 0 };
	unsigned copies = CALLS_ALL_COPIES;
	char why[MATCHING_WHY_MAX];

	return matching_check(matching, plan, all ? &none : NULL, &copies, why, sizeof(why));
}

static bool is_same_count(const struct matching *one, const struct matching *other)
{
	return one->calls == other->calls && one->carried == other->carried &&
			one->no_request == other->no_request && one->kinds == other->kinds &&
			(!one->kinds || one->kind[0].calls == other->kind[0].calls);
}

static void test_verdicts(void)
{
	static struct matching bounded, all;
	unsigned fits = 0, refused = 0, differ = 0, shorter = 0;
	uint64_t random = 1;

	for (unsigned i = 0; i < PLANS; i++) {
		struct program program = random_program(&random);
		struct plan *plan = plan_of(&program);
		int code = plan ? check(plan, false, &bounded) : -1;
		int wanted = plan ? check(plan, true, &all) : 0;

		fits += wanted == 0;
		refused += wanted == 2;
		shorter += wanted == 0 && bounded.walked < all.walked;
		if (code != wanted || (!code && !is_same_count(&bounded, &all))) {
			if (!differ++)
				diag("plan %u: form %d, fault %d at %llu of %llu: %d instead of %d",
						i, program.form, program.fault,
						(unsigned long long)program.at,
						(unsigned long long)program.rounds, code, wanted);
		}
		plan_free(plan);
	}
	diag("%u plans fit, %u of them with rounds left out; %u do not fit", fits, shorter,
			refused);
	is_int(differ, 0,
			"plans with and without faults: the verdict and the counts are those of all calls");
	ok(fits > PLANS / 10 && refused > PLANS / 10 && shorter > fits / 4,
			"there are plans of each kind");
}

/* The calls that are gone through do not grow with the rounds. */
static void test_growth(void)
{
	static struct matching matching;

	for (enum form form = 0; form < FORMS; form++) {
		struct program p = { .form = form, .rounds = 1000000, .inner = 1000 };
		struct plan *plan;

		p.tags = (struct series){ 2, { { 5, 1, { 1 } }, { 1000000000, 2, { 1, 2 } } } };
		p.bytes = (struct series){ 2, { { 600000, 1, { 8 } }, { 400000, 1, { 16 } } } };
		plan = plan_of(&p);
		ok(plan && check(plan, false, &matching) == 0, "form %d with a million rounds",
				form);
		ok(matching.calls >= 2e6 && matching.walked < WALKED_MAX,
				"form %d: %.0f of %.0f calls are gone through", form,
				matching.walked, matching.calls);
		plan_free(plan);
	}
}

/* A difference in one round of very many is found. */
static void test_late(void)
{
	static const uint64_t places[] = { 0, 1, 499999, 999998, 999999 };
	static struct matching matching;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (enum fault fault = TAG; fault <= SIZE; fault++) {
			struct program p = { .fault = fault,
				.rounds = 1000000,
				.inner = 1,
				.at = places[i] };
			struct plan *plan;

			p.tags = p.bytes = (struct series){ 1, { { 1000000, 1, { 1 } } } };
			plan = plan_of(&p);
			ok(plan && check(plan, false, &matching) == 2,
					"another argument of kind %d in round %llu of a million",
					fault, (unsigned long long)places[i]);
			plan_free(plan);
		}
}

int main(void)
{
	test_verdicts();
	test_growth();
	test_late();
	return tap_done();
}
