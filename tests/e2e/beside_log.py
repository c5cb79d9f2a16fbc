# SPDX-License-Identifier: BSD-3-Clause
"""Compares what a run of tests/programs/spmd.c prints about itself, the log of burst_log.so, and its report.

    beside_log.py CHECK OUTPUT LOG [REPORT]

OUTPUT: what the program printed; LOG: the start of the names of the log's files; REPORT: report.json. The bounds
hold on a machine that does other work as well. There a burst may be delayed and take longer than the program wants.
The agent may put such a burst into another phase, or into none, because it has not the length of its behaviour.
Therefore it is counted neither for nor against a phase.
"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

import numpy
import burst_log
import matching
import truth

CORE = 1.4         # times the least length of a behaviour: shorter bursts were not delayed
LENGTH_MIN = 0.7 # times the least length: a delayed burst of this phase is at least as long
SLICE_SECONDS = truth.CUT_SECONDS / 20 # a slice is a tenth of what is cut, or less if the clock is fast
QUIET = 0.8
LARGE = 0.05       # share of the time: smaller behaviours are not compared
NUMBER_OFF = 0.03
SHARE_OFF = 0.015
INTERVALS_OFF = 3  # times its half-width that an interval may be off; one in some thousands is farther
EACH_LONGER = 1e-6 # seconds by which the agent's bursts may be longer: the time between its clock and that of the log
ALL_LONGER = 0.01
DELAYS_BETWEEN = 0.1 # share of the delays that may fall between the two clocks

problems = []


def expect(condition, text):
    if not condition:
        problems.append(text)


class Run:
    def __init__(self, output, prefix, report):
        with open(output) as file:
            self.names, self.told = truth.names_of_tags(file.read())
        self.log = burst_log.Log(prefix)
        self.report = None
        if report:
            with open(report) as file:
                self.report = json.load(file)


def check_complete(run):
    """Checks that the log has every burst that the program printed, with at least its computing time."""
    for tag, (bursts, seconds) in run.told.items():
        of_tag, polling = run.log.tag == tag, run.log.polling[run.log.polling["tag"] == tag]
        number = of_tag.sum() + len(polling)
        expect(number == bursts, f"{run.names[tag]}: {number} in the log, {bursts} computed")
        logged = run.log.seconds[of_tag].sum() + 1e-9 * (polling["end"] - polling["begin"]).sum()
        expect(logged >= seconds, f"{run.names[tag]}: {logged} s in the log, {seconds} s computed")
    expect(run.told, "the program tells of nothing")


def check_processor_time(run):
    """Checks that no burst has more processor time than its length, and that the program has some."""
    log = run.log
    expect((log.cpu <= log.seconds).all(), "bursts with more processor time than their length")
    expect(log.cpu.sum() > 0, "no processor time")


def check_number(run):
    """Checks that the report has all bursts of the log, and at most the slices of each that was cut in addition.
    Where the agent did not observe some calls to keep the budget, their bursts are an estimate."""
    bursts, logged, estimated = run.report["bursts"], len(run.log.seconds), run.report["not_observed"]["calls"]
    least, most = logged - estimated, logged + slices(run.log.seconds) + estimated
    expect(least <= bursts <= most, f"{bursts} bursts, {least} to {most} by the log")


def check_time(run):
    """Checks that the bursts of the report take as long as those of the log."""
    seconds = float(run.log.seconds.sum())
    most = ALL_LONGER * seconds + EACH_LONGER * len(run.log.seconds) + run.report["not_observed"]["seconds"] + \
        DELAYS_BETWEEN * delays(run)
    expect(abs(run.report["compute_seconds"] - seconds) <= most,
           f"{run.report['compute_seconds']} s of computing, {seconds} s in the log")


def check_places(run):
    """Checks that the report names the program's functions, and not those of the libraries around the agent.
    Small phases are left out, because a phase of a few bursts may be the work of the log while it was delayed."""
    phases = [phase for phase in run.report["phases"] if phase["time_share"] > LARGE]
    found = [row["function"] for phase in phases for place in phase["source"]
             for row in place["from_path"] + place["to_path"]]
    expect("main" in found, f"no place is below main: {set(found)}")
    positions = json.dumps([phase["source"] for phase in phases])
    expect("burst_" not in positions, "a place is in the log's own code")


def slices(seconds):
    """Returns how many more bursts the agent may count, because it has cut long ones."""
    return int(numpy.ceil(seconds[seconds >= truth.CUT_SECONDS] / SLICE_SECONDS).sum())


class Bounds:
    """Number and share of the bursts of some behaviours, without the delayed ones and at most with them."""

    def __init__(self, log, core, held_up):
        least = log.seconds[core].min()
        perhaps = held_up & (log.seconds >= LENGTH_MIN * least)
        self.bursts = int(core.sum()), int((core | perhaps).sum()) + slices(log.seconds[core | perhaps])
        every = log.seconds.sum()
        self.share = log.seconds[core].sum() / every, log.seconds[core | perhaps].sum() / every

    @staticmethod
    def off(value, bounds):
        return max(0, bounds[0] - value, value - bounds[1])


def core_of(log, tag):
    """Returns which bursts of a behaviour were not delayed."""
    of_tag = log.tag == tag
    return of_tag & (log.seconds <= CORE * log.seconds[of_tag].min())


def held_up(run):
    """Returns which bursts were delayed, or are of no behaviour."""
    delayed = numpy.ones(len(run.log.seconds), bool)
    for tag in run.names:
        delayed &= ~core_of(run.log, tag)
    return delayed


def delays(run):
    """Returns the seconds by which bursts are longer than the shortest of their behaviour."""
    log = run.log
    return sum(float((log.seconds[log.tag == tag] - log.seconds[log.tag == tag].min()).sum())
               for tag in run.names if (log.tag == tag).any())


def rows(run):
    """Yields (name, phases, bounds) of the behaviours and the phases that belong together. Behaviours that are short
    by the report's limit have no phase."""
    log = run.log
    core = numpy.zeros(len(log.seconds), bool)
    for tag in run.names:
        of_behaviour = core_of(log, tag)
        if numpy.median(log.seconds[of_behaviour]) >= run.report["burst_min_seconds"]:
            core |= of_behaviour
    pairs = [log.pairs_of_phase(phase) for phase in run.report["phases"]]
    kinds = matching.kinds_of_tags(log, run.names, core, pairs)
    for members, own, _ in matching.rows(kinds, run.report["phases"]):
        chosen = numpy.zeros(len(core), bool)
        for kind in own:
            chosen |= kind.chosen
        if log.seconds[chosen].sum() >= LARGE * log.seconds.sum():
            yield (", ".join(kind.name for kind in own), [run.report["phases"][at] for at in members],
                   Bounds(log, chosen, ~core))


def half_width(phases, key):
    """Returns the half-width of the interval of several phases, as if they erred independently. None where one
    states none."""
    halves = [phase.get(key) for phase in phases]
    return None if None in halves else math.sqrt(sum(one ** 2 for one in halves))


def estimated(run, phases, key):
    """Returns by how much a number of phases may be off because calls were not observed, to keep the budget, or were
    skipped. Then it is an estimate from the time in which they were observed, and may be off as an interval may be."""
    report = run.report
    half = half_width(phases, key) if report["not_observed"]["calls"] or report["agent"]["passed_calls"] else None
    return INTERVALS_OFF * half if half else 0


def check_phases(run):
    """Checks that number and share of the phases of each behaviour are those of the log."""
    found = list(rows(run))
    expect(found, "no behaviour has a phase")
    for name, phases, bounds in found:
        bursts = sum(phase["bursts"] for phase in phases)
        share = sum(phase["time_share"] for phase in phases)
        numbers = [phase["id"] for phase in phases]
        most = NUMBER_OFF * bounds.bursts[0] + estimated(run, phases, "bursts_ci95")
        expect(Bounds.off(bursts, bounds.bursts) <= most,
               f"{name}, phases {numbers}: {bursts} bursts, {bounds.bursts} in the log")
        expect(Bounds.off(share, bounds.share) <= SHARE_OFF + estimated(run, phases, "time_share_ci95"),
               f"{name}, phases {numbers}: share {share:.4f}, {bounds.share} in the log")


def check_intervals(run):
    """Checks that no interval of the report is off by a multiple of itself."""
    for name, phases, bounds in rows(run):
        for key, value, true, slack in (
                ("bursts_ci95", "bursts", bounds.bursts, 1), ("time_share_ci95", "time_share", bounds.share, 1e-3)):
            half = half_width(phases, key)
            if half is None:
                continue
            total = sum(phase[value] for phase in phases)
            expect(Bounds.off(total, true) <= INTERVALS_OFF * half + slack,
                   f"{name}: {value} {total} +- {half}, {true} in the log")


def check_drift(run):
    """Checks that the one large phase grows as its behaviour in the log does, by a line through its lengths."""
    log = run.log
    chosen = core_of(log, next(iter(run.names)))
    begin, seconds = log.begin[chosen] * 1e-9, log.seconds[chosen]
    true = numpy.polyfit(begin - begin.mean(), seconds, 1)[0] * math.sqrt(12) * begin.std() / seconds.mean()
    large = [phase for phase in run.report["phases"] if phase["time_share"] > LARGE]
    drift = large[0]["drift"]
    expect(len(large) == 1, f"{len(large)} large phases")
    expect(true > 0.2 and abs(drift["change"] - true) <= INTERVALS_OFF * drift["ci95"] + 0.02,
           f"grows by {drift['change']} +- {drift['ci95']}, {true} in the log")


def check_quiet(run):
    """Checks that most of the time is in bursts that were not delayed, because otherwise phases are not clear."""
    share = run.log.seconds[~held_up(run)].sum() / run.log.seconds.sum()
    expect(share >= QUIET, f"{share:.2f} of the time is of bursts that were not held up")


def check_left_out(run):
    """Checks that little time is in no phase, because bursts are too short or like no others."""
    left = run.report["short"]["time_share"] + run.report["unclassified"]["time_share"]
    log = run.log
    most = truth.LEFT_BAR + log.seconds[held_up(run)].sum() / log.seconds.sum()
    expect(left <= most, f"{left:.4f} of the time is in no phase, at most {most:.4f} was expected")


def main():
    check = globals().get("check_" + sys.argv[1])
    if check is None:
        sys.exit(f"no such check: {sys.argv[1]}")
    check(Run(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None))
    for problem in problems:
        print(problem)
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
