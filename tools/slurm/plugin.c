/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Slurm plugin (SPANK): `srun|sbatch|salloc --phasemux[=...]`. Checks what the user asks for
 * before the job starts, and sets the environment of the tasks on the nodes. It never fails, except
 * by refusing an option. Any other error is one line, and the job runs without phasemux.
 *
 * Slurm calls one plugin function at a time in a process.
 *
 * Slurm's headers, which only this file includes, are under the GNU General Public License, version 2 or
 * later, with an exception for OpenSSL. To distribute the built plugin, follow these terms, too.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include <slurm/slurm.h>
#include <slurm/spank.h>

/* The macro's 1 is the version of the SPANK interface. */
SPANK_PLUGIN(phasemux, 1)
#pragma GCC visibility pop

#include "agent/setup/settings.h"
#include "tools/slurm/choice.h"

#define ENVIRONMENT_MAX 16384 /* bytes of one variable */

/* Sets a variable, like spank_setenv. */
typedef spank_err_t set_variable(spank_t spank, const char *name, const char *value, int overwrite);

#ifndef SLURM_INTERACTIVE_STEP
#define SLURM_INTERACTIVE_STEP 0xfffffffa
#endif

static struct {
	struct choice_request request;
	struct choice_site site;
	char usage[1024];
} plugin;

static int asked(int value, const char *argument, int remote)
{
	char why[512];

	(void)value;
	if (choice_ask(&plugin.request, argument, why, sizeof(why)) == 0)
		return 0;
	slurm_error("--phasemux: %s", why);
	/* a node whose table is older or newer than that of srun must not fail the job */
	return remote ? 0 : -1;
}

/* Writes the help of the option, from the table of settings. */
static void option_describe(char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size,
			"count the processor's events in every phase of an MPI program, and report at "
			"its end. %s: on, off, a scheme (%s), then KEY=VALUE,... of",
			"CHOICE", settings_table[0].values);

	for (unsigned i = 1; i < settings_count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s %s", i > 1 ? "," : "",
				settings_table[i].name);
}

static int register_option(spank_t spank)
{
	static struct spank_option option = { .name = "phasemux",
		.arginfo = "CHOICE",
		.usage = plugin.usage,
		.has_arg = 2,
		.cb = asked };

	option_describe(plugin.usage, sizeof(plugin.usage));
	return spank_option_register(spank, &option);
}

/*
 * Finds the preload of the installation that this plugin belongs to: in the folder above the plugin's, or beside it (a
 * build tree). The installation may have been moved. "" if the loader does not tell where the plugin is.
 */
static void own_library(char *path, size_t size)
{
	static const char name[] = "/libphasemux.so";
	char folder[CHOICE_TEXT_MAX - sizeof(name)] = "", *slash;
	Dl_info here;

	*path = '\0';
	if (!dladdr((void *)own_library, &here) || !here.dli_fname ||
			strlen(here.dli_fname) >= sizeof(folder))
		return;
	strcpy(folder, here.dli_fname);
	for (unsigned levels = 0; levels < 2 && (slash = strrchr(folder, '/')); levels++) {
		*slash = '\0';
		snprintf(path, size, "%s%s", folder, name);
		if (access(path, R_OK) == 0)
			return;
	}
}

int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	char library[CHOICE_TEXT_MAX], why[512];

	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
	case S_CTX_REMOTE:
		break;
	default:
		return ESPANK_SUCCESS;
	}
	own_library(library, sizeof(library));
	choice_site_init(&plugin.site, library, DEFAULT_FOLDER);
	for (int i = 0; i < argc; i++)
		if (choice_site_set(&plugin.site, argv[i], why, sizeof(why)))
			/* only in the node's log, because users cannot change it */
			slurm_verbose("phasemux: plugstack.conf: %s", why);
	if (register_option(spank) != ESPANK_SUCCESS)
		slurm_verbose("phasemux: the option cannot be registered");
	return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int argc, char *argv[])
{
	(void)spank, (void)argc, (void)argv;
	choice_request_fini(&plugin.request);
	choice_site_fini(&plugin.site);
	return ESPANK_SUCCESS;
}

/* ---- on the node, in each task ---- */

/* Returns the task's variable, which is copied to `text`, or NULL. */
static const char *task_variable(spank_t spank, const char *name, char *text, size_t size)
{
	return spank_getenv(spank, name, text, (int)size) == ESPANK_SUCCESS ? text : NULL;
}

static bool is_wanted(spank_t spank)
{
	char text[CHOICE_TEXT_MAX];
	const char *disable = task_variable(spank, "PHASEMUX_DISABLE", text, sizeof(text));
	uint32_t job = 0;

	if (disable && strcmp(disable, "1") == 0)
		return false;
	if (plugin.request.wish != CHOICE_UNSAID)
		return plugin.request.wish == CHOICE_ON;
	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return false;
	return choice_site_wants(&plugin.site, job,
			task_variable(spank, "SLURM_JOB_PARTITION", text, sizeof(text)));
}

/* Prints the message on one task of the job only. */
static void warn(spank_t spank, const char *message)
{
	uint32_t task = 0;

	if (spank_get_item(spank, S_TASK_GLOBAL_ID, &task) == ESPANK_SUCCESS && task == 0)
		slurm_spank_log("phasemux: off: %s", message);
}

/* Sets the settings. The user's flag has priority over the user's environment, and that over the site. */
static void set_values(spank_t spank, set_variable *set)
{
	for (unsigned i = 0; i < settings_count; i++) {
		const char *mine = plugin.request.values.value[i],
			   *sites = plugin.site.values.value[i];
		char variable[64];

		settings_variable(&settings_table[i], variable, sizeof(variable));
		if (mine)
			set(spank, variable, mine, 1);
		else if (sites)
			set(spank, variable, sites, 0);
	}
}

/* Sets the folder that the prologue made for this job on this node, in which its epilogue looks. */
static void set_spool(spank_t spank, set_variable *set)
{
	char folder[CHOICE_TEXT_MAX + 16];
	struct stat status;
	uint32_t job = 0;

	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return;
	snprintf(folder, sizeof(folder), "%s/%u", plugin.site.folder, job);
	if (lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid())
		set(spank, "PHASEMUX_SPOOL", folder, 0);
}

static void set_preload(spank_t spank, set_variable *set)
{
	char existing[ENVIRONMENT_MAX], joined[ENVIRONMENT_MAX];
	spank_err_t error = spank_getenv(spank, "LD_PRELOAD", existing, sizeof(existing));

	if ((error != ESPANK_SUCCESS && error != ESPANK_ENV_NOEXIST) ||
			choice_preload(plugin.site.library,
					error == ESPANK_SUCCESS ? existing : NULL, joined,
					sizeof(joined))) {
		warn(spank, "LD_PRELOAD is too long to add to");
		return;
	}
	set(spank, "LD_PRELOAD", joined, 1);
}

static void set_all(spank_t spank, set_variable *set)
{
	set_values(spank, set);
	set_spool(spank, set);
	set_preload(spank, set);
}

/* Open MPI's list of variables that mpirun gives only to the ranks. */
#define MPIRUN_LIST "OMPI_MCA_mca_base_env_list"

static spank_err_t add_for_mpirun(spank_t spank, const char *name, const char *value, int overwrite)
{
	char list[ENVIRONMENT_MAX], longer[ENVIRONMENT_MAX], text[4];
	spank_err_t there = spank_getenv(spank, name, text, sizeof(text));
	bool first = spank_getenv(spank, MPIRUN_LIST, list, sizeof(list)) != ESPANK_SUCCESS;

	/* variables of the user go to the ranks without the list, which cannot contain a semicolon */
	if ((there != ESPANK_ENV_NOEXIST && !overwrite) || strchr(value, ';') ||
			snprintf(longer, sizeof(longer), "%s%s%s=%s", first ? "" : list,
					first ? "" : ";", name, value) >= (int)sizeof(longer))
		return ESPANK_NOSPACE;
	return spank_setenv(spank, MPIRUN_LIST, longer, 1);
}

/*
 * Returns whether this is the script of a batch job or the shell of salloc. Their own environment is not
 * changed, except the list of variables that mpirun gives to its ranks. The steps that they start with srun
 * call the plugin themselves.
 */
static bool is_shell(spank_t spank)
{
	uint32_t step = 0;

	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return true;
	return step == SLURM_BATCH_SCRIPT || step == SLURM_INTERACTIVE_STEP ||
			step == SLURM_EXTERN_CONT;
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
	char message[CHOICE_TEXT_MAX + 64];

	(void)argc, (void)argv;
	if (plugin.request.wish == CHOICE_OFF) {
		/* also if the job itself preloads the library */
		spank_setenv(spank, "PHASEMUX_DISABLE", "1", 1);
		return ESPANK_SUCCESS;
	}
	if (!is_wanted(spank))
		return ESPANK_SUCCESS;
	if (access(plugin.site.library, R_OK)) {
		snprintf(message, sizeof(message), "%s is not on this node", plugin.site.library);
		warn(spank, message);
		return ESPANK_SUCCESS;
	}
	set_all(spank, is_shell(spank) ? add_for_mpirun : spank_setenv);
	return ESPANK_SUCCESS;
}
