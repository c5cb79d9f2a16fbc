/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux completions: prints the script by which a shell completes the words after phasemux. The build calls it. All
 * words come from the tables of commands, options, settings and CPI models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/setup/settings.h"
#include "multiplex/models/model.h"
#include "tools/commands.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux completions bash|zsh|fish\n"
		"\n"
		"Prints the script by which this shell completes the arguments of phasemux.\n";

#define WORDS_MAX 4096
#define HELP_MAX  160

/* An option of a command, as the shells need it. */
struct word {
	const char *command, *name;
	bool has_value, takes_file;
	char values[WORDS_MAX]; /* words that its value may be, with blanks between them */
	char help[HELP_MAX];    /* one line, without quotes or brackets */
};

/* What a shell's script needs. Each function prints a part of it. */
struct shell {
	const char *name;
	void (*begin)(void);
	void (*begin_command)(const struct command *command, const struct option_spec *spec);
	void (*option)(const struct word *word);
	void (*end_command)(const struct command *command, const struct option_spec *spec);
	void (*end)(void);
};

static const struct shell *shell;

static void add_word(char *words, const char *word, size_t length)
{
	size_t used = strlen(words);

	if (used + length + 2 < WORDS_MAX)
		snprintf(words + used, WORDS_MAX - used, "%s%.*s", used ? " " : "", (int)length,
				word);
}

static void add_models(char *words)
{
	for (unsigned i = 0; i < model_count(); i++)
		add_word(words, model_name_of(i), strlen(model_name_of(i)));
}

/* Adds the words of a text for people: "auto, a comma list of text, json" has auto, text and json. */
static void add_values(char *words, const char *text)
{
	static const char list[] = "a comma list of ",
			  letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	while (*text) {
		size_t length;

		text += strspn(text, ", ");
		if (strncmp(text, list, sizeof(list) - 1) == 0)
			text += sizeof(list) - 1;
		length = strcspn(text, ",");
		if (length && strspn(text, letters) == length)
			add_word(words, text, length);
		text += length;
	}
}

/* Leaves out what a shell would take for quotes or brackets. */
static void make_plain(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!strchr("'\"[]\\$`", *text))
			*to++ = *text;
	*to = '\0';
}

/* Takes what the usage says of an option: the text after it and two blanks or more. "": nothing. */
static void find_help(char *help, const char *text, const char *name)
{
	char flag[64];
	const char *at = text;
	size_t length;

	snprintf(flag, sizeof(flag), "--%s", name);
	*help = '\0';
	while ((at = strstr(at, flag))) {
		at += strlen(flag);
		if (*at == ' ' || *at == ',')
			break;
	}
	at = at ? strstr(at, "  ") : NULL;
	if (!at)
		return;
	at += strspn(at, " ");
	length = strcspn(at, "\n");
	snprintf(help, HELP_MAX, "%.*s", (int)length, at);
	make_plain(help);
}

static void word_describe(struct word *word, const struct command *command,
		const struct option *option, const char *text)
{
	*word = (struct word){ .command = command->name,
		.name = option->name,
		.has_value = option->has_arg == required_argument,
		.takes_file = command->run != cmd_run };
	for (unsigned i = 0; i < settings_count && command->run == cmd_run; i++)
		if (option->val == (int)i + 1) {
			add_values(word->values, settings_table[i].values);
			word->takes_file = strstr(settings_table[i].values, "folder") ||
					strstr(settings_table[i].values, "path");
			if (strcmp(option->name, "events") == 0)
				add_models(word->values);
		}
	find_help(word->help, option->val == OPTION_HELP ? "--help  how it is used" : text,
			option->name);
}

static void visit(void *data, const struct option_spec *spec)
{
	const struct command *command = data;
	const struct option *table = spec->table ? spec->table : options_help_alone;
	static struct word word;

	shell->begin_command(command, spec);
	for (const struct option *option = table; option->name; option++) {
		/* --burst_min is another form of --burst-min */
		if (option > table && option->val == option[-1].val)
			continue;
		word_describe(&word, command, option, spec->usage);
		shell->option(&word);
	}
	shell->end_command(command, spec);
}

static bool takes_models(const struct command *command)
{
	return command->run == cmd_models;
}

static void print_models(void)
{
	char words[WORDS_MAX] = "";

	add_models(words);
	fputs(words, stdout);
}

/* Prints the names of the commands, with blanks between them. */
static void print_commands(void)
{
	for (size_t i = 0; i < commands_count; i++)
		if (commands[i].help)
			printf("%s%s", i ? " " : "", commands[i].name);
}

/* Returns whether users see this command, and then its help. */
static bool command_help(char help[HELP_MAX], const struct command *command)
{
	if (!command->help)
		return false;
	snprintf(help, HELP_MAX, "%s", command->help);
	make_plain(help);
	return true;
}

static void bash_begin(void)
{
	fputs("# bash completion for phasemux\n"
	      "_phasemux()\n"
	      "{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} words='' i\n"
	      "\tlocal options='' files=1\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$word\" = = ]; then\n"
	      "\t\tword=''\n"
	      "\telif [ \"$option\" = = ]; then\n"
	      "\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
			stdout);
	print_commands();
	fputs(" --help --version' -- \"$word\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t[ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset $((i + 1))\n"
	      "\t\telse\n"
	      "\t\t\tCOMPREPLY=($(compgen -c -- \"$word\" | sort -u))\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tdone\n"
	      "\tcase ${COMP_WORDS[1]} in\n",
			stdout);
}

static void bash_begin_command(const struct command *command, const struct option_spec *spec)
{
	(void)spec;
	printf("\t%s)\n", command->name);
	if (takes_models(command)) {
		fputs("\t\twords='", stdout);
		print_models();
		fputs("'\n", stdout);
	}
}

static void bash_option(const struct word *word)
{
	printf("\t\toptions+=' --%s'\n", word->name);
	if (word->has_value)
		printf("\t\t[ \"$option\" != --%s ] || { words='%s' files=%s; _phasemux_value; return; }\n",
				word->name, word->values, word->takes_file ? "1" : "");
}

static void bash_end_command(const struct command *command, const struct option_spec *spec)
{
	(void)command, (void)spec;
	fputs("\t\t;;\n", stdout);
}

static void bash_end(void)
{
	fputs("\tesac\n"
	      "\tcase $word in\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
	      "\t*) _phasemux_value ;;\n"
	      "\tesac\n"
	      "}\n"
	      "# completes one of $words, or a file if there are none and $files is not empty\n"
	      "_phasemux_value()\n"
	      "{\n"
	      "\tif [ -n \"$words\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	      "\telif [ -n \"$files\" ]; then\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _phasemux phasemux\n",
			stdout);
}

static void zsh_begin(void)
{
	char help[HELP_MAX];

	fputs("#compdef phasemux\n"
	      "local -a names\n"
	      "local name=$words[2]\n"
	      "names=(\n",
			stdout);
	for (size_t i = 0; i < commands_count; i++)
		if (command_help(help, &commands[i]))
			printf("\t'%s:%s'\n", commands[i].name, help);
	fputs(")\n"
	      "if (( CURRENT == 2 )); then\n"
	      "\t_describe command names\n"
	      "\treturn\n"
	      "fi\n"
	      "shift words\n"
	      "(( CURRENT-- ))\n"
	      "case $name in\n",
			stdout);
}

static void zsh_begin_command(const struct command *command, const struct option_spec *spec)
{
	(void)spec;
	printf("%s)\n\t_arguments -S", command->name);
}

static void zsh_option(const struct word *word)
{
	printf(" \\\n\t\t'--%s%s[%s]", word->name, word->has_value ? "=" : "", word->help);
	if (word->has_value && *word->values)
		printf(":value:(%s)'", word->values);
	else if (word->has_value)
		printf(":value:%s'", word->takes_file ? "_files" : " ");
	else
		putchar('\'');
}

static void zsh_end_command(const struct command *command, const struct option_spec *spec)
{
	fputs(" \\\n\t\t", stdout);
	if (takes_models(command)) {
		fputs("'1:model:(", stdout);
		print_models();
		fputs(")'", stdout);
	} else {
		fputs(spec->has_command ? "'*:::command:_normal'" : "'*:file:_files'", stdout);
	}
	fputs("\n\t;;\n", stdout);
}

static void zsh_end(void)
{
	fputs("esac\n", stdout);
}

static void fish_begin(void)
{
	char help[HELP_MAX];

	fputs("# fish completion for phasemux\n", stdout);
	for (size_t i = 0; i < commands_count; i++)
		if (command_help(help, &commands[i]))
			printf("complete -c phasemux -n __fish_use_subcommand -f -a %s -d '%s'\n",
					commands[i].name, help);
}

static void fish_begin_command(const struct command *command, const struct option_spec *spec)
{
	(void)spec;
	if (takes_models(command)) {
		printf("complete -c phasemux -n '__fish_seen_subcommand_from %s' -f -a '",
				command->name);
		print_models();
		fputs("'\n", stdout);
	}
}

static void fish_option(const struct word *word)
{
	printf("complete -c phasemux -n '__fish_seen_subcommand_from %s' -l %s", word->command,
			word->name);
	if (word->has_value && *word->values)
		printf(" -x -a '%s'", word->values);
	else if (word->has_value)
		fputs(word->takes_file ? " -r" : " -x", stdout);
	if (*word->help)
		printf(" -d '%s'", word->help);
	putchar('\n');
}

static void fish_end_command(const struct command *command, const struct option_spec *spec)
{
	(void)command, (void)spec;
}

static void fish_end(void)
{
}

static const struct shell shells[] = {
	{ "bash", bash_begin, bash_begin_command, bash_option, bash_end_command, bash_end },
	{ "zsh", zsh_begin, zsh_begin_command, zsh_option, zsh_end_command, zsh_end },
	{ "fish", fish_begin, fish_begin_command, fish_option, fish_end_command, fish_end },
};

static int print(void)
{
	shell->begin();
	for (size_t i = 0; i < commands_count; i++) {
		char *argv[] = { (char *)commands[i].name, NULL };

		if (!commands[i].help)
			continue;
		options_visit(visit, (void *)&commands[i]);
		commands[i].run(1, argv);
	}
	options_visit(NULL, NULL);
	shell->end();
	return fflush(stdout) || ferror(stdout);
}

int cmd_completions(int argc, char **argv)
{
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 != argc)
		return option_usage(usage);
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		shell = &shells[i];
		if (strcmp(argv[optind], shell->name) == 0)
			return print();
	}
	return option_refuse("completions", argv[optind], "bash, zsh, fish");
}
