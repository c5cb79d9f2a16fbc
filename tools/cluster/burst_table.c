/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/burst_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void table_fini(struct burst_table *table)
{
	free(table->name);
	free(table->burst);
	free(table->value);
	*table = (struct burst_table){ 0 };
}

int table_find(const struct burst_table *table, const char *name)
{
	for (unsigned m = 0; m < table->metrics; m++)
		if (strcmp(table->name[m], name) == 0)
			return (int)m;
	return -1;
}

/* Makes room for more metrics per burst, and moves the values of the bursts so far. */
static int table_widen(struct burst_table *table)
{
	unsigned stride = table->stride ? 2 * table->stride : 8;
	double *value = malloc((table->room ? table->room : 1) * stride * sizeof(*value));
	char(*name)[TABLE_METRIC_NAME_MAX] = realloc(table->name, stride * sizeof(*name));

	if (name)
		table->name = name;
	if (!value || !name) {
		free(value);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->count; i++)
		for (unsigned m = 0; m < stride; m++)
			value[i * stride + m] =
					m < table->metrics ? table_values(table, i)[m] : NAN;
	free(table->value);
	table->value = value;
	table->stride = stride;
	return 0;
}

int table_metric(struct burst_table *table, const char *name)
{
	int found = table_find(table, name);

	if (found >= 0)
		return found;
	if (table->metrics == TABLE_METRICS_MAX)
		return -E2BIG;
	if (table->metrics == table->stride && table_widen(table))
		return -ENOMEM;
	snprintf(table->name[table->metrics], TABLE_METRIC_NAME_MAX, "%s", name);
	return (int)table->metrics++;
}

int table_add(struct burst_table *table, const struct burst *burst)
{
	if (!table->stride && table_widen(table))
		return -ENOMEM;
	if (table->count == table->room) {
		size_t room = table->room ? 2 * table->room : 1024;
		struct burst *bursts = realloc(table->burst, room * sizeof(*bursts));
		double *value;

		if (bursts)
			table->burst = bursts;
		value = realloc(table->value, room * table->stride * sizeof(*value));
		if (value)
			table->value = value;
		if (!bursts || !value)
			return -ENOMEM;
		table->room = room;
	}
	for (unsigned m = 0; m < table->stride; m++)
		table_values(table, table->count)[m] = NAN;
	table->burst[table->count++] = *burst;
	return 0;
}

static int by_sequence(const void *a, const void *b, void *data)
{
	const struct burst *bursts = data;
	const struct burst *x = &bursts[*(const size_t *)a], *y = &bursts[*(const size_t *)b];

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

int table_sort(struct burst_table *table)
{
	size_t *order = malloc((table->count + 1) * sizeof(*order));
	struct burst *burst = malloc((table->count + 1) * sizeof(*burst));
	double *value = malloc((table->count * table->stride + 1) * sizeof(*value));

	if (!order || !burst || !value) {
		free(order);
		free(burst);
		free(value);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->count; i++)
		order[i] = i;
	qsort_r(order, table->count, sizeof(*order), by_sequence, table->burst);
	for (size_t i = 0; i < table->count; i++) {
		burst[i] = table->burst[order[i]];
		memcpy(value + i * table->stride, table_values(table, order[i]),
				table->stride * sizeof(*value));
	}
	free(order);
	free(table->burst);
	free(table->value);
	table->burst = burst;
	table->value = value;
	table->room = table->count;
	return 0;
}
