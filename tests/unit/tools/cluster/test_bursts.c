/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "tests/tap.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/classify.h"
#include "tools/cluster/selection.h"
#include "tools/cluster/filter.h"

typedef int reader(struct burst_table *, FILE *, struct parse_error *);

static int read_text(reader *read, struct burst_table *table, const char *text,
		struct parse_error *error)
{
	FILE *file = *text ? fmemopen((void *)text, strlen(text), "r") : fopen("/dev/null", "r");
	int failed = file ? read(table, file, error) : -EIO;

	if (file)
		fclose(file);
	return failed;
}

static void test_csv(void)
{
	struct burst_table table = { 0 };
	struct parse_error error;

	is_int(read_text(table_read_csv, &table,
			       "task,begin_ns,end_ns,instructions,cluster,l2\r\n"
			       "1, 50,150,1000,2,nan\n\n0,10,30,5e2,0,\n0,5,9,7,1,8\n",
			       &error),
			0, "a table with blanks, empty lines and fields");
	is_int((long long)table.count, 3, "has three bursts");
	is_int(table.metrics, 2, "and two metrics: the cluster is none");
	is_int(table_sort(&table), 0, "in order");
	ok(table.burst[0].begin == 5 && table.burst[1].begin == 10 && table.burst[2].task == 1,
			"of task and time");
	is_near(table_values(&table, 1)[0], 500, 0, "values stay with their bursts");
	ok(isnan(table_values(&table, 1)[1]) && isnan(table_values(&table, 2)[1]),
			"what was not counted is NAN");
	is_int(table.burst[2].cluster, 2, "the cluster is read");
	table_fini(&table);
}

static void test_prv(void)
{
	static const char trace[] = "#Paraver (21/11/2026 at 12:00):1000_ns:2(2,2):1:2(2:1,1:2),1\n"
				    "c:1:1:2:1:2\n"
				    "1:1:1:1:1:0:100:1\n"
				    "2:1:1:1:1:0:42000050:999\n"
				    "1:2:1:1:2:0:50:1\n"
				    "1:3:1:2:1:0:70:3\n"
				    "2:2:1:1:2:50:42000050:20:42000059:10\n"
				    "2:1:1:1:1:100:50000001:5:42000050:-30:42000059:60\n"
				    "3:1:1:1:1:20:30:2:1:2:1:40:50:8:0\n"
				    "1:3:1:2:1:70:200:1\n"
				    "2:3:1:2:1:199:42000050:7\n";
	static const char names[] = "EVENT_TYPE\n7  42000050 PAPI_TOT_INS [Instr completed]\n"
				    "7  42000059 PAPI_TOT_CYC [Total cycles]\n\nVALUES\n0 End\n";
	struct burst_table table = { 0 };
	struct parse_error error;

	is_int(read_text(table_read_prv, &table, trace, &error), 0, "a trace");
	table_sort(&table);
	is_int((long long)table.count, 3, "has three running states");
	ok(table.burst[1].thread == 1 && table.burst[2].task == 1 && table.burst[2].end == 200,
			"of their threads");
	is_int(read_text(table_name_metrics, &table, names, &error), 0, "names of counters");
	is_int(table_find(&table, "PAPI_TOT_INS"), 0, "replace their numbers");
	is_near(table_values(&table, 0)[0], -30, 0,
			"counters are read at a burst's end, not its begin");
	is_near(table_values(&table, 1)[1], 10, 0, "each thread's own");
	ok(isnan(table_values(&table, 2)[0]), "nor are they read elsewhere");
	table_fini(&table);
}

static void test_broken(void)
{
	static const struct {
		reader *read;
		const char *text;
		size_t line;
		const char *what;
	} cases[] = {
		{ table_read_csv, "", 0, "header" },
		{ table_read_csv, "task,end_ns\n", 1, "begin_ns" },
		{ table_read_csv, "task,task,begin_ns,end_ns\n", 1, "one column task" },
		{ table_read_csv, "task,begin_ns,end_ns,a,a\n", 1, "one column a" },
		{ table_read_csv, "task,begin_ns,end_ns\n0,1,2\n0,1\n", 3,
				"expected 3 fields, found 2" },
		{ table_read_csv, "task,begin_ns,end_ns\n0,1,2,3\n", 2, "found more" },
		{ table_read_csv, "task,begin_ns,end_ns\n0,2,2\n", 2, "end_ns after begin_ns" },
		{ table_read_csv, "task,begin_ns,end_ns,x\n0,1,2,1.5z\n", 2, "expected a number" },
		{ table_read_csv, "task,begin_ns,end_ns\n-1,1,2\n", 2, "expected task" },
		{ table_read_prv, "", 0, "empty" },
		{ table_read_prv, "#Trace\n", 1, "#Paraver" },
		{ table_read_prv, "#Paraver (now):1_ns:1(1):1:2(1:1)\n", 1, "threads:node" },
		{ table_read_prv, "#Paraver (now):1_ns:1(1):1:1(1:1)\n4:1\n", 2,
				"a record of type" },
		{ table_read_prv, "#Paraver (now):1_ns:1(1):1:1(1:1)\n1:1:1:1:1:5:3:1\n", 2,
				"ends after" },
		{ table_read_prv, "#Paraver (now):1_ns:1(1):1:1(1:1)\n1:1:1:2:1:5:9:1\n", 2,
				"a task" },
		{ table_read_prv, "#Paraver (now):1_ns:1(1):1:1(1:1)\n\n2:1:1:1:1:5:42:x\n", 3,
				"pairs" },
		{ table_name_metrics, "EVENT_TYPE\n7 42000050\n", 2, "event type and its name" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct burst_table table = { 0 };
		struct parse_error error = { 0 };
		int failed = read_text(cases[i].read, &table, cases[i].text, &error);

		if (!ok(failed == -EINVAL && error.line == cases[i].line &&
						    strstr(error.text, cases[i].what),
				    "broken: %s", cases[i].what))
			diag("%d, line %zu: %s", failed, error.line, error.text);
		table_fini(&table);
	}
}

static void test_filter(void)
{
	double by_ten[] = { 10, 1, 40, 20, 30 }, phases[] = { 100, 100, 10, 9.9, 9.8, 9.7, 1 };

	/* of 101: 90 is 89%, 100 is 99.0% */
	is_near(filter_shortest(by_ten, 5, 0.85), 20, 0, "the longest that hold the share");
	is_near(filter_shortest(by_ten, 5, 1), 1, 0, "all of it");
	is_near(filter_shortest(phases, 7, 0.85), 9.7, 0, "not cutting through a phase");
	is_near(filter_shortest(phases, 0, 0.5), 0, 0, "nothing");
}

static void test_selection(void)
{
	struct burst_table table = { 0 };
	struct selection selection = { 0 };
	struct parse_error error;
	char why[256];

	read_text(table_read_csv, &table,
			"task,thread,begin_ns,end_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n"
			"0,0,0,100,100,100\n0,0,200,210,100,50\n0,0,300,400,1000,500\n"
			"1,0,0,100,,100\n1,1,0,100,10000,10000\n1,1,100,200,0,10\n",
			&error);
	table_sort(&table);
	is_int(selection_metrics(&selection, &table, NULL, why, sizeof(why)), 0, "default metrics");
	ok(selection.space.dims == 2 && selection.space.logarithmic[0] &&
					strcmp(table.name[selection.metric[1]], "ipc") == 0,
			"are log:instructions,ipc");
	is_int(selection_shortest(&selection, &table, "0.05us", why, sizeof(why)), 0,
			"at least 50 ns");
	is_int(selection_range(&selection, &table, "cycles=:5000", why, sizeof(why)), 0, "a range");
	is_int(selection_make(&selection, &table), 0, "choose");
	is_int((long long)selection.count, 2, "two are left");
	ok(selection.left_out[1] == TOO_SHORT && selection.left_out[3] == MISSING &&
					selection.left_out[4] == OUT_OF_RANGE &&
					selection.left_out[5] == MISSING,
			"for the others there is a reason");
	is_int((long long)selection.sequences, 3, "three threads");
	is_near(selection.point[2], 1, 1e-12, "scaled to 0 .. 1");
	is_int(selection_metrics(&selection, &table, "log:ipc*x", why, sizeof(why)), -EINVAL,
			"a weight that is none");
	is_int(selection_metrics(&selection, &table, "flops", why, sizeof(why)), -EINVAL,
			"a metric that is not there");
	ok(strstr(why, "flops") && strstr(why, "PAPI_TOT_INS"), "the allowed ones are named");
	is_int(selection_shortest(&selection, &table, "5 minutes", why, sizeof(why)), -EINVAL,
			"a time that is none");
	is_int(selection_range(&selection, &table, "ipc=1", why, sizeof(why)), -EINVAL,
			"a range that is none");
	selection_fini(&selection);
	table_fini(&table);
}

/* Samples of a made-up run classify the other bursts correctly. */
static void test_classify(void)
{
	enum { TASKS = 8, EACH = 200, COUNT = TASKS * EACH };
	struct selection all = { .count = COUNT,
		.sequences = TASKS,
		.space = { .dims = 2, .range = { 1, 1 }, .weight = { 1, 1 } } },
			 sample;
	uint32_t label[COUNT], want[COUNT], sampled[COUNT];
	double point[2 * COUNT], duration[COUNT];
	size_t first[TASKS + 1];

	for (size_t i = 0; i < COUNT; i++) {
		want[i] = 1 + i % 3;
		point[2 * i] = 0.3 * (double)(i % 3) + 0.0001 * (double)(i % 101);
		point[2 * i + 1] = 0.5;
		duration[i] = 1;
	}
	for (size_t s = 0; s <= TASKS; s++)
		first[s] = s * EACH;
	all.point = point;
	all.duration = duration;
	all.first = first;
	for (enum sample_by how = SAMPLE_BY_TIME; how <= SAMPLE_BY_BOTH; how++) {
		is_int(sample_take(&sample, &all, 400, how), 0, "a sample");
		ok(sample.count == 400, "of 400 by %s", sample_name(how));
		for (size_t i = 0; i < sample.count; i++)
			sampled[i] = want[sample.row[i]];
		is_int(classify_rest(&all, &sample, sampled, 3, label), 0, "classify");
		ok(!memcmp(label, want, sizeof(want)), "all as they were");
		selection_fini(&sample);
	}
}

int main(void)
{
	test_csv();
	test_prv();
	test_broken();
	test_filter();
	test_selection();
	test_classify();
	return tap_done();
}
