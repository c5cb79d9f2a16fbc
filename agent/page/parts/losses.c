/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/losses.h"

#include <math.h>
#include <string.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define COMPONENTS_MAX 64

static const struct {
	const char *name;
	enum component_kind kind;
} kinds[] = {
	{ "retiring", COMPONENT_WORK },
	{ "base", COMPONENT_WORK },
	{ "completing", COMPONENT_WORK },
	{ "finishing", COMPONENT_WORK },
	{ "dispatching", COMPONENT_WORK },
	{ "not stalled, or not known", COMPONENT_UNEXPLAINED },
	{ "not explained", COMPONENT_UNEXPLAINED },
};

enum component_kind component_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(name, kinds[i].name) == 0)
			return kinds[i].kind;
	return COMPONENT_LOSS;
}

static void add_loss(struct losses *losses, const struct loss *loss)
{
	unsigned i = LOSSES_TOP - 1;

	if (!(loss->share > losses->top[i].share))
		return;
	for (; i && loss->share > losses->top[i - 1].share; i--)
		losses->top[i] = losses->top[i - 1];
	losses->top[i] = *loss;
}

bool losses_apart(const struct loss *one, const struct loss *other)
{
	return one->share - other->share > hypot(one->ci95, other->ci95);
}

/* The components of all phases. */
struct components {
	struct loss loss[COMPONENTS_MAX];
	unsigned count;
};

static struct loss *find_component(struct components *all, const char *name)
{
	for (unsigned i = 0; i < all->count; i++)
		if (strcmp(all->loss[i].component, name) == 0)
			return &all->loss[i];
	if (all->count == COMPONENTS_MAX)
		return NULL;
	all->loss[all->count] = (struct loss){ .component = name };
	return &all->loss[all->count++];
}

/*
 * Adds the components of a phase. Half-widths are added as they are, because the errors of phases may depend on each
 * other, so that the sum is at most too wide. time: share of the time of all ranks that the phase has.
 */
static void add_components(struct components *all, const json_t *phase, double time)
{
	double cpi = report_get(phase, "cpi");
	const json_t *component;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		const char *name = report_get_text(component, "component");
		double part = report_get(component, "cpi") / cpi;
		double error = report_get(component, "ci95") / cpi;
		struct loss *loss;

		if (json_integer_value(json_object_get(component, "level")) ||
				component_kind(name) != COMPONENT_LOSS ||
				!phase_component_known(component) || !isfinite(part))
			continue;
		loss = find_component(all, name);
		if (!loss)
			continue;
		loss->share += time * part;
		loss->ci95 += isfinite(error) ? time * error : 0;
		if (!loss->phases++ || time * part > loss->in_phase) {
			loss->phase = report_get(phase, "id");
			loss->in_phase = time * part;
			loss->of_phase = part;
		}
	}
}

void losses_find(const json_t *report, struct losses *losses)
{
	const json_t *efficiency = json_object_get(report, "efficiency"), *phase;
	double parallel = report_get(efficiency, "parallel");
	double balance = report_get(efficiency, "load_balance");
	struct loss unequal = { .share = 1 - balance, .what = "unequal work (load balance)" };
	struct loss communication = { .share = balance - parallel,
		.what = "communication, and waiting that unequal work does not explain" };
	struct components all = { .count = 0 };
	size_t i;

	*losses = (struct losses){ .top = { { .share = 0 } } };
	add_loss(losses, &unequal);
	add_loss(losses, &communication);
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (phase_has_breakdown(phase))
			add_components(&all, phase,
					report_get(phase, "time_share") *
							(isfinite(parallel) ? parallel : 1));
	for (unsigned k = 0; k < all.count; k++)
		add_loss(losses, &all.loss[k]);
}
