/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the answers of `phasemux whatif` for other programs. */
#ifndef PHASEMUX_TOOLS_WHATIF_WHATIF_JSON_H
#define PHASEMUX_TOOLS_WHATIF_WHATIF_JSON_H

#include <jansson.h>

#include "agent/whatif/answers.h"

/* Returns all answers as a JSON object, or NULL without memory. docs/whatif.md describes it. */
json_t *whatif_json(const struct answers *answers);

#endif
