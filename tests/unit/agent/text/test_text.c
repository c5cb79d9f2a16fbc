/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests text for people: numbers, names that are too long, and the report made of a document. */
#include <stdlib.h>

#include "agent/symbols/name.h"
#include "agent/text/format.h"
#include "agent/text/report_text.h"
#include "tests/tap.h"

/* ---- numbers ---- */

static void check_interval(double mean, double error, int is_time, const char *wanted)
{
	is_str(format_interval(mean, error, is_time, 0).text, wanted, "a mean with its interval");
}

static void test_format(void)
{
	is_str(format_count(1253000).text, "1.25 M", "three digits and a unit");
	is_str(format_seconds(0.0293).text, "29.3 ms", "a time");
	is_str(format_percent(0.0001).text, "<0.1%", "little is not nothing");
	is_str(format_whole_percent(0.284).text, "28%", "a share of samples");
	check_interval(5.98e6, 17.9e3, 1, "5.980 +- 0.018 ms");
	check_interval(26.3e6, 668e3, 1, "26.30 +- 0.67 ms");
	check_interval(0.2041, 0.0412, 0, "0.204 +- 0.041");
	check_interval(1.5e6, 0.0996e6, 0, "1.50 +- 0.10 M");
	check_interval(900, 123, 0, "900 +- 120");
	check_interval(0.5, 4.94, 0, "0.5 +- 4.9");
	check_interval(6.49e6, 0.01, 1, "6.49 +- <0.01% ms");
	check_interval(0, 0.004, 0, "0.0000 +- 0.0040");
	check_interval(1.02e-5, 1.13e-5, 0, "1e-05 +- 1.1e-05");
}

/* ---- names ---- */

static void check_name(const char *whole, size_t most, const char *wanted)
{
	char name[256];

	snprintf(name, sizeof(name), "%s", whole);
	name_shorten(name, most);
	is_str(name, wanted, "a name that is shortened");
}

static void test_names(void)
{
	check_name("solve<int>", 10, "solve<int>");
	check_name("solve<int, double, float>", 24, "solve<int, ..., float>");
	check_name("solve<map<int, long>, double, f(a, b)>::step", 42,
			"solve<map<int, long>, ..., f(a, b)>::step");
	check_name("solve<map<int, long>, double, f(a, b)>::step", 30, "solve<...>::step");
	check_name("a<short_one>::b<the_longer, of_both, of_them>", 42,
			"a<short_one>::b<the_longer, ..., of_them>");
	check_name("operator<< <std::char_traits<char> >", 20, "operator<< <...>");
	check_name("a_function_that_has_no_arguments_to_cut", 15, "a_func...to_cut");
	check_name("unbalanced>>><<<", 12, "unba...>><<<");
}

/* ---- the report ---- */

static const char form[] =
		"{\"phasemux\": 1, \"command\": [\"a\"], \"job\": null, \"date\": \"2026-11-27T09:04:39Z\", \"hosts\": %s, \"scheme\": \"none\", "
		"\"ranks\": 1, \"threads\": 1, \"mpi\": \"m\", \"processor\": \"p\", \"model\": \"time\", "
		"\"without_counters\": \"none\", \"warnings\": [], \"groups\": [], \"wall_seconds\": 1, "
		"\"burst_min_seconds\": 0, \"efficiency\": {\"parallel\": 1}, \"phases\": [%s], %s";

static const char foot[] =
		"\"unclassified\": {\"time_share\": 0.1, \"bursts\": 5, \"cause\": \"C\", "
		"\"advice\": \"A\"}, \"short\": {\"time_share\": 0, \"bursts\": 0}, "
		"\"not_read\": {\"time_share\": 0.5, \"bursts\": 7}, \"lost\": {\"bursts\": 0}, "
		"\"samples\": {}, \"agent\": {\"seconds\": 0.1, \"share\": 0.006, "
		"\"processor_share\": 0.004, \"bytes\": 1, \"calls\": 1, \"reads\": 1, \"rounds\": 1, "
		"\"switches\": 0, \"read_seconds\": 0}}";

/* Returns the text of a report with these hosts and phases. The caller frees it. */
static char *text_with(const char *hosts, const char *phases)
{
	char *document = NULL, *text = NULL, why[128] = "no memory";
	json_t *report = NULL;

	if (asprintf(&document, form, hosts, phases, foot) >= 0)
		report = json_loads(document, 0, NULL);
	if (report)
		text = report_text(report, why, sizeof(why));
	if (!text)
		diag("%s", why);
	json_decref(report);
	free(document);
	return text;
}

static char *text_of(const char *phases)
{
	return text_with("null", phases);
}

static void shows(const char *text, const char *wanted, const char *name)
{
	if (!ok(text && strstr(text, wanted), "%s", name))
		diag("no \"%s\" in:\n%s", wanted, text ? text : "");
}

static void shows_not(const char *text, const char *unwanted, const char *name)
{
	if (!ok(text && !strstr(text, unwanted), "%s", name))
		diag("\"%s\" in:\n%s", unwanted, text ? text : "");
}

static bool is_narrow(const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		if (length > 100)
			return false;
		text += length + (text[length] == '\n');
	}
	return true;
}

#define PLACE(from, to, share)                                                                     \
	"{\"from\": \"" from "\", \"from_call\": \"MPI_Wait\", \"from_function\": \"f\", "         \
	"\"from_path\": [], \"to\": \"" to "\", \"to_call\": \"MPI_Send\", "                       \
	"\"to_function\": \"g\", \"to_path\": [], \"share\": " share "}"

/* A place whose callers are alike, except for the outermost one. */
#define CALLED(from, outermost)                                                                     \
	"{\"from\": \"" from "\", \"from_call\": \"MPI_Wait\", \"from_function\": \"f\", "          \
	"\"from_path\": [{\"function\": \"f\", \"position\": \"a.c:1\"}, {\"function\": \"main\", " \
	"\"position\": \"" outermost "\"}], \"to\": \"b.c:2\", \"to_call\": \"MPI_Send\", "         \
	"\"to_function\": \"g\", \"to_path\": [{\"function\": \"g\", \"position\": \"b.c:2\"}], "   \
	"\"share\": 1}"

#define PHASE(id, mean, ipc, source, profile, counters)                                            \
	"{\"id\": " id ", \"time_share\": 0.4, \"bursts\": 10, \"ipc\": " ipc ", "                 \
	"\"duration_seconds\": {\"mean\": " mean "}, \"source\": [" source "], "                   \
	"\"profile\": {" profile "}, \"counters\": {" counters "}}"

#define HOST(name, ranks) "{\"host\": \"" name "\", \"ranks\": " ranks ", \"first_rank\": 0}"
#define TIMED_HOST(name, ranks, seconds)                                                           \
	"{\"host\": \"" name "\", \"ranks\": " ranks                                               \
	", \"first_rank\": 0, \"useful_seconds\": " seconds "}"
#define MEASURED_HOST(name, ranks, seconds, seconds_ci95, hertz, hertz_ci95)                       \
	"{\"host\": \"" name "\", \"ranks\": " ranks                                               \
	", \"first_rank\": 0, \"useful_seconds\": " seconds                                        \
	", \"useful_seconds_ci95\": " seconds_ci95 ", \"cycles_per_second\": " hertz               \
	", \"cycles_per_second_ci95\": " hertz_ci95 "}"
#define HOSTS(count, left_out, named)                                                              \
	"{\"count\": " count ", \"uncounted_ranks\": " left_out ", \"named\": [" named "]}"

static void check_hosts(const char *hosts, const char *wanted, const char *name)
{
	char *text = text_with(hosts, "");

	shows(text, wanted, name);
	free(text);
}

static void test_hosts(void)
{
	check_hosts("null", "\n  started 2026-11-27T09:04:39Z\n", "hosts that are not known");
	check_hosts("{}", "\n  started 2026-11-27T09:04:39Z\n", "nothing about hosts");
	check_hosts(HOSTS("1", "0", HOST("a", "4")), "39Z on a\n", "one host");
	check_hosts(HOSTS("2", "0", HOST("a", "1") ", " HOST("b\\n", "3")),
			"39Z on 2 hosts: a (1 rank), b? (3)\n", "two hosts");
	check_hosts(HOSTS("70", "0",
				    HOST("a", "4") ", " HOST("b", "4") ", " HOST("c",
						    "4") ", " HOST("d", "4") ", " HOST("e", "4")),
			" on 70 hosts: a (4 ranks), b (4), c (4), d (4) and 66 more\n",
			"more hosts than are named");
	check_hosts(HOSTS("512", "9", HOST("a", "4")),
			" on more than 512 hosts: a (4 ranks) and more\n",
			"more hosts than are counted");
	check_hosts(HOSTS("2", "0", TIMED_HOST("a", "1", "0.4") ", " TIMED_HOST("b", "3", "0.8")),
			"\n  slowest host b: its ranks compute 800 ms in the mean, those of others 400 ms; "
			"efficiency 80.0%\n",
			"the slowest host");
}

/* Shows two hosts with four ranks each, of which the first one is the faster one. Returns the text, to be freed. */
static char *text_of_two(const char *second)
{
	char hosts[1024];

	snprintf(hosts, sizeof(hosts),
			HOSTS("2", "0",
					MEASURED_HOST("a", "4", "0.80", "0.03", "2.5e9",
							"0.05e9") ", %s"),
			second);
	return text_with(hosts, "");
}

static void test_hosts_that_differ(void)
{
	char *text = text_of_two(MEASURED_HOST("b", "4", "0.84", "0.03", "2.4e9", "0.08e9"));

	shows_not(text, "slowest host",
			"a host that is slower by less than its interval is not named");
	shows_not(text, "lowest clock", "nor is its clock");
	free(text);
	text = text_of_two(MEASURED_HOST("b", "4", "0.90", "0.03", "2.0e9", "0.05e9"));
	shows(text, "slowest host b: its ranks compute 900 ms in the mean, those of others 800 ms;",
			"a host that is slower by more than its interval");
	shows(text, "\n  lowest clock on host b: 2.00 GHz in the mean of its ranks' computing time, on other hosts 2.50 GHz\n",
			"a lower clock");
	free(text);
	text = text_of_two(MEASURED_HOST("b", "4", "0.81", "0.0001", "2.49e9", "1"));
	shows_not(text, "slowest host", "a small difference is not shown, however certain it is");
	shows_not(text, "lowest clock", "nor that of a clock");
	free(text);
	text = text_of_two(MEASURED_HOST("b", "4", "0.85", "null", "null", "null"));
	shows_not(text, "slowest host", "without an interval, a larger difference is needed");
	shows_not(text, "lowest clock", "a clock that is not known is not shown");
	free(text);
}

static void test_places(void)
{
	char *text = text_of(PHASE("1", "0.019", "null",
			PLACE("a.c:1", "b.c:2", "0.28") ", " PLACE("a.c:3", "b.c:4", "0.22"), "",
			"") ", " PHASE("2", "0.002", "null",
			PLACE("a.c:1", "b.c:2", "0.9") ", " PLACE("a.c:3", "b.c:4", "0.1"), "",
			"") ", " PHASE("3", "0.002", "null", "",
			"\"samples\": 3, \"functions\": [{\"function\": \"h\", \"share\": 1.0, \"samples\": 3}]",
			"") ", " PHASE("4", "0.002", "null", "",
			"\"samples\": 0, \"functions\": []",
			"") ", " PHASE("5", "0.002", "null", PLACE("?", "?", "1"), "", ""));

	shows(text, "      from MPI_Wait in f a.c:1 to MPI_Send in g b.c:2 (28%)\n",
			"a place and its share");
	shows(text, "      also from MPI_Wait in f a.c:3 to MPI_Send in g b.c:4 (22%)\n",
			"a second place if the first has less than half");
	shows_not(text, "(10%)", "and not otherwise");
	shows(text, "      the long ones, 19.0 ms (phase 2 has the same place)\n",
			"phases of one place are told apart");
	shows(text, "      the short ones, 2.00 ms (phase 1 has the same place)\n", "both of them");
	shows(text, "      in h (3 samples)\n", "without a place, where it was sampled");
	shows(text, "      place not known\n", "without that, it is said");
	shows(text, "      from MPI_Wait to MPI_Send (100%)\n", "calls alone");
	shows_not(text, "?", "nothing is a question mark");
	free(text);

	text = text_of(PHASE("1", "0.002", "1.5", PLACE("a.c:1", "b.c:2", "1"), "", "") ", " PHASE(
			"2", "0.00201", "0.5", PLACE("a.c:1", "b.c:2", "1"), "", ""));
	shows(text, "      those with an IPC of 1.50 (phase 2 has the same place)\n",
			"by their IPC, if they are as long");
	free(text);

	text = text_of(PHASE("1", "0.002", "null", CALLED("a.c:1", "x/m.c:7"), "",
			"") ", " PHASE("2", "0.00201", "null", CALLED("a.c:1", "x/m.c:9"), "",
			"") ", " PHASE("3", "0.00202", "null", CALLED("a.c:1", "?"), "",
			"") ", " PHASE("4", "0.002", "null", CALLED("a.c:2", "x/m.c:9"), "", ""));
	shows(text, "      those called from main m.c:7 (2 other phases have the same place)\n",
			"or by who calls the code");
	shows(text, "      those called from main m.c:9 (2 other phases",
			"whatever calls other places");
	shows(text, "      those called from main (2 other phases",
			"or a caller without a position");
	free(text);

	text = text_of(PHASE("1", "0.002", "null", PLACE("a.c:1", "b.c:2", "1"), "",
			"\"task-clock\": {\"mean\": 1500000}") ", " PHASE("2", "0.00201", "null",
			PLACE("a.c:1", "b.c:2", "1"), "", "\"task-clock\": {\"mean\": 1000000}"));
	shows(text, "      those with a task-clock of 1.50 ms (phase 2 has the same place)\n",
			"or by their time on a processor");
	free(text);

	text = text_of(PHASE("1", "0.002", "null", PLACE("a.c:1", "b.c:2", "1"), "",
			"\"cycles\": {\"mean\": 5250000}") ", " PHASE("2", "0.00201", "null",
			PLACE("a.c:1", "b.c:2", "1"), "", "\"cycles\": {\"mean\": 1000000}"));
	shows(text, "      those with 5.25 M cycles (phase 2 has the same place)\n",
			"or by what they count");
	free(text);

	text = text_of(PHASE("1", "0.03", "null", PLACE("a.c:1", "b.c:2", "1"), "",
			"") ", " PHASE("2", "0.02", "null", PLACE("a.c:1", "b.c:2", "1"), "",
			"") ", " PHASE("3", "0.01", "null", PLACE("a.c:1", "b.c:2", "1"), "", ""));
	shows(text, "      the longest ones, 30.0 ms (2 other phases have the same place)\n",
			"three of one place");
	shows(text, "      those of 20.0 ms (2 other phases", "in the middle");
	shows(text, "      the shortest ones, 10.0 ms (2 other phases", "and the last");
	free(text);
}

#define LONG_NAME                                                                                  \
	"solver::sweep<a_rather_long_type_of_the_first_argument, "                                 \
	"a_rather_long_type_of_the_second_argument, a_rather_long_type_of_the_third_argument>"

static void test_inlined(void)
{
	char *text = text_of(PHASE("1", "0.019", "null",
			"{\"from\": \"x/cg.f:1012\", \"from_call\": \"MPI_Wait\", \"from_function\": "
			"\"conj_grad\", \"from_path\": [], \"from_caller\": {\"function\": \"cg\", "
			"\"position\": \"x/cg.f:320\"}, \"to\": \"" LONG_NAME
			"+0x12\", \"to_call\": "
			"\"MPI_Send\", \"to_function\": \"" LONG_NAME "\", \"to_path\": "
			"[{\"function\": \"exchange\", \"position\": \"e.c:1\"}], \"share\": 1}",
			"", ""));

	shows(text, "MPI_Wait in conj_grad cg.f:1012 (in cg cg.f:320)",
			"the call's own line first, then what it was put into");
	shows(text, "to   MPI_Send in solver::sweep<...>+0x12 (exchange) (100%)\n",
			"a long name loses template arguments");
	ok(is_narrow(text), "at most 100 columns");
	free(text);
}

#define ROW(name, share, samples)                                                                  \
	"{\"function\": \"" name "\", \"share\": " share ", \"samples\": " samples "}"

static void test_samples(void)
{
	char *text = text_of(PHASE("1", "1", "null", "",
			"\"samples\": 125, \"functions\": [" ROW("f", "0.984", "123") ", " ROW("g",
					"0.016", "2") "]",
			"") ", " PHASE("2", "1", "null", "",
			"\"samples\": 3, \"functions\": [" ROW("f", "0.67", "2") ", " ROW("g",
					"0.33", "1") "]",
			""));

	shows(text, "      in f 98% (125 samples)\n", "shares of many samples");
	shows(text, "      in f (2 samples), g (1 sample)\n", "few samples are counted");
	free(text);
}

#define COUNTER(name, mean, ci95, observed)                                                        \
	"\"" name "\": {\"mean\": " mean ", \"ci95\": " ci95 ", \"observed\": " observed "}"

static void test_intervals(void)
{
	char *text = text_of(PHASE("1", "1", "null", "", "",
			COUNTER("task-clock", "5980000", "17900", "751") ", " COUNTER("faults",
					"7.2", "0", "10") ", " COUNTER("one", "3", "null",
					"1") ", " COUNTER("none", "null", "null", "0")));

	shows(text, "task-clock                     5.980 +- 0.018 ms per burst\n", "an interval");
	shows(text, "faults                          7.20 exact per burst\n", "an exact mean");
	shows(text, "one                                3 (1 burst)\n", "one burst has none");
	shows(text, "none                       not observed\n", "and what was not counted");
	free(text);
}

static void test_estimated(void)
{
	char *text = text_of(
			"{\"id\": 1, \"time_share\": 0.4, \"time_share_ci95\": 0.004, \"bursts\": "
			"1860, \"bursts_ci95\": 31.4, \"duration_seconds\": {\"mean\": 0.00643, "
			"\"ci95\": 0.00011}, \"counters\": {}}");

	shows(text,
			"    1   40.0%     1.86 k    6.43 ms\n"
			"       +-0.4%       +-31  +-0.11 ms\n",
			"what is estimated has its interval below it");
	free(text);
	text = text_of("{\"id\": 1, \"time_share\": 0.4, \"time_share_ci95\": 0, \"bursts\": 1860, "
		       "\"bursts_ci95\": 0, \"duration_seconds\": {\"mean\": 0.00643, \"ci95\": 0}, "
		       "\"counters\": {}}");
	shows_not(text, "+-", "and what is known has none");
	free(text);
}

static void test_foot(void)
{
	char *text = text_of("");

	shows(text, "Not in any phase: unclassified 10.0% (5 bursts), short 0.0%",
			"what is in no phase");
	shows(text, "  Unclassified because C; A.\n", "why, and what to do");
	shows(text, "Counters not read (assigned by call site and length): 50.0% (7 bursts).\n",
			"what was not read");
	shows(text, "Overhead: 100 ms of CPU time (0.4%); estimated slowdown 0.6%.",
			"the overhead");
	free(text);
}

#define LEADS(setting, shapes)                                                                     \
	"null, \"leads\": {\"setting\": " setting ", \"shapes\": [" shapes                         \
	"], \"time_share\": 0.5, "                                                                 \
	"\"spared_bursts\": 1200, \"calls\": 5, \"left\": 1}"
#define LED(ranks, leads, named)                                                                   \
	"{\"ranks\": " ranks ", \"leads\": " leads ", \"lead_ranks\": [" named "]}"

static void test_leads(void)
{
	char *text = text_with(LEADS("\"2\"", LED("9", "2", "3, 7") ", " LED("2", "2", "0, 1")),
			"");

	shows(text,
			"Leads (PHASEMUX_LEADS=2): in 50.0% of the time, ranks repeated loops of which "
			"leads are known; they\n  left 1.20 k bursts to these.\n",
			"what leads have saved");
	shows(text, "  In a loop of 9 ranks, counters are read in ranks 3, 7.\n",
			"who the leads are");
	shows(text, "  In a loop of 2 ranks, each of them reads counters.\n",
			"or that all ranks are");
	free(text);
	text = text_with(LEADS("\"auto\"", LED("900", "null", "3, 7")), "");
	shows(text, "  In a loop of 900 ranks, counters are read in ranks 3, 7 and others.\n",
			"of many leads, some are named");
	free(text);
	text = text_with(LEADS("\"1\"",
					 LED("7", "1", "6") "], \"clusters\": [" LED("2", "1",
							 "5") ", " LED("1", "1", "0")),
			"");
	shows(text,
			"  When most ranks voted, they were in 2 clusters by the loops that they repeat:\n"
			"  In a loop of 2 ranks, counters are read in rank 5.\n",
			"the clusters and their leads");
	shows(text, "  In a loop of 1 rank, counters are read in rank 0.\n", "also of one rank");
	shows_not(text, "7 ranks", "instead of all loops");
	free(text);
	text = text_with(LEADS("null", ""), "");
	shows(text, "Leads: in 50.0% of the time", "the setting is not known of a killed run");
	free(text);
	text = text_of("");
	shows_not(text, "Leads", "if each rank reads, there is no such line");
	free(text);
}

int main(void)
{
	test_format();
	test_names();
	test_hosts();
	test_hosts_that_differ();
	test_places();
	test_inlined();
	test_samples();
	test_intervals();
	test_estimated();
	test_foot();
	test_leads();
	return tap_done();
}
