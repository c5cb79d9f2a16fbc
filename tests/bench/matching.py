# SPDX-License-Identifier: BSD-3-Clause
"""Which bursts of a log (burst_log.py) are which phases of a report.

The bursts of a log are put into kinds without the report: where the program says what each burst is
(burst_log_tag), a kind is what the program calls it; else it is a group of lengths, between gaps, of bursts
between the same places. A kind belongs to the phase whose mean length and places are nearest, and to those of the
same places whose lengths are spread around its own; a phase belongs to the kind that is nearest to it. Neither uses
how many bursts a phase has, or its share of the time. Kinds and phases that belong together are a row: all its
phases are compared with all its kinds. So a phase that the agent has split is compared as a whole, and two
behaviours that it has not told apart are one.
"""
import math

import numpy

# a length is far from a phase by so much more, in ln of the length, where the phase is not of its place
OTHER_PLACE = 0.4
BIN = 0.05          # of a histogram of ln of lengths
GAP_BINS = 4        # so many empty bins end a group of lengths
SPARSE = 0.01       # a bin with less than this share of the fullest one counts as empty
WIDEST = 0.8         # of its mean: a phase's standard deviation counts up to here
LEAST = 0.001        # of the time: a kind that has less is left out
DOUBT_SECOND = 0.2  # doubtful: another row is farther by less than this ...
DOUBT_FAR = 0.4     # ... or all are farther than this


class Kind:
    """Some bursts of the log: a boolean array, and a name for the reader."""

    def __init__(self, log, chosen, name, pairs_of_phases):
        self.name, self.chosen = name, chosen
        self.seconds = log.seconds[chosen]
        lengths = numpy.log(self.seconds)
        self.low, self.middle, self.high = numpy.quantile(lengths, [0.1, 0.5, 0.9])
        pairs, where = numpy.unique(log.pair[chosen], return_inverse=True)
        times = numpy.bincount(where, weights=self.seconds) / self.seconds.sum()
        # the share of the kind's time that is between the places of each phase
        self.of_phase = [sum(time for pair, time in zip(pairs, times) if pair in of_phase)
                         for of_phase in pairs_of_phases]

    def is_within(self, number, phase):
        """Whether phase `number` is of the kind's places, and its lengths are spread around the kind's."""
        length = phase["duration_seconds"]
        deviation = min(length["sd"] or 0, WIDEST * length["mean"])
        return self.of_phase[number] >= max(self.of_phase) / 2 and \
            abs(math.exp(self.middle) - length["mean"]) <= deviation

    def distance(self, number, length):
        """From phase `number` of mean `length` (ln); 0: the same places, the same length."""
        nearest = max(self.of_phase)
        place = OTHER_PLACE * (1 - self.of_phase[number] / nearest) if nearest > 0 else 0
        outside = max(0, self.low - length, length - self.high)
        return place + outside + 0.1 * abs(length - self.middle)


def groups_of_lengths(lengths):
    """lengths: ln. Returns arrays of indices: those between gaps."""
    first = lengths.min()
    bins = ((lengths - first) / BIN).astype(int)
    count = numpy.bincount(bins)
    full = numpy.flatnonzero(count >= max(1, SPARSE * count.max()))
    # where a gap is, in bins: in the middle between two that are full
    edges = [(a + b + 1) / 2 for a, b in zip(full, full[1:]) if b - a > GAP_BINS]
    group = numpy.searchsorted(edges, bins, side="right") if edges else numpy.zeros(len(bins), int)
    return [numpy.flatnonzero(group == number) for number in numpy.unique(group)]


def kinds_of_tags(log, names, among, pairs_of_phases):
    return [Kind(log, among & (log.tag == tag), names.get(tag, "untagged"), pairs_of_phases)
            for tag in numpy.unique(log.tag[among])]


def kinds_of_groups(log, among, pairs_of_phases):
    """Pairs of places that the same phases name are one."""
    classes = {}
    for pair in numpy.unique(log.pair[among]):
        named = frozenset(n for n, pairs in enumerate(pairs_of_phases) if pair in pairs)
        classes.setdefault(named, []).append(pair)
    kinds = []
    for named, pairs in classes.items():
        of_class = numpy.flatnonzero(among & numpy.isin(log.pair, pairs))
        for group in groups_of_lengths(numpy.log(log.seconds[of_class])):
            chosen = numpy.zeros(len(among), bool)
            chosen[of_class[group]] = True
            middle = numpy.median(log.seconds[chosen])
            kinds.append(Kind(log, chosen, f"{1e3 * middle:.3g} ms", pairs_of_phases))
    return kinds


def is_doubtful(distances, row_of_phase):
    """Whether the kind might belong to another row, or to none."""
    nearest = min(range(len(distances)), key=lambda number: distances[number])
    others = [distance for number, distance in enumerate(distances)
              if row_of_phase[number] != row_of_phase[nearest]]
    return distances[nearest] > DOUBT_FAR or bool(others) and \
        min(others) - distances[nearest] < DOUBT_SECOND


def rows(kinds, phases):
    """Returns [(numbers of phases, kinds, share of the kinds' time that is doubtful)]."""
    least = LEAST * sum(kind.seconds.sum() for kind in kinds)
    kinds = [kind for kind in kinds if kind.seconds.sum() >= least]
    if not phases or not kinds:
        return []
    lengths = [math.log(phase["duration_seconds"]["mean"]) for phase in phases]
    far = [[kind.distance(number, length) for number, length in enumerate(lengths)] for kind in kinds]
    row = list(range(len(phases)))  # of each phase; those that belong together get the lowest number

    def join(one, other):
        one, other = row[one], row[other]
        for number, at in enumerate(row):
            if at in (one, other):
                row[number] = min(one, other)

    of_kind = [min(range(len(phases)), key=lambda number: far[at][number]) for at in range(len(kinds))]
    for number in range(len(phases)):
        join(number, of_kind[min(range(len(kinds)), key=lambda at: far[at][number])])
    for at, kind in enumerate(kinds):
        for number, phase in enumerate(phases):
            if kind.is_within(number, phase):
                join(number, of_kind[at])
    result = []
    for first in sorted(set(row)):
        members = [number for number in range(len(phases)) if row[number] == first]
        own = [at for at in range(len(kinds)) if row[of_kind[at]] == first]
        seconds = sum(kinds[at].seconds.sum() for at in own)
        doubt = sum(kinds[at].seconds.sum() for at in own if is_doubtful(far[at], row))
        result.append((members, [kinds[at] for at in own], doubt / seconds if seconds else 0))
    return result
