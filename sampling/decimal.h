/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers in the environment and in names of files. A compiler turns atoi() into another function with each version of
 * the C library, and the preload must load in programs of older ones.
 */
#ifndef PHASEMUX_SAMPLING_DECIMAL_H
#define PHASEMUX_SAMPLING_DECIMAL_H

#include <limits.h>

/* Returns the number at the start of the text, or 0 if there is none; INT_MAX if it is larger than that. */
static inline int decimal_read(const char *text)
{
	long long number = 0;

	for (; *text >= '0' && *text <= '9' && number <= INT_MAX; text++)
		number = number * 10 + (*text - '0');
	return number > INT_MAX ? INT_MAX : (int)number;
}

#endif
