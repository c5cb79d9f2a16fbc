# SPDX-License-Identifier: BSD-3-Clause
"""How much slower a program is while phasemux is on, from several runs of it that turned phasemux off and on
(PHASEMUX_TOGGLE): what one run did in a stretch is compared with what others did at the same place of the
program. A place is a number of calls to MPI, of all that the run makes: the program must make as many in
each run.
"""
try:
    import numpy
except ImportError:
    numpy = None

STRETCHES_PER_BIN = 8  # that end in it, of all runs
BINS_MAX = 400
SMOOTH = 0.3  # how much neighbouring bins' times are held together, beside a stretch that fills one
OUTLIER = 4   # standard deviations: somebody else had the processor
ROUNDS = 4
RUNS_MIN = 3
CALLS_ALIKE = 1e-3


class Stretches:
    """Of several runs: parts of bins (a row each), seconds, whether phasemux was on, which run. The first
    and the last of a run are left out: they hold more than the program's own work."""

    def __init__(self, runs):
        bins = min(BINS_MAX, max(1, sum(map(len, runs)) // STRETCHES_PER_BIN))
        edges = numpy.linspace(0, 1, bins + 1)
        rows, self.runs = [], len(runs)
        for number, stretches in enumerate(runs):
            calls = numpy.cumsum([0] + [each["calls"] for each in stretches])
            at = calls / calls[-1]
            for i in range(1, len(stretches) - 1):
                if calls[i + 1] > calls[i]:
                    parts = numpy.minimum(edges[1:], at[i + 1]) - numpy.maximum(edges[:-1], at[i])
                    rows.append((numpy.clip(parts, 0, None) * bins, stretches[i]["seconds"],
                                 stretches[i]["on"], number))
        parts, seconds, on, run = zip(*rows)
        self.parts, self.seconds = numpy.array(parts), numpy.array(seconds)
        self.on, self.run = numpy.array(on, float), numpy.array(run)

    def slower(self, chosen):
        """By least squares: the time of each bin, the factor of each run, and that of being on."""
        bins = self.parts.shape[1]
        of_run = (self.run[:, None] == numpy.arange(self.runs)).astype(float)
        bin_seconds = numpy.full(bins, self.seconds.sum() / self.parts.sum())
        held = numpy.zeros((bins - 1 + self.runs, bins + self.runs + 1))
        held[:bins - 1, :bins] = SMOOTH * numpy.diff(numpy.eye(bins), axis=0)
        # that of a run is held to one, as by one stretch
        held[bins - 1:, bins:-1] = numpy.eye(self.runs) * self.seconds.mean()
        for _ in range(ROUNDS):
            expected = self.parts @ bin_seconds
            terms = numpy.hstack([self.parts, expected[:, None] * of_run,
                                  (expected * self.on)[:, None]])
            fit = numpy.linalg.solve(terms[chosen].T @ terms[chosen] + held.T @ held,
                                     terms[chosen].T @ self.seconds[chosen])
            left = self.seconds - terms @ fit
            bin_seconds = numpy.maximum(fit[:bins], 0)
            chosen = chosen & (abs(left) < OUTLIER * left[chosen].std())
        return fit[-1]


def slower_by(runs):
    """runs: of each its stretches, in order, as in report.json. By how much of the program's time each was
    slower: the jackknife's pseudo-values, whose mean is that of all runs together."""
    stretches = Stretches(runs)
    together = stretches.slower(numpy.ones(len(stretches.run), bool))
    return [float(len(runs) * together - (len(runs) - 1) * stretches.slower(stretches.run != run))
            for run in range(len(runs))]


def alike(runs):
    """Whether they can be compared by places: these are the same in all of them."""
    calls = [sum(each["calls"] for each in stretches) for stretches in runs]
    return bool(numpy and len(runs) >= RUNS_MIN and
                max(calls) - min(calls) <= CALLS_ALIKE * max(calls))
