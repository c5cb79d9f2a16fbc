/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens what keeps the results of this process: the spool, the ledger with its exchange, and the table of
 * bursts. The first process opens its own at its start. A forked child opens its own when it starts to be
 * observed.
 */
#ifndef PHASEMUX_AGENT_CORE_STORAGE_H
#define PHASEMUX_AGENT_CORE_STORAGE_H

/*
 * Opens core.spool, in which a killed run leaves its report. `run`: number of the run. Returns 0 or -errno; then
 * core.spool is NULL.
 */
int storage_open_spool(double run);

/* Opens core.ledger and core.exchange. Returns 0 or -ENOMEM. */
int storage_open_ledger(void);

/*
 * Frees the exchange and the ledger, and removes and frees the spool, each if it is open. Call if no burst was
 * recorded.
 */
void storage_close(void);

/* Says how to make the report from the spools of the ranks. before: what comes first in the line. */
void storage_say_recover(const char *before);

/*
 * Makes the folder of rank 0 that of all ranks, if others write to it, too. With MPI, all ranks call it together.
 */
void storage_share_folder(void);

/*
 * With PHASEMUX_REPORT=bursts, records all bursts in core.bursts from now on; otherwise does nothing. With
 * MPI, all ranks call it together. If this is not possible, one line says so, and the run goes on.
 */
void storage_record_bursts(void);

#endif
