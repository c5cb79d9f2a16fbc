/* SPDX-License-Identifier: BSD-3-Clause */
/* On which screens a label of a figure is shown, by the room that it has there. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_LABEL_H
#define PHASEMUX_AGENT_PAGE_PARTS_LABEL_H

/* Room that a label needs on screens of 400, 700 and 1000 pixels, in % of the figure. */
struct label_room {
	double narrow, wide, wider;
};

/* Returns the room that a label of this width in pixels needs in a figure as wide as the page. */
struct label_room label_room(double pixels);

/*
 * Returns the classes of the stylesheet, behind others, by which a label in a mark of this width, in % of the figure, is
 * hidden on screens on which it has no room.
 */
const char *label_class(double width, const struct label_room *room);

#endif
