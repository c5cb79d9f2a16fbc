/*
 * Follows phases from one result to the next (online structure detection, slides 9 and 10; thesis
 * A.5.3): which old phase each new one continues.
 */
#ifndef PHASEMUX_CLUSTER_TRACK_H
#define PHASEMUX_CLUSTER_TRACK_H

#include <stddef.h>
#include <stdint.h>

/*
 * overlap[i * olds + j] is what new phase i and old phase j have in common (time, or a similarity;
 * 0: nothing). Pairs them one to one, largest overlap first (of equal ones, the lower new, then
 * the lower old number), as long as the overlap is above `least`. match[news] gets the old phase
 * of each new one, or -1. overlap is overwritten.
 */
void track_match(double *overlap, size_t news, size_t olds, double least, int32_t *match);

#endif
