/* SPDX-License-Identifier: BSD-3-Clause */
/* The models' texts (JSON) as built into the library; the table is written at build time. */
#ifndef PHASEMUX_MULTIPLEX_MODELS_MODELS_H
#define PHASEMUX_MULTIPLEX_MODELS_MODELS_H

struct model_text {
	const char *name;       /* the file's, without ".json" */
	const char *title;      /* one line */
	const char *processors; /* the file's rows of these (JSON): to choose one, not all are parsed */
	const char *text;       /* the whole file */
};

extern const struct model_text model_texts[];
extern const unsigned model_text_count;

#endif
