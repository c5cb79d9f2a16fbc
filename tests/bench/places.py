# SPDX-License-Identifier: BSD-3-Clause
"""Estimates how much slower a program is while phasemux is on.

The program has run several times and turned phasemux off and on (PHASEMUX_TOGGLE). A stretch of one run is
compared with the stretches of other runs at the same place of the program. A place is the part of all MPI calls that
the run has made so far. Therefore the program must make the same number of calls in each run.
"""
try:
    import numpy
except ImportError:
    numpy = None

STRETCHES_PER_BIN = 8  # number of stretches that end in a bin, over all runs
BINS_MAX = 400
SMOOTH = 0.3  # weight of the difference of neighbouring bins, where a stretch that fills a bin has 1
OUTLIER = 4   # standard deviations above which another process is taken to have had the processor
ROUNDS = 4
RUNS_MIN = 3
CALLS_ALIKE = 1e-3


class Stretches:
    """The stretches of several runs.

    Each stretch has a row of `parts` (its part of each bin), its seconds, whether phasemux was on, and the number of
    its run. The first and the last stretch of a run are left out, because they hold more than the program's work.
    """

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
        """Returns the slowdown while phasemux is on. Fits it by least squares, with the time of each bin and a factor
        for each run."""
        bins = self.parts.shape[1]
        of_run = (self.run[:, None] == numpy.arange(self.runs)).astype(float)
        bin_seconds = numpy.full(bins, self.seconds.sum() / self.parts.sum())
        held = numpy.zeros((bins - 1 + self.runs, bins + self.runs + 1))
        held[:bins - 1, :bins] = SMOOTH * numpy.diff(numpy.eye(bins), axis=0)
        # the factor of a run is drawn to 1 with the weight of one stretch
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
    """Returns the slowdown of each run as a part of the program's time.

    The values are the pseudo-values of the jackknife, and their mean is the estimate from all runs. runs: the list
    of stretches of each run, in order, as in report.json.
    """
    stretches = Stretches(runs)
    together = stretches.slower(numpy.ones(len(stretches.run), bool))
    return [float(len(runs) * together - (len(runs) - 1) * stretches.slower(stretches.run != run))
            for run in range(len(runs))]


def alike(runs):
    """Returns whether the runs can be compared by places, because they make the same number of calls."""
    calls = [sum(each["calls"] for each in stretches) for stretches in runs]
    return bool(numpy and len(runs) >= RUNS_MIN and
                max(calls) - min(calls) <= CALLS_ALIKE * max(calls))
