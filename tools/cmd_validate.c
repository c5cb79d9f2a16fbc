/*
 * phasemux validate: how far off are multiplexed counters (thesis 7.3)? Replays recorded bursts
 * whose counters are all known through every scheme, as a run would have counted them.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cluster/refine.h"
#include "multiplex/replay.h"
#include "tools/burst_table.h"
#include "tools/commands.h"
#include "tools/progress.h"
#include "tools/selection.h"

static const char usage[] =
"usage: phasemux validate --replay FILE [options]\n"
"\n"
"Takes recorded bursts in which every counter is known (a CSV table or a Paraver trace, as phasemux\n"
"cluster takes them), hides all but one group of counters at a time as a multiplexed run would, and\n"
"compares the estimates with the truth.\n"
"\n"
"  --replay FILE       the bursts; phases are the file's own clusters, else found by refinement\n"
"  --trials N          how often each scheme is tried, with other groups at other times (200)\n"
"  --read SHARE        share of the bursts that is read, 0 to 1 (1)\n"
"  --quantum TIME      how long a group stays: 10ms, 500us, ... (10ms)\n"
"  --counters N        counters that the processor has, cycles and instructions among them (3)\n"
"  --scheme LIST       schemes to try (all)\n"
"  --share SHARE       judge the phases that together hold this share of the computing time (0.9,\n"
"                      as in the thesis; 1: all phases)\n"
"  --burst-min TIME    leave shorter bursts out: 50us, ...; or 99%: keep that share of the time (99%)\n"
"  --cluster-by LIST   metrics that span the space, as in phasemux cluster\n"
"  --seed N            another seed draws other trials (1)\n"
"  --json              print JSON\n"
"  --quiet             show no progress\n";

struct options {
	const char *file, *cluster_by, *burst_min, *schemes;
	size_t trials, counters, seed;
	double read, quantum, share;
	bool json, quiet;
};

/* What is replayed, made from the table. */
struct recording {
	struct replay_bursts bursts;
	unsigned metric[PLAN_EVENTS_MAX]; /* of the table, by event */
	unsigned events;
	uint32_t *task, *phase;
	double *begin, *seconds;
	uint64_t *values;
};

static int refuse(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "phasemux: --%s %s: %s\n", option, value, allowed);
	return 2;
}

static bool whole(const char *text, size_t least, size_t most, size_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value >= least && *value <= most;
}

static bool share(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value > 0 && *value <= 1;
}

/* "10ms" in seconds. */
static bool duration(const char *text, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } };
	char *unit;

	*seconds = strtod(text, &unit);
	for (size_t i = 0; unit != text && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(unit, units[i].unit) == 0) {
			*seconds *= units[i].seconds;
			return *seconds > 0 && isfinite(*seconds);
		}
	return false;
}

enum { REPLAY = 1, TRIALS, READ, QUANTUM, COUNTERS, SCHEME, SHARE, BURST_MIN, CLUSTER_BY, SEED, JSON, QUIET,
	HELP };

static const struct option long_options[] = {
	{ "replay", required_argument, NULL, REPLAY },
	{ "trials", required_argument, NULL, TRIALS },
	{ "read", required_argument, NULL, READ },
	{ "quantum", required_argument, NULL, QUANTUM },
	{ "counters", required_argument, NULL, COUNTERS },
	{ "scheme", required_argument, NULL, SCHEME },
	{ "share", required_argument, NULL, SHARE },
	{ "burst-min", required_argument, NULL, BURST_MIN },
	{ "cluster-by", required_argument, NULL, CLUSTER_BY },
	{ "seed", required_argument, NULL, SEED },
	{ "json", no_argument, NULL, JSON },
	{ "quiet", no_argument, NULL, QUIET },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static int set_option(struct options *options, int option)
{
	switch (option) {
	case REPLAY:
		options->file = optarg;
		return 0;
	case TRIALS:
		return whole(optarg, 1, 1000000, &options->trials) ? 0 :
				refuse("trials", optarg, "a whole number from 1 to 1000000");
	case READ:
		return share(optarg, &options->read) ? 0 :
				refuse("read", optarg, "a number above 0, at most 1");
	case SHARE:
		return share(optarg, &options->share) ? 0 :
				refuse("share", optarg, "a number above 0, at most 1");
	case QUANTUM:
		return duration(optarg, &options->quantum) ? 0 :
				refuse("quantum", optarg, "a time above 0, as in 10ms or 500us");
	case COUNTERS:
		return whole(optarg, 3, PLAN_GROUP_EVENTS_MAX, &options->counters) ? 0 :
				refuse("counters", optarg, "a whole number from 3 to 8");
	case SCHEME:
		options->schemes = optarg;
		return 0;
	case BURST_MIN:
		options->burst_min = optarg;
		return 0;
	case CLUSTER_BY:
		options->cluster_by = optarg;
		return 0;
	case SEED:
		return whole(optarg, 0, SIZE_MAX, &options->seed) ? 0 :
				refuse("seed", optarg, "a whole number");
	case JSON:
		options->json = true;
		return 0;
	case QUIET:
		options->quiet = true;
		return 0;
	default:
		return 2;
	}
}

static int read_options(struct options *options, int argc, char **argv)
{
	int option, code;

	*options = (struct options){ .burst_min = "auto", .trials = 200, .counters = 3, .seed = 1,
		.read = 1, .quantum = 10e-3, .share = .9 };
	optind = 0;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return -1;
		}
		code = set_option(options, option);
		if (code)
			return code;
	}
	if (!options->file || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}

/* Reads "time,space" into wanted[]; every scheme that multiplexes when the list is NULL. */
static int read_schemes(const char *list, bool wanted[SCHEME_KINDS])
{
	const char *item = list;
	char name[32];

	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		wanted[kind] = !list && kind != SCHEME_NONE;
	while (item) {
		size_t length = strcspn(item, ",");
		int kind;

		snprintf(name, sizeof(name), "%.*s", (int)length, item);
		kind = scheme_by_name(name);
		if (kind < 0 || kind == SCHEME_NONE)
			return refuse("scheme", name, "time-space, time, space, random, adaptive");
		wanted[kind] = true;
		item = item[length] ? item + length + 1 : NULL;
	}
	return 0;
}

/*
 * Whether the metric is a counter that is known: whole and not negative in every chosen burst. Sets
 * *seen when it is known in some.
 */
static bool is_counter(const struct burst_table *table, const struct selection *selection,
		unsigned metric, bool *seen)
{
	bool known = true;

	*seen = false;
	for (size_t i = 0; i < selection->count; i++) {
		double value = table_values(table, selection->row[i])[metric];

		*seen |= !isnan(value);
		/* nor is a NAN */
		known &= value >= 0 && value == floor(value) && value < 0x1p63;
	}
	return known;
}

/* Lists the counters: cycles, instructions, then `metrics` of the file that are counters. */
static int choose_counters(struct recording *recording, struct burst_table *table,
		const struct selection *selection, unsigned metrics)
{
	struct selection common = { 0 };
	char why[512] = "no memory";
	bool seen;

	if (selection_metrics(&common, table, "cycles,instructions", why, sizeof(why))) {
		fprintf(stderr, "phasemux: cycles and instructions of every burst are needed: %s\n", why);
		return 2;
	}
	recording->metric[0] = common.metric[0];
	recording->metric[1] = common.metric[1];
	recording->events = 2;
	for (unsigned m = 0; m < metrics; m++) {
		if (m == common.metric[0] || m == common.metric[1])
			continue;
		if (is_counter(table, selection, m, &seen)) {
			if (recording->events == PLAN_EVENTS_MAX)
				break;
			recording->metric[recording->events++] = m;
		} else if (seen) {
			fprintf(stderr, "phasemux: %s is not known as a count in every burst: left "
					"out\n", table->name[m]);
		}
	}
	if (recording->events > 2)
		return 0;
	fprintf(stderr, "phasemux: there is no counter to hide beside cycles and instructions\n");
	return 2;
}

/* The file's own clusters where it has any, else those of refinement; 0: noise. */
static int find_phases(struct recording *recording, const struct burst_table *table,
		const struct selection *selection)
{
	struct refinement tree = { 0 };
	int error = 0;

	for (size_t i = 0; i < selection->count; i++) {
		uint32_t cluster = table->burst[selection->row[i]].cluster;

		recording->phase[i] = cluster;
		if (cluster > recording->bursts.phases)
			recording->bursts.phases = cluster;
	}
	if (recording->bursts.phases > selection->count)
		error = -EINVAL;
	if (!error && !recording->bursts.phases) {
		progress("clustering", 0);
		error = refine(&tree, selection->point, selection->space.dims, selection->duration,
				selection->first, selection->sequences, NULL, recording->phase);
		progress("clustering", 1);
		recording->bursts.phases = tree.clusters;
		refinement_fini(&tree);
	}
	if (error)
		fprintf(stderr, "phasemux: clustering: %s\n", strerror(-error));
	else if (!recording->bursts.phases)
		fprintf(stderr, "phasemux: there are no phases\n");
	return error || !recording->bursts.phases ? 1 : 0;
}

struct phase_time {
	uint32_t phase;
	double seconds;
};

static int by_time(const void *a, const void *b)
{
	const struct phase_time *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/*
 * Numbers the phases by the time that they hold, and keeps those that are needed for the share of
 * all time (thesis 7.3.1); bursts of the others, as noise, are of none.
 */
static int keep_largest(struct recording *recording, double share)
{
	uint32_t phases = recording->bursts.phases, kept = 0;
	struct phase_time *time = calloc(phases + 1, sizeof(*time));
	uint32_t *number = calloc(phases + 1, sizeof(*number));
	double all = 0, held = 0;

	for (uint32_t p = 0; time && p <= phases; p++)
		time[p].phase = p;
	for (size_t i = 0; time && number && i < recording->bursts.count; i++) {
		time[recording->phase[i]].seconds += recording->seconds[i];
		all += recording->seconds[i];
	}
	if (time && number) {
		qsort(time + 1, phases, sizeof(*time), by_time);
		while (kept < phases && held < share * all) {
			held += time[++kept].seconds;
			number[time[kept].phase] = kept;
		}
		for (size_t i = 0; i < recording->bursts.count; i++)
			recording->phase[i] = number[recording->phase[i]];
		recording->bursts.phases = kept;
	} else {
		fprintf(stderr, "phasemux: %s\n", strerror(ENOMEM));
	}
	free(time);
	free(number);
	return kept ? 0 : 1;
}

static int record(struct recording *recording, struct burst_table *table,
		const struct selection *selection, double share)
{
	size_t count = selection->count;
	int code;

	recording->task = calloc(count, sizeof(*recording->task));
	recording->phase = calloc(count, sizeof(*recording->phase));
	recording->begin = calloc(count, sizeof(*recording->begin));
	recording->seconds = calloc(count, sizeof(*recording->seconds));
	recording->values = calloc(count * recording->events, sizeof(*recording->values));
	if (!recording->task || !recording->phase || !recording->begin || !recording->seconds ||
			!recording->values) {
		fprintf(stderr, "phasemux: %s\n", strerror(ENOMEM));
		return 1;
	}
	/* Chosen bursts stand sequence after sequence; a sequence is a thread that counts alone. */
	for (size_t sequence = 0; sequence < selection->sequences; sequence++) {
		for (size_t i = selection->first[sequence]; i < selection->first[sequence + 1]; i++) {
			const struct burst *burst = &table->burst[selection->row[i]];
			const double *values = table_values(table, selection->row[i]);

			recording->task[i] = sequence;
			recording->begin[i] = burst->begin * 1e-9;
			recording->seconds[i] = (burst->end - burst->begin) * 1e-9;
			for (unsigned e = 0; e < recording->events; e++) {
				double value = values[recording->metric[e]];

				recording->values[i * recording->events + e] = value > 0 ? value : 0;
			}
		}
	}
	recording->bursts = (struct replay_bursts){ count, recording->task, recording->begin,
		recording->seconds, recording->phase, 0, recording->values };
	code = find_phases(recording, table, selection);
	return code ? code : keep_largest(recording, share);
}

static void recording_fini(struct recording *recording)
{
	free(recording->task);
	free(recording->phase);
	free(recording->begin);
	free(recording->seconds);
	free(recording->values);
}

static const char *counter(const struct recording *recording, const struct burst_table *table,
		unsigned event)
{
	return table->name[recording->metric[event]];
}

/* Stalls and cycles are judged by cycles, all else by instructions (thesis 7.3.2). */
static unsigned reference(const char *name)
{
	static const char *const cycles[] = { "CYC", "STALL", "SLOT", "CLK" };

	for (size_t i = 0; i < sizeof(cycles) / sizeof(*cycles); i++)
		if (strcasestr(name, cycles[i]))
			return 0;
	return 1;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_cells(const struct recording *recording, const struct burst_table *table,
		const struct replay_cell *cells)
{
	json_t *list = json_array();

	for (unsigned phase = 0; phase < recording->bursts.phases; phase++)
		for (unsigned e = 2; e < recording->events; e++) {
			const struct replay_cell *cell = &cells[phase * recording->events + e];
			json_t *row = json_object();

			if (!cell->seen) {
				json_decref(row);
				continue;
			}
			json_object_set_new(row, "phase", json_integer(phase + 1));
			json_object_set_new(row, "counter", json_string(counter(recording, table, e)));
			json_object_set_new(row, "relevance", number(cell->relevance));
			json_object_set_new(row, "relative_error", number(cell->relative));
			json_object_set_new(row, "weighted_error", number(cell->error));
			json_object_set_new(row, "plain_mean_weighted_error", number(cell->plain));
			json_object_set_new(row, "coverage",
					number((double)cell->covered / cell->stated));
			json_object_set_new(row, "stated", number((double)cell->stated / cell->seen));
			json_array_append_new(list, row);
		}
	return list;
}

static json_t *json_scheme(const struct replay_summary *summary)
{
	json_t *object = json_object();

	json_object_set_new(object, "mean_weighted_error", number(summary->mean_weighted_error));
	json_object_set_new(object, "max_weighted_error", number(summary->max_weighted_error));
	json_object_set_new(object, "coverage", number(summary->coverage));
	json_object_set_new(object, "plain_mean_weighted_error",
			number(summary->plain_mean_weighted_error));
	json_object_set_new(object, "stated", number(summary->stated));
	json_object_set_new(object, "observed", number(summary->observed));
	return object;
}

static void print_head(const struct options *options, const struct recording *recording,
		const struct replay_setup *setup)
{
	size_t bursts = 0;

	for (size_t i = 0; i < recording->bursts.count; i++)
		bursts += recording->phase[i] != 0;
	printf("%s: %zu bursts in %u phases, %u counters in %u groups, %zu trials, %g%% read\n\n",
			options->file, bursts, recording->bursts.phases, recording->events,
			setup->plan.groups, options->trials, 100 * options->read);
	printf("%-11s %9s %9s %9s %8s %7s %9s   %s\n", "scheme", "weighted", "largest", "plain",
			"inside", "stated", "observed", "thesis, table 7.2");
}

static void print_scheme(enum scheme_kind kind, const struct replay_summary *s)
{
	static const char *const thesis[SCHEME_KINDS] = {
		[SCHEME_SPACE] = "0.06 to 0.32%",
		[SCHEME_TIME] = "0.01 to 0.35%",
		[SCHEME_TIME_SPACE] = "0.01 to 0.19%",
	};

	printf("%-11s %8.4f%% %8.3f%% %8.4f%% ", scheme_name(kind), 100 * s->mean_weighted_error,
			100 * s->max_weighted_error, 100 * s->plain_mean_weighted_error);
	if (isnan(s->coverage))
		printf("%8s ", "-");
	else
		printf("%7.1f%% ", 100 * s->coverage);
	printf("%6.1f%% %8.1f%%   %s\n", 100 * s->stated, 100 * s->observed,
			thesis[kind] ? thesis[kind] : "-");
}

static void print_cells(enum scheme_kind kind, const struct recording *recording,
		const struct burst_table *table, const struct replay_cell *cells)
{
	printf("\n%s\n%5s %-36s %10s %9s %9s %9s %8s\n", scheme_name(kind), "phase", "counter",
			"relevance", "relative", "weighted", "plain", "inside");
	for (unsigned phase = 0; phase < recording->bursts.phases; phase++)
		for (unsigned e = 2; e < recording->events; e++) {
			const struct replay_cell *cell = &cells[phase * recording->events + e];

			printf("%5u %-36.36s ", phase + 1, counter(recording, table, e));
			if (!cell->seen) {
				printf("%10s\n", "not observed");
				continue;
			}
			printf("%9.3f%% %8.3f%% %8.4f%% %8.4f%% ", 100 * cell->relevance,
					100 * cell->relative, 100 * cell->error, 100 * cell->plain);
			if (cell->stated)
				printf("%7.1f%%\n", 100. * cell->covered / cell->stated);
			else
				printf("%8s\n", "-");
		}
}

/* How far all schemes together are. */
struct watch {
	size_t done, all;
};

static void show_trial(void *data)
{
	struct watch *watch = data;

	progress("replaying", (double)++watch->done / watch->all);
}

static int replay(const struct options *options, const struct recording *recording,
		const struct burst_table *table, const bool wanted[SCHEME_KINDS])
{
	struct replay_setup setup = { .read = options->read, .quantum = options->quantum,
		.trials = options->trials, .seed = options->seed, .progress = show_trial };
	unsigned events = recording->events, phases = recording->bursts.phases;
	struct replay_cell *cells[SCHEME_KINDS] = { NULL };
	struct replay_summary summary[SCHEME_KINDS];
	struct watch watch = { 0 };
	json_t *root = json_object(), *schemes = json_object();
	int error = plan_pack(&setup.plan, events, 2, options->counters, NULL);

	setup.data = &watch;
	for (unsigned e = 0; e < events; e++)
		setup.reference[e] = reference(counter(recording, table, e));
	setup.reference[0] = 0;
	setup.reference[1] = 1;
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		watch.all += wanted[kind] * options->trials;
	for (int kind = 0; kind < SCHEME_KINDS && !error; kind++) {
		if (!wanted[kind])
			continue;
		cells[kind] = calloc((size_t)phases * events, sizeof(**cells));
		setup.scheme = kind;
		error = cells[kind] ? replay_run(&recording->bursts, &setup, cells[kind]) : -ENOMEM;
		if (!error)
			replay_summarise(cells[kind], phases, &setup.plan, setup.trials,
					&summary[kind]);
	}
	if (error)
		fprintf(stderr, "phasemux: replay: %s%s\n", strerror(-error),
				error == -EINVAL ? " (too many counters for so few at a time?)" : "");
	else if (!options->json)
		print_head(options, recording, &setup);
	for (int kind = 0; kind < SCHEME_KINDS && !error; kind++) {
		json_t *object;

		if (!wanted[kind])
			continue;
		if (!options->json)
			print_scheme(kind, &summary[kind]);
		object = json_scheme(&summary[kind]);
		json_object_set_new(object, "counters", json_cells(recording, table, cells[kind]));
		json_object_set_new(schemes, scheme_name(kind), object);
	}
	for (int kind = 0; kind < SCHEME_KINDS; kind++) {
		if (!error && wanted[kind] && !options->json)
			print_cells(kind, recording, table, cells[kind]);
		free(cells[kind]);
	}
	json_object_set_new(root, "schemes", schemes);
	json_object_set_new(root, "trials", json_integer(options->trials));
	json_object_set_new(root, "read", json_real(options->read));
	json_object_set_new(root, "phases", json_integer(phases));
	if (!error && options->json) {
		json_dumpf(root, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(root);
	return error ? error == -EINVAL ? 2 : 1 : 0;
}

/* Chooses bursts and counters of the table, and makes the recording of them. */
static int prepare(struct recording *recording, struct selection *selection,
		struct burst_table *table, const struct options *options)
{
	unsigned metrics = table->metrics; /* the file's own, before any is derived */
	char why[512] = "no memory";
	int code;

	if (selection_metrics(selection, table, options->cluster_by, why, sizeof(why))) {
		fprintf(stderr, "phasemux: --cluster-by: %s\n", why);
		return 2;
	}
	if (selection_shortest(selection, table, options->burst_min, why, sizeof(why))) {
		fprintf(stderr, "phasemux: --burst-min %s\n", why);
		return 2;
	}
	if (selection_make(selection, table) || !selection->count) {
		fprintf(stderr, "phasemux: %s: no burst has all metrics of --cluster-by and is long "
				"enough\n", options->file);
		return 1;
	}
	code = choose_counters(recording, table, selection, metrics);
	return code ? code : record(recording, table, selection, options->share);
}

int cmd_validate(int argc, char **argv)
{
	struct burst_table table = { 0 };
	struct selection selection = { 0 };
	struct recording recording = { 0 };
	bool wanted[SCHEME_KINDS];
	struct options options;
	int code = read_options(&options, argc, argv);

	if (code)
		return code < 0 ? 0 : code;
	code = read_schemes(options.schemes, wanted);
	if (code)
		return code;
	progress_allow(!options.quiet);
	code = table_open(&table, options.file);
	if (!code)
		code = prepare(&recording, &selection, &table, &options);
	if (!code)
		code = replay(&options, &recording, &table, wanted);
	recording_fini(&recording);
	selection_fini(&selection);
	table_fini(&table);
	return code;
}
