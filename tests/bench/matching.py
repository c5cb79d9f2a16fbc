# SPDX-License-Identifier: BSD-3-Clause
"""Finds which bursts of a log (burst_log.py) belong to which phases of a report.

The bursts of a log are sorted into kinds without the report. If the program names its bursts (burst_log_tag), then
each name is a kind. Otherwise a kind is a group of bursts between the same places whose lengths have no gap between
them.

A kind belongs to the phase whose mean length and places are nearest. It also belongs to each phase of the same
places whose lengths are spread around the kind's. A phase belongs to the kind that is nearest to it. The number of
bursts of a phase and its share of the time are not used, because they are what is compared.

Kinds and phases that belong together are a row, and all phases of a row are compared with all its kinds. Therefore a
phase that the agent has split is compared as a whole, and two behaviours that the agent has merged are one row.
"""
import math

import numpy

# added to the distance (ln of the length) of a phase of another place
OTHER_PLACE = 0.4
BIN = 0.05          # width of a bin in the histogram of ln of lengths
GAP_BINS = 4        # number of empty bins that end a group of lengths
SPARSE = 0.01       # a bin with a smaller share of the fullest bin counts as empty
WIDEST = 0.8         # limit of a phase's standard deviation, as a part of its mean
LEAST = 0.001        # share of the time below which a kind is left out
DOUBT_SECOND = 0.2  # a kind is doubtful if another row is farther by less
DOUBT_FAR = 0.4     # a kind is doubtful if its nearest row is farther


class Kind:
    """A kind: bursts of the log, as a boolean array, and a name for the reader."""

    def __init__(self, log, chosen, name, pairs_of_phases):
        self.name, self.chosen = name, chosen
        self.seconds = log.seconds[chosen]
        lengths = numpy.log(self.seconds)
        self.low, self.middle, self.high = numpy.quantile(lengths, [0.1, 0.5, 0.9])
        pairs, where = numpy.unique(log.pair[chosen], return_inverse=True)
        times = numpy.bincount(where, weights=self.seconds) / self.seconds.sum()
        # for each phase, the share of the kind's time between the places of the phase
        self.of_phase = [sum(time for pair, time in zip(pairs, times) if pair in of_phase)
                         for of_phase in pairs_of_phases]

    def is_within(self, number, phase):
        """Returns whether phase `number` has the kind's places, and lengths that are spread around the kind's."""
        length = phase["duration_seconds"]
        deviation = min(length["sd"] or 0, WIDEST * length["mean"])
        return self.of_phase[number] >= max(self.of_phase) / 2 and \
            abs(math.exp(self.middle) - length["mean"]) <= deviation

    def distance(self, number, length):
        """Returns the distance from phase `number` of mean `length` (ln). It is 0 if places and length are equal."""
        nearest = max(self.of_phase)
        place = OTHER_PLACE * (1 - self.of_phase[number] / nearest) if nearest > 0 else 0
        outside = max(0, self.low - length, length - self.high)
        return place + outside + 0.1 * abs(length - self.middle)


def groups_of_lengths(lengths):
    """Splits lengths (ln) at gaps. Returns an array of indices for each group."""
    first = lengths.min()
    bins = ((lengths - first) / BIN).astype(int)
    count = numpy.bincount(bins)
    full = numpy.flatnonzero(count >= max(1, SPARSE * count.max()))
    # the middle of each gap, in bins
    edges = [(a + b + 1) / 2 for a, b in zip(full, full[1:]) if b - a > GAP_BINS]
    group = numpy.searchsorted(edges, bins, side="right") if edges else numpy.zeros(len(bins), int)
    return [numpy.flatnonzero(group == number) for number in numpy.unique(group)]


def kinds_of_tags(log, names, among, pairs_of_phases):
    return [Kind(log, among & (log.tag == tag), names.get(tag, "untagged"), pairs_of_phases)
            for tag in numpy.unique(log.tag[among])]


def kinds_of_groups(log, among, pairs_of_phases):
    """Returns the kinds by length. Pairs of places that the same phases name count as one place."""
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
    """Returns whether the kind might belong to another row, or to none."""
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
    row = list(range(len(phases)))  # the row of each phase: the lowest number of the phases that belong together

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
