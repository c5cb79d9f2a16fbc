#include "agent/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -1: not decided yet */
static int speaker = -1;

int log_announced_rank(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
		"SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *rank = getenv(variables[i]);

		if (rank && *rank)
			return atoi(rank);
	}
	return 0;
}

void log_speaker(bool speaks)
{
	speaker = speaks;
}

bool log_speaks(void)
{
	if (speaker < 0)
		speaker = log_announced_rank() == 0;
	return speaker;
}

void log_line(const char *format, ...)
{
	char line[1024] = "phasemux: ";
	size_t length = strlen(line);
	va_list arguments;
	int added;

	if (!log_speaks())
		return;
	va_start(arguments, format);
	added = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	if (added < 0)
		return;
	length = length + (size_t)added < sizeof(line) - 2 ? length + (size_t)added :
							     sizeof(line) - 2;
	line[length++] = '\n';
	/* stderr may be closed or full: then nobody wants to know */
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}
