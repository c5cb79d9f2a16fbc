/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux doctor: says in plain words what this machine can count and what would allow more. */
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mpi/mpi_family.h"
#include "agent/setup/counting.h"
#include "agent/setup/settings.h"
#include "multiplex/models/model.h"
#include "sampling/clock.h"
#include "sampling/emulated/emulator.h"
#include "sampling/names/event_names.h"
#include "sampling/probe.h"
#include "sampling/rdpmc.h"
#include "tools/commands.h"
#include "tools/doctor/holders.h"
#include "tools/doctor/mpis.h"
#include "tools/machine.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux doctor\n"
		"\n"
		"What this machine can count, what that costs, who else holds counters, which MPIs are served, and\n"
		"what to change for more. Ends with 0 when something can be counted.\n";

#define COLUMNS     100
#define LABEL_WIDTH 16
#define HOLDERS     5

/* Prints "label   text", wrapped. A label of "" continues the text before. */
__attribute__((format(printf, 2, 3))) static void tell(const char *label, const char *format, ...)
{
	char text[1024], *word, *save;
	va_list arguments;
	int column;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	column = printf("%-*s", LABEL_WIDTH, label);
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (column > LABEL_WIDTH && column + 1 + (int)strlen(word) > COLUMNS) {
			putchar('\n');
			column = printf("%-*s", LABEL_WIDTH, "");
		}
		column += printf("%s%s", column > LABEL_WIDTH ? " " : "", word);
	}
	putchar('\n');
}

static void format_time(char *text, size_t size, double ns)
{
	if (ns < 1000)
		snprintf(text, size, "%.0f ns", ns);
	else if (ns < 100000)
		snprintf(text, size, "%.1f us", ns / 1000);
	else
		snprintf(text, size, "%.0f us", ns / 1000);
}

static void tell_processor(const struct processor *processor)
{
	const char *table = event_table_name(processor);

	if (processor->vendor[0])
		tell("processor", "%s (%s family %u model %u)%s", processor->brand,
				processor->vendor, processor->family, processor->model,
				processor->hypervisor ? ", in a virtual machine" : "");
	else
		tell("processor", "not known");
	if (table)
		tell("event names",
				"libpfm4's table %s, its own or the nearest; phasemux events "
				"lists them",
				table);
	else
		tell("event names",
				"no table of libpfm4 is at hand: the kernel's generic events, and "
				"raw codes (rHEX)");
}

static void tell_counters(const struct probe *probe, bool hypervisor)
{
	unsigned given = probe->counters_open - probe->counters_held;
	char text[512];

	if (probe->hardware && probe->counters == 1)
		tell("counters",
				"1 counter counts: too few, since cycles and instructions take "
				"two");
	else if (probe->hardware && probe->counters < given)
		tell("counters",
				"%u counters count. %u open as one group, but the highest of "
				"those count nothing, and do not say so: groups are packed for %u",
				probe->counters, given, probe->counters);
	else if (probe->hardware)
		tell("counters", "%u counters count", probe->counters);
	probe_explain(probe, hypervisor, text, sizeof(text));
	if (text[0])
		tell("counters", "none: %s", text);
	if (!probe->software)
		tell("", "Nor the kernel's software events (%s): phases are found from time alone",
				strerror(probe->software_errno));
	else if (!probe->hardware)
		tell("",
				"The kernel's software events can be counted: phases are found from time, "
				"without CPI");
}

static void tell_costs(const struct probe *probe)
{
	static const char *const ways[] = {
		[READ_SYSCALL] = "a read system call",
		[READ_RDPMC] = RDPMC_NAME,
	};
	char read[32], other[32], switched[32], sampled[32];
	struct settings defaults;

	if (!(probe->read_ns > 0))
		return;
	settings_defaults(&defaults);
	format_time(read, sizeof(read), probe->read_ns);
	format_time(other, sizeof(other), probe->read_other_ns);
	format_time(switched, sizeof(switched), probe->switch_ns);
	if (probe->read_other_ns > 0)
		tell("a read costs", "%s for a full group by %s, the cheaper way (%s by %s)", read,
				ways[probe->method], other, ways[1 - probe->method]);
	else
		tell("a read costs", "%s for a full group by %s, the only way here", read,
				ways[probe->method]);
	if (probe->hardware && probe->user_access == 0)
		tell("",
				"reads without a system call are off, and take a tenth of this time; as "
				"root: sysctl kernel.perf_user_access=1");
	tell("",
			"1%% of the time, the default budget, pays for %.2g thousand bursts a second at "
			"most, where ranks wait for each other for a third of it; of more, a part is read",
			defaults.budget * 1e9 / (2 * probe->read_ns) / 1000);
	tell("a switch costs", "%s from one group to another", switched);
	if (!(probe->sample_ns > 0))
		return;
	format_time(sampled, sizeof(sampled), probe->sample_ns);
	tell("a sample costs",
			"%s; %u a second are %.2f%% of the time; ranks that wait for each other take as many "
			"as a tenth of what each may spend pays for",
			sampled, defaults.sample_hz, probe->sample_ns * defaults.sample_hz * 1e-7);
}

/* Says how the events of the processor's model are counted in turn, as a run would choose them. */
static void tell_model(const struct probe *probe)
{
	static struct counting counting;
	struct counting_limits limits;
	unsigned missing;
	char why[256];

	if (!probe->hardware)
		return;
	if (counting_look(&counting, "auto", getenv("PHASEMUX_PMU"), why, sizeof(why))) {
		tell("CPI model", "%s", why);
		return;
	}
	counting_limits(&counting, &limits);
	counting_settle(&counting, &limits);
	counting_let_go(&counting);
	missing = model_events(counting.wanted_model) - counting.plan.events;
	if (!counting.hardware)
		tell("CPI model", "%s: %s", model_name(counting.wanted_model), counting.obstacle);
	else
		tell("CPI model", "%s: %u events in %u groups of at most %.0f that take turns",
				model_name(counting.model), counting.plan.events,
				counting.plan.groups, -limits.counters);
	if (counting.hardware && missing)
		tell("", "%u event%s of the model %s not available on this processor", missing,
				missing == 1 ? "" : "s", missing == 1 ? "is" : "are");
	counting_fini(&counting);
}

static void tell_holders(const struct probe *probe)
{
	struct holder holders[HOLDERS];
	unsigned found = holders_find("/proc", holders, HOLDERS);
	const char *label = "other users";

	if (probe->counters_held) {
		tell(label, "%u of the counters are held by other processes or the kernel",
				probe->counters_held);
		label = "";
	}
	if (holders_watchdog()) {
		tell(label,
				"the NMI watchdog is on and takes one counter; as root: sysctl "
				"kernel.nmi_watchdog=0");
		label = "";
	}
	for (unsigned i = 0; i < found && i < HOLDERS; i++) {
		tell(label, "%s (pid %d) has perf events open (%u descriptors)", holders[i].name,
				(int)holders[i].pid, holders[i].descriptors);
		label = "";
	}
	if (found > HOLDERS)
		tell(label, "and %u more processes have some", found - HOLDERS);
	if (*label)
		tell(label, "no other process holds counters%s",
				geteuid() == 0 ? "" : ", as far as this user can see");
}

static void tell_paranoid(const struct probe *probe)
{
	static const char *const meaning[] = {
		"everybody may count everything on a processor",
		"everybody may count on a whole processor",
		"everybody may count their own programs, kernel included",
		"everybody may count their own programs at user level; no more is needed",
	};

	if (probe->paranoid >= 3)
		tell("permission",
				"perf_event_paranoid is %d: counting needs "
				"CAP_PERFMON; as root: sysctl kernel.perf_event_paranoid=2",
				probe->paranoid);
	else if (probe->paranoid != PROBE_PARANOID_UNKNOWN)
		tell("permission", "perf_event_paranoid is %d: %s", probe->paranoid,
				meaning[probe->paranoid + 1]);
	else
		tell("permission",
				"this kernel has no perf_event_paranoid: it was built without "
				"CONFIG_PERF_EVENTS, or hides /proc/sys");
}

/* Says where the libraries of a family are, or are not. */
static void tell_found_mpi(const struct mpi_found *found, const char *family)
{
	if (found->count > 1)
		tell("", "%s: %s, and %u more", family, found->path, found->count - 1);
	else if (found->count)
		tell("", "%s: %s", family, found->path);
	else
		tell("", "%s: none here, as far as PATH and LD_LIBRARY_PATH show", family);
}

/* Lists the families of MPIs whose adapters are where the preload looks for them, and the MPIs of each. */
static void tell_mpis(void)
{
	char library[PATH_MAX], kin[PATH_MAX], served[256] = "", missing[256] = "";
	struct mpi_found found[MPI_FAMILIES];

	if (machine_find_library(library, sizeof(library)) < 0 ||
			machine_find_kin(kin, sizeof(kin)) < 0) {
		tell("preload",
				"there is no " MACHINE_LIBRARY " beside this command, nor where it "
				"would be installed");
		return;
	}
	tell("preload", "%s", library);
	for (unsigned i = 0; i < MPI_FAMILIES; i++) {
		char path[PATH_MAX + 64], *list;
		size_t length;

		snprintf(path, sizeof(path), "%s/%s", kin, mpi_families[i].file);
		list = access(path, R_OK) ? missing : served;
		length = strlen(list);
		snprintf(list + length, sizeof(served) - length, "%s%s", length ? ", " : "",
				mpi_families[i].name);
	}
	if (served[0])
		tell("MPI", "served: %s. Ranks of another MPI report one by one", served);
	if (missing[0])
		tell(served[0] ? "" : "MPI",
				"not served: %s; the adapter is missing in %s, so each rank reports alone",
				missing, kin);
	mpis_find(found);
	for (unsigned i = 0; i < MPI_FAMILIES; i++)
		tell_found_mpi(&found[i], mpi_families[i].name);
}

/* Says whether a program can be run in an emulated processor, which helps where none counts. */
static void tell_emulator(void)
{
	char folder[PATH_MAX], why[512];
	struct emulator emulator;

	if (machine_find_kin(folder, sizeof(folder)) < 0)
		return;
	if (emulator_find(&emulator, folder, why, sizeof(why)) ||
			emulator_try(&emulator, why, sizeof(why)))
		tell("emulated", "not available: %s", why);
	else
		tell("emulated",
				"phasemux run --counters emulated gives a CPI breakdown by a modelled core, with the "
				"program about " EMULATOR_SLOWDOWN " times slower");
}

int cmd_doctor(int argc, char **argv)
{
	static const struct event instructions = {
		.name = "instructions",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct machine machine;
	struct probe probe;
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);

	if (code)
		return code < 0 ? 0 : code;
	if (optind < argc)
		return option_usage(usage);
	if (machine_look(&machine) < 0)
		return 2;
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	probe_run(&probe, machine.pmu, &instructions);
	tell_processor(&machine.processor);
	tell_counters(&probe, machine.processor.hypervisor);
	tell_costs(&probe);
	tell_model(&probe);
	tell_emulator();
	tell_holders(&probe);
	tell_paranoid(&probe);
	tell_mpis();
	return probe.hardware || probe.software ? 0 : 1;
}
