/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/unread.h"

#include <stdbool.h>

/* Difference in bins (an octave has two) up to which lengths are alike, because noise causes as much. */
#define ALIKE_BINS 1

/*
 * Number of bins up to which a length without read bursts is placed like the nearest length of its span. A
 * shorter length may be farther away, because the burst was most likely preempted by other work on its
 * processor. Bursts that are long by themselves are read.
 */
#define FAR_BINS 4

/* Number of read bursts of a span up to which they say little about its other bursts. */
#define FEW_READ 2

/* Share of a span's bursts up to which longer ones may be delayed ones of its main phase. */
#define STRAY_SHARE 0.1

#define PARTS_MAX (SPAN_LENGTHS_MAX * SPAN_SHARES_MAX)

/* Read bursts of one stratum, or of several, by prototype. */
struct mixture {
	double read, unread;
	bool borrowed; /* they are not of the length that is placed, nor of one alike in its span */
	unsigned parts;
	struct part {
		uint32_t prototype;
		double read, ticks; /* number of read bursts, and their time */
		double unread;      /* number of unread bursts that they stand for */
	} part[PARTS_MAX];
};

#define CHAINS 256

/* Numbers of spans in chains, so that the spans of one site, or of two calls, are found without the others. */
struct chains {
	uint16_t first[CHAINS];       /* 1 + number of the span; 0: none */
	uint16_t next[SPANS_MAX + 1]; /* by span, in the same form */
};

struct placing {
	struct unread *unread;
	struct unread_placed *placed;
	const struct site_table *sites;
	const uint32_t *phase;
	uint32_t prototypes;
	double burst_min, seconds;     /* in ticks; length of a tick */
	struct mixture mixture, whole; /* of the length that is placed, and of its span */
	double read[PROTOTYPES_MAX + 1],
			few[PROTOTYPES_MAX + 1]; /* by phase: bursts read, and those of add_few */
	struct chains of_site;                   /* spans that start at one site */
	struct chains of_calls; /* spans that start and end at the same two calls */
};

/* Returns the part of a prototype, which is added if it is missing; the last part if there is no room. */
static struct part *part_of(struct mixture *mixture, uint32_t prototype)
{
	unsigned i = 0;

	while (i < mixture->parts && mixture->part[i].prototype != prototype)
		i++;
	if (i == PARTS_MAX)
		return &mixture->part[PARTS_MAX - 1];
	if (i == mixture->parts)
		mixture->part[mixture->parts++] = (struct part){ .prototype = prototype };
	return &mixture->part[i];
}

static void add_mixture(struct mixture *mixture, const struct span_length *length)
{
	for (unsigned i = 0; i < SPAN_SHARES_MAX && length->share[i].read; i++) {
		const struct span_share *share = &length->share[i];
		struct part *part = part_of(mixture, share->prototype);

		part->read += share->read;
		part->unread += span_share_unread(share);
		part->ticks += span_share_read_ticks(share);
		mixture->read += share->read;
		mixture->unread += span_share_unread(share);
	}
}

/* Adds the lengths of a span that are `shorter` to `longer` bins longer than `bin`. */
static void add_span(struct placing *placing, const struct span *span, int bin, int shorter,
		int longer)
{
	for (unsigned i = 0; i < span->lengths; i++) {
		int away = (int)span->bin[i] - bin;

		if (away >= shorter && away <= longer)
			add_mixture(&placing->mixture,
					&placing->sites->length[span_length_number(span, i)]);
	}
}

/* Adds the lengths that are `away` bins from `bin`. */
static void add_at(struct placing *placing, const struct span *span, int bin, int away)
{
	add_span(placing, span, bin, away, away);
	if (away)
		add_span(placing, span, bin, -away, -away);
}

/* Returns the return address of the site's call; 0: not known. */
static uintptr_t caller_at(const struct site_table *sites, uint16_t site)
{
	uint16_t path = site <= sites->sites ? sites->site[site].path : 0;

	return path < sites->paths.count ? sites->paths.path[path].address[0] : 0;
}

/* Returns the highest bin, up to `most`, in which bursts of the span were read; -1: there is none. */
static int read_bin(const struct placing *placing, const struct span *span, int most)
{
	int highest = -1;

	for (unsigned i = 0; i < span->lengths; i++) {
		int bin = span->bin[i];

		if (bin > highest && bin <= most &&
				placing->sites->length[span_length_number(span, i)].share[0].read)
			highest = bin;
	}
	return highest;
}

static unsigned chain_of_site(uint32_t site)
{
	return site % CHAINS;
}

static unsigned chain_of_calls(uintptr_t from, uintptr_t to)
{
	return (unsigned)((from + 3 * to) % CHAINS);
}

static void chain(struct chains *chains, unsigned number, uint32_t span)
{
	chains->next[span] = chains->first[number];
	chains->first[number] = (uint16_t)(span + 1);
}

/* Sorts the spans into chains, each in the order of their numbers. The chains are empty before. */
static void make_chains(struct placing *placing)
{
	const struct site_table *sites = placing->sites;

	for (uint32_t s = sites->spans + 1; s-- > 0;) {
		const struct span *span = &sites->span[s];

		if (!span->used)
			continue;
		chain(&placing->of_site, chain_of_site(span->from), s);
		chain(&placing->of_calls,
				chain_of_calls(caller_at(sites, span->from),
						caller_at(sites, span->to)),
				s);
	}
}

/* Adds the lengths alike of all spans that start at the site of this one. */
static void add_same_site(struct placing *placing, const struct span *span, int bin)
{
	const struct chains *chains = &placing->of_site;

	for (uint32_t n = chains->first[chain_of_site(span->from)]; n; n = chains->next[n - 1])
		if (placing->sites->span[n - 1].from == span->from)
			add_span(placing, &placing->sites->span[n - 1], bin, -ALIKE_BINS,
					ALIKE_BINS);
}

/* Adds the lengths alike of all spans that start and end at the calls of this one, by any call paths. */
static void add_same_calls(struct placing *placing, const struct span *span, int bin)
{
	const struct site_table *sites = placing->sites;
	const struct chains *chains = &placing->of_calls;
	uintptr_t from = caller_at(sites, span->from), to = caller_at(sites, span->to);

	if (!from || !to)
		return;
	for (uint32_t n = chains->first[chain_of_calls(from, to)]; n; n = chains->next[n - 1]) {
		const struct span *other = &sites->span[n - 1];

		if (caller_at(sites, other->from) == from && caller_at(sites, other->to) == to)
			add_span(placing, other, bin, -ALIKE_BINS, ALIKE_BINS);
	}
}

/* Adds the nearest length of the span, which must be near, or shorter. */
static void add_nearest(struct placing *placing, const struct span *span, int bin)
{
	struct mixture *mixture = &placing->mixture;

	for (int away = ALIKE_BINS + 1; away <= FAR_BINS && mixture->read <= 0; away++)
		add_at(placing, span, bin, away);
	if (mixture->read <= 0)
		add_span(placing, span, read_bin(placing, span, bin - FAR_BINS - 1), 0, 0);
}

/* Adds a length alike of spans from the same site, or else between equal calls by other call paths. */
static void add_elsewhere(struct placing *placing, const struct span *span, int bin)
{
	add_same_site(placing, span, bin);
	if (placing->mixture.read <= 0)
		add_same_calls(placing, span, bin);
}

/*
 * Finds read bursts that stand for those of length `l` of the span. It first tries this length and a length alike.
 * Then it tries the nearest length of the span, and lengths alike of other spans. A burst that differs from all
 * read ones of its span is more likely one of them that was delayed than one of another span's phases. If few
 * bursts of the span were read, its nearest length is tried last, because it says little about this one. Returns
 * false if there are none.
 */
static bool find_mixture(struct placing *placing, const struct span *span, unsigned l)
{
	struct mixture *mixture = &placing->mixture;
	bool few = placing->whole.read <= FEW_READ;
	int bin = span->bin[l];

	mixture->parts = 0;
	mixture->read = mixture->unread = 0;
	for (int away = 0; away <= ALIKE_BINS && mixture->read <= 0; away++)
		add_at(placing, span, bin, away);
	mixture->borrowed = mixture->read <= 0;
	if (mixture->read <= 0 && !few)
		add_nearest(placing, span, bin);
	if (mixture->read <= 0)
		add_elsewhere(placing, span, bin);
	if (mixture->read <= 0)
		add_nearest(placing, span, bin);
	return mixture->read > 0;
}

/* Returns the share of a part in the bursts that were not read. */
static double share_of(const struct mixture *mixture, const struct part *part)
{
	return mixture->unread > 0 ? part->unread / mixture->unread : part->read / mixture->read;
}

static uint32_t phase_of(const struct placing *placing, const struct part *part)
{
	return part->prototype < placing->prototypes ? placing->phase[part->prototype] : 0;
}

static double share_of_phase(const struct placing *placing, const struct mixture *mixture,
		uint32_t phase)
{
	double share = 0;

	for (unsigned i = 0; i < mixture->parts; i++)
		if (phase_of(placing, &mixture->part[i]) == phase)
			share += share_of(mixture, &mixture->part[i]);
	return share;
}

/* Adds `variance` to that of the number of a phase's bursts, which are about `length` seconds long. */
static void add_variance(struct placing *placing, uint32_t phase, double variance, double length)
{
	struct tally_error *error = &placing->unread->phase[phase - 1];

	error->bursts2 += variance;
	error->bursts_seconds += variance * length;
	error->seconds2 += variance * length * length;
}

/* The unread bursts of one length, whose errors are added to those of phases. */
struct errors {
	double bursts, length; /* their number, and their mean length in seconds */
	double read; /* number of read bursts that say as much about them as the mixture */
	/* variances of their number, part of which may be an estimate, and of their time if it is known */
	double estimated, seconds2;
	bool done[PROTOTYPES_MAX + 1];
};

/*
 * Returns the number of bursts with equal weights that say as much about the unread ones as those of the mixture,
 * whose weights differ (Kish). Bursts that were certain to be read stand for no other one, and say nothing.
 *
 * If the mixture is borrowed, no burst like the unread ones was read. Then the mixture counts as one, however many
 * bursts it has, because the unread ones may be of another kind.
 */
static double effective_read(const struct mixture *mixture)
{
	double squares = 0;

	if (mixture->borrowed)
		return 1;
	for (unsigned i = 0; i < mixture->parts; i++)
		squares += mixture->part[i].unread * mixture->part[i].unread /
				mixture->part[i].read;
	return squares > 0 ? mixture->unread * mixture->unread / squares : mixture->read;
}

/*
 * Returns the mean square error of how many of these bursts belong to a phase, of which the mixture has the share
 * `share`. The mixture's read bursts are a sample. To these, the prior adds one burst of the whole span, and one
 * of a phase that was not seen. Then the number has the beta-binomial distribution (Skellam), whose mean is not
 * the number that is placed. So it is not certain either if all read bursts belong to the phase: if the span has
 * no other one, this is the rule of succession, by which one in n + 2 unread bursts differs from n read ones.
 */
static double phase_error(const struct placing *placing, const struct errors *errors,
		uint32_t phase, double share)
{
	double of_span = share_of_phase(placing, &placing->whole, phase);
	double bursts = errors->bursts, read = errors->read;
	double chance = (share * read + of_span) / (read + 2);
	double off = (share - chance) * bursts;

	return chance * (1 - chance) * bursts * (read + 2 + bursts) / (read + 3) + off * off;
}

/* Returns the number of the part's phase if it was not yet done; 0: it was, or there is none. */
static uint32_t next_phase(const struct placing *placing, const struct part *part, bool *done)
{
	uint32_t phase = phase_of(placing, part);

	if (phase > PROTOTYPES_MAX || done[phase])
		return 0;
	done[phase] = true;
	return phase;
}

/* Adds the errors of the phases in one mixture that are not yet done. */
static void add_errors(struct placing *placing, const struct mixture *of, struct errors *errors)
{
	for (unsigned i = 0; i < of->parts; i++) {
		uint32_t phase = next_phase(placing, &of->part[i], errors->done);
		double share;

		if (!phase)
			continue;
		share = share_of_phase(placing, &placing->mixture, phase);
		add_variance(placing, phase,
				phase_error(placing, errors, phase, share) +
						share * share * errors->estimated,
				errors->length);
		placing->unread->phase[phase - 1].seconds2 += share * share * errors->seconds2;
	}
}

static struct tally *tally_of(struct placing *placing, uint32_t prototype, double mean_ticks)
{
	if (prototype < placing->prototypes)
		return &placing->unread->prototype[prototype];
	return mean_ticks < placing->burst_min ? &placing->placed->shorts :
						 &placing->placed->unclassified;
}

/* Spreads `bursts` bursts of this length, which took `ticks`, over prototypes in the mixture's shares. */
static void spread(struct placing *placing, const struct span_length *length, double bursts,
		double ticks)
{
	double estimated = (double)atomic_load_explicit(&length->variance, memory_order_relaxed);
	double ticks_variance =
			(double)atomic_load_explicit(&length->ticks_variance, memory_order_relaxed);
	const struct mixture *mixture = &placing->mixture;
	double all = 0, pieces = 0;
	struct errors errors;

	for (unsigned i = 0; i < mixture->parts; i++) {
		const struct part *part = &mixture->part[i];

		all += share_of(mixture, part) * part->ticks / part->read;
	}
	for (unsigned i = 0; i < mixture->parts && all > 0; i++) {
		const struct part *part = &mixture->part[i];
		double share = share_of(mixture, part), mean = part->ticks / part->read;
		double took = ticks * share * mean / all;
		double count = length->cut && mean > 0 ? took / mean : bursts * share;
		struct tally *tally = tally_of(placing, part->prototype, ticks / bursts);

		tally->bursts += count;
		tally->seconds += took * placing->seconds;
		pieces += count;
	}
	placing->placed->slices += pieces - bursts;
	if (!(pieces > 0))
		return;
	errors = (struct errors){ .bursts = pieces,
		.length = ticks * placing->seconds / pieces,
		.read = effective_read(mixture),
		.estimated = estimated * pieces * pieces / (bursts * bursts),
		.seconds2 = ticks_variance * placing->seconds * placing->seconds };
	add_errors(placing, mixture, &errors);
	add_errors(placing, &placing->whole, &errors);
}

/* Counts read bursts that no prototype claimed as short instead of unclassified, if they are short. */
static void move_short(struct placing *placing, const struct span_length *length)
{
	for (unsigned i = 0; i < SPAN_SHARES_MAX && length->share[i].read; i++) {
		const struct span_share *share = &length->share[i];
		struct unread_placed *placed = placing->placed;

		if (share->prototype < PROTOTYPES_MAX ||
				(double)share->mean_ticks >= placing->burst_min)
			continue;
		placed->shorts.bursts += share->read;
		placed->shorts.seconds += span_share_read_ticks(share) * placing->seconds;
		placed->unclassified.bursts -= share->read;
		placed->unclassified.seconds -= span_share_read_ticks(share) * placing->seconds;
	}
}

/* Returns the number of bursts of a length that have to be placed. */
static double unread_bursts(const struct span_length *length)
{
	return (double)atomic_load_explicit(&length->unread, memory_order_relaxed) + length->left;
}

static double unread_ticks(const struct span_length *length)
{
	return (double)atomic_load_explicit(&length->unread_ticks, memory_order_relaxed) +
			length->left_ticks;
}

static void place_length(struct placing *placing, const struct span *span, unsigned l)
{
	const struct span_length *length = &placing->sites->length[span_length_number(span, l)];
	double bursts = unread_bursts(length), ticks = unread_ticks(length);
	struct tally *tally;

	move_short(placing, length);
	if (bursts <= 0)
		return;
	if (ticks > 0 && find_mixture(placing, span, l)) {
		if (!placing->whole.parts)
			placing->whole = placing->mixture;
		spread(placing, length, bursts, ticks);
		return;
	}
	tally = tally_of(placing, UNREAD_UNCLASSIFIED, ticks / bursts);
	tally->bursts += bursts;
	tally->seconds += ticks * placing->seconds;
}

/* Sets the mixture of all lengths of a span. */
static void mix_span(struct placing *placing, const struct span *span)
{
	placing->whole.parts = 0;
	placing->whole.read = placing->whole.unread = 0;
	for (unsigned l = 0; l < span->lengths; l++)
		add_mixture(&placing->whole, &placing->sites->length[span_length_number(span, l)]);
}

/* Counts the bursts of each phase that were read, and those of spans of which only a few were read. */
static void count_read(struct placing *placing, const struct span *span)
{
	mix_span(placing, span);
	for (unsigned i = 0; i < placing->whole.parts; i++) {
		const struct part *part = &placing->whole.part[i];
		uint32_t phase = phase_of(placing, part);

		if (!phase || phase > PROTOTYPES_MAX)
			continue;
		placing->read[phase] += part->read;
		if (placing->whole.read <= FEW_READ)
			placing->few[phase] += part->read;
	}
}

/*
 * If only a few bursts of a span were read, these may belong to another phase, too. Not if most bursts of the phase are
 * such, because then they are what the phase is.
 */
static void add_few(struct placing *placing)
{
	const struct mixture *whole = &placing->whole;

	if (whole->read > FEW_READ)
		return;
	for (unsigned i = 0; i < whole->parts; i++) {
		const struct part *part = &whole->part[i];
		uint32_t phase = phase_of(placing, part);

		if (phase && phase <= PROTOTYPES_MAX &&
				2 * placing->few[phase] <= placing->read[phase])
			add_variance(placing, phase, part->read * whole->read,
					part->ticks / part->read * placing->seconds);
	}
}

/* Bursts of a span that belong to one phase: those that were read, all of them, and their time in ticks. */
struct phase_part {
	double read, bursts, ticks;
};

static struct phase_part part_of_phase(const struct placing *placing, uint32_t phase)
{
	struct phase_part sum = { .read = 0 };

	for (unsigned i = 0; i < placing->whole.parts; i++) {
		const struct part *part = &placing->whole.part[i];
		double bursts = part->read + part->unread;

		if (phase_of(placing, part) != phase)
			continue;
		sum.read += part->read;
		sum.bursts += bursts;
		sum.ticks += bursts * part->ticks / part->read;
	}
	return sum;
}

/* Returns the phase that most bursts of the span belong to; 0: most are in none. */
static uint32_t main_phase(const struct placing *placing)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < placing->whole.parts; i++) {
		uint32_t phase = phase_of(placing, &placing->whole.part[i]);

		if (phase && phase <= PROTOTYPES_MAX &&
				part_of_phase(placing, phase).bursts >
						part_of_phase(placing, most).bursts)
			most = phase;
	}
	return most;
}

static void add_stray(struct placing *placing, uint32_t phase, const struct phase_part *part)
{
	struct tally *stray = &placing->unread->stray[phase - 1];

	stray->bursts += part->bursts;
	stray->seconds += part->ticks * placing->seconds;
}

/*
 * A few bursts of a span that are longer than those of its main phase may belong to that phase, if other work on the
 * processor delayed them. They are in no phase, or in one whose bursts are mostly elsewhere.
 */
static void add_strays(struct placing *placing)
{
	uint32_t most = main_phase(placing);
	struct phase_part main = part_of_phase(placing, most);
	double all = placing->whole.read + placing->whole.unread;
	bool done[PROTOTYPES_MAX + 1] = { false };

	if (!most)
		return;
	done[most] = true;
	for (unsigned i = 0; i < placing->whole.parts; i++) {
		uint32_t phase = phase_of(placing, &placing->whole.part[i]);
		struct phase_part part = part_of_phase(placing, phase);

		if (phase > PROTOTYPES_MAX || done[phase])
			continue;
		done[phase] = true;
		if (part.bursts > STRAY_SHARE * all ||
				part.ticks * main.bursts < main.ticks * part.bursts)
			continue;
		if (phase && 2 * part.read > placing->read[phase])
			continue;
		add_stray(placing, most, &part);
		if (phase)
			add_stray(placing, phase, &part);
	}
}

static void place_span(struct placing *placing, const struct span *span)
{
	mix_span(placing, span);
	add_few(placing);
	add_strays(placing);
	for (unsigned l = 0; l < span->lengths; l++)
		place_length(placing, span, l);
}

struct unread_placed unread_add(struct unread *unread, const struct site_table *sites,
		const uint32_t *phase, uint32_t prototypes, double burst_min, double ns_per_tick)
{
	/* bursts of any length whose span has no room for it */
	static const struct span without_room = { .from = UINT16_MAX, .lengths = 1 };
	struct unread_placed placed = { .slices = 0 };
	struct placing placing = { .unread = unread,
		.placed = &placed,
		.sites = sites,
		.phase = phase,
		.prototypes = prototypes < PROTOTYPES_MAX ? prototypes : PROTOTYPES_MAX,
		.burst_min = burst_min,
		.seconds = ns_per_tick * 1e-9 };

	make_chains(&placing);
	for (const struct span *span = sites->span; span <= sites->span + sites->spans; span++)
		if (span->used)
			count_read(&placing, span);
	for (const struct span *span = sites->span; span <= sites->span + sites->spans; span++)
		if (span->used)
			place_span(&placing, span);
	place_span(&placing, &without_room);
	return placed;
}

void unread_stand_for(const struct unread *unread, const uint32_t *phase, uint32_t prototypes,
		struct sums *sums)
{
	uint32_t phases = 0;

	for (uint32_t p = 0; p < prototypes; p++)
		phases = phase[p] > phases ? phase[p] : phases;
	for (uint32_t number = 1; number <= phases; number++) {
		bool member[PROTOTYPES_MAX] = { false };
		double bursts = 0;

		for (uint32_t p = 0; p < prototypes; p++) {
			member[p] = phase[p] == number;
			bursts += member[p] ? unread->prototype[p].bursts : 0;
		}
		sums_stand_for(sums, member, bursts);
	}
}
