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

/* Returns where the document goes on behind a line, NULL at its end, and reads the row that the line is, if any. */
static const char *next_row(const char *line, struct row *row, bool *is_row)
{
	const char *end = strchr(line, '\n');

	*is_row = read_row(line, end ? (size_t)(end - line) : strlen(line), row);
	return end && end[1] ? end + 1 : NULL;
}

/* Returns whether a line before `end` has the term; NULL: any line. */
static bool has_term(const char *term, size_t size, const char *end)
{
	struct row row;
	bool is_row;

	for (const char *line = page_glossary; line && line != end;) {
		line = next_row(line, &row, &is_row);
		if (is_row && row.term_size == size && strncasecmp(row.term, term, size) == 0)
			return true;
	}
	return false;
}

/* Writes a term as a name within the page: "CPI component" is "term-cpi-component". */
static void write_name(struct page *page, const char *term, size_t size)
{
	page_markup(page, "term-");
	for (; size; term++, size--) {
		bool large = *term >= 'A' && *term <= 'Z', small = *term >= 'a' && *term <= 'z';
		bool digit = *term >= '0' && *term <= '9';

		page_markup(page, "%c", large ? *term + 'a' - 'A' : small || digit ? *term : '-');
	}
}

void page_term(struct page *page, const char *term)
{
	if (!has_term(term, strlen(term), NULL)) {
		page_text(page, term);
		return;
	}
	page_markup(page, "<a class=\"term\" href=\"#");
	write_name(page, term, strlen(term));
	page_markup(page, "\">");
	page_text(page, term);
	page_markup(page, "</a>");
}

static void write_row(struct page *page, const struct row *row, bool again)
{
	page_markup(page, "<dt");
	if (!again) { /* a term may have two meanings */
		page_markup(page, " id=\"");
		write_name(page, row->term, row->term_size);
		page_markup(page, "\"");
	}
	page_markup(page, ">");
	write_meaning(page, row->term, row->term_size);
	page_markup(page, "</dt>\n<dd>");
	write_meaning(page, row->meaning, row->meaning_size);
	page_markup(page, "</dd>\n");
}

void page_terms(struct page *page)
{
	bool inside = false;

	for (const char *line = page_glossary, *next; line; line = next) {
		struct row row;
		bool is_row;

		next = next_row(line, &row, &is_row);
		if (strncmp(line, "## ", 3) == 0) {
			page_markup(page, inside ? "</dl>\n<h3>" : "<h3>");
			write_meaning(page, line + 3, strcspn(line + 3, "\n"));
			page_markup(page, "</h3>\n<dl>\n");
			inside = true;
		}
		if (is_row && inside)
			write_row(page, &row, has_term(row.term, row.term_size, line));
	}
	if (inside)
		page_markup(page, "</dl>\n");
}
