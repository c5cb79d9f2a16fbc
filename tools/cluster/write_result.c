/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the files of a clustering, except its trace. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/colours.h"
#include "tools/cluster/result.h"

/* Largest number of metrics for which scatter plots are made. Every pair of them is a file. */
#define PLOTTED_MAX  6
#define NOISE_COLOUR "#c4c8cc"

static FILE *result_create(const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "w");
}

static int finish_file(FILE *file)
{
	int error = ferror(file) ? -EIO : 0;

	if (fclose(file) && !error)
		error = -errno;
	return error;
}

static void write_value(FILE *file, double value)
{
	if (isfinite(value))
		fprintf(file, ",%.15g", value);
	else
		fputc(',', file);
}

int result_write_bursts(const struct result *result, const char *folder)
{
	const struct burst_table *table = result->table;
	FILE *file = result_create(folder, "bursts.csv");

	if (!file)
		return -errno;
	fputs("task,thread,begin_ns,end_ns", file);
	for (unsigned m = 0; m < table->metrics; m++)
		fprintf(file, ",%s", table->name[m]);
	fputs(",cluster\n", file);
	for (size_t i = 0; i < result->selection->count; i++) {
		const struct burst *burst = &table->burst[result->selection->row[i]];
		const double *values = table_values(table, result->selection->row[i]);

		fprintf(file, "%u,%u,%llu,%llu", burst->task, burst->thread,
				(unsigned long long)burst->begin, (unsigned long long)burst->end);
		for (unsigned m = 0; m < table->metrics; m++)
			write_value(file, values[m]);
		fprintf(file, ",%u\n", result->label[i]);
	}
	return finish_file(file);
}

int result_write_clusters(const struct result *result, const char *folder)
{
	const struct burst_table *table = result->table;
	unsigned metrics = table->metrics;
	size_t cells = (size_t)(result->clusters + 1) * metrics + 1;
	double *sum = calloc(cells, sizeof(*sum)),
	       *time = calloc(result->clusters + 1, sizeof(*time));
	size_t *seen = calloc(cells, sizeof(*seen));
	size_t *bursts = calloc(result->clusters + 1, sizeof(*bursts));
	FILE *file = result_create(folder, "clusters.csv");
	int error = file ? sum && time && seen && bursts ? 0 : -ENOMEM : -errno;

	for (size_t i = 0; !error && i < result->selection->count; i++) {
		const double *values = table_values(table, result->selection->row[i]);
		uint32_t label = result->label[i];

		bursts[label]++;
		time[label] += result->selection->duration[i];
		for (unsigned m = 0; m < metrics; m++) {
			if (!isfinite(values[m]))
				continue;
			sum[label * metrics + m] += values[m];
			seen[label * metrics + m]++;
		}
	}
	if (!error) {
		fputs("cluster,bursts,time_ns,time_share,mean_duration_ns", file);
		for (unsigned m = 0; m < metrics; m++)
			fprintf(file, ",%s,%s_observed", table->name[m], table->name[m]);
		fputc('\n', file);
	}
	for (uint32_t label = 0; !error && label <= result->clusters; label++) {
		fprintf(file, "%u,%zu,%.0f,%.6f", label, bursts[label], time[label],
				result->selection->time > 0 ?
						time[label] / result->selection->time :
						0);
		write_value(file, time[label] / (double)bursts[label]);
		for (unsigned m = 0; m < metrics; m++) {
			write_value(file,
					sum[label * metrics + m] /
							(double)seen[label * metrics + m]);
			fprintf(file, ",%zu", seen[label * metrics + m]);
		}
		fputc('\n', file);
	}
	free(sum);
	free(time);
	free(seen);
	free(bursts);
	if (!file)
		return error;
	return finish_file(file) ? -EIO : error;
}

int result_write_scores(const struct result *result, const char *folder)
{
	FILE *file = result_create(folder, "scores.csv");

	if (!file)
		return -errno;
	fputs("cluster,score,appearances,time_share,weighted_score\n", file);
	for (uint32_t label = 0; label <= result->clusters; label++)
		fprintf(file, "%u,%.6f,%zu,%.6f,%.6f\n", label, result->score.cluster[label],
				result->score.appearances[label], result->score.time_share[label],
				result->score.cluster[label] * result->score.time_share[label]);
	fprintf(file, "global,%.6f,%zu,1,%.6f\n", result->score.global, result->columns,
			result->score.global);
	return finish_file(file);
}

/* Returns clusters 1 to 20 as amino acids, so that alignment viewers show them; X for others, Z for noise. */
static char letter(uint32_t label)
{
	static const char letters[] = "ZACDEFGHIKLMNPQRSTVWY";

	return label < sizeof(letters) - 1 ? letters[label] : 'X';
}

int result_write_sequences(const struct result *result, const char *folder)
{
	const struct selection *selection = result->selection;
	FILE *csv = result_create(folder, "sequences.csv"),
	     *fasta = result_create(folder, "sequences.fasta");
	int error = csv && fasta ? 0 : -errno;

	for (size_t s = 0; !error && s < selection->sequences; s++) {
		size_t i = selection->first[s], end = selection->first[s + 1];
		const struct burst *burst;

		if (i == end)
			continue;
		burst = &result->table->burst[selection->row[i]];
		fprintf(csv, "%u,%u", burst->task, burst->thread);
		fprintf(fasta, ">Task_%u.%u", burst->task + 1, burst->thread + 1);
		for (size_t column = 0; column < result->columns; column++) {
			bool here = i < end && result->column[i] == column;

			if (column % 60 == 0)
				fputc('\n', fasta);
			fputc(here ? letter(result->label[i]) : '-', fasta);
			if (here)
				fprintf(csv, ",%u", result->label[i++]);
			else
				fputs(",-", csv);
		}
		fputc('\n', csv);
		fputc('\n', fasta);
	}
	if (csv && finish_file(csv))
		error = error ? error : -EIO;
	if (fasta && finish_file(fasta))
		error = error ? error : -EIO;
	return error;
}

/* Writes the colour of a cluster, which is equal in all outputs. Hues differ by the golden angle. */
static void colour(uint32_t cluster, char *text, size_t size)
{
	double hue = fmod(cluster * 0.381966, 1);

	snprintf(text, size, "%.3f 0.65 %.2f", hue, cluster ? 0.9 : 0.6);
}

static void write_node(FILE *file, const struct refinement *tree, size_t number)
{
	const struct refine_node *node = &tree->node[number];
	char shade[32], name[32];

	colour(node->cluster, shade, sizeof(shade));
	snprintf(name, sizeof(name), "cluster %u", node->cluster);
	fprintf(file, "  node%zu [label=\"%s\\nscore %.1f%%\\n%zu bursts\\n%.3f ms\"", number,
			node->cluster ? name : "noise", 100 * node->score, node->bursts,
			node->duration / 1e6);
	/* the last level is the final partition */
	if (node->cluster && node->step == tree->steps)
		fprintf(file, ", style=filled, fillcolor=\"%s\"", shade);
	fputs("];\n", file);
}

int result_write_tree(const struct result *result, const char *folder)
{
	const struct refinement *tree = &result->tree;
	FILE *file = result_create(folder, "tree.dot");

	if (!file)
		return -errno;
	fputs("digraph refinement {\n  node [shape=box];\n", file);
	for (uint32_t step = 0; step <= tree->steps && tree->node; step++) {
		char eps[48] = "merge by sequences";

		if (step < tree->steps)
			snprintf(eps, sizeof(eps), "step %u, Eps %.6g", step + 1, tree->eps[step]);
		fprintf(file, "  step%u [shape=plaintext, label=\"%s\\nglobal score %.2f%%\"];\n",
				step, eps, 100 * tree->global[step]);
		if (step)
			fprintf(file, "  step%u -> step%u;\n", step - 1, step);
		fprintf(file, "  { rank=same; step%u;", step);
		for (size_t i = 0; i < tree->nodes; i++)
			if (tree->node[i].step == step && tree->node[i].bursts)
				fprintf(file, " node%zu;", i);
		fputs(" }\n", file);
	}
	for (size_t i = 0; i < tree->nodes; i++) {
		if (!tree->node[i].bursts)
			continue;
		write_node(file, tree, i);
		if (tree->node[i].parent != UINT32_MAX)
			fprintf(file, "  node%zu -> node%u;\n", i, tree->node[i].parent);
	}
	fputs("}\n", file);
	return finish_file(file);
}

static int write_plot(const struct result *result, const char *folder, unsigned x, unsigned y,
		bool log_x, bool log_y)
{
	const char *name_x = result->table->name[x], *name_y = result->table->name[y];
	char name[2 * TABLE_METRIC_NAME_MAX + 16];
	FILE *file;

	snprintf(name, sizeof(name), "%s-%s.gnuplot", name_x, name_y);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '_' : *c;
	file = result_create(folder, name);
	if (!file)
		return -errno;
	fprintf(file,
			"set datafile separator ','\nset title '%s and %s' noenhanced\n"
			"set xlabel '%s' noenhanced\nset ylabel '%s' noenhanced\n"
			"set key outside\n%s%splot",
			name_x, name_y, name_x, name_y, log_x ? "set logscale x\n" : "",
			log_y ? "set logscale y\n" : "");
	for (uint32_t cluster = 0; cluster <= result->clusters; cluster++) {
		/* columns: task, thread, begin, end, then the metrics, then the cluster */
		fprintf(file,
				"%s 'bursts.csv' every ::1 using ($%u == %u ? $%u : 1/0):%u "
				"with points pt 7 ps 0.5 lc rgb '%s' title '%s%.0u'",
				cluster ? ", \\\n" : "", result->table->metrics + 5, cluster, x + 5,
				y + 5, cluster ? colour_of_phase(cluster - 1) : NOISE_COLOUR,
				cluster ? "cluster " : "noise", cluster);
	}
	fputc('\n', file);
	return finish_file(file);
}

int result_write_plots(const struct result *result, const char *folder)
{
	const struct selection *selection = result->selection;
	unsigned plotted[PLOTTED_MAX + SPACE_DIMS_MAX], count = 0;
	bool logarithmic[PLOTTED_MAX + SPACE_DIMS_MAX] = { false };
	int error = 0;

	for (uint32_t dim = 0; dim < selection->space.dims; dim++) {
		logarithmic[count] = selection->space.logarithmic[dim];
		plotted[count++] = selection->metric[dim];
	}
	for (unsigned m = 0; m < result->table->metrics && count < PLOTTED_MAX; m++) {
		bool there = false;

		for (unsigned i = 0; i < count; i++)
			there = there || plotted[i] == m;
		if (!there)
			plotted[count++] = m;
	}
	for (unsigned i = 0; i < count && !error; i++)
		for (unsigned j = i + 1; j < count && !error; j++)
			error = write_plot(result, folder, plotted[i], plotted[j], logarithmic[i],
					logarithmic[j]);
	return error;
}
