/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux manual: writes the manual page of each command. The build calls it. A page is made from the table of
 * commands, and from the options and the text that --help prints.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux manual DIR\n"
		"\n"
		"Writes the manual page of each command of phasemux to the folder DIR: phasemux-run.1 and so on.\n";

static const char option_begin[] = "  -", exit_begin[] = "Exit code: ";

/* A part of the text of --help: a line, or a block of lines without an empty one between them. */
struct span {
	const char *text;
	size_t length;
};

/* The parts of a page that blocks become. */
enum part {
	PART_SYNOPSIS,    /* how the command is called: the first block */
	PART_DESCRIPTION, /* what stands before the options */
	PART_OPTIONS,
	PART_NOTES, /* what stands behind the options */
	PART_EXIT,  /* exit codes */
};

/* What is written into a page. */
struct page {
	FILE *out;
	const struct command *command;
	const struct option_spec *spec; /* of the command, with the text of its --help */
};

static bool begins(struct span span, const char *words)
{
	size_t length = strlen(words);

	return span.length >= length && memcmp(span.text, words, length) == 0;
}

static struct span skip(struct span span, size_t length)
{
	return (struct span){ span.text + length, span.length - length };
}

static size_t count_blanks(struct span line)
{
	size_t blanks = 0;

	while (blanks < line.length && line.text[blanks] == ' ')
		blanks++;
	return blanks;
}

/* Takes the first line off the text, without its end. Returns false if there is none. */
static bool take_line(struct span *text, struct span *line)
{
	const char *end;

	if (!text->length)
		return false;
	end = memchr(text->text, '\n', text->length);
	*line = (struct span){ text->text, end ? (size_t)(end - text->text) : text->length };
	*text = skip(*text, line->length + (end != NULL));
	return true;
}

/* Takes the first block off the text. Returns false if there is none. */
static bool take_block(struct span *text, struct span *block)
{
	struct span line, rest = *text;

	do {
		*text = rest;
		if (!take_line(&rest, &line))
			return false;
	} while (!line.length);
	*block = *text;
	do {
		*text = rest;
	} while (take_line(&rest, &line) && line.length);
	block->length -= text->length;
	return true;
}

static bool has_options(struct span block)
{
	struct span line;

	while (take_line(&block, &line))
		if (begins(line, option_begin))
			return true;
	return false;
}

static void put_character(FILE *out, char character)
{
	if (character == '\\')
		fputs("\\e", out);
	else if (character == '-')
		fputs("\\-", out); /* a sign that can be copied into a shell */
	else
		fputc(character, out);
}

static void put_font(FILE *out, struct span word, char font)
{
	fprintf(out, "\\f%c", font);
	for (size_t i = 0; i < word.length; i++)
		put_character(out, word.text[i]);
	fputs("\\fR", out);
}

/* Writes a text, in which options are bold and, if `names`, words in capitals are italic. */
static void put_text(FILE *out, struct span text, bool names)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			  letters[] = "abcdefghijklmnopqrstuvwxyz-";
	char before = ' ';

	/* a point or a quote at the start of a line would be a request */
	if (begins(text, ".") || begins(text, "'"))
		fputs("\\&", out);
	while (text.length) {
		size_t length = 1;

		if (*text.text == '-' && strchr(" ([|", before)) {
			while (length < text.length && text.text[length] &&
					strchr(letters, text.text[length]))
				length++;
			put_font(out, (struct span){ text.text, length }, 'B');
		} else if (names && strchr(capitals, *text.text)) {
			while (length < text.length && text.text[length] &&
					strchr(capitals, text.text[length]))
				length++;
			put_font(out, (struct span){ text.text, length }, 'I');
		} else {
			put_character(out, *text.text);
		}
		before = text.text[length - 1];
		text = skip(text, length);
	}
	fputc('\n', out);
}

static void put_paragraph(FILE *out, struct span block)
{
	struct span line;

	while (take_line(&block, &line))
		put_text(out, line, false);
}

static void put_synopsis(const struct page *page, struct span block)
{
	struct span line;

	fputs(".nf\n", page->out);
	while (take_line(&block, &line)) {
		char name[64];

		line = skip(line, begins(line, "usage: ") ? strlen("usage: ") : count_blanks(line));
		snprintf(name, sizeof(name), "phasemux %s", page->command->name);
		if (begins(line, name)) {
			put_font(page->out, (struct span){ line.text, strlen(name) }, 'B');
			line = skip(line, strlen(name));
		}
		put_text(page->out, line, true);
	}
	fputs(".fi\n", page->out);
}

/* Returns the column in which the texts of the options begin: behind two blanks, or in the lines below an option. */
static size_t find_column(struct span block)
{
	struct span line;
	size_t column = SIZE_MAX;

	while (take_line(&block, &line)) {
		size_t at = count_blanks(line);

		if (begins(line, option_begin)) {
			const char *gap = memmem(line.text + at, line.length - at, "  ", 2);

			if (!gap)
				continue;
			at = (size_t)(gap - line.text);
			at += count_blanks(skip(line, at));
		}
		if (at > strlen(option_begin) && at < column)
			column = at;
	}
	return column;
}

/* Returns whether these flags are one option that needs a value, and do not name the value. */
static bool lacks_value(const struct page *page, struct span flags)
{
	for (const struct option *option = page->spec->table; option && option->name; option++)
		if (option->has_arg == required_argument &&
				flags.length == 2 + strlen(option->name) &&
				memcmp(flags.text + 2, option->name, flags.length - 2) == 0)
			return true;
	return false;
}

/* Writes an option and the line behind it. */
static void put_option(const struct page *page, struct span line, size_t column)
{
	FILE *out = page->out;
	struct span flags = skip(line, count_blanks(line));
	const char *gap = memmem(flags.text, flags.length, "  ", 2);
	size_t end = gap ? (size_t)(gap - line.text) : column;
	struct span text;

	/* flags may reach beyond the column, and their text is below them then */
	if (end > line.length || (!gap && line.text[end - 1] != ' '))
		end = line.length;
	text = skip(line, end);
	text = skip(text, count_blanks(text));
	flags.length = end - (size_t)(flags.text - line.text);
	while (flags.length && flags.text[flags.length - 1] == ' ')
		flags.length--;
	fputs(".TP\n", out);
	if (lacks_value(page, flags)) {
		put_font(out, flags, 'B');
		fputs(" \\fIVALUE\\fR\n", out);
	} else {
		put_text(out, flags, true);
	}
	if (text.length)
		put_text(out, text, false);
}

static void put_options(const struct page *page, struct span block)
{
	FILE *out = page->out;
	size_t column = find_column(block);
	struct span line;

	while (take_line(&block, &line)) {
		size_t blanks = count_blanks(line);

		if (begins(line, option_begin)) {
			put_option(page, line, column);
			continue;
		}
		if (!blanks)
			fputs(".PP\n", out);
		else if (blanks > column)
			fputs(".br\n", out);
		put_text(out, skip(line, blanks), false);
	}
}

static enum part part_of(struct span block, bool first, bool after_options)
{
	if (first)
		return PART_SYNOPSIS;
	if (has_options(block))
		return PART_OPTIONS;
	if (begins(block, exit_begin))
		return PART_EXIT;
	return after_options ? PART_NOTES : PART_DESCRIPTION;
}

/* Writes the blocks of one part, below a title. Returns whether there are any. */
static bool put_part(const struct page *page, enum part part, const char *title)
{
	struct span rest = { page->spec->usage, strlen(page->spec->usage) }, block;
	bool first = true, after_options = false, found = false;

	for (; take_block(&rest, &block); first = false) {
		enum part this_part = part_of(block, first, after_options);

		after_options = after_options || this_part == PART_OPTIONS;
		if (this_part != part)
			continue;
		if (!found)
			fprintf(page->out, ".SH %s\n", title);
		else if (part != PART_OPTIONS)
			fputs(".PP\n", page->out);
		found = true;
		if (part == PART_SYNOPSIS)
			put_synopsis(page, block);
		else if (part == PART_OPTIONS)
			put_options(page, block);
		else
			put_paragraph(page->out,
					begins(block, exit_begin) ?
							skip(block, strlen(exit_begin)) :
							block);
	}
	return found;
}

static void put_page(const struct page *page)
{
	FILE *out = page->out;

	fputs(".\\\" SPDX-License-Identifier: BSD-3-Clause\n.TH PHASEMUX\\-", out);
	for (const char *at = page->command->name; *at; at++)
		fputc(*at - 'a' + 'A', out);
	fputs(" 1 \"\" \"phasemux " PHASEMUX_VERSION "\" \"phasemux\"\n.SH NAME\n", out);
	fprintf(out, "phasemux\\-%s \\- ", page->command->name);
	put_text(out, (struct span){ page->command->help, strlen(page->command->help) }, false);
	put_part(page, PART_SYNOPSIS, "SYNOPSIS");
	put_part(page, PART_DESCRIPTION, "DESCRIPTION");
	if (!put_part(page, PART_OPTIONS, "OPTIONS"))
		fputs(".SH OPTIONS\n", out);
	fputs(".TP\n\\fB\\-\\-help\\fR, \\fB\\-h\\fR\nshows how the command is used\n", out);
	put_part(page, PART_NOTES, "NOTES");
	if (!put_part(page, PART_EXIT, "\"EXIT STATUS\""))
		fputs(".SH \"EXIT STATUS\"\n"
		      "0; 1: the work could not be done; 2: invalid arguments.\n",
				out);
	fputs(".SH \"SEE ALSO\"\n.BR phasemux (1)\n", out);
}

static void write_page(void *data, const struct option_spec *spec)
{
	struct page *page = data;

	page->spec = spec;
	put_page(page);
}

/* Writes the page of a command. Returns 0 or -errno. */
static int write_manual(const char *folder, const struct command *command)
{
	char path[PATH_MAX], *argv[] = { (char *)command->name, NULL };
	struct page page = { .command = command };
	bool failed;

	if (snprintf(path, sizeof(path), "%s/phasemux-%s.1", folder, command->name) >= PATH_MAX)
		return -ENAMETOOLONG;
	page.out = fopen(path, "w");
	if (!page.out)
		return -errno;
	options_visit(write_page, &page);
	command->run(1, argv);
	options_visit(NULL, NULL);
	failed = ferror(page.out);
	return fclose(page.out) || failed ? -EIO : 0;
}

int cmd_manual(int argc, char **argv)
{
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 != argc)
		return option_usage(usage);
	for (size_t i = 0; i < commands_count; i++) {
		int error = commands[i].help ? write_manual(argv[optind], &commands[i]) : 0;

		if (error) {
			fprintf(stderr, "phasemux: %s: %s\n", argv[optind], strerror(-error));
			return 1;
		}
	}
	return 0;
}
