/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours by which phases are told apart, which are the same in all views and files. */
#ifndef PHASEMUX_CLUSTER_COLOURS_H
#define PHASEMUX_CLUSTER_COLOURS_H

#define COLOURS_COUNT 8

/*
 * Returns the colour of the phase at a place of the list of phases, from 0, as "#rrggbb". They come again after COLOURS_COUNT.
 * Okabe and Ito chose all but the last one for colour-blind readers.
 */
static inline const char *colour_of_phase(unsigned place)
{
	static const char *const colours[COLOURS_COUNT] = { "#d55e00", "#56b4e9", "#009e73",
		"#e69f00", "#0072b2", "#cc79a7", "#f0e442", "#999999" };

	return colours[place % COLOURS_COUNT];
}

#endif
