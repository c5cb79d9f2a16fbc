/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/run_json.h"

#include <string.h>

#include "agent/report/document.h"

json_t *run_command(const char *command, size_t bytes)
{
	json_t *words = json_array();

	for (size_t at = 0; at < bytes;) {
		size_t length = strnlen(command + at, bytes - at);
		json_t *text = json_stringn(command + at, length);

		/* not every file name is UTF-8 */
		words = document_append(words, text ? text : json_string("?"));
		at += length + 1;
	}
	return words;
}

json_t *run_programs(const struct programs *programs)
{
	json_t *list;

	if (!programs || programs->count + programs->others < 2)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < programs->count; i++) {
		const struct program *program = &programs->program[i];

		list = document_append(list,
				json_pack("{s:o,s:i,s:i,s:i}", "command",
						run_command(program->command,
								program->command_bytes),
						"ranks", (int)program->ranks, "first_rank",
						(int)program->first, "last_rank",
						(int)program->last));
	}
	if (programs->others)
		list = document_append(list,
				json_pack("{s:n,s:i,s:n,s:n}", "command", "ranks",
						(int)programs->others, "first_rank", "last_rank"));
	return list;
}

json_t *run_job(const struct job *job)
{
	if (!*job->id)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o}", "id", document_text(job->id), "step",
			*job->step ? document_text(job->step) : json_null(), "nodes",
			job->nodes ? json_integer(job->nodes) : json_null(), "partition",
			*job->partition ? document_text(job->partition) : json_null());
}
