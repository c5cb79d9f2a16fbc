/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/label.h"

/* Widths of a figure on screens of 400, 700 and 1000 pixels. */
#define NARROW 376.0
#define WIDE   664.0
#define WIDER  960.0

struct label_room label_room(double pixels)
{
	return (struct label_room){ 100 * pixels / NARROW, 100 * pixels / WIDE,
		100 * pixels / WIDER };
}

const char *label_class(double width, const struct label_room *room)
{
	if (width >= room->narrow)
		return "";
	if (width >= room->wide)
		return " wide";
	return width >= room->wider ? " wide wider" : " tiny";
}
