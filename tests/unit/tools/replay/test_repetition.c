/* SPDX-License-Identifier: BSD-3-Clause */
/* The check before a replay, with rounds left out that come again: its verdict is that of the check that goes through all calls. */
#include "multiplex/mix.h"
#include "tests/tap.h"
#include "tools/replay/matching.h"

#include <stdlib.h>

#define PLANS      3000
#define RANKS      2
#define PATHS      7 /* of a rank */
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

enum form {
	PLAIN,
	NESTED,
	REQUESTS,
	ROTATED,
	REPEATED,
	NAMED,
	STARTED,
	RESTARTED,
	BOUNDED_FORMS,
	LEAKING = BOUNDED_FORMS,
	HOLED,
	MAKING,
	FORMS
};
enum fault { NONE, TAG, BYTES, SIZE, ROUNDS, COUNT, CUT, FAULTS };

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

static void write_value(FILE *out, int rank, uint64_t number, const char *stream)
{
	fprintf(out, "1 1 %d 1 1 %llu ? %s ", rank, (unsigned long long)number, stream);
}

/* number: of values that the rank has; with holes, only those before and behind these belong to calls. */
static void write_values(FILE *out, int rank, uint64_t number, const struct series *series,
		uint64_t at)
{
	fprintf(out, "1 1 %d 1 1 %llu ? ", rank, (unsigned long long)number);
	write_series(out, series, at);
}

/* Waits for two requests, four back in each round, whose own are still open, and then for those of the last round. */
static void write_waits(FILE *out, const struct program *p, int rank)
{
	unsigned long long rounds = p->rounds - (p->fault == ROUNDS && rank) - 1;
	char back[64];

	snprintf(back, sizeof(back), "2 %llu 4 1 2", rounds);
	fputs("0 0 0 0 0 0 0 0 0 0 ", out);
	write_value(out, rank, 1000, "1 1000000000 2");
	write_value(out, rank, 1000, rounds ? back : "1 1 2");
	write_value(out, rank, 1000, "1 1000000000 1");
	fputs("0 ", out);
}

/* Numbers of persistent requests that are made anew in each round: every other number from the first one on. */
static void write_growing(FILE *out, const struct program *p, int rank, uint64_t first, uint64_t at)
{
	fprintf(out, "1 1 %d 1 1 %llu ? %llu ", rank, (unsigned long long)p->rounds,
			(unsigned long long)p->rounds);
	for (uint64_t i = 0; i < p->rounds; i++)
		fprintf(out, "1 %llu ", (unsigned long long)(first + 2 * i + (i == at ? 1000 : 0)));
}

/* Writes the numbers of the requests that a path makes or starts: of two in turn, or of those that each round makes. */
static void write_numbers(FILE *out, const struct program *p, int rank, uint64_t first, uint64_t at)
{
	const struct series turns = { 1, { { p->rounds, 2, { (int)first, (int)first + 2 } } } };

	if (p->form == MAKING)
		write_growing(out, p, rank, first, at);
	else
		write_values(out, rank, 1000, &turns, at);
}

/* A path that makes persistent requests. before, behind: the words around the peer. */
static void write_making(FILE *out, const struct program *p, int rank, const char *before,
		const char *behind)
{
	fputs(before, out);
	write_value(out, rank, 1000, rank ? "1 1000000000 -1" : "1 1000000000 1");
	fputs(behind, out);
	write_value(out, rank, 1000, "1 1000000000 8");
	write_value(out, rank, 1000, "1 1000000000 3");
	fputs("0 0 ", out);
	write_value(out, rank, 1000, "1 1000000000 0");
	/* those that send have odd numbers */
	write_numbers(out, p, rank, before[2] ? 2 : 1, UINT64_MAX);
	fputs("0 0 0 0 ", out);
}

/* The paths that make a persistent send, and a persistent receive, and that start both. One start may be of one that is not made. */
static void write_persistent(FILE *out, const struct program *p, int rank)
{
	write_making(out, p, rank, "0 ", "0 0 ");
	write_making(out, p, rank, "0 0 ", "0 ");
	fputs("1 0 0 0 0 0 0 0 0 ", out);
	write_numbers(out, p, rank, 1, p->fault == TAG && rank ? p->at : UINT64_MAX);
	write_value(out, rank, 1000, "1 1000000000 2");
	fputs("0 ", out);
	write_value(out, rank, 1000, "1 1000000000 1");
	fputs("0 ", out);
}

/* The paths of a rank: a send, a receive, a sum, a call that waits, and those of persistent requests. */
static void write_paths(FILE *out, const struct program *p, int rank)
{
	static const char none[] = "0 0 0 0 0 "; /* of the arguments behind the communicator */
	bool opens = p->form == REQUESTS || p->form == LEAKING || p->form == NAMED;
	uint64_t tag = p->fault == TAG && rank ? p->at : UINT64_MAX;
	uint64_t size = p->fault == SIZE && rank ? p->at : UINT64_MAX;
	uint64_t bytes = p->fault == BYTES && rank ? p->at : UINT64_MAX;
	static const struct series eight = { 1, { { 1000000000, 1, { 8 } } } };

	fprintf(out, "%d ", opens);
	write_value(out, rank, 1000, rank ? "1 1000000000 -1" : "1 1000000000 1");
	fputs("0 0 ", out);
	write_values(out, rank, 1000, &eight, size);
	write_values(out, rank, 1000, &p->tags, UINT64_MAX);
	fputs("0 0 ", out);
	write_value(out, rank, 1000, "1 1000000000 0");
	fputs(none, out);

	fprintf(out, "%d 0 ", opens);
	write_value(out, rank, 1000, rank ? "1 1000000000 -1" : "1 1000000000 1");
	fputs("0 ", out);
	write_values(out, rank, 1000, &eight, UINT64_MAX);
	write_values(out, rank, 1000, &p->tags, tag);
	fputs("0 0 ", out);
	write_value(out, rank, 1000, "1 1000000000 0");
	fputs(none, out);

	fputs("0 0 0 0 ", out);
	write_values(out, rank, p->rounds + 1, &p->bytes, bytes);
	fputs("0 0 0 ", out);
	write_value(out, rank, p->rounds + 1, "1 1000000000 0");
	fputs(none, out);
	write_waits(out, p, rank);
	write_persistent(out, p, rank);
}

/* What the ranks of each form do. *: as often as there are rounds; +: as inner rounds; -: one time less; 2: twice as often. */
static const char *const patterns[FORMS][RANKS] = {
	[PLAIN] = { "*(SRA)", "*(SRA)" },
	[NESTED] = { "*(+(SR)A)", "*(+(SR)A)" },
	[REQUESTS] = { "*(IJWA)", "*(IJWA)" },
	[ROTATED] = { "*(SRB)", "S-(RBS)RB" },
	[REPEATED] = { "N*A", "N*A" },
	[NAMED] = { "IJ-(IJVA)V", "IJ-(IJVA)V" },
	[STARTED] = { "PQPQ*(GWA)", "PQPQ*(GWA)" },
	[RESTARTED] = { "PQPQ*(GA)W", "PQPQ*(GA)W" },
	[MAKING] = { "*(PQGWA)", "*(PQGWA)" },
	[LEAKING] = { "*(IJ)2w", "*(IJ)2w" },
	[HOLED] = { "*(SRHA)", "*(SRHA)" },
};

/* The calls of the patterns, with their paths; -1: they have no arguments. */
static const struct {
	char letter;
	const char *name;
	int path;
} calls[] = {
	{ 'S', "MPI_Send", 0 },
	{ 'J', "MPI_Isend", 0 },
	{ 'R', "MPI_Recv", 1 },
	{ 'I', "MPI_Irecv", 1 },
	{ 'A', "MPI_Allreduce", 2 },
	{ 'W', "MPI_Waitall", -1 },
	{ 'P', "MPI_Send_init", 4 },
	{ 'Q', "MPI_Recv_init", 5 },
	{ 'G', "MPI_Startall", 6 },
	{ 'V', "MPI_Waitall", 3 },
	{ 'w', "MPI_Wait", -1 },
	{ 'B', "MPI_Bcast", -1 },
	{ 'N', "MPI_Sendrecv_replace", -1 },
};

/* Returns the number of tokens of a body, which a bracket or the text ends. */
static unsigned length_of(const char *pattern)
{
	unsigned length = 0, depth = 0;

	for (; *pattern && (depth || *pattern != ')'); pattern++) {
		length += !depth && !strchr("*+-2)", *pattern);
		depth += (*pattern == '(') - (*pattern == ')');
	}
	return length;
}

static void write_count(FILE *out, const struct program *p, int rank, char sign)
{
	unsigned long long rounds = p->rounds - (p->fault == ROUNDS && rank), at = p->at;
	unsigned long long inner = p->inner;

	if (sign == '+' && p->fault == COUNT)
		/* another number once */
		fprintf(out, "3 %llu %llu %llu 1 %llu %llu ", inner, at,
				inner + 1 + (rank && at % 2), inner, rounds - at);
	else
		fprintf(out, "1 %llu 1 ",
				sign == '*'                 ? rounds :
						sign == '-' ? rounds - 1 :
						sign == '2' ? 2 * rounds :
						sign == '+' ? inner :
							      1);
}

/* Writes a body and the counts of its tokens. Returns what is behind it. */
static const char *write_body(FILE *out, FILE *counts, const struct program *p, int rank,
		const char *pattern)
{
	char sign = 0;

	fprintf(out, "%u ", length_of(pattern));
	for (; *pattern && *pattern != ')'; pattern++) {
		if (strchr("*+-2", *pattern)) {
			sign = *pattern;
			continue;
		}
		write_count(counts, p, rank, sign);
		sign = 0;
		if (*pattern == '(') {
			fputs("loop ", out);
			pattern = write_body(out, counts, p, rank, pattern + 1);
		} else if (*pattern == 'H') {
			fputs("hole 0 0 ", out);
		}
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (*pattern == calls[i].letter)
				fprintf(out, "call %s %d -1 0 0 0 0 ", calls[i].name,
						calls[i].path < 0 ? -1 :
								    PATHS * rank + calls[i].path);
	}
	return pattern;
}

/* Writes the text of a rank, and the counts of its tokens. */
static void write_rank(FILE *out, const struct program *p, int rank)
{
	char *text;
	size_t size;
	FILE *counts = open_memstream(&text, &size);

	if (!counts)
		return;
	write_body(out, counts, p, rank, patterns[p->form][rank]);
	fclose(counts);
	fprintf(out, "1 1 %d 1 1 %lld %s", rank, p->fault == CUT && rank ? (long long)p->at : -1,
			text);
	free(text);
}

static struct plan *plan_of(const struct program *program)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct plan *plan = NULL;

	if (!out)
		return NULL;
	fprintf(out, "phasemux_replay_plan 2 ranks %d seconds 1 call_most 1 bytes_most 0 phases 0 paths %d ",
			RANKS, PATHS * RANKS);
	for (int rank = 0; rank < RANKS; rank++)
		write_paths(out, program, rank);
	fprintf(out, "structures %d ", RANKS);
	for (int rank = 0; rank < RANKS; rank++)
		write_rank(out, program, rank);
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
	p.bytes = random_series(random, p.rounds + 1);
	/* also in the first and the last round */
	p.at = below(random, 4) ? below(random, p.rounds) : below(random, 2) * (p.rounds - 1);
	if (p.form == HOLED)
		p.at++; /* the value behind the last hole */
	if (p.fault == COUNT && !p.at)
		p.at = 1;
	return p;
}

/* ---- the check ---- */

static int check(const struct plan *plan, bool all, struct matching *matching, char *why)
{
	struct sample none = { .loops = 0 };
	unsigned copies = CALLS_ALL_COPIES;

	return matching_check(matching, plan, all ? &none : NULL, &copies, why, MATCHING_WHY_MAX);
}

static bool is_same_count(const struct matching *one, const struct matching *other)
{
	return one->calls == other->calls && one->carried == other->carried &&
			one->no_request == other->no_request && one->lost == other->lost &&
			one->hidden == other->hidden && one->kinds == other->kinds &&
			(!one->kinds || one->kind[0].calls == other->kind[0].calls);
}

static void test_verdicts(void)
{
	static struct matching bounded, all;
	char why[MATCHING_WHY_MAX];
	unsigned fits = 0, refused = 0, differ = 0, shorter = 0;
	unsigned plans = tap_cases(PLANS);
	uint64_t random = 1;

	for (unsigned i = 0; i < plans; i++) {
		struct program program = random_program(&random);
		struct plan *plan = plan_of(&program);
		int code = plan ? check(plan, false, &bounded, why) : -1;
		int wanted = plan ? check(plan, true, &all, why) : 0;

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
	ok(fits > plans / 10 && refused > plans / 10 && shorter > fits / 4,
			"there are plans of each kind");
}

/* The calls that are gone through do not grow with the rounds. */
static void test_growth(void)
{
	static struct matching matching;
	char why[MATCHING_WHY_MAX];

	/* also if the values of the sums end early */
	for (unsigned i = 0; i < 2 * BOUNDED_FORMS; i++) {
		enum form form = i / 2;
		struct program p = { .form = form, .rounds = 1000000, .inner = 1000 };
		struct plan *plan;

		p.tags = (struct series){ 2, { { 5, 1, { 1 } }, { 1000000000, 2, { 1, 2 } } } };
		p.bytes = (struct series){ 2,
			{ { 600000, 1, { 8 } }, { i % 2 ? 1 : 400001, 1, { 16 } } } };
		plan = plan_of(&p);
		ok(plan && check(plan, false, &matching, why) == 0, "form %d with a million rounds",
				form);
		ok(matching.calls >= 2e6 && matching.walked < WALKED_MAX,
				"form %d: %.0f of %.0f calls are gone through", form,
				matching.walked, matching.calls);
		plan_free(plan);
	}
}

/* A difference in one round of many is found, and what is said of it is what is said when all calls are gone through. */
static void test_late(void)
{
	static const uint64_t places[] = { 0, 1, 4999, 9998, 9999 };
	static struct matching matching;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (enum fault fault = TAG; fault <= SIZE; fault++) {
			struct program p = { .fault = fault,
				.rounds = 10000,
				.inner = 1,
				.at = places[i] };
			char said[MATCHING_WHY_MAX] = "", wanted[MATCHING_WHY_MAX] = "";
			struct plan *plan;

			p.tags = p.bytes = (struct series){ 1, { { 10001, 1, { 1 } } } };
			plan = plan_of(&p);
			ok(plan && check(plan, false, &matching, said) == 2 &&
							matching.walked < WALKED_MAX,
					"another argument of kind %d in round %llu of many", fault,
					(unsigned long long)places[i]);
			if (plan)
				check(plan, true, &matching, wanted);
			is_str(said, wanted, "with the words of a check of all calls");
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
