/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux cluster: structure detection offline, on a burst table or a Paraver trace. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cluster/density/dbscan.h"
#include "cluster/density/epsilon.h"
#include "cluster/sequence/partition.h"
#include "tools/cluster/classify.h"
#include "tools/cluster/input.h"
#include "tools/cluster/result.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/progress.h"

static const char usage[] =
		"usage: phasemux cluster [options] FILE\n"
		"\n"
		"Finds the phases of a program: FILE is a CSV table of bursts (task, begin_ns, end_ns, metrics) or a\n"
		"Paraver trace (.prv), which may be compressed (.gz, .xz).\n"
		"\n"
		"  --algorithm NAME    refinement (the default), dbscan, or given: the table's own column cluster\n"
		"  --eps X             radius of dbscan in the space scaled to 0 .. 1; from the data if not given\n"
		"  --min-points N      points within it that make a core point; dbscan: 10, refinement: tasks / 4\n"
		"  --steps N           different Eps that refinement tries (10)\n"
		"  --burst-min TIME    leave shorter bursts out: 50us, 1ms, ...; or 99%: keep that share of the time\n"
		"                      (auto: 99%)\n"
		"  --cluster-by LIST   metrics that span the space (log:instructions,ipc): log: takes the logarithm,\n"
		"                      *2 weighs; instructions, cycles, ipc, duration, or names as in the file\n"
		"  --range M=LOW:HIGH  leave bursts out whose metric M is not between; may be given several times\n"
		"  --sample N          cluster N bursts, classify the rest, and print how well that agrees\n"
		"  --sample-by HOW     sample over time, tasks or both (both)\n"
		"  --output DIR        where the results go (phasemux.clusters)\n"
		"  --quiet             print nothing but errors\n";

#define RANGES_MAX 16

struct options {
	const char *file, *output, *cluster_by, *burst_min;
	const char *range[RANGES_MAX];
	unsigned ranges;
	bool dbscan, given, quiet, eps_given;
	double eps;
	size_t min_points, steps, sample;
	enum sample_by sample_by;
};

static void progress_of_refinement(void *data, unsigned step, unsigned steps)
{
	(void)data;
	progress("refining", (double)step / steps);
}

enum {
	ALGORITHM = 1,
	EPS,
	MIN_POINTS,
	STEPS,
	BURST_MIN,
	CLUSTER_BY,
	RANGE,
	SAMPLE,
	SAMPLE_BY,
	OUTPUT,
	QUIET
};

static const struct option long_options[] = {
	{ "algorithm", required_argument, NULL, ALGORITHM },
	{ "eps", required_argument, NULL, EPS },
	{ "min-points", required_argument, NULL, MIN_POINTS },
	{ "steps", required_argument, NULL, STEPS },
	{ "burst-min", required_argument, NULL, BURST_MIN },
	{ "cluster-by", required_argument, NULL, CLUSTER_BY },
	{ "range", required_argument, NULL, RANGE },
	{ "sample", required_argument, NULL, SAMPLE },
	{ "sample-by", required_argument, NULL, SAMPLE_BY },
	{ "output", required_argument, NULL, OUTPUT },
	{ "quiet", no_argument, NULL, QUIET },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static int set_option(void *data, int option)
{
	struct options *options = data;
	char *end;

	switch (option) {
	case ALGORITHM:
		options->dbscan = strcmp(optarg, "dbscan") == 0;
		options->given = strcmp(optarg, "given") == 0;
		if (!options->dbscan && !options->given && strcmp(optarg, "refinement") != 0)
			return option_refuse("algorithm", optarg, "refinement, dbscan or given");
		return 0;
	case EPS:
		options->eps = strtod(optarg, &end);
		options->eps_given = true;
		if (end == optarg || *end || !(options->eps >= 0) || isinf(options->eps))
			return option_refuse("eps", optarg, "a number, at least 0");
		return 0;
	case MIN_POINTS:
		return option_take_whole("min-points", 1, SIZE_MAX, &options->min_points);
	case STEPS:
		return option_take_whole("steps", 1, 1000, &options->steps);
	case SAMPLE:
		return option_take_whole("sample", 1, SIZE_MAX, &options->sample);
	case SAMPLE_BY:
		return sample_by_name(optarg, &options->sample_by) ?
				0 :
				option_refuse("sample-by", optarg, "time, tasks or both");
	case RANGE:
		if (options->ranges == RANGES_MAX)
			return option_refuse("range", optarg, "at most 16 of them");
		options->range[options->ranges++] = optarg;
		return 0;
	case BURST_MIN:
		options->burst_min = optarg;
		return 0;
	case CLUSTER_BY:
		options->cluster_by = optarg;
		return 0;
	case OUTPUT:
		options->output = optarg;
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
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.set = set_option,
	};
	int code;

	*options = (struct options){ .output = "phasemux.clusters",
		.burst_min = "auto",
		.sample_by = SAMPLE_BY_BOTH };
	code = options_read(argc, argv, &spec, options);
	if (code)
		return code;
	if (optind + 1 != argc)
		return option_usage(usage);
	options->file = argv[optind];
	if (options->given && (options->sample || input_is_trace(options->file)))
		return option_refuse("algorithm", "given",
				"only for a table, and without --sample");
	if (options->eps_given && !options->dbscan)
		return option_refuse("eps", "",
				"only with --algorithm dbscan; refinement tries --steps of them");
	return 0;
}

static int prepare(struct selection *selection, struct burst_table *table,
		const struct options *options)
{
	char why[512] = "no memory";
	int failed = selection_metrics(selection, table, options->cluster_by, why, sizeof(why));

	if (failed) {
		fprintf(stderr, "phasemux: --cluster-by: %s\n", why);
		return failed == -EINVAL ? 2 : 1;
	}
	failed = selection_shortest(selection, table, options->burst_min, why, sizeof(why));
	if (failed) {
		fprintf(stderr, "phasemux: --burst-min %s\n", why);
		return failed == -EINVAL ? 2 : 1;
	}
	for (unsigned i = 0; i < options->ranges && !failed; i++)
		failed = selection_range(selection, table, options->range[i], why, sizeof(why));
	if (failed) {
		fprintf(stderr, "phasemux: --range %s\n", why);
		return failed == -EINVAL ? 2 : 1;
	}
	failed = selection_make(selection, table);
	if (failed)
		fprintf(stderr, "phasemux: %s\n", strerror(-failed));
	return failed ? 1 : 0;
}

/* Clusters a selection into label[]. Returns the number of clusters, or -errno. */
static int partition(const struct selection *selection, const struct burst_table *table,
		const struct options *options, struct refinement *tree, uint32_t *label)
{
	struct refine_settings settings = { .steps = (uint32_t)options->steps,
		.min_points = options->min_points,
		.progress = progress_of_refinement };
	const struct sequence_bursts bursts = selection_bursts(selection);
	size_t min_points = options->min_points ? options->min_points : 10;
	double eps = options->eps;
	int clusters;

	if (options->given) {
		uint32_t most = 0;

		for (size_t i = 0; i < selection->count; i++) {
			label[i] = table->burst[selection->row[i]].cluster;
			most = label[i] > most ? label[i] : most;
		}
		return partition_by_time(label, most, selection->duration, selection->count);
	}
	if (!options->dbscan) {
		int error = refine(tree, &bursts, &settings, label);

		progress("refining", 1);
		return error ? error : (int)tree->clusters;
	}
	if (!options->eps_given) {
		int error = epsilon_choose(selection->point, selection->count,
				selection->space.dims, min_points > 1 ? min_points - 1 : 1, 0.02,
				&eps);

		if (error)
			return error;
	}
	if (!options->quiet)
		printf("DBSCAN with Eps %g, min-points %zu\n", eps, min_points);
	clusters = dbscan(selection->point, selection->count, selection->space.dims, eps,
			min_points, label);
	if (clusters > 0)
		clusters = partition_by_time(label, (uint32_t)clusters, selection->duration,
				selection->count);
	return clusters;
}

/* Clusters a sample, classifies the other bursts, and prints how well that agrees with result. */
static int try_sample(const struct result *result, const struct options *options)
{
	const struct selection *selection = result->selection;
	uint32_t *label = malloc((selection->count + 1) * sizeof(*label));
	struct refinement tree = { 0 };
	struct selection sample;
	size_t unclassified = 0;
	int error = label ? sample_take(&sample, selection, options->sample, options->sample_by) :
			    -ENOMEM;

	if (!error) {
		uint32_t *sampled = malloc((sample.count + 1) * sizeof(*sampled));
		int clusters = sampled ?
				partition(&sample, result->table, options, &tree, sampled) :
				-ENOMEM;

		error = clusters < 0 ? clusters :
				       classify_rest(selection, &sample, sampled,
						       (uint32_t)clusters, label);
		free(sampled);
	}
	for (size_t i = 0; !error && i < selection->count; i++)
		unclassified += label[i] == 0;
	if (!error && !options->quiet)
		printf("sample of %zu bursts of %zu (%s): adjusted Rand index %.4f with clustering "
		       "all, %.2f%% of the bursts unclassified\n",
				sample.count, selection->count, sample_name(options->sample_by),
				partition_agreement(label, result->label, selection->count),
				100.0 * (double)unclassified / (double)selection->count);
	refinement_fini(&tree);
	selection_fini(&sample);
	free(label);
	return error;
}

static void print_summary(const struct result *result)
{
	const struct selection *selection = result->selection;
	size_t *bursts = calloc(result->clusters + 1, sizeof(*bursts));
	double *time = calloc(result->clusters + 1, sizeof(*time)), all = 0;

	for (size_t i = 0; bursts && time && i < selection->count; i++) {
		bursts[result->label[i]]++;
		time[result->label[i]] += selection->duration[i];
		all += selection->duration[i];
	}
	printf("%zu of %zu bursts, of at least %.3f us, hold %.2f%% of the time\n",
			selection->count, result->table->count, selection->shortest / 1e3,
			selection->time > 0 ? 100 * all / selection->time : 0);
	printf("%8s %10s %8s %14s %8s\n", "cluster", "bursts", "time", "mean duration", "score");
	for (uint32_t c = 0; bursts && time && c <= result->clusters; c++) {
		uint32_t cluster = c < result->clusters ? c + 1 : 0;
		char name[16] = "noise";

		if (cluster)
			snprintf(name, sizeof(name), "%u", cluster);
		printf("%8s %10zu %7.2f%% %11.3f us %7.2f%%\n", name, bursts[cluster],
				selection->time > 0 ? 100 * time[cluster] / selection->time : 0,
				bursts[cluster] ? time[cluster] / (double)bursts[cluster] / 1e3 : 0,
				100 * result->score.cluster[cluster]);
	}
	printf("%u clusters, global Cluster Sequence Score %.2f%%, found in %.3f ms\n",
			result->clusters, 100 * result->score.global, 1e3 * result->seconds);
	free(bursts);
	free(time);
}

static int write_all(const struct result *result, const struct options *options)
{
	const char *folder = options->output;
	int error = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		error = -errno;
	if (!error)
		error = result_write_bursts(result, folder);
	if (!error)
		error = result_write_clusters(result, folder);
	if (!error)
		error = result_write_scores(result, folder);
	if (!error)
		error = result_write_sequences(result, folder);
	if (!error)
		error = result_write_plots(result, folder);
	if (!error && result->tree.steps)
		error = result_write_tree(result, folder);
	if (!error && input_is_trace(options->file))
		error = result_write_trace(result, options->file, folder);
	if (error)
		fprintf(stderr, "phasemux: %s: %s\n", folder, strerror(-error));
	return error ? 1 : 0;
}

static double processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int cluster(struct result *result, const struct options *options)
{
	const struct selection *selection = result->selection;
	const struct sequence_bursts bursts = selection_bursts(selection);
	int clusters;

	result->label = malloc((selection->count + 1) * sizeof(*result->label));
	result->column = malloc((selection->count + 1) * sizeof(*result->column));
	result->seconds = processor_time();
	clusters = result->label && result->column ?
			partition(selection, result->table, options, &result->tree, result->label) :
			-ENOMEM;
	result->seconds = processor_time() - result->seconds;
	if (clusters >= 0) {
		int error;

		result->clusters = (uint32_t)clusters;
		progress("scoring", 0);
		error = score_sequences(&result->score, result->label, result->clusters + 1,
				&bursts, result->column, &result->columns);
		progress("scoring", 1);
		if (!error && options->sample)
			error = try_sample(result, options);
		clusters = error ? error : clusters;
	}
	if (clusters < 0)
		fprintf(stderr, "phasemux: clustering: %s\n", strerror(-clusters));
	return clusters < 0;
}

int cmd_cluster(int argc, char **argv)
{
	struct burst_table table = { 0 };
	struct selection selection = { 0 };
	struct result result = { .table = &table, .selection = &selection };
	struct options options;
	int code = read_options(&options, argc, argv);

	if (code)
		return code < 0 ? 0 : code;
	progress_allow(!options.quiet);
	code = table_open(&table, options.file);
	if (!code)
		code = prepare(&selection, &table, &options);
	if (!code && !selection.count) {
		fprintf(stderr,
				"phasemux: %s: no burst has all metrics of --cluster-by and is within "
				"--burst-min and --range\n",
				options.file);
		code = 1;
	}
	if (!code)
		code = cluster(&result, &options);
	if (!code)
		code = write_all(&result, &options);
	if (!code && !options.quiet) {
		print_summary(&result);
		printf("results in %s\n", options.output);
	}
	refinement_fini(&result.tree);
	score_fini(&result.score);
	free(result.label);
	free(result.column);
	selection_fini(&selection);
	table_fini(&table);
	return code;
}
