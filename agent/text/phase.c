/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/phase.h"

#include <math.h>
#include <string.h>

#include "agent/text/place.h"
#include "agent/text/report_line.h"

#define HOT_SHOWN     3
#define HOT_SHARE     0.05
#define PER_ITERATION 0.1  /* number of bursts in an iteration from which it is shown */
#define BALANCE_GOOD  0.95 /* load balance of a phase from which it is not shown */
#define PARALLEL_GOOD 0.9  /* parallel efficiency of a phase from which it is not shown */
#define DRIFT_SHOWN   0.1  /* change of the length of a phase's bursts from which it is shown */
#define PHASE_SHOWN   0.01 /* share of the time; smaller phases are in report.json */

/*
 * Number of samples from which their shares are shown. The 95% interval of a share of n samples is at most
 * 1.96 x sqrt(0.25 / n) wide on each side, which is 22 points for 20 samples. A function with a seventh of the
 * time is missed with a probability of (6/7)^20 = 5%. If there are fewer, the number of samples says more.
 */
#define SAMPLES_SHARED 20

/* Factor between two means below which they do not distinguish two phases. */
#define MEANS_APART 1.1

/* ---- the difference to another phase of the same place ---- */

double phase_mean_seconds(const json_t *phase)
{
	return report_get_in(phase, "duration_seconds", "mean");
}

double phase_ipc(const json_t *phase)
{
	return report_get(phase, "ipc");
}

/* Returns the mean of the first counter, which is the CPU time or cycles. */
static double first_counter_of(const json_t *phase)
{
	json_t *counters = json_object_get(phase, "counters");

	return report_get(json_object_iter_value(json_object_iter(counters)), "mean");
}

/* Returns whether the event is one of the kernel's two clocks, which count nanoseconds. */
static bool is_time(const char *name)
{
	return !strcmp(name, "task-clock") || !strcmp(name, "cpu-clock");
}

double phase_processor_seconds(const json_t *phase)
{
	json_t *counters = json_object_get(phase, "counters");
	const char *name;
	json_t *counter;

	json_object_foreach (counters, name, counter)
		if (is_time(name))
			return 1e-9 * report_get(counter, "mean");
	return NAN;
}

static struct format_text format_counter(const char *name, double value)
{
	return is_time(name) ? format_seconds(1e-9 * value) : format_count(value);
}

bool phase_is_shown(const json_t *phase)
{
	return report_get(phase, "time_share") >= PHASE_SHOWN;
}

struct phase_smaller phase_smaller(const json_t *phases)
{
	struct phase_smaller smaller = { 0, 0 };
	const json_t *phase;
	size_t i;

	json_array_foreach (phases, i, phase)
		if (!phase_is_shown(phase)) {
			smaller.count++;
			smaller.share += report_get(phase, "time_share");
		}
	return smaller;
}

static bool same_place(const json_t *one, const json_t *other)
{
	const json_t *a = json_array_get(json_object_get(one, "source"), 0);
	const json_t *b = json_array_get(json_object_get(other, "source"), 0);
	struct place_text x, y;

	if (!a || !b)
		return false;
	x = place_end(a, "from", PLACE_NAME_MAX);
	y = place_end(b, "from", PLACE_NAME_MAX);
	if (strcmp(x.text, y.text) != 0)
		return false;
	x = place_end(a, "to", PLACE_NAME_MAX);
	y = place_end(b, "to", PLACE_NAME_MAX);
	return strcmp(x.text, y.text) == 0;
}

/* Rank of a phase among the phases of its place, by one of its numbers. */
struct standing {
	unsigned others; /* number of other shown phases of the same place */
	unsigned larger; /* how many of these have a larger number */
	bool apart;      /* its number differs from those of all others */
	double first;    /* id of the first of the others */
};

static struct standing stand(const json_t *phases, const json_t *phase,
		double (*number)(const json_t *phase))
{
	struct standing standing = { .apart = true };
	double own = number(phase);
	const json_t *other;
	size_t i;

	json_array_foreach (phases, i, other) {
		double theirs = number(other);

		if (other == phase || !phase_is_shown(other) || !same_place(phase, other))
			continue;
		if (!standing.others++)
			standing.first = report_get(other, "id");
		standing.larger += theirs > own;
		standing.apart &= fmax(own, theirs) >= MEANS_APART * fmin(own, theirs) &&
				fmin(own, theirs) > 0;
	}
	return standing;
}

/* Returns whether no other shown phase of the same place has this caller at this frame of its path. */
static bool is_own_caller(const json_t *phases, const json_t *phase, const char *path, size_t frame,
		const struct place_text *caller)
{
	const json_t *other;
	size_t i;

	json_array_foreach (phases, i, other) {
		const json_t *pair = json_array_get(json_object_get(other, "source"), 0);

		if (other != phase && phase_is_shown(other) &&
				!strcmp(place_caller(pair, path, frame, PLACE_NAME_MAX).text,
						caller->text) &&
				same_place(phase, other))
			return false;
	}
	return *caller->text;
}

/* Returns the innermost caller by which the phase differs from all others of its place, or "". */
static struct place_text own_caller(const json_t *phases, const json_t *phase)
{
	static const char *const paths[] = { "from_path", "to_path" };
	const json_t *pair = json_array_get(json_object_get(phase, "source"), 0);

	for (unsigned end = 0; end < sizeof(paths) / sizeof(*paths); end++) {
		size_t frames = json_array_size(json_object_get(pair, paths[end]));

		for (size_t i = 0; i < frames; i++) {
			struct place_text caller =
					place_caller(pair, paths[end], i, PLACE_NAME_MAX);

			if (is_own_caller(phases, phase, paths[end], i, &caller))
				return caller;
		}
	}
	return (struct place_text){ "" };
}

/* Writes by what a phase differs that is as long and as fast as others of its place. Returns false if it is nothing. */
static bool write_alike(char *what, size_t size, const json_t *phases, const json_t *phase)
{
	const char *counter = json_object_iter_key(
			json_object_iter(json_object_get((json_t *)phase, "counters")));
	struct place_text caller = own_caller(phases, phase);

	if (*caller.text)
		snprintf(what, size, "those called from %.200s", caller.text);
	else if (!counter || !stand(phases, phase, first_counter_of).apart)
		return false;
	else if (is_time(counter))
		snprintf(what, size, "those with a %s of %s", counter,
				format_counter(counter, first_counter_of(phase)).text);
	else
		snprintf(what, size, "those with %s %.26s",
				format_counter(counter, first_counter_of(phase)).text, counter);
	return true;
}

bool phase_write_apart(FILE *out, const json_t *phases, const json_t *phase)
{
	struct standing by_mean = stand(phases, phase, phase_mean_seconds);
	bool longest = by_mean.larger == 0, shortest = by_mean.larger == by_mean.others;
	const char *most = by_mean.others > 1 ? "est" : "";
	char what[256];

	if (!by_mean.others)
		return false;
	if (by_mean.apart && (longest || shortest))
		snprintf(what, sizeof(what), "the %s%s ones, %s", longest ? "long" : "short", most,
				format_seconds(phase_mean_seconds(phase)).text);
	else if (by_mean.apart)
		snprintf(what, sizeof(what), "those of %s",
				format_seconds(phase_mean_seconds(phase)).text);
	else if (stand(phases, phase, phase_ipc).apart)
		snprintf(what, sizeof(what), "those with an IPC of %.2f", phase_ipc(phase));
	else if (!write_alike(what, sizeof(what), phases, phase))
		return false;
	if (by_mean.others == 1)
		fprintf(out, "%s (phase %.0f has the same place)", what, by_mean.first);
	else
		fprintf(out, "%s (%u other phases have the same place)", what, by_mean.others);
	return true;
}

/* ---- where it was sampled ---- */

static double samples_of(const json_t *row, double all)
{
	double samples = report_get(row, "samples");

	return isfinite(samples) ? samples : round(report_get(row, "share") * all);
}

bool phase_write_hot(FILE *out, const json_t *phase, bool lines)
{
	const json_t *profile = json_object_get(phase, "profile");
	const char *key = lines ? "line" : "function", *word = lines ? "at" : "in";
	double all = report_get(profile, "samples");
	bool shared = all >= SAMPLES_SHARED;
	char line[8 * 64 * HOT_SHOWN] = "";
	unsigned shown = 0;
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(profile, lines ? "lines" : "functions"), i, row) {
		const char *name = report_get_text(row, key), *base = strrchr(name, '/');
		double share = report_get(row, "share"), samples = samples_of(row, all);
		struct place_text text;
		size_t used = strlen(line);

		if (shown == HOT_SHOWN || (shared && share < HOT_SHARE))
			break;
		if (strcmp(name, "?") == 0)
			continue;
		text = place_name(lines && base ? base + 1 : name, PLACE_NAME_MAX);
		if (shared)
			snprintf(line + used, sizeof(line) - used, "%s%s %s", shown ? ", " : "",
					text.text, format_whole_percent(share).text);
		else
			snprintf(line + used, sizeof(line) - used, "%s%s (%.0f sample%s)",
					shown ? ", " : "", text.text, samples,
					samples == 1 ? "" : "s");
		shown++;
	}
	if (shown && shared)
		fprintf(out, "%s %s (%s samples)", word, line, format_count(all).text);
	else if (shown)
		fprintf(out, "%s %s", word, line);
	return shown > 0;
}

bool phase_component_known(const json_t *component)
{
	double value = report_get(component, "cpi");

	return isfinite(value) && (isfinite(report_get(component, "ci95")) || value == 0);
}

/* Returns how many of the components that sum to the CPI are known well enough. */
static unsigned count_known(const json_t *phase)
{
	const json_t *component;
	unsigned known = 0;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		known += !json_integer_value(json_object_get(component, "level")) &&
				phase_component_known(component);
	return known;
}

bool phase_has_breakdown(const json_t *phase)
{
	return count_known(phase) >= 2;
}

double phase_instructions(const json_t *phase)
{
	json_t *counters = json_object_get(phase, "counters");
	void *second = json_object_iter_next(counters, json_object_iter(counters));

	/* cycles and instructions are the first events of every model */
	return isfinite(phase_ipc(phase)) && second ?
			report_get(json_object_iter_value(second), "mean") :
			NAN;
}

struct phase_intervals phase_intervals(const json_t *phase)
{
	double mean = phase_mean_seconds(phase);
	double seconds = report_get_in(phase, "duration_seconds", "ci95");
	double bursts = report_get(phase, "bursts_ci95");

	return (struct phase_intervals){
		/* an interval below a thousandth is not visible in the numbers */
		.visible = bursts > 1e-3 * report_get(phase, "bursts") || seconds > 1e-3 * mean,
		.share = format_half_percent(report_get(phase, "time_share_ci95")),
		.bursts = format_half_width(bursts, bursts, 0),
		.mean = format_half_width(1e9 * seconds, 1e9 * mean, 1),
	};
}

bool phase_write_reads(FILE *out, const json_t *phase, double read_seconds)
{
	if (!(phase_mean_seconds(phase) < 2 * read_seconds))
		return false;
	fprintf(out,
			"shorter than reading counters at both ends (%s): its counts are partly those of "
			"the reads",
			format_seconds(2 * read_seconds).text);
	return true;
}

const char *phase_rank_word(const json_t *report, double count)
{
	if (strcmp(report_get_text(report, "mpi"), "no MPI") == 0)
		return count == 1 ? "process" : "processes";
	return count == 1 ? "rank" : "ranks";
}

/* Writes "load balance 66.5% (instructions 75.0%, IPC 100.0%): 701 ms in rank 3, 466 ms in the mean". */
static void write_balance(FILE *out, const char *rank, const json_t *phase)
{
	double instructions = report_get(phase, "instructions_balance");

	fprintf(out, "load balance %s", format_percent(report_get(phase, "load_balance")).text);
	if (isfinite(instructions))
		fprintf(out, " (instructions %s, IPC %s)", format_percent(instructions).text,
				format_percent(report_get(phase, "ipc_balance")).text);
	fprintf(out, ": %s in %s %.0f, %s in the mean",
			format_seconds(report_get_in(phase, "rank_seconds", "most")).text, rank,
			report_get(phase, "slowest_rank"),
			format_seconds(report_get_in(phase, "rank_seconds", "mean")).text);
}

void phase_write_names(FILE *out, const json_t *object)
{
	const json_t *ids = json_object_get(object, "phases"), *id;
	size_t i, size = json_array_size(ids);

	if (!size)
		fprintf(out, "phase %.0f", report_get(object, "id"));
	json_array_foreach (ids, i, id)
		fprintf(out, "%s%.0f",
				!i                           ? "phases " :
						i + 1 < size ? ", " :
							       " and ",
				json_number_value(id));
}

const json_t *phase_together(const json_t *phase)
{
	const json_t *together = json_object_get(phase, "together");
	const json_t *first = json_array_get(json_object_get(together, "phases"), 0);

	return first && json_number_value(first) == report_get(phase, "id") ? together : NULL;
}

void phase_write_executing_ranks(FILE *out, const json_t *report, const json_t *phase)
{
	double all = report_get(report, "ranks"), ranks = report_get(phase, "ranks");

	if (ranks == 1)
		fprintf(out, "only in %s %.0f", phase_rank_word(report, 1),
				report_get(phase, "slowest_rank"));
	else
		fprintf(out, "in %.0f of %.0f %s", ranks, all, phase_rank_word(report, all));
}

bool phase_write_ranks(FILE *out, const json_t *report, const json_t *phase)
{
	bool some = report_get(phase, "ranks") < report_get(report, "ranks");
	const json_t *together = phase_together(phase), *all = together ? together : phase;
	bool unequal = report_get(all, "load_balance") < BALANCE_GOOD;

	if (some)
		phase_write_executing_ranks(out, report, phase);
	if (some && unequal)
		fputs("; ", out);
	if (unequal && together) {
		phase_write_names(out, together);
		fputs(" together: ", out);
	}
	if (unequal)
		write_balance(out, phase_rank_word(report, 1), all);
	return some || unequal;
}

bool phase_write_efficiency(FILE *out, const json_t *phase)
{
	double parallel = report_get_in(phase, "efficiency", "parallel");
	double communication = report_get_in(phase, "efficiency", "communication");

	if (!(parallel < PARALLEL_GOOD))
		return false;
	fprintf(out, "parallel efficiency %s with the calls behind it (%s)",
			format_percent(parallel).text,
			format_seconds(report_get_in(phase, "efficiency", "call_seconds")).text);
	if (isfinite(communication))
		fprintf(out, " = load balance %s x communication %s",
				format_percent(report_get(phase, "load_balance")).text,
				format_percent(communication).text);
	return true;
}

bool phase_write_drift(FILE *out, const json_t *phase)
{
	double change = report_get_in(phase, "drift", "change");
	double ci95 = report_get_in(phase, "drift", "ci95");

	if (!(fabs(change) >= DRIFT_SHOWN && fabs(change) >= 2 * ci95) || phase_is_sliced(phase))
		return false;
	fprintf(out, "bursts get %s while the program runs: by %s +- %s",
			change > 0 ? "longer" : "shorter", format_percent(fabs(change)).text,
			format_percent(ci95).text);
	return true;
}

struct phase_spread phase_spread(double mean, double sd, double least, double most)
{
	struct phase_spread spread = { "" };

	if (isfinite(sd) && mean > 0)
		snprintf(spread.text, sizeof(spread.text),
				" (standard deviation %s, %s to %s in a sample)",
				format_percent(sd / mean).text, format_seconds(least).text,
				format_seconds(most).text);
	return spread;
}

bool phase_write_iteration(FILE *out, const json_t *phase)
{
	const json_t *per = json_object_get(phase, "per_iteration");
	double bursts = report_get(per, "bursts");

	if (!(bursts >= PER_ITERATION))
		return false;
	fprintf(out, "per iteration of a rank: %.1f %ss, %s%s", bursts, phase_unit(phase),
			format_seconds(report_get(per, "seconds")).text,
			phase_spread(report_get(per, "seconds"), report_get(per, "seconds_sd"),
					report_get(per, "seconds_least"),
					report_get(per, "seconds_most"))
					.text);
	return true;
}

bool phase_is_sliced(const json_t *phase)
{
	return 2 * report_get(phase, "slices") > report_get(phase, "read");
}

const char *phase_unit(const json_t *phase)
{
	return phase_is_sliced(phase) ? "slice" : "burst";
}

bool phase_write_slices(FILE *out, const json_t *phase)
{
	if (!phase_is_sliced(phase))
		return false;
	fputs("these bursts are slices of longer ones", out);
	return true;
}

struct phase_component phase_component(const json_t *component, double cpi)
{
	double value = report_get(component, "cpi"), error = report_get(component, "ci95");
	struct phase_component text = { .share = { "" } };

	if (!phase_component_known(component)) {
		snprintf(text.value.text, sizeof(text.value.text), "%s",
				isfinite(value) ? "too few" : "not available");
		return text;
	}
	snprintf(text.value.text, sizeof(text.value.text), "%.3f", value);
	if (error == 0)
		snprintf(text.interval.text, sizeof(text.interval.text), "exact");
	else if (error < 0.0005)
		snprintf(text.interval.text, sizeof(text.interval.text), "+- <0.001");
	else if (isfinite(error))
		snprintf(text.interval.text, sizeof(text.interval.text), "+- %.3f", error);
	text.share = format_percent(value / cpi);
	return text;
}

void phase_write_counter(FILE *out, const char *name, const json_t *counter, const char *unit,
		int width)
{
	double mean = report_get(counter, "mean"), error = report_get(counter, "ci95");
	double observed = report_get(counter, "observed");
	struct format_text text = format_counter(name, mean);

	if (!isfinite(mean))
		fputs("not observed", out);
	else if (!isfinite(error))
		fprintf(out, "%*s (%s %s%s)", width, text.text, format_count(observed).text, unit,
				observed == 1 ? "" : "s");
	else if (error == 0)
		fprintf(out, "%*s exact per %s", width, text.text, unit);
	else
		fprintf(out, "%s per %s", format_interval(mean, error, is_time(name), width).text,
				unit);
}
