/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux validate --replay: replays recorded bursts, whose counters are all known, through every scheme. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/sequence/refine.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/selection.h"
#include "tools/progress.h"
#include "tools/validate/validate.h"

/* The bursts that are replayed, made from the table. */
struct recording {
	struct replay_bursts bursts;
	unsigned metric[PLAN_EVENTS_MAX]; /* of the table, by event */
	unsigned events;
	uint32_t *task, *phase;
	double *begin, *seconds;
	uint64_t *values;
};

/*
 * Returns whether the metric is a counter that is known: whole and not negative in every chosen burst. Sets
 * *seen if it is known in some.
 */
static bool is_counter(const struct burst_table *table, const struct selection *selection,
		unsigned metric, bool *seen)
{
	bool known = true;

	*seen = false;
	for (size_t i = 0; i < selection->count; i++) {
		double value = table_values(table, selection->row[i])[metric];

		*seen |= !isnan(value);
		/* a NAN is not known */
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
		fprintf(stderr, "phasemux: cycles and instructions of every burst are needed: %s\n",
				why);
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
			fprintf(stderr,
					"phasemux: %s is not known as a count in every burst: left "
					"out\n",
					table->name[m]);
		}
	}
	if (recording->events > 2)
		return 0;
	fprintf(stderr, "phasemux: there is no counter to hide beside cycles and instructions\n");
	return 2;
}

/* Takes the phases from the file's own clusters if it has any, else from refinement; 0: noise. */
static int find_phases(struct recording *recording, const struct burst_table *table,
		const struct selection *selection)
{
	const struct sequence_bursts bursts = selection_bursts(selection);
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
		error = refine(&tree, &bursts, NULL, recording->phase);
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
 * Numbers the phases by their time, and keeps those that are needed for the share of
 * all time (thesis 7.3.1). Bursts of the others get phase 0, like noise.
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

static int record_bursts(struct recording *recording, struct burst_table *table,
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
	/* chosen bursts are stored sequence after sequence; a sequence is a thread that counts alone */
	for (size_t sequence = 0; sequence < selection->sequences; sequence++) {
		for (size_t i = selection->first[sequence]; i < selection->first[sequence + 1];
				i++) {
			const struct burst *burst = &table->burst[selection->row[i]];
			const double *values = table_values(table, selection->row[i]);

			recording->task[i] = sequence;
			recording->begin[i] = burst->begin * 1e-9;
			recording->seconds[i] = (burst->end - burst->begin) * 1e-9;
			for (unsigned e = 0; e < recording->events; e++) {
				double value = values[recording->metric[e]];

				recording->values[i * recording->events + e] =
						value > 0 ? value : 0;
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

/* The progress of all schemes together, in trials. */
struct watch {
	size_t done, all;
};

static void show_trial(void *data)
{
	struct watch *watch = data;

	progress("replaying", (double)++watch->done / watch->all);
}

/* Fills the table. plan: the groups, or NULL. Returns 0 or -errno. */
static int replay_schemes(const struct validate_options *options, const struct recording *recording,
		const struct plan *plan, struct verdict_table *table)
{
	struct replay_setup setup = { .read = options->read,
		.quantum = options->quantum,
		.trials = options->trials,
		.seed = options->seed,
		.progress = show_trial };
	struct watch watch = { 0 };
	int error = 0;

	if (plan)
		setup.plan = *plan;
	else
		error = plan_pack(&setup.plan, table->events, table->common, options->counters,
				NULL);
	setup.data = &watch;
	for (unsigned e = 0; e < table->events; e++)
		setup.reference[e] = e < table->common ? e : verdict_reference(table->name[e]);
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		watch.all += options->scheme[kind] * options->trials;
	for (int kind = 0; kind < SCHEME_KINDS && !error; kind++) {
		struct verdict *verdict = &table->verdict[kind];

		if (!options->scheme[kind])
			continue;
		setup.scheme = kind;
		verdict->cells = calloc((size_t)table->phases * table->events,
				sizeof(*verdict->cells));
		error = verdict->cells ? replay_run(&recording->bursts, &setup, verdict->cells) :
					 -ENOMEM;
		verdict->weighted_error = NAN;
		if (!error)
			replay_summarise(verdict->cells, table->phases, &setup.plan, setup.trials,
					&verdict->summary);
	}
	table->groups = setup.plan.groups;
	return error;
}

static void print_replay(const struct validate_options *options, const struct recording *recording,
		const char *name, const struct verdict_table *table)
{
	size_t bursts = 0;

	for (size_t i = 0; i < recording->bursts.count; i++)
		bursts += recording->phase[i] != 0;
	printf("%s: %zu bursts in %u phases, %u counters in %u groups, %zu trials, %g%% read\n",
			name, bursts, table->phases, table->events, table->groups, options->trials,
			100 * options->read);
	if (options->emulated)
		verdict_print_classes(table);
	verdict_print(table);
}

static int replay(const struct validate_options *options, const struct recording *recording,
		const struct burst_table *bursts, const char *name, const struct plan *plan,
		json_t **json)
{
	struct verdict_table table = { .phases = recording->bursts.phases,
		.events = recording->events,
		.common = 2 };
	int error = 0;

	table.name = calloc(table.events, sizeof(*table.name));
	for (unsigned e = 0; table.name && e < table.events; e++)
		table.name[e] = bursts->name[recording->metric[e]];
	error = table.name ? replay_schemes(options, recording, plan, &table) : -ENOMEM;
	if (error) {
		fprintf(stderr, "phasemux: replay: %s%s\n", strerror(-error),
				error == -EINVAL ? " (too many counters for so few at a time?)" :
						   "");
	} else if (json) {
		*json = verdict_json(&table);
		json_object_set_new(*json, "trials", json_integer(options->trials));
		json_object_set_new(*json, "read", json_real(options->read));
	} else {
		print_replay(options, recording, name, &table);
	}
	verdict_fini(&table);
	return error ? error == -EINVAL ? 2 : 1 : 0;
}

/* Chooses bursts and counters of the table, and makes the recording of them. */
static int prepare(struct recording *recording, struct selection *selection,
		struct burst_table *table, const char *name, const struct validate_options *options)
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
		fprintf(stderr,
				"phasemux: %s: no burst has all metrics of --cluster-by and is long "
				"enough\n",
				name);
		return 1;
	}
	code = choose_counters(recording, table, selection, metrics);
	return code ? code : record_bursts(recording, table, selection, options->share);
}

int validate_bursts(const struct validate_options *options, struct burst_table *bursts,
		const char *name, const struct plan *plan, json_t **json)
{
	struct selection selection = { 0 };
	struct recording recording = { 0 };
	int code = prepare(&recording, &selection, bursts, name, options);

	if (!code)
		code = replay(options, &recording, bursts, name, plan, json);
	recording_fini(&recording);
	selection_fini(&selection);
	return code;
}

int validate_replay(const struct validate_options *options)
{
	struct burst_table table = { 0 };
	json_t *json = NULL;
	int code = table_open(&table, options->file);

	if (!code)
		code = validate_bursts(options, &table, options->file, NULL,
				options->json ? &json : NULL);
	if (json)
		verdict_write(json);
	table_fini(&table);
	return code;
}
