/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is observed in the batch system, and with which settings: what a user asks for with
 * `--phasemux[=...]`, and what the site says in the plugin's arguments. No Slurm in here.
 */
#ifndef PHASEMUX_TOOLS_SLURM_CHOICE_H
#define PHASEMUX_TOOLS_SLURM_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICE_SETTINGS_MAX 32
#define CHOICE_TEXT_MAX     1024

/* Values of settings, by their place in settings_table; NULL: nothing was said. Owned. */
struct choice_values {
	char *of[CHOICE_SETTINGS_MAX];
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

/* What the administrator wrote behind the plugin's name in plugstack.conf. */
struct choice_site {
	bool on;                          /* for those who say nothing */
	double share;                     /* of their jobs, 0 to 1 */
	char partitions[CHOICE_TEXT_MAX]; /* comma list; "": all */
	char library[CHOICE_TEXT_MAX];    /* the preload */
	char folder[CHOICE_TEXT_MAX];     /* where the prologue makes a folder for each job */
	struct choice_values values;
};

/*
 * Takes the argument of --phasemux, NULL or "" for none: a scheme, "on" or "off", then settings
 * KEY=VALUE, separated by commas; a word that is no setting belongs to the list before it
 * (events=cycles,instructions). Forgets what was asked for before. 0, or -EINVAL with one line in
 * `why`, -ENOMEM; the request then says nothing.
 */
int choice_ask(struct choice_request *request, const char *text, char *why, size_t why_size);
void choice_request_fini(struct choice_request *request);

/* What an administrator may leave out. */
void choice_site_init(struct choice_site *site, const char *library, const char *folder);

/*
 * Takes one argument of the plugin: library=PATH, folder=PATH, default=on|off, share=PERCENT%,
 * partitions=A,B, or a setting. 0, or -EINVAL with one line in `why` and nothing changed, -ENOMEM.
 */
int choice_site_set(struct choice_site *site, const char *argument, char *why, size_t why_size);
void choice_site_fini(struct choice_site *site);

/*
 * Is a job observed that asked for nothing? The same answer on all nodes and in all steps of it.
 */
bool choice_site_wants(const struct choice_site *site, uint32_t job, const char *partition);

/*
 * LD_PRELOAD with the library in front of what is there already (NULL: nothing). Not twice, even
 * from another folder. 0 or -ENAMETOOLONG.
 */
int choice_preload(const char *library, const char *existing, char *joined, size_t size);

#endif
