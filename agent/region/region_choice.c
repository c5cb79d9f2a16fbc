/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/region/region_choice.h"

#include <math.h>

/* Time in which the order comes to all ranks: this many times that of the round so far, and at least this. */
#define AHEAD_TIMES   4
#define AHEAD_SECONDS 0.1

void region_choice_look(struct region_choice *choice, const struct region_part *part,
		double seconds, double took)
{
	if (choice->order.iterations || !steady_look(&choice->steady, part))
		return;
	steady_order(&choice->order, part, &choice->wish, fmax(AHEAD_SECONDS, AHEAD_TIMES * took));
	choice->seconds = seconds;
}
