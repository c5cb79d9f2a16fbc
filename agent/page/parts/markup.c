/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/markup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/page/parts/data.h"

int page_init(struct page *page, const json_t *report, FILE *out)
{
	*page = (struct page){ .report = report, .out = out };
	page->words = open_memstream(&page->collected, &page->size);
	return page->words ? 0 : -ENOMEM;
}

void page_fini(struct page *page)
{
	if (page->words)
		fclose(page->words);
	free(page->collected);
}

void page_markup(struct page *page, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(page->out, format, arguments);
	va_end(arguments);
}

/*
 * Returns the number of bytes of the character at the start of the text, and the character; 0 bytes if they are
 * not UTF-8 of the shortest form.
 */
static unsigned read_character(const unsigned char *text, size_t size, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned length = *text < 0x80 ? 1 :
			*text < 0xc0   ? 0 :
			*text < 0xe0   ? 2 :
			*text < 0xf0   ? 3 :
			*text < 0xf8   ? 4 :
					 0;

	if (!length || length > size)
		return 0;
	*character = length == 1 ? *text : *text & (0x7fU >> length);
	for (unsigned i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (text[i] & 0x3f);
	}
	return *character < least[length] || *character > 0x10ffff ||
					(*character >= 0xd800 && *character < 0xe000) ?
			0 :
			length;
}

/* Returns whether a character is one that shows nothing, but changes how others are shown. */
static bool is_control(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
			(c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
			c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) || (c & 0xfffe) == 0xfffe;
}

static void put_character(FILE *out, const unsigned char *text, unsigned length, uint32_t c)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fwrite(text, 1, length, out);
	}
}

static void put_text(struct page *page, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	while (size) {
		uint32_t character = 0;
		unsigned length = read_character(at, size, &character);

		if (length && !is_control(character))
			put_character(page->out, at, length, character);
		else
			fputc(length && (character == '\n' || character == '\t') ? ' ' : '?',
					page->out);
		at += length ? length : 1;
		size -= length ? length : 1;
	}
}

void page_text(struct page *page, const char *text)
{
	put_text(page, text, strlen(text));
}

__attribute__((format(printf, 2, 0))) static void put_words(struct page *page, const char *format,
		va_list arguments)
{
	vfprintf(page->words, format, arguments);
	page_flush(page);
}

void page_words(struct page *page, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_words(page, format, arguments);
	va_end(arguments);
}

bool page_flush(struct page *page)
{
	size_t size;

	if (fflush(page->words))
		return false;
	size = page->size;
	put_text(page, page->collected, size);
	rewind(page->words);
	return size > 0;
}

void page_flush_lines(struct page *page, const char *before, const char *after)
{
	const char *at, *end;

	if (fflush(page->words))
		return;
	at = page->collected;
	end = at + page->size;
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((line ? line : end) - at);

		page_markup(page, "%s", before);
		put_text(page, at, length);
		page_markup(page, "%s\n", after);
		at += length + 1;
	}
	rewind(page->words);
}

void page_cell(struct page *page, const char *unit, const char *format, ...)
{
	va_list arguments;

	page_markup(page, *unit ? "<td class=\"%s\">" : "<td>%s", unit);
	va_start(arguments, format);
	put_words(page, format, arguments);
	va_end(arguments);
	page_markup(page, "</td>");
}

void page_plot(struct page *page, const char *name, double left, double width)
{
	page_markup(page,
			"<g class=\"plot\" data-view=\"%s\" data-left=\"%.2f\" data-width=\"%.2f\">\n",
			name, left, width);
}

/*
 * The policy lets the browser load nothing, whatever a name in the report holds: no image, no address, and no script and
 * no style except the page's own.
 */
void page_head(struct page *page, void (*write_title)(struct page *page))
{
	page_markup(page,
			"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			"style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n"
			"<meta name=\"referrer\" content=\"no-referrer\">\n<title>phasemux: ",
			page_style_hash, page_script_hash);
	write_title(page);
	page_markup(page, "</title>\n<style>%s</style>\n</head>\n<body>\n", page_style);
}

void page_foot(struct page *page, const char *source)
{
	page_markup(page,
			"</main>\n<footer><p>Made by phasemux from %s, which this page holds "
			"as the element <code>report-data</code>, with seven digits of each "
			"number, four of each interval, without the deciles of counters, the sample of bursts, the timeline and the folds.</p></footer>\n",
			source);
	page_json(page->out, "report-data", page->report, DATA_DIGITS);
	page_markup(page, "<script>%s</script>\n</body>\n</html>\n", page_script);
}
