/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes HTML. Names of functions, commands and hosts come from elsewhere and may hold anything, so text of the
 * report enters the page only through page_text, page_words and page_flush, which escape it.
 */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_MARKUP_H
#define PHASEMUX_AGENT_PAGE_PARTS_MARKUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The files that are built into the page: its stylesheet, its script and the glossary of the documents. */
extern const char page_style[] __attribute__((visibility("hidden")));
extern const char page_script[] __attribute__((visibility("hidden")));
extern const char page_glossary[] __attribute__((visibility("hidden")));

/* The stylesheet and the script in the page's content policy: "sha256-" and the SHA-256 in base64. */
extern const char page_style_hash[], page_script_hash[];

/* A page that is being written. */
struct page {
	const json_t *report;
	json_t *model; /* as of formulas_load() */
	FILE *out;
	FILE *words;     /* memory in which functions of agent/text write words, for page_flush */
	char *collected; /* what `words` holds after a flush */
	size_t size;
};

/* Returns 0, or -ENOMEM. The page's markup goes to `out`, which the caller closes. */
int page_init(struct page *page, const json_t *report, FILE *out);
void page_fini(struct page *page);

/* Writes markup as it is. Its strings are the page's own, and its numbers are formatted by printf. */
__attribute__((format(printf, 2, 3))) void page_markup(struct page *page, const char *format, ...);

/*
 * Writes text of any origin. Characters of HTML are escaped. Control characters, characters that change the
 * direction of text, and bytes that are not UTF-8 become "?".
 */
void page_text(struct page *page, const char *text);

/* Writes words by a format of printf as text. */
__attribute__((format(printf, 2, 3))) void page_words(struct page *page, const char *format, ...);

/* Writes what was written to page->words as text, and empties it. Returns false if it was empty. */
bool page_flush(struct page *page);

/* Writes each line that was written to page->words between `before` and `after`, which are markup. */
void page_flush_lines(struct page *page, const char *before, const char *after);

/* Writes a table cell of text. unit: "" or a class of the stylesheet, such as "n" for numbers and "d" for differences. */
__attribute__((format(printf, 3, 4))) void page_cell(struct page *page, const char *unit,
		const char *format, ...);

/*
 * Opens the group of a figure's marks between the horizontal positions `left` and `left` + `width`, in % of the figure.
 * The script of the page can show a part of it. Figures with the same name show the same part.
 */
void page_plot(struct page *page, const char *name, double left, double width);

/* Writes what stands before the body's own elements. write_title: writes the title, as text. */
void page_head(struct page *page, void (*write_title)(struct page *page));

/* Closes <main>, and writes the data of the page, its script and its end. source: markup, what the page was made from. */
void page_foot(struct page *page, const char *source);

#endif
