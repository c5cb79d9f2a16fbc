#include "tools/validate.h"

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

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_cells(const struct verdict_table *table, const struct replay_cell *cells)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < table->phases * table->events; i++) {
		const struct replay_cell *cell = &cells[i];

		if (i % table->events < table->common || !cell->seen)
			continue;
		json_array_append_new(list,
				json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "phase",
						(int)(i / table->events + 1), "counter",
						table->name[i % table->events], "relevance",
						number(cell->relevance), "relative_error",
						number(cell->relative), "weighted_error",
						number(cell->error), "plain_mean_weighted_error",
						number(cell->plain), "weighted_half_width",
						number(cell->width), "coverage",
						number((double)cell->covered / cell->stated),
						"stated",
						number((double)cell->stated / cell->seen)));
	}
	return list;
}

json_t *verdict_json(const struct verdict_table *table)
{
	json_t *root = json_object(), *schemes = json_object();

	for (int kind = 0; kind < SCHEME_KINDS; kind++) {
		const struct replay_summary *s = &table->verdict[kind].summary;

		if (!table->verdict[kind].tried)
			continue;
		json_object_set_new(schemes, scheme_name(kind),
				json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
						"mean_weighted_error",
						number(s->mean_weighted_error),
						"mean_weighted_half_width", number(s->half_width),
						"max_weighted_error", number(s->max_weighted_error),
						"coverage", number(s->coverage),
						"plain_mean_weighted_error",
						number(s->plain_mean_weighted_error), "stated",
						number(s->stated), "observed", number(s->observed),
						"runs_apart", number(table->verdict[kind].apart),
						"counters",
						json_cells(table, table->verdict[kind].cells)));
	}
	json_object_set_new(root, "schemes", schemes);
	json_object_set_new(root, "phases", json_integer(table->phases));
	json_object_set_new(root, "noise", number(table->noise));
	return root;
}

/* A share in per cent, or a dash. */
static void print_share(double value, int width, int digits)
{
	if (isfinite(value))
		printf(" %*.*f%%", width - 1, digits, 100 * value);
	else
		printf(" %*s", width, "-");
}

static void print_scheme(enum scheme_kind kind, const struct replay_summary *s)
{
	static const char *const thesis[SCHEME_KINDS] = {
		[SCHEME_SPACE] = "0.06 to 0.32%",
		[SCHEME_TIME] = "0.01 to 0.35%",
		[SCHEME_TIME_SPACE] = "0.01 to 0.19%",
	};

	printf("%-11s", scheme_name(kind));
	print_share(s->mean_weighted_error, 9, 4);
	print_share(s->max_weighted_error, 9, 3);
	print_share(s->plain_mean_weighted_error, 9, 4);
	print_share(s->half_width, 9, 4);
	print_share(s->coverage, 8, 1);
	print_share(s->stated, 7, 1);
	print_share(s->observed, 9, 1);
	printf("   %s\n", thesis[kind] ? thesis[kind] : "-");
}

static void print_cells(enum scheme_kind kind, const struct verdict_table *table)
{
	printf("\n%s\n%5s %-32s %10s %9s %9s %9s %9s %8s\n", scheme_name(kind), "phase", "counter",
			"relevance", "relative", "weighted", "plain", "+-", "inside");
	for (unsigned i = 0; i < table->phases * table->events; i++) {
		const struct replay_cell *cell = &table->verdict[kind].cells[i];

		if (i % table->events < table->common)
			continue;
		printf("%5u %-32.32s", i / table->events + 1, table->name[i % table->events]);
		if (cell->seen) {
			print_share(cell->relevance, 10, 3);
			print_share(cell->relative, 9, 3);
			print_share(cell->error, 9, 4);
			print_share(cell->plain, 9, 4);
			print_share(cell->width, 9, 4);
			print_share((double)cell->covered / cell->stated, 8, 1);
			putchar('\n');
		} else {
			printf("  not observed\n");
		}
	}
}

void verdict_print(const struct verdict_table *table)
{
	printf("\n%-11s %9s %9s %9s %9s %8s %7s %9s   %s\n", "scheme", "weighted", "largest",
			"plain", "+-", "inside", "stated", "observed", "thesis, table 7.2");
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		if (table->verdict[kind].tried)
			print_scheme(kind, &table->verdict[kind].summary);
	if (isfinite(table->noise))
		printf("%-11s %8.4f%%   between equal runs that do not multiplex\n", "noise",
				100 * table->noise);
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		if (table->verdict[kind].tried && isfinite(table->verdict[kind].apart))
			printf("%-11s %8.4f%%   from these to %s's own, in cycles and instructions\n",
					"apart", 100 * table->verdict[kind].apart,
					scheme_name(kind));
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		if (table->verdict[kind].tried)
			print_cells(kind, table);
}

void verdict_fini(struct verdict_table *table)
{
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		free(table->verdict[kind].cells);
	free(table->name);
}
