/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t, for the half-widths of 95% intervals. */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_STUDENT_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_STUDENT_H

#define Z95 1.959963985 /* 97.5% quantile of the normal distribution */

/* Returns the 97.5% quantile of Student's t: exact for few degrees of freedom, then Cornish-Fisher. */
double student_quantile(double df);

#endif
