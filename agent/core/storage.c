/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/storage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/core.h"
#include "agent/core/rules.h"
#include "agent/host/log.h"
#include "agent/loader/modules.h"
#include "sampling/clock.h"

#define BIN_NS 1e6 /* width of a bin of a new timeline, which doubles in longer runs */

int storage_open_spool(double run)
{
	struct spool_facts *facts = calloc(1, sizeof(*facts));
	int error;

	if (!facts)
		return -ENOMEM;
	spool_describe(facts, &core.counting);
	core.run = facts->run = (uint64_t)run;
	facts->rank = core.world.rank;
	facts->size = core.adapter  ? core.world.size :
			core.family ? FAMILY_MAX :
				      core.world.rank + 1;
	facts->family = core.family != NULL;
	facts->pid = core.process.pid;
	facts->started = core.process.started;
	facts->start = core.process.start;
	facts->ns_per_tick = clock_here.ns_per_tick;
	facts->skip_ticks = core.rules.skip_ticks;
	facts->budget = core.settings.budget;
	facts->scheme = core.settings.scheme;
	facts->alone = !core.adapter;
	facts->has_leads = core.adapter && core.settings.leads != SETTINGS_LEADS_ALL;
	snprintf(facts->library, sizeof(facts->library), "%s", core.world.library);
	snprintf(facts->host, sizeof(facts->host), "%s", core.host);
	memcpy(facts->command, core.command, sizeof(core.command));
	facts->command_bytes = (uint32_t)core.command_bytes;
	facts->job = core.job;
	snprintf(facts->output, sizeof(facts->output), "%s", core.result_folder);
	facts->modules = modules_ever(facts->module, SPOOL_MODULES_MAX);
	core.spool = spool_new(facts, core.settings.spool, core.spool_folder,
			sizeof(core.spool_folder), &error);
	free(facts);
	return core.spool ? 0 : error;
}

int storage_open_ledger(void)
{
	core.rules.start = core.process.start;
	core.rules.bin_ticks = clock_ticks(BIN_NS);
	core.ledger = ledger_new(&core.counting, &core.rules, &core.settings, core.world.rank,
			core.adapter ? core.world.size : 1, core.spool);
	if (!core.ledger)
		return -ENOMEM;
	core.exchange = exchange_new(core.adapter, core.family, core.ledger, core.world.rank,
			rules_budget_of_rounds(), core.process.start);
	if (!core.exchange)
		return -ENOMEM;
	if (core.adapter && core.settings.leads != SETTINGS_LEADS_ALL)
		exchange_name_leads(core.exchange, core.settings.leads, core.counting.plan.groups,
				core.settings.leads_medoids);
	if (core.region)
		exchange_choose_region(core.exchange,
				&(struct region_wish){ core.settings.region_iterations,
						core.settings.region_bytes });
	ledger_keep_bytes(core.ledger, NULL, exchange_bytes(core.exchange));
	return 0;
}

void storage_close(void)
{
	exchange_free(core.exchange);
	core.exchange = NULL;
	ledger_free(core.ledger);
	core.ledger = NULL;
	if (core.spool)
		spool_remove(core.spool);
	spool_free(core.spool);
	core.spool = NULL;
}

void storage_say_recover(const char *before)
{
	core.preload->told();
	if (core.several_hosts)
		log_line("%sphasemux recover --merge --hosts HOST,... %s makes the report of all hosts",
				before, core.spool_folder);
	else
		log_line("%sphasemux recover %s makes the report", before, core.spool_folder);
}

void storage_share_folder(void)
{
	if (!core.adapter || !(core.region || core.settings.report & REPORT_BURSTS))
		return;
	if (core.adapter->broadcast_start(core.result_folder, sizeof(core.result_folder)) ||
			core.adapter->wait())
		log_line("rank 0 cannot tell the others its folder");
}

void storage_record_bursts(void)
{
	char why[sizeof(core.result_folder) + 128];

	if (!(core.settings.report & REPORT_BURSTS))
		return;
	core.bursts = burst_csv_new(core.result_folder, &core.counting, core.world.rank,
			core.process.start, why, sizeof(why));
	if (!core.bursts)
		log_line("bursts are not recorded: %s", why);
	ledger_record(core.ledger, core.bursts);
}
