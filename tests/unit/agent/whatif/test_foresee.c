/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares what is foreseen with simulated runs. A simulated run has the time of each rank in each phase. Its ranks wait for
 * the slowest one after each phase, or only at the end. The report of it has no more than a real one: sums of the ranks, and
 * means and mosts of the phases. One of both times that are foreseen must be that of the changed simulation.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/change.h"
#include "agent/whatif/communication.h"
#include "agent/whatif/foresee.h"
#include "agent/whatif/ranks.h"
#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"

#define RANKS_MAX  64
#define PHASES_MAX 8
#define MESSAGES   0.7 /* seconds in MPI besides waiting */
#define ROUNDS     100 /* simulated runs of each kind */

struct simulated {
	unsigned ranks, phases;
	bool waits;      /* after each phase, not only at the end */
	double messages; /* seconds in MPI besides waiting */
	double time[RANKS_MAX][PHASES_MAX];
};

static bool near(double one, double other)
{
	return fabs(one - other) <= 1e-6 * fmax(1, fabs(other));
}

/* The table of several ranks is fitted step by step. */
static bool fitted(double one, double other)
{
	return fabs(one - other) <= 1e-3;
}

static double draw(void)
{
	return (double)rand() / RAND_MAX;
}

static void simulate(struct simulated *run, unsigned ranks, unsigned phases, bool waits)
{
	*run = (struct simulated){ ranks, phases, waits, MESSAGES, { { 0 } } };
	for (unsigned r = 0; r < ranks; r++)
		for (unsigned p = 0; p < phases; p++)
			run->time[r][p] = 1 + draw() * (p + 1);
}

static double most_of(const struct simulated *run, unsigned phase)
{
	double most = 0;

	for (unsigned r = 0; r < run->ranks; r++)
		most = fmax(most, run->time[r][phase]);
	return most;
}

static double mean_of(const struct simulated *run, unsigned phase)
{
	double sum = 0;

	for (unsigned r = 0; r < run->ranks; r++)
		sum += run->time[r][phase];
	return sum / run->ranks;
}

static double useful_of(const struct simulated *run, unsigned rank)
{
	double sum = 0;

	for (unsigned p = 0; p < run->phases; p++)
		sum += run->time[rank][p];
	return sum;
}

static double wall_of(const struct simulated *run)
{
	double wall = 0;

	if (run->waits)
		for (unsigned p = 0; p < run->phases; p++)
			wall += most_of(run, p);
	else
		for (unsigned r = 0; r < run->ranks; r++)
			wall = fmax(wall, useful_of(run, r));
	return wall + run->messages;
}

/* Returns the standard deviation of the bursts of a phase. Each rank has one. */
static double sd_of(const struct simulated *run, unsigned phase)
{
	double mean = mean_of(run, phase), squares = 0;

	for (unsigned r = 0; r < run->ranks; r++)
		squares += (run->time[r][phase] - mean) * (run->time[r][phase] - mean);
	return sqrt(squares / run->ranks);
}

static json_t *phase_json(const struct simulated *run, unsigned phase)
{
	unsigned slowest = 0;

	for (unsigned r = 1; r < run->ranks; r++)
		if (run->time[r][phase] > run->time[slowest][phase])
			slowest = r;
	return json_pack("{s:i,s:f,s:f,s:i,s:i,s:{s:f,s:f},s:i,s:{s:f,s:f},s:{}}", "id",
			(int)phase + 1, "time_share", 1. / run->phases, "time_share_ci95",
			0.01 / run->phases, "ranks", (int)run->ranks, "slowest_rank", (int)slowest,
			"rank_seconds", "mean", mean_of(run, phase), "most", most_of(run, phase),
			"bursts", (int)run->ranks, "duration_seconds", "mean", mean_of(run, phase),
			"sd", sd_of(run, phase), "counters");
}

static json_t *report_of(const struct simulated *run)
{
	json_t *each = json_array(), *phases = json_array();

	for (unsigned r = 0; r < run->ranks; r++)
		json_array_append_new(each,
				json_pack("{s:f,s:f}", "useful_seconds", useful_of(run, r),
						"mpi_seconds", wall_of(run) - useful_of(run, r)));
	for (unsigned p = 0; p < run->phases; p++)
		json_array_append_new(phases, phase_json(run, p));
	return json_pack("{s:i,s:[s],s:s,s:i,s:f,s:f,s:{s:o},s:o}", "phasemux", 1, "command",
			"simulated", "mpi", "Open MPI", "ranks", (int)run->ranks, "threads_mean",
			(double)run->ranks, "wall_seconds", wall_of(run), "rank_times", "each",
			each, "phases", phases);
}

/* A change that a simulated run makes as well. */
enum made {
	MADE_FASTER,   /* phase 1 in 0.3 times its time */
	MADE_SLOWER,   /* phase 2 in 1.7 times its time */
	MADE_BALANCED, /* phase 2 */
	MADE_ALL_BALANCED,
	MADE_SPEED,         /* a processor twice as fast */
	MADE_TWO,           /* phase 1 in 0.3 times its time, and phase 2 balanced */
	MADE_COMMUNICATION, /* messages in 0.2 times their time */
	MADE_BOTH,          /* phase 1 in 0.3, and messages in 0.2 times their time */
	MADES,
};

static const char *const made_names[MADES] = { "a faster phase", "a slower phase",
	"a balanced phase", "all balanced", "a faster processor", "two changes",
	"faster communication", "a faster phase with faster communication" };

static bool is_of_communication(enum made made)
{
	return made == MADE_COMMUNICATION || made == MADE_BOTH;
}

static void balance(struct simulated *run, unsigned phase)
{
	double mean = mean_of(run, phase);

	for (unsigned r = 0; r < run->ranks; r++)
		run->time[r][phase] = mean;
}

static void multiply(struct simulated *run, unsigned phase, double factor)
{
	for (unsigned r = 0; r < run->ranks; r++)
		run->time[r][phase] *= factor;
}

static void make(struct simulated *run, enum made made)
{
	if (made == MADE_FASTER || made == MADE_TWO || made == MADE_BOTH)
		multiply(run, 0, 0.3);
	if (is_of_communication(made))
		run->messages *= 0.2;
	if (made == MADE_SLOWER)
		multiply(run, 1, 1.7);
	if (made == MADE_BALANCED || made == MADE_TWO)
		balance(run, 1);
	for (unsigned p = 0; p < run->phases; p++) {
		if (made == MADE_ALL_BALANCED)
			balance(run, p);
		if (made == MADE_SPEED)
			multiply(run, p, 0.5);
	}
}

static void ask(struct change *change, const struct run_times *run, enum made made)
{
	change_none(change);
	if (made == MADE_FASTER || made == MADE_TWO || made == MADE_BOTH)
		change_phase(change, 0, 0.3);
	if (is_of_communication(made))
		change->communication = 0.2;
	if (made == MADE_SLOWER)
		change_phase(change, 1, 1.7);
	if (made == MADE_BALANCED || made == MADE_TWO)
		change_balance(change, run, 1);
	change->all_balanced = made == MADE_ALL_BALANCED;
	if (made == MADE_SPEED)
		change_speed(change, run, 2);
}

/* Returns by which part the nearer one of both foreseen times differs from that of the changed run. NAN: no answer. */
static double miss(const struct simulated *before, enum made made)
{
	static struct run_times run;
	json_t *report = report_of(before);
	struct simulated after = *before;
	struct foreseen foreseen;
	struct change change;
	double wall, part = NAN;
	char why[256];

	make(&after, made);
	wall = wall_of(&after);
	if (run_times_read(&run, report, why, sizeof(why))) {
		communication_read(&run);
		ask(&change, &run, made);
		foresee(&foreseen, &run, &change);
		part = fmin(fabs(foreseen.least - wall), fabs(foreseen.most - wall)) / wall;
		/* how the bursts of more than two ranks differ has bounds alone */
		if (is_of_communication(made) && before->ranks > 2 &&
				wall > foreseen.least - 1e-9 && wall < foreseen.most + 1e-9)
			part = 0;
	}
	run_times_fini(&run);
	json_decref(report);
	return part;
}

/* Returns the largest miss in many runs. */
static double largest_miss(unsigned ranks, unsigned phases, bool waits, enum made made)
{
	double largest = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct simulated run;
		double part;

		simulate(&run, ranks, phases, waits);
		part = miss(&run, made);
		largest = part <= largest ? largest : part;
	}
	return largest;
}

static void test_simulated(void)
{
	for (enum made made = 0; made < MADES; made++) {
		double with = largest_miss(2, 5, true, made);
		double more = largest_miss(64, 8, true, made);
		double without = largest_miss(2, 5, false, made);
		double many = largest_miss(64, 8, false, made);

		ok(with < 1e-6 && more < 1e-6,
				"%s: exact for 2 and 64 ranks that wait after each phase (%g, %g)",
				made_names[made], with, more);
		ok(without < 1e-6, "%s: exact for 2 ranks that wait at the end (%g)",
				made_names[made], without);
		/* how 64 ranks divide their time between 8 phases is estimated */
		ok(many < 0.1, "%s: within 10%% for 64 ranks that wait at the end (%.1f%%)",
				made_names[made], 100 * many);
	}
}

/* ---- the table of ranks ---- */

static void test_ranks(void)
{
	const double sum[] = { 10, 14 }, weight[] = { 0.5, 0.5 };
	const struct ranks_column column[] = { { 4, 6, 0 }, { 5, 9, 1 } };
	double cell[6];

	/* with two ranks, the mean and the most say what the other one has */
	ranks_fit(cell, 2, sum, weight, 2, column);
	ok(near(cell[0], 6) && near(cell[1], 1) && near(cell[2], 3),
			"the first rank: 6, 1, and 3 outside");
	ok(near(cell[3], 2) && near(cell[4], 9) && near(cell[5], 3),
			"the second rank: 2, 9, and 3 outside");
}

static void test_sums(void)
{
	const double sum[] = { 9, 10, 12, 14 }, weight[] = { 0.25, 0.25, 0.25, 0.25 };
	const struct ranks_column column[] = { { 4.25, 7, 3 }, { 6, 6, 0 } };
	double cell[12], mean = 0;
	bool within = true, whole = true;

	ranks_fit(cell, 4, sum, weight, 2, column);
	for (size_t r = 0; r < 4; r++) {
		mean += cell[3 * r] / 4;
		within &= cell[3 * r] <= 7 + 1e-9 && fitted(cell[3 * r + 1], 6);
		whole &= near(cell[3 * r] + cell[3 * r + 1] + cell[3 * r + 2], sum[r]);
	}
	ok(fitted(mean, 4.25) && within && whole,
			"a table has the sums of its ranks and phases, and the mosts");
	ok(cell[0] < cell[3] && cell[3] < cell[6],
			"a rank with more time has more of it in the uneven phase");
}

/* ---- phases of one place ---- */

/* Two ranks with one place, in which the second one needs four times as long, so that the phases of both differ. */
static json_t *one_place(void)
{
	return json_pack("{s:i,s:s,s:i,s:f,s:f,s:{s:[{s:f},{s:f}]},s:["
			 "{s:i,s:f,s:i,s:i,s:{s:f,s:f},s:{},s:{s:[ii],s:i,s:i,s:{s:f,s:f}}},"
			 "{s:i,s:f,s:i,s:i,s:{s:f,s:f},s:{},s:{s:[ii],s:i,s:i,s:{s:f,s:f}}}]}",
			"phasemux", 1, "mpi", "Open MPI", "ranks", 2, "threads_mean", 2.,
			"wall_seconds", 9., "rank_times", "each", "useful_seconds", 2.,
			"useful_seconds", 8., "phases", "id", 1, "time_share", 0.8, "ranks", 1,
			"slowest_rank", 1, "rank_seconds", "mean", 8., "most", 8., "counters",
			"together", "phases", 1, 2, "ranks", 2, "slowest_rank", 1, "rank_seconds",
			"mean", 5., "most", 8., "id", 2, "time_share", 0.2, "ranks", 1,
			"slowest_rank", 0, "rank_seconds", "mean", 2., "most", 2., "counters",
			"together", "phases", 1, 2, "ranks", 2, "slowest_rank", 1, "rank_seconds",
			"mean", 5., "most", 8.);
}

static void test_together(void)
{
	static struct run_times run;
	json_t *report = one_place();
	char why[256] = "", words[REQUEST_WORDS_MAX];
	struct foreseen foreseen;
	struct request request;
	struct change change;

	ok(run_times_read(&run, report, why, sizeof(why)), "phases of one place: read (%s)", why);
	change_none(&change);
	ok(request_read(&request, REQUEST_BALANCE_PHASE, "2") &&
					request_apply(&request, &run, &change, why, sizeof(why)),
			"the place can be balanced, although one rank alone executes phase 2");
	foresee(&foreseen, &run, &change);
	ok(near(foreseen.least, 6) && near(foreseen.most, 6) && near(foreseen.bound, 5),
			"both ranks then need 5 s, and the run 6 s");
	request_words(&request, &run, words);
	ok(strcmp(words, "phases 1 and 2 balanced") == 0, "the words name both: %s", words);
	change_none(&change);
	change_phase(&change, 0, 0.125);
	foresee(&foreseen, &run, &change);
	ok(near(foreseen.least, 3) && near(foreseen.most, 3),
			"if the slow rank becomes the fast one, the run waits for the other one");
	run_times_fini(&run);
	json_decref(report);
}

/* ---- communication ---- */

/*
 * Two ranks that wait for each other after each burst. In half of the rounds the one needs 3 s, and the other one 1 s. In the
 * others it is the other way round. So both compute for 20 s in 10 rounds, which take 30 s, and 5 s of messages. Bursts of
 * both lengths are one phase, or two phases of the same place, or of places of their own.
 */
static json_t *in_turn(unsigned phases, const char *place, double sd)
{
	json_t *report = json_pack("{s:i,s:s,s:i,s:f,s:f,s:{s:[{s:f,s:f},{s:f,s:f}]},s:[]}",
			"phasemux", 1, "mpi", "Open MPI", "ranks", 2, "threads_mean", 2.,
			"wall_seconds", 35., "rank_times", "each", "useful_seconds", 20.,
			"mpi_seconds", 15., "useful_seconds", 20., "mpi_seconds", 15., "phases");

	for (unsigned i = 0; i < phases; i++) {
		double seconds = phases == 1 ? 20 : 5 + 10 * i;

		json_array_append_new(json_object_get(report, "phases"),
				json_pack("{s:i,s:f,s:i,s:i,s:{s:f,s:f},s:i,s:{s:f,s:f},s:{},s:[{s:s,s:s}]}",
						"id", (int)i + 1, "time_share", seconds / 20,
						"ranks", 2, "slowest_rank", 0, "rank_seconds",
						"mean", seconds, "most", seconds, "bursts",
						20 / (int)phases, "duration_seconds", "mean",
						seconds / 10 * phases, "sd", sd, "counters",
						"source", "from", "a.c:1", "to",
						i ? place : "a.c:2"));
	}
	return report;
}

/* Expects bounds of the communication of a report, which it frees. */
static void expect_communication(json_t *report, double least, double most, const char *what)
{
	static struct run_times run;
	char why[256] = "";
	bool read = run_times_read(&run, report, why, sizeof(why));

	if (read)
		communication_read(&run);
	ok(read && near(run.communication.least, least) && near(run.communication.most, most),
			"%s: %g s to %g s of communication (got %g to %g) %s", what, least, most,
			run.communication.least, run.communication.most, why);
	run_times_fini(&run);
	json_decref(report);
}

static void test_communication(void)
{
	json_t *sliced = in_turn(1, "", 1), *threads = in_turn(1, "", 1),
	       *alone = in_turn(1, "", 0);

	expect_communication(in_turn(1, "", 0), 15, 15, "bursts of one length");
	expect_communication(in_turn(1, "", 1), 5, 15, "bursts that are slow in turn");
	expect_communication(in_turn(2, "a.c:2", 0), 5, 15, "two phases of one place");
	expect_communication(in_turn(2, "a.c:3", 0), 15, 15, "two phases of two places");
	json_object_set_new(json_array_get(json_object_get(sliced, "phases"), 0), "slices",
			json_integer(1));
	expect_communication(sliced, 0, 15, "slices do not tell how bursts differ");
	json_object_set_new(threads, "threads_mean", json_real(4));
	expect_communication(threads, 0, 15, "threads");
	json_object_set_new(alone, "ranks", json_integer(1));
	expect_communication(alone, 0, 0, "one rank");
}

/* ---- what users write ---- */

static json_t *caches_of(double seconds)
{
	json_t *caches = json_pack(
			"{s:i,s:f,s:s,s:[{s:i,s:[{s:f,s:{s:f,s:f}},{s:f,s:{s:f,s:f}}]}]}",
			"phasemux_caches", 1, "recorded_seconds", seconds, "core", "out-of-order",
			"phases", "id", 1, "sizes", "times", 1., "time_factor", "mean", 1., "ci95",
			0., "times", 2., "time_factor", "mean", .25, "ci95", .01);

	if (!caches)
		abort();
	return caches;
}

/* A phase takes the time that was simulated with another cache, as if that had been asked for by its number. */
static void test_caches(void)
{
	static struct run_times run;
	static struct answers by_cache, by_phase;
	struct simulated simulated;
	struct request cache = { .kind = REQUEST_CACHE, .factor = 2 },
		       other = { .kind = REQUEST_CACHE, .factor = 3 },
		       phase = { .kind = REQUEST_PHASE, .phase = 1, .factor = .25 },
		       both[] = { cache, cache };
	json_t *report, *caches;
	char why[1024] = "";
	size_t found = 0;

	simulate(&simulated, 4, 3, true);
	report = report_of(&simulated);
	ok(run_times_read(&run, report, why, sizeof(why)), "a report is read: %s", why);
	ok(!answers_of_requests(&by_cache, &run, &cache, 1, why, sizeof(why)) &&
					strstr(why, "phasemux simulate"),
			"without simulated caches: %s", why);
	run.caches = caches = caches_of(run.wall);
	ok(answers_of_requests(&by_cache, &run, &cache, 1, why, sizeof(why)) &&
					answers_of_requests(&by_phase, &run, &phase, 1, why,
							sizeof(why)) &&
					near(by_cache.answer[0].foreseen.least,
							by_phase.answer[0].foreseen.least) &&
					by_cache.answer[0].foreseen.most < run.wall,
			"a phase takes the simulated time");
	ok(by_cache.answer[0].foreseen.error > by_phase.answer[0].foreseen.error,
			"with the interval of that time");
	ok(strcmp(by_cache.answer[0].option, "--cache 2") == 0, "its option is %s",
			by_cache.answer[0].option);
	ok(!answers_of_requests(&by_cache, &run, &other, 1, why, sizeof(why)) &&
					strstr(why, "2 times"),
			"another size: %s", why);
	ok(!answers_of_requests(&by_cache, &run, both, 2, why, sizeof(why)) &&
					strstr(why, "only one cache"),
			"two caches at once: %s", why);
	answers_of_run(&by_cache, &run);
	for (size_t i = 0; i < by_cache.count; i++)
		found += strcmp(by_cache.answer[i].option, "--cache 2") == 0 &&
				by_cache.answer[i].of_processor;
	is_int((long long)found, 1, "it is among the single changes");
	json_decref(caches);
	json_decref(report);
	run_times_fini(&run);
}

static void test_read(void)
{
	static const struct {
		enum request_kind kind;
		const char *text;
		bool valid;
	} texts[] = { { REQUEST_PHASE, "1=0.5", true }, { REQUEST_PHASE, "12=0", true },
		{ REQUEST_PHASE, "1=1e3", true }, { REQUEST_PHASE, "1=1001", false },
		{ REQUEST_PHASE, "1=-1", false }, { REQUEST_PHASE, "1=", false },
		{ REQUEST_PHASE, "=1", false }, { REQUEST_PHASE, "1", false },
		{ REQUEST_PHASE, "a=1", false }, { REQUEST_PHASE, "1=nan", false },
		{ REQUEST_PHASE, "1=0x1", false }, { REQUEST_PHASE, "1= 1", false },
		{ REQUEST_PHASE, "1.5=1", false }, { REQUEST_PHASE, "0=1", false },
		{ REQUEST_PHASE, "1=0.5x", false }, { REQUEST_BALANCE_PHASE, "3", true },
		{ REQUEST_BALANCE_PHASE, "", false }, { REQUEST_BALANCE_PHASE, "3=1", false },
		{ REQUEST_BALANCE_PHASE, "99999999999", false },
		{ REQUEST_COMPONENT, "back end/memory=0.5", true },
		{ REQUEST_COMPONENT, "a=b=2", true }, { REQUEST_COMPONENT, "memory", false },
		{ REQUEST_SPEED, "1.5", true }, { REQUEST_SPEED, "0", false },
		{ REQUEST_SPEED, "inf", false }, { REQUEST_SPEED, "", false },
		{ REQUEST_COMMUNICATION, "0", true }, { REQUEST_COMMUNICATION, "-1", false },
		{ REQUEST_COMMUNICATION, "1=0.5", false }, { REQUEST_COMMUNICATION, "", false },
		{ REQUEST_CACHE, "2", true }, { REQUEST_CACHE, "2MiB", false } };
	struct request request;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ok(request_read(&request, texts[i].kind, texts[i].text) == texts[i].valid,
				"'%s' is %s", texts[i].text, texts[i].valid ? "valid" : "invalid");
	request_read(&request, REQUEST_COMPONENT, "a=b=2");
	ok(strcmp(request.name, "a=b") == 0 && near(request.factor, 2),
			"the name of a component may have an equals sign");
}

int main(void)
{
	test_ranks();
	test_sums();
	test_simulated();
	test_together();
	test_communication();
	test_caches();
	test_read();
	return tap_done();
}
