#include "cluster/track.h"

void track_match(double *overlap, size_t news, size_t olds, double least, int32_t *match)
{
	for (size_t i = 0; i < news; i++)
		match[i] = -1;
	for (;;) {
		size_t best = 0;

		for (size_t pair = 1; pair < news * olds; pair++)
			if (overlap[pair] > overlap[best])
				best = pair;
		if (!news || !olds || !(overlap[best] > least))
			return;
		match[best / olds] = (int32_t)(best % olds);
		for (size_t i = 0; i < news; i++)
			overlap[i * olds + best % olds] = least;
		for (size_t j = 0; j < olds; j++)
			overlap[best / olds * olds + j] = least;
	}
}
