/* SPDX-License-Identifier: BSD-3-Clause */
/* `phasemux whatif --calibrate`: measures the network for simulations of a result, and keeps what was found beside it. */
#ifndef PHASEMUX_TOOLS_WHATIF_CALIBRATE_H
#define PHASEMUX_TOOLS_WHATIF_CALIBRATE_H

#include <stdbool.h>

/* How long a message takes: latency + its bytes / bandwidth. */
struct calibrated {
	bool within_node;          /* both ranks were on one node */
	double latency, bandwidth; /* seconds, and bytes per second */
};

/* Messages of a size, and the seconds that one takes. */
struct calibrate_message {
	double bytes, seconds;
};

/*
 * Takes the latency from small messages, and with it the bandwidth from large ones. Returns false if the messages do not give
 * them: there are none of these sizes, or large ones are not slower.
 */
bool calibrate_fit(const struct calibrate_message *messages, int count,
		struct calibrated *calibrated);

/*
 * Measures under a launcher, whose words end with NULL, prints what was found, and writes it to the folder of the simulations
 * of the result at `path`, or to `output`. Returns the exit code: 0;
 * 1: it failed. What is wrong is one line on stderr.
 */
int calibrate_run(const char *path, const char *output, char **launcher);

/* Reads what was found from the folder of simulations. Returns false if there is nothing. */
bool calibrate_read(const char *folder, bool within_node, struct calibrated *calibrated);

#endif
