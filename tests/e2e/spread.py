# SPDX-License-Identifier: BSD-3-Clause
"""Compares how much the iterations in a report vary with a log of all bursts of the same run (tests/bench/burst_log.c).

    spread.py CHECK REPORT [LOG CALL]

LOG: the start of the names of the log's files; CALL: the bursts of the phase are those between two of these calls, except those
that another program delayed, which are longer phases of their own. A rank
finds its loop after some iterations, and the last one does not end. So the report should have what the last iterations of
each rank in the log have, as many as were measured. Exits with 0 if the check holds, or says why not:

    phase      the phase of these bursts has the mean, deviation, least and most of the log
    iteration  so has the iteration, as the time from one call to the next
    known      the deviation of each phase with 5% of the time and one burst in an iteration is known, and of the iteration
    kept       that of the iteration is
    silent     no deviation is known
"""
import glob
import itertools
import json
import math
import struct
import sys

RECORD = struct.Struct("<QQIIHHiQ")  # struct record of tests/bench/burst_log.c
problems = []


def expect(holds, what):
    if not holds:
        problems.append(what)


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def bursts_of(prefix):
    """Returns the bursts of each rank in order, as (call before, call after, begin, end)."""
    with open(prefix + ".calls", encoding="utf-8") as file:
        names = file.read().split()
    ranks = []
    for name in sorted(glob.glob(glob.escape(prefix) + ".*.0.bursts")):
        with open(name, "rb") as file:
            ranks.append([(names[call], names[to], begin, end)
                          for begin, end, _, _, call, to, _, _ in RECORD.iter_unpack(file.read())])
    return ranks


def cuts(ranks, rounds):
    """Returns the pairs of calls that each round has once, except one at the end or at the start."""
    pairs = [burst[:2] for burst in ranks[0]]
    return [pair for pair in sorted(set(pairs)) if abs(pairs.count(pair) - rounds) <= 1]


def iterations(bursts, cut, call, longest):
    """Returns the seconds of each iteration, and of its bursts between two calls up to a length, from one such pair to the next."""
    whole, inside, since, seconds, ends = [], [], None, 0, False
    for before, after, begin, end in bursts:
        # an iteration ends when the second call of the pair returns
        if ends:
            if since is not None:
                whole.append((begin - since) * 1e-9)
                inside.append(seconds)
            since, seconds = begin, 0
        if before == after == call and (end - begin) * 1e-9 < longest:
            seconds += (end - begin) * 1e-9
        ends = (before, after) == cut
    return whole, inside


def longest_of(ranks, call):
    """Returns lengths of bursts between two calls above which they may be in another phase: where lengths are far apart."""
    lengths = sorted((end - begin) * 1e-9 for bursts in ranks for before, after, begin, end in bursts
                     if before == after == call)
    gaps = [(above / below, above) for below, above in zip(lengths[len(lengths) // 2:], lengths[len(lengths) // 2 + 1:])]
    return [math.inf, *(above for _, above in sorted(gaps)[-20:])]


def describe(ranks):
    """Returns mean, deviation within ranks, least and most of some values of each rank."""
    values = list(itertools.chain(*ranks))
    squares = sum(sum((value - sum(rank) / len(rank)) ** 2 for value in rank) for rank in ranks)
    return (sum(values) / len(values), math.sqrt(squares / (len(values) - len(ranks))), min(values), max(values))


def apart(got, want):
    """Returns the largest relative difference of two descriptions. None: it is not compared."""
    return max(abs(a - b) / max(abs(b), 1e-9) for a, b in zip(got, want) if a is not None)


def check_log(got, measured, log, call, inside, most_apart):
    """What was measured is that of the last iterations of each rank, of which one may have found its loop earlier."""
    ranks = bursts_of(log)
    limits = longest_of(ranks, call) if inside else [math.inf]
    rounds = load(sys.argv[2])["structure"]["structures"][0]["iteration"]["rounds"]
    best = math.inf, None
    for cut, longest in itertools.product(cuts(ranks, rounds), limits):
        each = [iterations(bursts, cut, call, longest)[inside] for bursts in ranks]
        for first in range(max(2, measured - len(each[1])), min(len(each[0]), measured - 2) + 1):
            want = describe([each[0][-first:], each[1][first - measured:]])
            best = min(best, (apart(got, want), want))
    expect(best[0] <= most_apart, f"{got} of {measured} iterations, and the log has {best[1]}")


def check_phase(report, log, call):
    phases = [phase for phase in report["phases"]
              if phase["source"][0]["from_call"] == phase["source"][0]["to_call"] == call]
    phase = max(phases, key=lambda phase: phase["bursts"])
    per = phase["per_iteration"]
    expect(per and per["seconds_sd"] is not None, f"{per}")
    if not problems:
        got = None, per["seconds_sd"], per["seconds_least"], per["seconds_most"]
        check_log(got, int(per["measured"]), log, call, True, 0.2)


def check_iteration(report, log, call):
    of = report["structure"]["structures"][0]["iteration"]["seconds"]
    expect(of is not None, "the iteration is not known")
    if of:
        check_log((of["mean"], of["sd"], of["least"], of["most"]), of["measured"], log, call, False, 0.1)


def check_known(report):
    large = [phase["per_iteration"] for phase in report["phases"] if phase["time_share"] >= 0.05
             and phase["per_iteration"] and phase["per_iteration"]["bursts"] >= 1]
    expect(large, "no phase")
    for per in large:
        expect(per["seconds_sd"] is not None and per["measured"] >= 10, f"{per}")
        expect(per["seconds_sd"] is None or per["seconds_least"] <= per["seconds_most"], f"{per}")
    check_kept(report)


def check_kept(report):
    of = report["structure"]["structures"][0]["iteration"]["seconds"]
    expect(of and of["measured"] >= 10 and of["least"] <= of["mean"] <= of["most"], f"{of}")


def check_silent(report):
    for phase in report["phases"]:
        per = phase["per_iteration"]
        expect(per is None or per["seconds_sd"] is per["measured"] is None, f"{per}")
    for structure in report["structure"]["structures"]:
        iteration = structure["iteration"]
        expect(iteration is None or iteration["seconds"] is None, f"{iteration}")


CHECKS = {"phase": check_phase, "iteration": check_iteration, "known": check_known, "kept": check_kept,
          "silent": check_silent}
CHECKS[sys.argv[1]](load(sys.argv[2]), *sys.argv[3:])
for problem in problems:
    print(problem)
sys.exit(bool(problems))
