/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-phase estimates (Cochran, Sampling Techniques, ch. 6, 7 and 12) from additive sums. Cycles and
 * instructions are known for every burst that was read, every other counter only for the bursts of its group.
 * The unit drawn is the quantum.
 *
 * A counter's mean is at first the mean of its group's bursts. It is weighted if groups have unequal shares of
 * the quanta, because a counter may drift, and the group may be counted more at some times (Horvitz and
 * Thompson). The regression on the common events moves it by b x D, where D is the mean distance of the group's
 * bursts from all bursts. With T the size of the move in standard errors of b x D, it is shrunk by 1 - 2 / T^2,
 * and dropped when T^2 < 2 (the positive part of Stein's estimator).
 *
 * Rare outliers (first touch of memory, interrupts) carry much of the variance, and a sample may hold none of
 * them. Therefore the interval adds to the textbook's:
 * - the error of b and of the common means themselves;
 * - a factor on the variance, if the common events vary more between all quanta than between those of the
 * group.
 *   The factor is that ratio (the tameness);
 * - a term for one burst that was not seen, which may hold nothing, or twice the mean. The term vanishes as
 * 1 / bursts, and prevents a few equal counts from being called exact. It is smaller the better the common
 * events
 *   explain how the counter varies, because they would show such a burst.
 *
 * Results that are derived from several counters (model.c) need to know which errors are correlated. These are
 * the errors of a group's counters, which are seen in the same bursts, and the errors of counters that follow
 * the common events, if these are estimates themselves.
 *
 * With too few quanta for a regression, the counter may be a plain ratio to one common event, if that leaves a
 * quarter of the residual squares or less.
 */
#include "multiplex/estimate/estimate.h"

#include <math.h>
#include <string.h>

#include "multiplex/estimate/common_means.h"
#include "multiplex/estimate/moments.h"
#include "multiplex/estimate/student.h"

#define UNSEEN         1.   /* what one burst that was not seen may hold, in means */
#define UNSEEN_MIN     .2   /* least part of UNSEEN, if common events explain the counter */
#define STEIN          2.   /* constant of Stein's estimator */
#define TAMENESS_MAX   25.  /* largest factor on the variance */
#define REGRESS_MIN    6    /* least number of quanta beyond the number of regressors */
#define RATIO_MIN      5    /* least number of quanta for a ratio */
#define RATIO_LEAVES   .25  /* largest part of the residual squares that a ratio may leave */
#define RELATIVE_FLOOR 1e-9 /* relative error of a mean by rounding alone */
#define ROUNDING       1e-8 /* share of the mean below which a half-width is only a rounding error */

/* The sums of a phase, which are the totals of its prototypes' sums. */
struct gathered {
	double block[PHASE_FIELDS]; /* only BLOCK_FIELDS of them for a group */
	double slot[PLAN_GROUP_EVENTS_MAX][SLOT_FIELDS];
	double pair[PLAN_GROUP_EVENTS_MAX][PLAN_GROUP_EVENTS_MAX]; /* products, i < j */
};

double estimate_interval(double mean, double ci95, bool exact)
{
	if (!isfinite(ci95))
		return NAN;
	if (ci95 > ROUNDING * fabs(mean))
		return ci95;
	return exact ? 0 : NAN;
}

static void add_array(double *to, const double *from, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to[i] += from[i];
}

/*
 * Counts as many quanta as would say as much if all had the same weight (Kish). If quanta of some processes count more
 * than those of others, a few of them decide how certain the mean is. Returns the factor on their number.
 */
static double count_effective(const struct sums *sums, double *block)
{
	double quanta = block[BLOCK_QUANTA];

	if (!sums->uneven || !(block[BLOCK_WW] > 0))
		return 1;
	block[BLOCK_QUANTA] = fmin(quanta, block[BLOCK_W] * block[BLOCK_W] / block[BLOCK_WW]);
	return block[BLOCK_QUANTA] / quanta;
}

static void gather_common(const struct sums *sums, const bool *member, struct gathered *out)
{
	for (unsigned p = 0; p < sums->prototypes; p++) {
		double *common = sums_common(sums, p);

		if (!member[p])
			continue;
		add_array(out->block, common, COMMON_FIELDS);
		for (unsigned i = sums->aux; i < sums->plan.common; i++)
			add_array(out->slot[i], sums_common_slot(common, sums, i), SLOT_FIELDS);
	}
}

static void gather_group(const struct sums *sums, const bool *member, unsigned group,
		struct gathered *out)
{
	for (unsigned p = 0; p < sums->prototypes; p++) {
		double *block = sums_block(sums, p, group);

		if (!member[p])
			continue;
		add_array(out->block, block, BLOCK_FIELDS);
		for (unsigned i = sums->plan.common; i < sums->plan.group[group].count; i++)
			add_array(out->slot[i], sums_slot(block, sums, i), SLOT_FIELDS);
		for (unsigned j = sums->plan.common; j < sums->plan.group[group].count; j++)
			for (unsigned i = sums->plan.common; i < j; i++)
				out->pair[i][j] += *sums_pair(block, sums, group, i, j);
	}
	count_effective(sums, out->block);
}

/* Returns the estimate. unexplained: share of the standard deviation that the common events leave, 0 to 1. */
static struct estimate interval(const struct sample *s, double mean, double variance, double df,
		double share, double unexplained)
{
	struct estimate out = { .mean = mean, .ci95 = INFINITY, .observed = s->read };

	if (s->quanta >= 2)
		out.ci95 = student_quantile(df) * sqrt(variance) +
				UNSEEN * fabs(mean) * unexplained * share / s->read;
	else if (share < 1e-12)
		out.ci95 = 0;
	out.ci95 += RELATIVE_FLOOR * fabs(mean);
	return out;
}

/* Returns the mean of the bursts that were seen, as a ratio of totals over quanta (Cochran 6.4). */
static struct estimate plain(const struct sample *s, double all)
{
	double mean = s->y / s->w, share = unseen(s->read, all);

	if (s->read == 0)
		return (struct estimate){ .mean = NAN, .ci95 = INFINITY };
	return interval(s, mean, mean_variance(s, spread(s, mean), s->quanta - 1) * share,
			s->quanta - 1, share, 1);
}

/* The regressors: residual moments about the group's means, scaled to unit length. */
struct regressors {
	unsigned count;
	unsigned used[LAYOUT_AUX_MAX]; /* which common event */
	double scale[LAYOUT_AUX_MAX];
	double xx[LAYOUT_AUX_MAX][LAYOUT_AUX_MAX];
	double xy[LAYOUT_AUX_MAX];
	double ahead[LAYOUT_AUX_MAX]; /* D: mean of all bursts minus that of the group's */
	double common[LAYOUT_AUX_MAX][LAYOUT_AUX_MAX]; /* covariance of the means of all bursts */
	double tameness;                               /* >= 1: factor on the variance */
};

static const unsigned yx_at[LAYOUT_AUX_MAX] = { SLOT_YX1, SLOT_YX2 };

/*
 * Returns the variance of a quantum's total of the common event, over the square of the mean quantum's bursts.
 */
static double relative_variance(const double *b, unsigned i, unsigned lost)
{
	return residual_xx(b, i, i) * b[BLOCK_QUANTA] * b[BLOCK_QUANTA] / (b[BLOCK_QUANTA] - lost) /
			(b[BLOCK_W] * b[BLOCK_W]);
}

static void find_regressors(struct regressors *out, unsigned aux, const double *b,
		const double *all, const double *slot)
{
	unsigned *used = out->used;
	double *scale = out->scale;

	memset(out, 0, sizeof(*out));
	out->tameness = 1;
	for (unsigned i = 0; i < aux; i++) {
		double own = residual_xx(b, i, i);
		double ratio = relative_variance(all, i, 0) / relative_variance(b, i, 1);

		/* 0 / 0: the event is equal in all quanta */
		if (!isnan(ratio))
			out->tameness = fmin(fmax(out->tameness, ratio), TAMENESS_MAX);
		if (own > 0) {
			used[out->count] = i;
			scale[out->count++] = 1 / sqrt(own);
		}
	}
	for (unsigned i = 0; i < out->count; i++) {
		unsigned u = used[i];
		double x_mean = b[x_at[u]] / b[BLOCK_W], y_mean = slot[SLOT_Y] / b[BLOCK_W];

		out->ahead[i] = (all[PHASE_X1 + u] - x_mean) * scale[i];
		out->xy[i] = (slot[yx_at[u]] - y_mean * b[wx_at[u]] - x_mean * slot[SLOT_YW] +
					     x_mean * y_mean * b[BLOCK_WW]) *
				scale[i];
		for (unsigned j = 0; j < out->count; j++) {
			double both = scale[i] * scale[j];

			out->xx[i][j] = residual_xx(b, u, used[j]) * both;
			out->common[i][j] = all[v_at[u][used[j]]] * both;
		}
		/* keeps the solution finite if the two common events are proportional */
		out->xx[i][i] += 1e-6;
	}
}

static void solve(const struct regressors *r, const double *right, double *out)
{
	double det;

	if (r->count == 1) {
		out[0] = right[0] / r->xx[0][0];
		return;
	}
	det = r->xx[0][0] * r->xx[1][1] - r->xx[0][1] * r->xx[1][0];
	out[0] = (right[0] * r->xx[1][1] - right[1] * r->xx[0][1]) / det;
	out[1] = (right[1] * r->xx[0][0] - right[0] * r->xx[1][0]) / det;
}

static double dot(const double *a, const double *b, unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double quadratic(const double m[LAYOUT_AUX_MAX][LAYOUT_AUX_MAX], const double *v,
		unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += v[i] * dot(m[i], v, count);
	return sum;
}

/* Sets out->shared. rest: the estimate with the interval that it would have if the common means were known. */
static void share_error(struct estimate *out, const struct estimate *rest)
{
	double part = rest->ci95 / out->ci95;

	if (isfinite(out->ci95) && part < 1)
		out->shared = 1 - part * part;
}

static double unexplained_share(double left, double whole)
{
	return left < whole ? fmax(sqrt(left / whole), UNSEEN_MIN) : 1;
}

/* Returns the estimate by the regression, shrunk by Stein's estimator, which may leave the plain mean. */
static struct estimate regress(const struct sample *s, const struct regressors *r,
		const double *all, double taken[LAYOUT_AUX_MAX])
{
	double mean = s->y / s->w, share = unseen(s->read, all[PHASE_BURSTS]);
	double residual = spread(s, mean), slope[LAYOUT_AUX_MAX], toward[LAYOUT_AUX_MAX];
	double df = s->quanta - 1 - r->count, left, move, move_variance, earned = 0, variance;
	double unexplained, least, common;
	struct estimate out, rest;

	solve(r, r->xy, slope);
	solve(r, r->ahead, toward);
	left = settle(residual - dot(slope, r->xy, r->count), s->yy);
	unexplained = unexplained_share(left / df, residual / (s->quanta - 1));
	least = mean_variance(s, left, df) * share;
	common = quadratic(r->common, slope, r->count);
	move = dot(slope, r->ahead, r->count);
	move_variance = dot(r->ahead, toward, r->count) * left / df;
	if (move * move > STEIN * move_variance)
		earned = 1 - STEIN * move_variance / (move * move);
	if (mean + earned * move < 0)
		earned = 0;
	left = settle(residual - 2 * earned * dot(slope, r->xy, r->count) +
					earned * earned * quadratic(r->xx, slope, r->count),
			s->yy);
	df = s->quanta - 1 - r->count * earned;
	variance = mean_variance(s, left, df) * share + earned * earned * (move_variance + common);
	out = interval(s, mean + earned * move, variance * r->tameness, df, share, unexplained);
	for (unsigned i = 0; i < r->count; i++) {
		out.follows[r->used[i]] = slope[i] * r->scale[i];
		taken[r->used[i]] = earned * slope[i] * r->scale[i];
	}
	/* the error includes that of the common means, even if these did not move the estimate */
	rest = interval(s, out.mean, fmax(variance - common, least) * r->tameness, df, share,
			unexplained);
	share_error(&out, &rest);
	return out;
}

/*
 * Returns the estimate for few quanta: the plain mean, or a ratio to a common event that explains y much
 * better.
 */
static struct estimate simple(const struct sample *s, const double *b, const double *slot,
		unsigned aux, const double *all, double taken[LAYOUT_AUX_MAX])
{
	double whole = spread(s, s->y / s->w), least = RATIO_LEAVES * whole;
	double share = unseen(s->read, all[PHASE_BURSTS]), variance, own;
	struct estimate out = plain(s, all[PHASE_BURSTS]), rest;

	for (unsigned i = 0; i < aux && s->quanta >= RATIO_MIN; i++) {
		double ratio = s->y / b[x_at[i]];
		double left = settle(s->yy - 2 * ratio * slot[yx_at[i]] +
						ratio * ratio * b[xx_at[i][i]],
				s->yy);

		if (b[x_at[i]] == 0 || !(left < least))
			continue;
		least = left;
		own = mean_variance(s, left, s->quanta - 1) * share;
		variance = own + ratio * ratio * all[v_at[i][i]];
		out = interval(s, ratio * all[PHASE_X1 + i], variance, s->quanta - 1, share,
				unexplained_share(left, whole));
		memset(taken, 0, LAYOUT_AUX_MAX * sizeof(*taken));
		out.follows[i] = taken[i] = ratio;
		rest = interval(s, out.mean, own, s->quanta - 1, share,
				unexplained_share(left, whole));
		share_error(&out, &rest);
	}
	return out;
}

/* Returns the estimate of an event. taken[] gets its move for each unit of the common events' `ahead`. */
static struct estimate estimate_event(const struct gathered *group, unsigned position, unsigned aux,
		const double *all, double taken[LAYOUT_AUX_MAX])
{
	const double *b = group->block, *slot = group->slot[position];
	struct sample s = { b[BLOCK_QUANTA], b[BLOCK_READ], b[BLOCK_W], b[BLOCK_WW], slot[SLOT_Y],
		slot[SLOT_YW], slot[SLOT_YY] };
	struct regressors r;

	memset(taken, 0, LAYOUT_AUX_MAX * sizeof(*taken));
	if (s.quanta < REGRESS_MIN + aux)
		return simple(&s, b, slot, aux, all, taken);
	find_regressors(&r, aux, b, all, slot);
	if (!r.count)
		return plain(&s, all[PHASE_BURSTS]);
	return regress(&s, &r, all, taken);
}

/* Returns the sum of products of the residuals about the estimates of the events at i and j (i <= j). */
static double residual_product(const struct gathered *g, unsigned i, unsigned j, unsigned aux,
		const double taken[PLAN_GROUP_EVENTS_MAX][LAYOUT_AUX_MAX])
{
	const double *b = g->block, *yi = g->slot[i], *yj = g->slot[j];
	double mean_i = yi[SLOT_Y] / b[BLOCK_W], mean_j = yj[SLOT_Y] / b[BLOCK_W];
	double raw = i == j ? yi[SLOT_YY] : g->pair[i][j];
	double sum = raw - mean_i * yj[SLOT_YW] - mean_j * yi[SLOT_YW] +
			mean_i * mean_j * b[BLOCK_WW];

	for (unsigned k = 0; k < aux; k++) {
		double x = b[x_at[k]] / b[BLOCK_W];
		double xi = yi[yx_at[k]] - x * yi[SLOT_YW] - mean_i * b[wx_at[k]] +
				x * mean_i * b[BLOCK_WW];
		double xj = yj[yx_at[k]] - x * yj[SLOT_YW] - mean_j * b[wx_at[k]] +
				x * mean_j * b[BLOCK_WW];

		sum -= taken[i][k] * xj + taken[j][k] * xi;
		for (unsigned l = 0; l < aux; l++)
			sum += taken[i][k] * taken[j][l] * residual_xx(b, k, l);
	}
	return i == j ? settle(sum, raw) : sum;
}

static void correlate(const struct gathered *group, const struct plan_group *plan, unsigned common,
		unsigned aux, const double taken[PLAN_GROUP_EVENTS_MAX][LAYOUT_AUX_MAX],
		struct estimate *event)
{
	for (unsigned i = common; i < plan->count; i++)
		for (unsigned j = i + 1; j < plan->count; j++) {
			double both = residual_product(group, i, i, aux, taken) *
					residual_product(group, j, j, aux, taken);
			double product = residual_product(group, i, j, aux, taken);
			double correlation = both > 0 ? product / sqrt(both) : 0;

			event[plan->event[i]].correlation[j] =
					(float)fmax(-1, fmin(1, correlation));
			event[plan->event[j]].correlation[i] = event[plan->event[i]].correlation[j];
		}
}

static struct estimate estimate_duration(const double *all)
{
	struct sample s = sample_of_seconds(all);

	return plain(&s, all[PHASE_BURSTS]);
}

/*
 * Returns the estimate of a common event from its known mean (common_means.h), with an interval like any
 * counter's.
 */
static struct estimate estimate_common(const double *all, unsigned i)
{
	struct sample s = { all[BLOCK_QUANTA], all[BLOCK_READ], all[BLOCK_W], all[BLOCK_WW],
		all[x_at[i]], all[wx_at[i]], all[xx_at[i][i]] };
	double share = unseen(s.read, all[PHASE_BURSTS]);

	return interval(&s, all[PHASE_X1 + i], all[v_at[i][i]], s.quanta - 1, share,
			unexplained_share(all[v_at[i][i]], common_variance(all, i, i)));
}

/* Sets the mean duration of all bursts, because the length of each is known. */
static void know_duration(struct estimate *duration, const struct phase_unread *unread,
		const double *all)
{
	double bursts = all[BLOCK_READ] + unread->bursts;
	double mean = (all[COMMON_ELAPSED] + unread->seconds) / bursts;
	double squares = unread->seconds2 - 2 * mean * unread->bursts_seconds +
			mean * mean * unread->bursts2;

	*duration = (struct estimate){ .mean = mean,
		.ci95 = Z95 * sqrt(fmax(squares, 0)) / bursts,
		.observed = duration->observed };
}

/* Makes the duration follow the common means, if the length of the unread bursts is not known. */
static void follow(struct estimate *duration, unsigned aux, const double *all)
{
	const double slot[SLOT_FIELDS] = { [SLOT_Y] = all[COMMON_T],
		[SLOT_YW] = all[COMMON_WT],
		[SLOT_YX1] = all[COMMON_TX1],
		[SLOT_YX2] = all[COMMON_TX2],
		[SLOT_YY] = all[COMMON_TT] };
	struct sample s = sample_of_seconds(all);
	double share = unseen(s.read, all[PHASE_BURSTS]), whole = spread(&s, s.y / s.w),
	       slope[LAYOUT_AUX_MAX], left;
	struct regressors r;
	struct estimate rest;

	if (s.quanta < REGRESS_MIN + aux || share == 0)
		return;
	find_regressors(&r, aux, all, all, slot);
	if (!r.count)
		return;
	solve(&r, r.xy, slope);
	left = settle(whole - dot(slope, r.xy, r.count), s.yy);
	for (unsigned i = 0; i < r.count; i++)
		duration->follows[r.used[i]] = slope[i] * r.scale[i];
	rest = interval(&s, duration->mean, mean_variance(&s, left, s.quanta - 1) * share,
			s.quanta - 1, share, unexplained_share(left, whole));
	share_error(duration, &rest);
}

static double common_correlation(const double *all)
{
	double both = all[PHASE_V11] * all[PHASE_V22];
	double correlation = both > 0 ? all[PHASE_V12] / sqrt(both) : 0;

	/* a variance may be no more than a rounding error */
	return fmax(-1, fmin(1, correlation));
}

/*
 * Returns the factor by which the interval of a group's event is wider because not every burst was read. The
 * residual squares between quanta are those of the bursts, plus what drawing one burst of `weight` adds to
 * them. The sums have the bursts' own squares separately. Returns NAN if it is not known, or the estimate would
 * be exact.
 */
static double widening(const struct gathered *group, unsigned position, double weight,
		double bursts)
{
	const double *b = group->block, *slot = group->slot[position];
	double mean = slot[SLOT_Y] / b[BLOCK_W];
	double own = slot[SLOT_BURST_YY] - 2 * mean * slot[SLOT_Y] + mean * mean * b[BLOCK_W];
	struct sample s = { b[BLOCK_QUANTA], b[BLOCK_READ], b[BLOCK_W], b[BLOCK_WW], slot[SLOT_Y],
		slot[SLOT_YW], slot[SLOT_YY] };
	double residual = spread(&s, mean), all = residual - (weight - 1) * own;
	double now = unseen(s.read, bursts), then = unseen(weight * s.read, bursts);

	if (s.quanta < REGRESS_MIN || !(residual > 0) || !(own > 0) || then < 0.1)
		return NAN;
	/* the estimate may be outside of the range that drawing can cause, at random */
	all = fmax(fmin(all, residual), residual / weight);
	return sqrt(residual * now / (all * then));
}

void estimate_phase(const struct sums *sums, const bool *member, const struct phase_unread *unread,
		struct phase_estimate *out)
{
	const struct plan *plan = &sums->plan;
	double taken[PLAN_GROUP_EVENTS_MAX][LAYOUT_AUX_MAX];
	struct gathered all = { 0 };
	double widened = 0, weight, effective;
	unsigned known = 0;

	memset(out, 0, sizeof(*out));
	out->widened = NAN;
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++)
		out->event[e] = (struct estimate){ .mean = NAN, .ci95 = INFINITY };
	gather_common(sums, member, &all);
	all.block[PHASE_BURSTS] = fmax(all.block[BLOCK_READ] + (unread ? unread->bursts : 0),
			all.block[BLOCK_W]);
	effective = count_effective(sums, all.block);
	/* the bursts of the processes that count more were mostly not seen */
	if (all.block[PHASE_BURSTS] > all.block[BLOCK_READ])
		all.block[PHASE_BURSTS] /= effective;
	out->bursts = all.block[BLOCK_W];
	out->read = all.block[BLOCK_READ];
	out->slices = all.block[COMMON_SLICES];
	out->seconds = all.block[COMMON_ELAPSED];
	out->duration = estimate_duration(all.block);
	if (!out->read)
		return;
	out->duration_sd = sqrt(fmax(0,
			all.block[COMMON_BURST_TT] / all.block[BLOCK_W] -
					out->duration.mean * out->duration.mean));
	if (unread)
		know_duration(&out->duration, unread, all.block);
	/*
	 * A process that left its bursts to others has read few, at one time. If others of its bursts are delayed by another
	 * program, their length says less about what they count than these few do.
	 */
	common_means(all.block, sums->aux, unread && !sums->uneven ? out->duration.mean : NAN,
			out->duration.ci95);
	if (!unread)
		follow(&out->duration, sums->aux, all.block);
	weight = all.block[BLOCK_W] / all.block[BLOCK_READ];
	if (sums->aux == LAYOUT_AUX_MAX)
		out->common_correlation = common_correlation(all.block);
	for (unsigned i = 0; i < sums->aux; i++)
		out->event[i] = estimate_common(all.block, i);
	for (unsigned i = sums->aux; i < plan->common; i++)
		out->event[i] = estimate_event(&all, i, sums->aux, all.block, taken[i]);
	for (unsigned g = 0; g < plan->groups; g++) {
		struct gathered group = { 0 };

		gather_group(sums, member, g, &group);
		if (group.block[BLOCK_READ] == 0)
			continue;
		for (unsigned i = plan->common; i < plan->group[g].count; i++) {
			struct estimate *event = &out->event[plan->group[g].event[i]];
			double times = widening(&group, i, weight, out->bursts);

			*event = estimate_event(&group, i, sums->aux, all.block, taken[i]);
			event->group = (uint8_t)(g + 1);
			event->position = (uint8_t)i;
			widened += isnan(times) ? 0 : times;
			known += !isnan(times);
		}
		correlate(&group, &plan->group[g], plan->common, sums->aux, taken, out->event);
	}
	if (known)
		out->widened = widened / known;
}
