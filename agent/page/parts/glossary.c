/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/glossary.h"

#include <string.h>

/* A row of the glossary's Markdown: | **term** | meaning | file |. Pointers into it. */
struct row {
	const char *term, *meaning;
	size_t term_size, meaning_size;
};

/* Reads a line of the document. Returns false if it is not a row with a term. */
static bool read_row(const char *line, size_t size, struct row *row)
{
	const char *end = line + size, *term_end, *bar;

	if (size < 6 || strncmp(line, "| **", 4) != 0)
		return false;
	row->term = line + 4;
	term_end = memmem(row->term, (size_t)(end - row->term), "** | ", 5);
	if (!term_end)
		return false;
	row->term_size = (size_t)(term_end - row->term);
	row->meaning = term_end + 5;
	bar = memmem(row->meaning, (size_t)(end - row->meaning), " | ", 3);
	row->meaning_size = (size_t)((bar ? bar : end) - row->meaning);
	return true;
}

/* Writes Markdown of one line: `code`, and the words of [links](...) without the link. */
static void write_meaning(struct page *page, const char *text, size_t size)
{
	const char *end = text + size, *stop;
	bool code = false;

	for (; text < end; text++) {
		if (*text == '`') {
			page_flush(page);
			page_markup(page, code ? "</code>" : "<code>");
			code = !code;
		} else if (!code && *text == '[') {
			continue;
		} else if (!code && *text == ']' && text + 1 < end && text[1] == '(') {
			stop = memchr(text, ')', (size_t)(end - text));
			text = stop ? stop : end - 1;
		} else {
			fputc(*text, page->words);
		}
	}
	page_flush(page);
	if (code)
		page_markup(page, "</code>");
}

/* Returns whether a line is the title of a section. */
static bool is_section(const char *line, const char *title)
{
	size_t size = strlen(title);

	return strncmp(line, "## ", 3) == 0 && strncmp(line + 3, title, size) == 0 &&
			line[3 + size] == '\n';
}

/* Returns where the document goes on behind a line, NULL at its end, and reads the row that the line is, if any. */
static const char *next_row(const char *line, struct row *row, bool *is_row)
{
	const char *end = strchr(line, '\n');

	*is_row = read_row(line, end ? (size_t)(end - line) : strlen(line), row);
	return end && end[1] ? end + 1 : NULL;
}

/* Returns whether a line before `end` has the term; NULL: any line. Metrics do not count, because some are called like others. */
static bool has_term(const char *term, size_t size, const char *end)
{
	bool is_row, is_metric = false;
	struct row row;

	for (const char *line = page_glossary; line && line != end;) {
		if (strncmp(line, "## ", 3) == 0)
			is_metric = is_section(line, GLOSSARY_METRICS);
		line = next_row(line, &row, &is_row);
		if (is_row && !is_metric && row.term_size == size &&
				strncasecmp(row.term, term, size) == 0)
			return true;
	}
	return false;
}

void glossary_write_id(struct page *page, const char *term, size_t size)
{
	for (; size; term++, size--) {
		bool large = *term >= 'A' && *term <= 'Z', small = *term >= 'a' && *term <= 'z';
		bool digit = *term >= '0' && *term <= '9';

		page_markup(page, "%c", large ? *term + 'a' - 'A' : small || digit ? *term : '-');
	}
}

bool glossary_has(const char *term)
{
	return has_term(term, strlen(term), NULL);
}

void glossary_write_meaning(struct page *page, const char *section, const char *term)
{
	bool is_row, inside = false;
	struct row row;

	for (const char *line = page_glossary; line;) {
		if (strncmp(line, "## ", 3) == 0)
			inside = is_section(line, section);
		line = next_row(line, &row, &is_row);
		if (!inside || !is_row || strlen(term) != row.term_size ||
				strncmp(row.term, term, row.term_size) != 0)
			continue;
		write_meaning(page, row.meaning, row.meaning_size);
		page_markup(page, " ");
		return;
	}
}

void page_term(struct page *page, const char *term)
{
	if (!glossary_has(term)) {
		page_text(page, term);
		return;
	}
	page_markup(page, "<a class=\"term\" href=\"#term-");
	glossary_write_id(page, term, strlen(term));
	page_markup(page, "\">");
	page_text(page, term);
	page_markup(page, "</a>");
}

static void write_row(struct page *page, const struct row *row, bool again)
{
	page_markup(page, "<dt");
	if (!again) { /* a term may have two meanings */
		page_markup(page, " id=\"term-");
		glossary_write_id(page, row->term, row->term_size);
		page_markup(page, "\"");
	}
	page_markup(page, ">");
	write_meaning(page, row->term, row->term_size);
	page_markup(page, "</dt>\n<dd>");
	write_meaning(page, row->meaning, row->meaning_size);
	page_markup(page, "</dd>\n");
}

void page_terms(struct page *page, void (*write_metrics)(struct page *page))
{
	bool inside = false, is_metric = false;

	for (const char *line = page_glossary, *next; line; line = next) {
		struct row row;
		bool is_row;

		next = next_row(line, &row, &is_row);
		if (is_section(line, GLOSSARY_METRICS)) {
			page_markup(page, inside ? "</dl>\n" : "");
			write_metrics(page);
			inside = false;
			is_metric = true;
		} else if (strncmp(line, "## ", 3) == 0) {
			is_metric = false;
			page_markup(page, inside ? "</dl>\n<h3>" : "<h3>");
			write_meaning(page, line + 3, strcspn(line + 3, "\n"));
			page_markup(page, "</h3>\n<dl>\n");
			inside = true;
		}
		if (is_row && inside && !is_metric)
			write_row(page, &row, has_term(row.term, row.term_size, line));
	}
	if (inside)
		page_markup(page, "</dl>\n");
}
