/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/platform.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Seconds of bursts are seconds of the simulated processors: both count with this speed. */
#define SPEED "1Gf"

/* Opens a file in the folder. Returns NULL with one line in `why`. */
static FILE *open_in(const char *folder, const char *name, char *why, size_t why_size)
{
	char file[PLATFORM_WORD_MAX];
	FILE *out;

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	out = fopen(file, "w");
	if (!out)
		snprintf(why, why_size, "%s: %s", file, strerror(errno));
	return out;
}

/* Closes a file. Returns false with one line in `why` if it was not written. */
static bool close_in(FILE *out, const char *folder, char *why, size_t why_size)
{
	bool failed = ferror(out);

	if (!fclose(out) && !failed)
		return true;
	snprintf(why, why_size, "%s: the files for SimGrid cannot be written: %s", folder,
			strerror(errno));
	return false;
}

static bool write_machine(const struct platform *p, const char *folder, char *why, size_t why_size)
{
	long nodes = (p->ranks + p->ranks_per_node - 1) / p->ranks_per_node;
	FILE *out = open_in(folder, "platform.xml", why, why_size);

	if (!out)
		return false;
	fputs("<?xml version='1.0'?>\n"
	      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
	      "<platform version=\"4.1\">\n",
			out);
	fprintf(out,
			"  <cluster id=\"nodes\" prefix=\"node\" suffix=\"\" radical=\"0-%ld\" speed=\"" SPEED
			"\" core=\"%ld\" bw=\"%.6gBps\" lat=\"%.6gs\" loopback_bw=\"%.6gBps\" "
			"loopback_lat=\"%.6gs\"/>\n",
			nodes - 1, p->ranks_per_node, p->bandwidth, p->latency / 2,
			p->memory_bandwidth, p->memory_latency);
	fputs("</platform>\n", out);
	return close_in(out, folder, why, why_size);
}

/* The node of each rank: ranks with neighbouring numbers are on one node, as launchers start them. */
static bool write_places(const struct platform *p, const char *folder, char *why, size_t why_size)
{
	FILE *out = open_in(folder, "hosts", why, why_size);

	if (!out)
		return false;
	for (long rank = 0; rank < p->ranks; rank++)
		fprintf(out, "node%ld\n", rank / p->ranks_per_node);
	return close_in(out, folder, why, why_size);
}

static void add_word(struct platform_command *command, size_t *count, const char *word)
{
	snprintf(command->text[*count], sizeof(command->text[*count]), "%s", word);
	command->words[*count] = command->text[*count];
	(*count)++;
}

bool platform_write(const struct platform *platform, const char *folder,
		struct platform_command *command, char *why, size_t why_size)
{
	/*
	 * Bursts take the time that they are told to take, and the replay's own work takes none. The factors are those by which
	 * SimGrid multiplies latency and bandwidth for messages of each size, as on a certain cluster: about 2 and 0.7.
	 */
	static const char *const settings[] = { "--cfg=smpi/host-speed:" SPEED,
		"--cfg=smpi/simulate-computation:no", "--cfg=smpi/lat-factor:0:1",
		"--cfg=smpi/bw-factor:0:1", "--cfg=network/weight-S:0",
		"--log=root.thres:warning" };
	char file[PLATFORM_WORD_MAX];
	size_t count = 0;

	if (!write_machine(platform, folder, why, why_size) ||
			!write_places(platform, folder, why, why_size))
		return false;
	memset(command->words, 0, sizeof(command->words));
	add_word(command, &count, "smpirun");
	add_word(command, &count, "-np");
	snprintf(file, sizeof(file), "%ld", platform->ranks);
	add_word(command, &count, file);
	add_word(command, &count, "-platform");
	snprintf(file, sizeof(file), "%s/platform.xml", folder);
	add_word(command, &count, file);
	add_word(command, &count, "-hostfile");
	snprintf(file, sizeof(file), "%s/hosts", folder);
	add_word(command, &count, file);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		add_word(command, &count, settings[i]);
	return true;
}
