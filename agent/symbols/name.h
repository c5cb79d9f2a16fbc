/* SPDX-License-Identifier: BSD-3-Clause */
/* Shortens names of functions that are too long for where they are shown. */
#ifndef PHASEMUX_AGENT_SYMBOLS_NAME_H
#define PHASEMUX_AGENT_SYMBOLS_NAME_H

#include <stddef.h>

/*
 * Shortens a name to at most `most` characters (at least 8), in place. Template arguments are cut first,
 * the longest list before the others: "foo<a, b, c>::bar" becomes "foo<a, ..., c>::bar", then
 * "foo<...>::bar". If the name is still too long, its middle is cut: "begin...end".
 */
void name_shorten(char *name, size_t most);

#endif
