/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux simulate: runs a program again in the emulator, and says what its phases would do with other caches. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/text/report_line.h"
#include "agent/text/report_text.h"
#include "agent/whatif/caches.h"
#include "agent/whatif/run_times.h"
#include "sampling/emulated/core_model.h"
#include "sampling/emulated/emulator.h"
#include "tools/caches/caches_document.h"
#include "tools/caches/caches_text.h"
#include "tools/commands.h"
#include "tools/machine.h"
#include "tools/options.h"
#include "tools/results/results.h"
#include "tools/run/stop_after.h"
#include "tools/validate/child.h"

static const char usage[] =
		"usage: phasemux simulate [options] DIR|FILE -- COMMAND...\n"
		"       phasemux simulate [--size MIB] [--json] DIR|FILE\n"
		"\n"
		"Simulates the processor's caches: would a larger cache make the phases of a result faster, and by how\n"
		"much? COMMAND is the one that made the result in DIR, as mpirun -n 2 ./a.out. It is run again in an\n"
		"emulated processor, " EMULATOR_SLOWDOWN
		" times slower, which counts what its last cache would miss if it was\n"
		"of half, 2, 4, 8 or 16 times its size. phasemux whatif --cache F then takes what was found for the result.\n"
		"(phasemux whatif --simulate is another thing: it simulates the network.) Without COMMAND, what was\n"
		"simulated before is shown again.\n"
		"\n"
		"  --core NAME         the core model: out-of-order (default), in-order\n"
		"  --size MIB          the last cache for each core as it is, in MiB (default: that of the core model, 2, or\n"
		"                      0.25 of in-order); one of the sizes that are simulated\n"
		"  --stop-after LIMIT  end the run after a number of iterations, or of seconds, as phasemux run does\n"
		"  --json              everything, with full precision\n"
		"  --step STEP         of a job with several steps, this one\n"
		"\n"
		"Exit code: 0; 1: it failed; 2: invalid arguments, no emulator here, or a result that has no answer.\n";

enum {
	CORE = 1,
	JSON,
	SIZE,
	STEP,
	STOP_AFTER,
};

static const struct option long_options[] = {
	{ "core", required_argument, NULL, CORE },
	{ "size", required_argument, NULL, SIZE },
	{ "stop-after", required_argument, NULL, STOP_AFTER },
	{ "json", no_argument, NULL, JSON },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool json;
	const char *core, *stop_after, *step;
	const char *size; /* of the last cache as it is, in MiB; NULL: that of the core model */
	int base;         /* its place in core_sizes; -1: that of the core model */
	char **command;   /* NULL: what was simulated before is shown */
};

static int caches_refuse(const char *path, const char *why, int code)
{
	fprintf(stderr, "phasemux: %s: %s\n", path, why);
	return code;
}

static int set_option(void *data, int option)
{
	struct options *options = data;
	struct stop_limit limit;

	switch (option) {
	case CORE:
		options->core = optarg;
		return core_spec_find(optarg) < 0 ?
				option_refuse("core", optarg, "out-of-order, in-order") :
				0;
	case SIZE:
		options->size = optarg;
		return 0;
	case STOP_AFTER:
		options->stop_after = optarg;
		return stop_limit_take(&limit);
	case STEP:
		return option_take_step(&options->step);
	default:
		options->json = true;
		return 0;
	}
}

/* Finds the size of the last cache as it is. core: the core model; NULL: the default. Returns 0, or 2 after the refusal. */
static int find_base(struct options *options, const char *core)
{
	int found = core ? core_spec_find(core) : 0;
	const struct core_spec *spec = core_spec_of(found < 0 ? 0 : (unsigned)found);
	char allowed[160] = "";
	size_t length = 0;

	options->base = -1;
	for (unsigned i = 0; i < CORE_SIZES && options->size; i++) {
		double size = (double)caches_bytes(spec, i) / (1 << 20);
		char *end;

		if (strtod(options->size, &end) == size && !*end) {
			options->base = (int)i;
			return 0;
		}
		length += (size_t)snprintf(allowed + length, sizeof(allowed) - length, "%s%g",
				i ? ", " : "MiB, one of ", size);
	}
	return options->size ? option_refuse("size", options->size, allowed) : 0;
}

/* ---- the second run ---- */

static const char not_yet[] =
		"nothing was simulated yet; name the COMMAND that made the result behind --";

/* Finds the folder beside the report in the file `path`. make: makes it if it is not there. Returns the exit code. */
static int find_folder(const char *path, bool make, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%.*s" CACHES_FOLDER, slash ? (int)(slash + 1 - path) : 0,
			path);
	/* the program may change its folder */
	if ((!make || mkdir(name, 0777) == 0 || errno == EEXIST) && realpath(name, folder))
		return 0;
	return caches_refuse(name, make ? strerror(errno) : not_yet, make ? 1 : 2);
}

/* Loads the report of a second run that was made before. Returns NULL after a message. */
static json_t *load_before(const char *folder)
{
	char file[PATH_MAX + 32];
	json_error_t error;
	json_t *report;

	snprintf(file, sizeof(file), "%s/run/report.json", folder);
	report = json_load_file(file, 0, &error);
	if (!report || !report_is_valid(report, error.text, sizeof(error.text))) {
		caches_refuse(file, not_yet, 2);
		json_decref(report);
		return NULL;
	}
	return report;
}

/* Runs the command in the emulator. Returns its report, or NULL after a message. */
static json_t *run_again(const struct options *options, const char *folder)
{
	const char *words[24] = { "--counters", "emulated", "--events", "emulated-caches",
		"--scheme", "time-space", "--leads", "all", "--report", "text,json" };
	char output[PATH_MAX + 8];
	size_t count = 0;

	while (words[count])
		count++;
	if (options->core) {
		words[count++] = "--core";
		words[count++] = options->core;
	}
	if (options->stop_after) {
		words[count++] = "--stop-after";
		words[count++] = options->stop_after;
	}
	snprintf(output, sizeof(output), "%s/run", folder);
	child_remove(output);
	fprintf(stderr,
			"phasemux: %s is run again, about " EMULATOR_SLOWDOWN
			" times slower; what it prints is in %s.log\n",
			options->command[0], output);
	return child_run(words, output, options->command);
}

/* ---- the answer ---- */

/* Leaves the document beside the second run. Returns the exit code. */
static int keep(const json_t *document, const char *folder)
{
	char file[PATH_MAX + 32];

	snprintf(file, sizeof(file), "%s/" CACHES_FILE, folder);
	return json_dump_file(document, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) ?
			caches_refuse(file, strerror(errno), 1) :
			0;
}

static int show_caches(const struct run_times *run, bool json)
{
	char *text = json ? json_dumps(run->caches, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) :
			    caches_text(run);

	if (!text) {
		fprintf(stderr, "phasemux: no memory\n");
		return 1;
	}
	printf("%s%s", text, json ? "\n" : "");
	free(text);
	return fflush(stdout) ? 1 : 0;
}

/* Makes the second run. Returns its report, or NULL with the exit code in *code, after a message. */
static json_t *make_run(const struct options *options, const char *path, char folder[PATH_MAX],
		int *code)
{
	json_t *emulated;

	*code = machine_find_emulator();
	if (!*code)
		*code = find_folder(path, true, folder);
	emulated = *code ? NULL : run_again(options, folder);
	if (!*code && !emulated)
		*code = 1;
	return emulated;
}

/* Finds the second run that was made before. Returns as make_run() does. */
static json_t *find_run(struct options *options, const char *path, char folder[PATH_MAX], int *code)
{
	json_t *emulated;

	*code = find_folder(path, false, folder);
	emulated = *code ? NULL : load_before(folder);
	if (!emulated) {
		*code = 2;
		return NULL;
	}
	*code = find_base(options, report_get_text(json_object_get(emulated, "emulated"), "core"));
	if (!*code)
		return emulated;
	json_decref(emulated);
	return NULL;
}

/* Simulates the caches of a run. path: of its report. Returns the exit code. */
static int simulate(struct options *options, const char *path, struct run_times *run)
{
	char folder[PATH_MAX], why[512];
	json_t *emulated, *document;
	int code;

	emulated = options->command ? make_run(options, path, folder, &code) :
				      find_run(options, path, folder, &code);
	if (!emulated)
		return code;
	document = caches_document(run->report, emulated, options->base, why, sizeof(why));
	json_decref(emulated);
	if (!document)
		return caches_refuse(path, why, 2);
	run->caches = document;
	code = keep(document, folder);
	if (!code)
		code = show_caches(run, options->json);
	json_decref(document);
	return code;
}

static int simulate_result(struct options *options, const struct results *results)
{
	static struct run_times run;
	char why[256] = "";
	int code;

	if (results->count != 1) {
		results_refuse(results);
		return 2;
	}
	if (!run_times_read(&run, results->report[0], why, sizeof(why)))
		code = caches_refuse(results->path[0], why, 2);
	else
		code = simulate(options, results->path[0], &run);
	run_times_fini(&run);
	return code;
}

int cmd_simulate(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.has_command = true,
		.set = set_option,
	};
	struct options options = { .base = -1 };
	struct results results = { .count = 0 };
	int code = options_read(argc, argv, &spec, &options);
	int behind = optind + 1;

	if (code)
		return code < 0 ? 0 : code;
	if (behind < argc ? behind + 1 == argc || strcmp(argv[behind], "--") != 0 :
			    behind > argc || options.core || options.stop_after)
		return option_usage(usage);
	options.command = behind < argc ? argv + behind + 1 : NULL;
	if (options.command &&
			find_base(&options, options.core ? options.core : getenv("PHASEMUX_CORE")))
		return 2;
	code = 2;
	if (results_find(&results, argv[optind], options.step) && results_load(&results))
		code = simulate_result(&options, &results);
	results_fini(&results);
	return code;
}
