/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned verdict_reference(const char *name)
{
	static const char *const cycles[] = { "CYC", "STALL", "SLOT", "CLK", "NO_RETIRE",
		"ACTIVITY", "PENDING", "MAB_COUNT", "QUEUE_EMPTY", "NTC" };

	for (size_t i = 0; i < sizeof(cycles) / sizeof(*cycles); i++)
		if (strcasestr(name, cycles[i]))
			return 0;
	return 1;
}

bool verdict_holds(double mean, double ci95, double truth, double noise)
{
	return fabs(mean - truth) <= ci95 + noise + 1e-9 * truth;
}

void verdict_judge(struct replay_cell *cell, double mean, double ci95, double truth,
		double reference)
{
	double whole = replay_whole(truth, reference), error = fabs(mean - truth) / whole;

	if (isnan(error))
		return;
	cell->seen++;
	cell->error += error;
	cell->error_max = fmax(cell->error_max, error);
	cell->relative += fabs(mean - truth) / truth;
	cell->plain = NAN;
	if (isnan(ci95))
		return;
	cell->stated++;
	cell->width += ci95 / whole;
	cell->covered += verdict_holds(mean, ci95, truth, 0);
}

void verdict_average(struct replay_cell *cell)
{
	cell->error /= cell->seen;
	cell->relative /= cell->seen;
	cell->width /= cell->stated;
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Returns whether there were equal runs that counted the events to judge. */
static bool noise_is_known(const struct verdict_table *table)
{
	const struct verdict *equal = &table->verdict[SCHEME_NONE];

	return equal->cells && equal->summary.observed > 0;
}

double verdict_noise(const struct verdict_table *table, unsigned cell)
{
	return noise_is_known(table) ? table->verdict[SCHEME_NONE].cells[cell].error : NAN;
}

/* Weighted errors above the differences of equal runs, by phase and counter. */
struct beyond {
	double mean, largest; /* means of a scheme's runs; NAN: noise is not known */
	unsigned cell;        /* cell of the largest, of relevance above 1% (thesis 7.3.2) */
	double coverage; /* share of the stated intervals that contain the truth within noise */
};

static struct beyond beyond_noise(const struct verdict_table *table, int kind)
{
	struct beyond beyond = { .mean = NAN, .largest = NAN };
	double sum = 0, held = 0, stated = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < table->phases * table->events; i++) {
		const struct replay_cell *cell = &table->verdict[kind].cells[i];
		double noise = verdict_noise(table, i), error = fmax(0, cell->error - noise);

		if (i % table->events < table->common || !cell->seen || isnan(noise))
			continue;
		sum += error;
		count++;
		held += table->verdict[kind].held[i];
		stated += cell->stated;
		if (cell->relevance > .01 && !(error <= beyond.largest)) {
			beyond.largest = error;
			beyond.cell = i;
		}
	}
	if (count)
		beyond.mean = sum / count;
	beyond.coverage = held / stated;
	return beyond;
}

/* Returns the number of cells of a scheme. */
static unsigned cells_of(const struct verdict_table *table, const struct verdict *verdict)
{
	return (verdict->phases ? verdict->phases : table->phases) * table->events;
}

/* What is counted. Counters of a class are estimated alike. */
enum counted { IN_CYCLES, MISSES, INSTRUCTIONS, CLASSES };

static const char *const class_name[CLASSES] = {
	[IN_CYCLES] = "cycles",
	[MISSES] = "misses",
	[INSTRUCTIONS] = "instructions",
};

static enum counted class_of(const char *name)
{
	if (verdict_reference(name) == 0)
		return IN_CYCLES;
	return strcasestr(name, "miss") || strcasestr(name, "mispred") ? MISSES : INSTRUCTIONS;
}

#define RELEVANT .001 /* relevance of the counters whose intervals are also judged apart */

/*
 * Sums up the cells of one class. Sets *relevant to the coverage of those of some relevance. Returns false if none
 * was seen.
 */
static bool summarise_class(const struct verdict_table *table, const struct verdict *verdict,
		enum counted class, struct replay_summary *out, double *relevant)
{
	struct replay_sums all = { .seen = 0 }, relevant_ones = { .seen = 0 };
	unsigned cells = 0;

	for (unsigned i = 0; i < cells_of(table, verdict); i++) {
		const struct replay_cell *cell = &verdict->cells[i];
		unsigned e = i % table->events;

		if (e < table->common || class_of(table->name[e]) != class)
			continue;
		cells++;
		replay_add_cell(&all, cell);
		if (cell->relevance > RELEVANT)
			replay_add_cell(&relevant_ones, cell);
	}
	*out = replay_summary_of(&all, cells);
	*relevant = replay_summary_of(&relevant_ones, cells).coverage;
	return all.seen > 0;
}

static json_t *json_classes(const struct verdict_table *table, const struct verdict *verdict)
{
	json_t *object = json_object();

	for (enum counted class = 0; class < CLASSES; class ++) {
		struct replay_summary s;
		double relevant;

		if (!summarise_class(table, verdict, class, &s, &relevant))
			continue;
		json_object_set_new(object, class_name[class],
				json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "mean_weighted_error",
						number_or_null(s.mean_weighted_error),
						"max_weighted_error",
						number_or_null(s.max_weighted_error),
						"mean_weighted_half_width",
						number_or_null(s.half_width), "coverage",
						number_or_null(s.coverage), "coverage_of_relevant",
						number_or_null(relevant), "stated",
						number_or_null(s.stated)));
	}
	return object;
}

static json_t *json_cells(const struct verdict_table *table, const struct verdict *verdict)
{
	const struct replay_cell *cells = verdict->cells;
	json_t *list = json_array();

	for (unsigned i = 0; i < cells_of(table, verdict); i++) {
		const struct replay_cell *cell = &cells[i];
		double noise = verdict_noise(table, i),
		       held = verdict->held ? verdict->held[i] : NAN;

		if (i % table->events < table->common || !cell->seen)
			continue;
		json_array_append_new(list,
				json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "phase",
						(int)(i / table->events + 1), "counter",
						table->name[i % table->events], "relevance",
						number_or_null(cell->relevance), "relative_error",
						number_or_null(cell->relative), "weighted_error",
						number_or_null(cell->error),
						"plain_mean_weighted_error",
						number_or_null(cell->plain), "noise",
						number_or_null(noise), "weighted_half_width",
						number_or_null(cell->width), "coverage",
						number_or_null((double)cell->covered /
								cell->stated),
						"coverage_beyond_noise",
						number_or_null(isnan(noise) ? NAN :
									      held / cell->stated),
						"stated",
						number_or_null((double)cell->stated / cell->seen)));
	}
	return list;
}

static json_t *json_verdict(const struct verdict_table *table, int kind)
{
	const struct replay_summary *s = &table->verdict[kind].summary;

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "mean_weighted_error",
			number_or_null(s->mean_weighted_error), "mean_weighted_half_width",
			number_or_null(s->half_width), "max_weighted_error",
			number_or_null(s->max_weighted_error), "coverage",
			number_or_null(s->coverage), "plain_mean_weighted_error",
			number_or_null(s->plain_mean_weighted_error), "stated",
			number_or_null(s->stated), "observed", number_or_null(s->observed),
			"runs_apart", number_or_null(table->verdict[kind].weighted_error),
			"classes", json_classes(table, &table->verdict[kind]), "counters",
			json_cells(table, &table->verdict[kind]));
}

json_t *verdict_json(const struct verdict_table *table)
{
	json_t *root = json_object(), *schemes = json_object();

	for (int kind = 0; kind < SCHEME_NONE; kind++) {
		struct beyond beyond;
		json_t *verdict;

		if (!table->verdict[kind].cells)
			continue;
		beyond = beyond_noise(table, kind);
		verdict = json_verdict(table, kind);
		json_object_set_new(verdict, "mean_beyond_noise", number_or_null(beyond.mean));
		json_object_set_new(verdict, "max_beyond_noise", number_or_null(beyond.largest));
		json_object_set_new(verdict, "coverage_beyond_noise",
				number_or_null(beyond.coverage));
		json_object_set_new(schemes, scheme_name(kind), verdict);
	}
	json_object_set_new(root, "schemes", schemes);
	json_object_set_new(root, "phases", json_integer(table->phases));
	json_object_set_new(root, "noise",
			table->verdict[SCHEME_NONE].cells ? json_verdict(table, SCHEME_NONE) :
							    json_null());
	return root;
}

void verdict_write(json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(json);
}

/* Prints a share in per cent, or a dash. */
static void print_share(double value, int width, int digits)
{
	if (isfinite(value))
		printf(" %*.*f%%", width - 1, digits, 100 * value);
	else
		printf(" %*s", width, "-");
}

static void print_summary(const char *name, const struct replay_summary *s, const char *thesis)
{
	printf("%-11s", name);
	print_share(s->mean_weighted_error, 9, 4);
	print_share(s->max_weighted_error, 9, 3);
	print_share(s->plain_mean_weighted_error, 9, 4);
	print_share(s->half_width, 9, 4);
	print_share(s->coverage, 8, 1);
	print_share(s->stated, 7, 1);
	print_share(s->observed, 9, 1);
	printf("   %s\n", thesis ? thesis : "-");
}

static void print_cells(enum scheme_kind kind, const struct verdict_table *table)
{
	bool noise = noise_is_known(table);

	printf("\n%s\n%5s %-32s %10s %9s %9s %9s %9s %8s\n", scheme_name(kind), "phase", "counter",
			"relevance", "relative", "weighted", noise ? "noise" : "plain", "+-",
			"inside");
	for (unsigned i = 0; i < cells_of(table, &table->verdict[kind]); i++) {
		const struct replay_cell *cell = &table->verdict[kind].cells[i];

		if (i % table->events < table->common)
			continue;
		printf("%5u %-32.32s", i / table->events + 1, table->name[i % table->events]);
		if (cell->seen) {
			print_share(cell->relevance, 10, 3);
			print_share(cell->relative, 9, 3);
			print_share(cell->error, 9, 4);
			print_share(noise ? verdict_noise(table, i) : cell->plain, 9, 4);
			print_share(cell->width, 9, 4);
			print_share((double)cell->covered / cell->stated, 8, 1);
			putchar('\n');
		} else {
			printf("  not observed\n");
		}
	}
}

/* Prints the part of the schemes' errors that is above the differences of equal runs. */
static void print_noise(const struct verdict_table *table)
{
	printf("\n%-11s %12s %9s %8s %11s   %s\n", "scheme", "beyond noise", "largest", "inside",
			"runs apart", "where the largest is");
	for (int kind = 0; kind < SCHEME_NONE; kind++) {
		struct beyond beyond;

		if (!table->verdict[kind].cells)
			continue;
		beyond = beyond_noise(table, kind);
		printf("%-11s", scheme_name(kind));
		print_share(beyond.mean, 12, 4);
		print_share(beyond.largest, 9, 3);
		print_share(beyond.coverage, 8, 1);
		print_share(table->verdict[kind].weighted_error, 11, 4);
		if (isfinite(beyond.largest))
			printf("   phase %u, %.42s", beyond.cell / table->events + 1,
					table->name[beyond.cell % table->events]);
		putchar('\n');
	}
	printf("%-11s", "equal runs");
	print_share(NAN, 12, 4);
	print_share(NAN, 9, 3);
	print_share(NAN, 8, 1);
	print_share(table->verdict[SCHEME_NONE].weighted_error, 11, 4);
	putchar('\n');
	puts("equal runs do not multiplex; noise is what each differs by from the others, phase by phase and\n"
	     "counter by counter (largest: of relevance above 1%, the mean of its runs; inside: intervals that\n"
	     "hold the truth or miss it by no more); runs apart: in cycles and instructions");
	if (!noise_is_known(table))
		puts("to know the noise of counters, run all twice or more: -n 2");
}

void verdict_print_classes(const struct verdict_table *table)
{
	printf("\n%-11s %-13s %9s %9s %9s %9s %8s %9s %7s\n", "scheme", "counters of", "weighted",
			"largest", "plain", "+-", "inside", "relevant", "stated");
	for (int kind = 0; kind < SCHEME_NONE; kind++)
		for (enum counted class = 0; class < CLASSES; class ++) {
			struct replay_summary s;
			double relevant;

			if (!table->verdict[kind].cells ||
					!summarise_class(table, &table->verdict[kind], class, &s,
							&relevant))
				continue;
			printf("%-11s %-13s", scheme_name(kind), class_name[class]);
			print_share(s.mean_weighted_error, 9, 4);
			print_share(s.max_weighted_error, 9, 3);
			print_share(s.plain_mean_weighted_error, 9, 4);
			print_share(s.half_width, 9, 4);
			print_share(s.coverage, 8, 1);
			print_share(relevant, 9, 1);
			print_share(s.stated, 7, 1);
			putchar('\n');
		}
	puts("relevant: inside, of the counters whose relevance is above 0.1%");
}

void verdict_print(const struct verdict_table *table)
{
	static const char *const thesis[SCHEME_KINDS] = {
		[SCHEME_SPACE] = "0.06 to 0.32%",
		[SCHEME_TIME] = "0.01 to 0.35%",
		[SCHEME_TIME_SPACE] = "0.01 to 0.19%",
	};
	const struct verdict *equal = &table->verdict[SCHEME_NONE];

	printf("\n%-11s %9s %9s %9s %9s %8s %7s %9s   %s\n", "scheme", "weighted", "largest",
			"plain", "+-", "inside", "stated", "observed", "thesis, table 7.2");
	for (int kind = 0; kind < SCHEME_NONE; kind++)
		if (table->verdict[kind].cells)
			print_summary(scheme_name(kind), &table->verdict[kind].summary,
					thesis[kind]);
	if (noise_is_known(table))
		print_summary("equal runs", &equal->summary, NULL);
	if (equal->cells)
		print_noise(table);
	for (int kind = 0; kind < SCHEME_NONE; kind++)
		if (table->verdict[kind].cells)
			print_cells(kind, table);
}

void verdict_fini(struct verdict_table *table)
{
	for (int kind = 0; kind < SCHEME_KINDS; kind++) {
		free(table->verdict[kind].cells);
		free(table->verdict[kind].held);
	}
	free(table->name);
}
