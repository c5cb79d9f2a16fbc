/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the page of a report: what text of any origin becomes in HTML, terms, the page's data, and losses. */
#include <stdlib.h>

#include "agent/page/parts/glossary.h"
#include "agent/page/parts/losses.h"
#include "agent/page/parts/data.h"
#include "agent/page/parts/markup.h"
#include "agent/page/page.h"
#include "tests/tap.h"

/* Writes with a function to a page, and compares what was written. */
static void check(void (*write)(struct page *page, const char *text), const char *text,
		const char *wanted, const char *what)
{
	json_t *report = json_pack("{s:s}", "key", "</script>&");
	struct page page;
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	if (!out || page_init(&page, report, out))
		abort();
	write(&page, text);
	page_fini(&page);
	fclose(out);
	is_str(written, wanted, what);
	free(written);
	json_decref(report);
}

static void check_text(const char *text, const char *wanted, const char *what)
{
	check(page_text, text, wanted, what);
}

static void test_text(void)
{
	check_text("MPI_Send in step solver.c:120", "MPI_Send in step solver.c:120", "plain words");
	check_text("<b a=\"1\" c='2'>&amp;", "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;",
			"characters of HTML are escaped");
	check_text("a\tb\nc", "a b c", "white space is a space");
	check_text("a\033[31m\x7f", "a?[31m?", "control characters are none");
	check_text("\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x9a\x80",
			"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x9a\x80", "letters of any language");
	check_text("a\xe2\x80\xae"
		   "b\xe2\x81\xa6"
		   "c\xc2\x85"
		   "d\xef\xbb\xbf",
			"a?b?c?d?", "characters that change the direction, or show nothing");
	check_text("\xe4\xb8", "??", "a character that was cut off");
	check_text("\xc0\xbcscript\xe0\x80\xbc", "??script???",
			"longer forms of a short character");
	check_text("\xed\xa0\x80\xf4\x90\x80\x80\xff", "????????", "bytes that are no characters");
}

static void write_lines(struct page *page, const char *text)
{
	fputs(text, page->words);
	page_flush_lines(page, "<li>", "</li>");
	fputs("x", page->words);
	page_flush(page);
}

static void write_data(struct page *page, const char *text)
{
	(void)text;
	page_json(page->out, "data", page->report, DATA_DIGITS);
}

/* Numbers are as short as they can be, and the deciles of counters are left out. */
static void write_numbers(struct page *page, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	page_json(page->out, "data", json, DATA_DIGITS);
	json_decref(json);
}

static void test_markup(void)
{
	check(write_lines, "a\n<b>\n", "<li>a</li>\n<li>&lt;b&gt;</li>\nx", "each line by itself");
	check(write_lines, "", "x", "no line");
	check(write_data, "",
			"<script type=\"application/json\" id=\"data\">{\"key\":\"\\u003c/script\\u003e\\u0026\"}</script>\n",
			"data that cannot end its element");
	check(write_numbers,
			"{\"a\": [1.0, 0.00001, 1.5e+20, -1234.56789, 0.0, 7, null, true, false, {}, []], "
			"\"a_ci95\": 0.123456, \"b\": {\"deciles\": [1, 2], \"sd\": 1.23456, \"c\": [0.1234567]}, "
			"\"deciles\": [{}]}",
			"<script type=\"application/json\" id=\"data\">{\"a\":[1,1e-5,1.5e20,-1234.568,0,7,null,true,"
			"false,{},[]],\"a_ci95\":0.1235,\"b\":{\"sd\":1.235,\"c\":[0.1234567]},"
			"\"deciles\":[{}]}</script>\n",
			"numbers are short");
	check(page_term, "parallel efficiency",
			"<a class=\"term\" href=\"#term-parallel-efficiency\">parallel efficiency</a>",
			"a term of the glossary");
	check(page_term, "CPI", "<a class=\"term\" href=\"#term-cpi\">CPI</a>", "and a short one");
	check(page_term, "<unknown>", "&lt;unknown&gt;", "no term");
	check(page_term, "", "", "nothing");
}

static void test_losses(void)
{
	const struct loss wide = { .share = 0.3, .ci95 = 0.1 }, other = { .share = 0.25 };
	const struct loss narrow = { .share = 0.3, .ci95 = 0.01 };
	json_t *report = json_pack(
			"{s:{s:f,s:f}, s:[{s:i,s:f,s:f,s:[{s:s,s:f,s:f},{s:s,s:f,s:f},{s:s,s:f,s:n}]}]}",
			"efficiency", "parallel", 0.5, "load_balance", 0.9, "phases", "id", 1,
			"time_share", 0.8, "cpi", 2.0, "cpi_breakdown", "component", "retiring",
			"cpi", 0.5, "ci95", 0.01, "component", "back end", "cpi", 1.0, "ci95", 0.1,
			"component", "front end", "cpi", 0.5, "ci95");
	struct losses losses;

	losses_find(report, &losses);
	ok(losses.top[0].what && fabs(losses.top[0].share - 0.4) < 1e-9,
			"communication is the largest loss");
	ok(losses.top[1].component && strcmp(losses.top[1].component, "back end") == 0,
			"work is no loss");
	ok(fabs(losses.top[1].share - 0.2) < 1e-9 && fabs(losses.top[1].ci95 - 0.02) < 1e-9,
			"a share of the time of all ranks, and its interval");
	ok(fabs(losses.top[2].share - 0.1) < 1e-9, "what is not known is no loss");
	ok(!losses_apart(&wide, &other) && losses_apart(&narrow, &other),
			"intervals tell which loss is larger");
	json_decref(report);
}

static void test_page(void)
{
	json_t *report = json_pack("{s:i,s:[]}", "phasemux", 1, "phases");
	char why[128] = "", *page = page_html(report, why, sizeof(why));

	ok(page && strncmp(page, "<!DOCTYPE html>", 15) == 0, "a page of the smallest report");
	free(page);
	json_decref(report);
	report = json_object();
	ok(!page_html(report, why, sizeof(why)), "no page of another document");
	is_str(why, "not a report of phasemux", "and why");
	json_decref(report);
}

int main(void)
{
	test_text();
	test_markup();
	test_losses();
	test_page();
	return tap_done();
}
