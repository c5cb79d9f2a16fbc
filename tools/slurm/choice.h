/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which jobs of the batch system are observed, and with which settings: from the user's option
 * `--phasemux[=...]`, and the site's arguments of the plugin. This file does not depend on Slurm.
 */
#ifndef PHASEMUX_TOOLS_SLURM_CHOICE_H
#define PHASEMUX_TOOLS_SLURM_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/setup/settings.h"

#define CHOICE_TEXT_MAX 1024

/* Values of settings, by their place in settings_table; NULL: not given. The struct owns them. */
struct choice_values {
	char *value[SETTINGS_MAX];
};

enum choice_wish {
	CHOICE_UNSAID,
	CHOICE_ON,
	CHOICE_OFF,
};

struct choice_request {
	enum choice_wish wish;
	struct choice_values values;
};

/* The administrator's arguments after the plugin's name in plugstack.conf. */
struct choice_site {
	bool by_default;                  /* jobs that ask for nothing are observed */
	double share;                     /* share of these jobs, 0 to 1 */
	char partitions[CHOICE_TEXT_MAX]; /* comma list; "": all */
	char library[CHOICE_TEXT_MAX];    /* the preload */
	char folder[CHOICE_TEXT_MAX];     /* in which the prologue makes a folder for each job */
	struct choice_values values;
};

/*
 * Reads the argument of --phasemux, NULL or "" for none: a scheme, "on" or "off", then settings
 * KEY=VALUE, separated by commas. A word that is no setting belongs to the list before it
 * (events=cycles,instructions). Replaces an earlier request. Returns 0, -EINVAL with one line in
 * `why`, or -ENOMEM; after an error the request is empty.
 */
int choice_ask(struct choice_request *request, const char *text, char *why, size_t why_size);
void choice_request_fini(struct choice_request *request);

/* Sets the default of every argument of the plugin. */
void choice_site_init(struct choice_site *site, const char *library, const char *folder);

/*
 * Reads one argument of the plugin: library=PATH, folder=PATH, default=on|off, share=PERCENT%, partitions=A,B,
 * or a setting. Returns 0, -EINVAL with one line in `why`, or -ENOMEM. An error changes nothing.
 */
int choice_site_set(struct choice_site *site, const char *argument, char *why, size_t why_size);
void choice_site_fini(struct choice_site *site);

/*
 * Returns whether a job that asked for nothing is observed. The answer is equal on all its nodes and in all its
 * steps.
 */
bool choice_site_wants(const struct choice_site *site, uint32_t job, const char *partition);

/*
 * Makes the value of LD_PRELOAD: the library before `existing` (NULL: nothing). The library is not added twice,
 * even from another folder. Returns 0 or -ENAMETOOLONG.
 */
int choice_preload(const char *library, const char *existing, char *joined, size_t size);

#endif
