/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/verdict.h"

#include <math.h>
#include <string.h>

#include "agent/page/parts/glossary.h"
#include "agent/page/parts/losses.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/text/statements.h"

#define LOSS_SHOWN     0.05 /* share of the time from which a loss is named */
#define IN_PHASES_GOOD 0.95 /* share of the computing time in phases that needs no advice */
#define NOT_READ_GOOD                                                                              \
	0.5 /* share of the computing time whose counters may be unread without advice */
#define INTERVAL_GOOD 0.05 /* half-width of a component, as a share of the CPI */
#define SLOWDOWN_GOOD 0.05 /* estimated slowdown without a budget that needs no advice */
#define FEW_HOSTS     4    /* number of hosts that the statement about them names */
#define PHASE_LARGE   0.05 /* share of the time from which a phase's intervals matter to the run */

/* ---- the verdict ---- */

static void write_loss(struct page *page, const struct loss *loss)
{
	const char *space = loss->ci95 > 0 ? " " : "";
	struct format_text share = format_percent(loss->share);
	struct format_text error = format_half_percent(loss->ci95);
	struct format_text part = format_percent(loss->of_phase);

	if (!loss->component)
		page_words(page, "%s: %s of the time", loss->what, share.text);
	else if (loss->phases == 1)
		page_words(page, "%.60s in phase %.0f: %s%s%s of the time (%s of the phase)",
				loss->component, loss->phase, share.text, space, error.text,
				part.text);
	else
		page_words(page,
				"%.60s: %s%s%s of the time, most of it in phase %.0f (%s of that phase)",
				loss->component, share.text, space, error.text, loss->phase,
				part.text);
}

/* Writes the largest loss and the next one, or those of which the intervals do not tell which is larger. */
static void write_largest(struct page *page, const struct losses *losses)
{
	const struct loss *top = losses->top;
	bool first = losses_apart(&top[0], &top[1]), second = losses_apart(&top[1], &top[2]);

	page_markup(page,
			first ? "The largest loss is <strong>" :
				"The largest losses, of which the intervals do not tell which is larger, "
				"are <strong>");
	write_loss(page, &top[0]);
	page_markup(page, "</strong>");
	if (!first || (second && top[1].share >= LOSS_SHOWN)) {
		page_markup(page, first ? "; the next is " : "; and ");
		write_loss(page, &top[1]);
	}
	if (!first && !second) {
		page_markup(page, "; and ");
		write_loss(page, &top[2]);
	}
	page_markup(page, ".");
}

static void write_sentence(struct page *page)
{
	double parallel = report_get_in(page->report, "efficiency", "parallel");
	bool have_ranks = strcmp(report_get_text(page->report, "mpi"), "no MPI") != 0 &&
			!(report_get(page->report, "threads") > report_get(page->report, "ranks"));
	struct losses losses;

	losses_find(page->report, &losses);
	page_markup(page, "<p class=\"verdict\">");
	if (isfinite(parallel))
		page_words(page, "%s of the %s' time is computation. ",
				format_percent(parallel).text, have_ranks ? "ranks" : "threads");
	if (losses.top[0].share >= LOSS_SHOWN)
		write_largest(page, &losses);
	else
		page_words(page, "No loss of %.0f%% of the time or more is known.",
				100 * LOSS_SHOWN);
	page_markup(page, "</p>\n");
	if (statements_on_processor(page->report) < STATEMENTS_ON_PROCESSOR) {
		page_markup(page, "<p class=\"missing\">");
		page_words(page,
				"Bursts had a processor for only %s of their time, so that all times are "
				"longer, and ranks wait longer for each other.",
				format_percent(statements_on_processor(page->report)).text);
		page_markup(page, "</p>\n");
	}
	if (json_is_string(json_object_get(page->report, "without_counters")))
		page_markup(page,
				"<p class=\"missing\">What limits the computation itself is not known, "
				"because no hardware counters were available.</p>\n");
	if (json_is_object(json_object_get(page->report, "emulated")))
		page_markup(page,
				"<p class=\"missing\">Nothing here was measured by hardware counters: the "
				"counts are of a modelled processor, and the emulator stretches all "
				"times.</p>\n");
}

static void write_tile(struct page *page, const char *term, double share)
{
	page_markup(page, "<div class=\"tile\"><b>%s</b> ", format_percent(share).text);
	page_term(page, term);
	page_markup(page, "</div>\n");
}

static double share_in_phases(const json_t *report)
{
	return 1 - report_get_in(report, "unclassified", "time_share") -
			report_get_in(report, "short", "time_share");
}

static void write_tiles(struct page *page)
{
	const json_t *efficiency = json_object_get(page->report, "efficiency");

	page_markup(page, "<div class=\"tiles\">\n");
	write_tile(page, "parallel efficiency", report_get(efficiency, "parallel"));
	write_tile(page, "load balance", report_get(efficiency, "load_balance"));
	write_tile(page, "communication efficiency", report_get(efficiency, "communication"));
	write_tile(page, "computing time in phases", share_in_phases(page->report));
	write_tile(page, "estimated slowdown", report_get_in(page->report, "agent", "share"));
	page_markup(page, "</div>\n");
}

/* ---- the run card ---- */

static void write_whole_command(struct page *page)
{
	const json_t *word;
	size_t i;

	page_markup(page, "<tr><th scope=\"row\">whole command</th><td><code>");
	json_array_foreach (json_object_get(page->report, "command"), i, word)
		if (json_is_string(word))
			page_words(page, "%s%s", i ? " " : "", json_string_value(word));
	page_markup(page, "</code></td></tr>\n");
}

/* Writes each host that the report names with its ranks, if the statement cannot have all of them. */
static void write_all_hosts(struct page *page)
{
	const json_t *hosts = json_object_get(page->report, "hosts");
	const json_t *named = json_object_get(hosts, "named"), *host;
	double count = report_get(hosts, "count");
	size_t size = json_array_size(named), i;

	if (size <= FEW_HOSTS)
		return;
	page_markup(page, "<tr><th scope=\"row\">all hosts</th><td><details><summary>");
	page_words(page, size < count ? "the first %zu, by name" : "all %zu", size);
	page_markup(page, "</summary>\n<ul class=\"hosts\">\n");
	json_array_foreach (named, i, host) {
		double ranks = report_get(host, "ranks");

		page_markup(page, "<li>");
		page_text(page, report_get_text(host, "host"));
		page_words(page, ranks == 1 ? ": %.0f rank" : ": %.0f ranks", ranks);
		page_words(page, ", the first is %.0f", report_get(host, "first_rank"));
		if (isfinite(report_get(host, "useful_seconds")))
			page_words(page, ", computing %s each",
					format_seconds(report_get(host, "useful_seconds")).text);
		page_markup(page, "</li>\n");
	}
	page_markup(page, "</ul></details></td></tr>\n");
}

static void write_card(struct page *page)
{
	page_markup(page, "<h3 id=\"run\">The run</h3>\n<table class=\"card\">\n");
	for (const struct statement *one = statements_head; one->name; one++) {
		one->write(page->words, page->report);
		if (fflush(page->words) || !page->size)
			continue;
		page_markup(page, "<tr><th scope=\"row\">%s</th><td>", one->name);
		page_flush_lines(page, "<p>", "</p>");
		page_markup(page, "</td></tr>\n");
		if (one == statements_head)
			write_whole_command(page);
		if (strcmp(one->name, "start") == 0)
			write_all_hosts(page);
	}
	if (json_is_string(json_object_get(page->report, "version"))) {
		page_markup(page, "<tr><th scope=\"row\">phasemux</th><td>");
		page_text(page, report_get_text(page->report, "version"));
		page_markup(page, "</td></tr>\n");
	}
	page_markup(page, "</table>\n");
}

/* ---- trust ---- */

/* Writes a row of trust: what was checked, what was found, and what to do if that is not good. */
static void write_check(struct page *page, const char *term, bool good, const char *advice)
{
	page_markup(page, "<tr class=\"%s\"><th scope=\"row\">", good ? "good" : "check");
	page_term(page, term);
	page_markup(page, "</th><td>");
	page_flush(page);
	page_markup(page, "</td><td>%s</td></tr>\n", good ? "&#10003; good" : "&#9888; check");
	if (!good) {
		page_markup(page, "<tr class=\"advice\"><td colspan=\"3\">&#8627; ");
		page_text(page, advice);
		page_markup(page, "</td></tr>\n");
	}
}

static void check_phases(struct page *page)
{
	const json_t *unclassified = json_object_get(page->report, "unclassified");
	double share = share_in_phases(page->report);
	const char *advice = json_string_value(json_object_get(unclassified, "advice"));

	fprintf(page->words, "%s; unclassified %s, short %s", format_percent(share).text,
			format_percent(report_get(unclassified, "time_share")).text,
			format_percent(report_get_in(page->report, "short", "time_share")).text);
	write_check(page, "computing time in phases", share >= IN_PHASES_GOOD,
			advice ? advice :
				 "A smaller PHASEMUX_BURST_MIN puts shorter bursts into phases.");
}

static void check_reads(struct page *page)
{
	double share = report_get_in(page->report, "not_read", "time_share");

	if (!isfinite(share))
		return;
	fprintf(page->words, "%s of the computing time was assigned by call site and length",
			format_percent(share).text);
	write_check(page, "counters not read", share <= NOT_READ_GOOD,
			"A higher PHASEMUX_BUDGET, or none, reads counters at more bursts; the intervals "
			"say how far the numbers can be trusted.");
}

/* The component of a large phase with the widest interval, beside the phase's CPI. */
struct widest {
	const json_t *phase, *component;
	double share;
	unsigned known, unknown;
};

static struct widest find_widest(const json_t *report)
{
	const json_t *phase, *component;
	struct widest widest = { .share = 0 };
	size_t i, k;

	json_array_foreach (json_object_get(report, "phases"), i, phase) {
		if (!(report_get(phase, "time_share") >= PHASE_LARGE))
			continue;
		json_array_foreach (json_object_get(phase, "cpi_breakdown"), k, component) {
			double share = report_get(component, "ci95") / report_get(phase, "cpi");

			if (!phase_component_known(component)) {
				widest.unknown++;
				continue;
			}
			widest.known++;
			if (!widest.component || share > widest.share) {
				widest.share = isfinite(share) ? share : 0;
				widest.phase = phase;
				widest.component = component;
			}
		}
	}
	return widest;
}

static void check_components(struct page *page)
{
	struct widest widest = find_widest(page->report);

	if (widest.component) {
		double cpi = report_get(widest.phase, "cpi");

		fprintf(page->words, "%.60s in phase %.0f: CPI %s %s",
				report_get_text(widest.component, "component"),
				report_get(widest.phase, "id"),
				phase_component(widest.component, cpi).value.text,
				phase_component(widest.component, cpi).interval.text);
		write_check(page, "largest interval", widest.share <= INTERVAL_GOOD,
				"A longer run, more ranks or a higher PHASEMUX_BUDGET makes intervals "
				"narrower.");
	}
	if (widest.known + widest.unknown) {
		fprintf(page->words, "%u of %u in the phases with %.0f%% of the time or more",
				widest.known, widest.known + widest.unknown, 100 * PHASE_LARGE);
		write_check(page, "known components", !widest.unknown,
				"\"not available\": this processor has no such event, or it did not "
				"count. \"too few\": a longer run or a higher PHASEMUX_BUDGET.");
	}
}

static void check_counters(struct page *page)
{
	double counters = report_get(page->report, "counters");
	bool without = json_is_string(json_object_get(page->report, "without_counters"));

	if (without)
		fputs("no hardware counters", page->words);
	else if (isfinite(counters))
		fprintf(page->words, "%.0f counters count", counters);
	else
		return;
	write_check(page, "counters", !without,
			"\"phasemux doctor\" says what this machine lets you count, and what to change.");
}

static void check_processor(struct page *page)
{
	double part = statements_on_processor(page->report);

	if (!isfinite(part))
		return;
	fprintf(page->words, "bursts had one for %s of their time", format_percent(part).text);
	write_check(page, "processor time", part >= STATEMENTS_ON_PROCESSOR,
			"Start fewer ranks, bind each one to a processor of its own, or end what else runs "
			"there.");
}

static void check_cost(struct page *page)
{
	const json_t *agent = json_object_get(page->report, "agent");
	double share = report_get(agent, "share"), budget = report_get(agent, "budget");

	if (!isfinite(share))
		return;
	fprintf(page->words, "%s", format_percent(share).text);
	if (isfinite(budget))
		fprintf(page->words, "; the budget was %g%%", 100 * budget);
	else
		fputs("; there was no budget", page->words);
	write_check(page, "estimated slowdown",
			!json_is_string(json_object_get(agent, "over_budget")) &&
					(isfinite(budget) || share <= SLOWDOWN_GOOD),
			"Times are longer by about this share. In a longer run the start and the end take a smaller share.");
}

static void check_lost(struct page *page)
{
	double lost = report_get_in(page->report, "lost", "bursts");
	const json_t *warning;
	size_t i;

	if (lost > 0) {
		fprintf(page->words, "%s bursts", format_count(lost).text);
		write_check(page, "lost", false,
				"Another tool may have held the counters, or they were read too late.");
	}
	json_array_foreach (json_object_get(page->report, "warnings"), i, warning) {
		if (!json_is_string(warning))
			continue;
		fprintf(page->words, "%s", json_string_value(warning));
		write_check(page, "warning", false,
				"What this warning names is not in the numbers.");
	}
}

static void write_trust(struct page *page)
{
	page_markup(page,
			"<h3 id=\"trust\">Trust</h3>\n<table class=\"trust\">\n<tr><th "
			"scope=\"col\">what</th><th scope=\"col\">found</th><th "
			"scope=\"col\">good?</th></tr>\n");
	check_phases(page);
	check_reads(page);
	check_components(page);
	check_counters(page);
	check_processor(page);
	check_cost(page);
	check_lost(page);
	page_markup(page, "</table>\n<ul class=\"statements\">\n");
	for (const struct statement *one = statements_foot; one->name; one++) {
		one->write(page->words, page->report);
		page_flush_lines(page, "<li>", "</li>");
	}
	page_markup(page, "</ul>\n");
}

void page_verdict(struct page *page)
{
	write_sentence(page);
	write_tiles(page);
	page_markup(page, "<div class=\"two\">\n<div>\n");
	write_card(page);
	page_markup(page, "</div>\n<div>\n");
	write_trust(page);
	page_markup(page, "</div>\n</div>\n");
}
