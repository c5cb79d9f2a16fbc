# SPDX-License-Identifier: BSD-3-Clause
"""Compares the report of a run with a log of every burst of the same run: `run truth`.

burst_log.h says how the log is made, and matching.py which of its bursts belong to which phases. The result for each
row is the error of the number of bursts, of their mean length and of their share of the computing time, the
processor time of a burst beside that of the log, and whether the 95% intervals of the report hold the log's values.
"""
import json
import math
import os
import re
import shutil
import statistics
import subprocess

try:
    import numpy
    import burst_log
    import matching
except ImportError:
    numpy = None

BUDGETS = ("1%", "0.3%", "0.1%")
SECONDS = 6        # duration of a program with known behaviours
KNOWN = "spmd"     # start of the names of programs with known behaviours
LARGE = 0.05      # share of the time above which the bars apply to a row
NUMBER_BAR = MEAN_BAR = 0.02
SHARE_BAR = 0.01  # in parts of the computing time
LEFT_BAR = 0.03   # unclassified and short bursts together, with the default budget
CUT_SECONDS = 0.1 # length from which the agent cuts bursts into slices, and counts the slices
CUT_SHARE = 0.02  # share of a row's time in such bursts, from which their number is not compared
MATCH_NS = 20000    # largest difference of the starts of one burst in log and table
MEAN_RESOLUTION = 1e-6  # seconds between the readings of the agent's clock and the log's, for each burst
RATE_RESOLUTION = 1e-4  # relative difference of the rates of two clocks
SHARE_RESOLUTION = 1e-4
INTERVALS = ("bursts", "mean", "share", "clock")


def preload(build, bench):
    """Returns the value of LD_PRELOAD. burst_log.h says why the order matters."""
    return ":".join([os.path.join(bench, "burst_edge.so"), os.path.join(build, "libphasemux.so"),
                     os.path.join(bench, "burst_log.so")])


def names_of_tags(output):
    """Returns {tag: behaviour} and {tag: (bursts, seconds)}, which a program of known behaviours prints."""
    names, told = {}, {}
    for _, tag, name, bursts, seconds in re.findall(
            r"^truth (\d+) (\d+) (\S+) (\d+) (\S+)$", output, re.MULTILINE):
        names[int(tag)] = name
        before = told.get(int(tag), (0, 0))
        told[int(tag)] = before[0] + int(bursts), before[1] + float(seconds)
    return names, told


def off(value, true):
    return value / true - 1 if true else float("inf") if value else 0


def first_clock(phase):
    """Returns the event of processor time, its mean and half-width in seconds, or None."""
    for name in ("task-clock", "cpu-clock"):
        if name in phase["counters"] and phase["counters"][name]["mean"] is not None:
            row = phase["counters"][name]
            return row["mean"] * 1e-9, None if row["ci95"] is None else row["ci95"] * 1e-9
    return None


def of_interval(value, halves, weights, true, resolution):
    """Returns whether the interval holds the true value, which is known to `resolution`.

    The interval of several phases is computed as if their errors were independent. Returns None if one of the phases
    states no interval.
    """
    if None in halves:
        return None
    half = math.sqrt(sum((weight * half) ** 2 for weight, half in zip(weights, halves)))
    return {"covers": bool(abs(value - true) <= half + resolution), "ci95": half, "error": value - true}


def intervals(phases, row):
    """The values of a row. Each is the sum over its phases, or their mean over bursts."""
    ones = [1] * len(phases)
    parts = [phase["bursts"] / row["bursts"] for phase in phases]
    stated = {"share": of_interval(row["share"], [phase.get("time_share_ci95") for phase in phases], ones,
                                   row["log_share"], SHARE_RESOLUTION)}
    if row["cut"]:
        return stated
    stated["bursts"] = of_interval(row["bursts"], [phase.get("bursts_ci95") for phase in phases], ones,
                                   row["log_bursts"], 0.5)
    stated["mean"] = of_interval(row["mean"], [phase["duration_seconds"].get("ci95") for phase in phases],
                                 parts, row["log_mean"],
                                 MEAN_RESOLUTION + RATE_RESOLUTION * row["log_mean"])
    if row["clock"] is not None:
        stated["clock"] = of_interval(row["clock"], [first_clock(phase)[1] for phase in phases], parts,
                                      row["log_clock"],
                                      MEAN_RESOLUTION + RATE_RESOLUTION * row["log_clock"])
    return stated


def compare_row(report, log, members, kinds, doubt):
    phases = [report["phases"][number] for number in members]
    bursts = sum(phase["bursts"] for phase in phases)
    share = sum(phase["time_share"] for phase in phases)
    mean = sum(phase["bursts"] * phase["duration_seconds"]["mean"] for phase in phases) / bursts
    chosen = numpy.zeros(len(log.seconds), bool)
    for kind in kinds:
        chosen |= kind.chosen
    lengths = log.seconds[chosen]
    number, seconds = len(lengths), float(lengths.sum())
    clocks = [first_clock(phase) for phase in phases]
    row = {"phases": [phase["id"] for phase in phases], "kinds": [kind.name for kind in kinds],
           "bursts": bursts, "mean": mean, "share": share, "doubt": doubt, "log_bursts": number,
           "log_mean": seconds / number if number else 0, "log_share": seconds / log.seconds.sum(),
           "log_clock": float(log.cpu[chosen].mean()) if number else 0,
           "cut": bool(lengths[lengths >= CUT_SECONDS].sum() > CUT_SHARE * seconds)}
    row["clock"] = sum(phase["bursts"] * clock[0] for phase, clock in zip(phases, clocks)) / bursts \
        if all(clocks) else None
    row["bursts_off"], row["mean_off"] = off(bursts, number), off(mean, row["log_mean"])
    row["share_off"] = share - row["log_share"]
    row["clock_off"] = None if row["clock"] is None else off(row["clock"], row["log_clock"])
    row["intervals"] = intervals(phases, row)
    return row


def compare(report, log, names):
    """The rows of phases, and the bursts that are in none."""
    limit = report["burst_min_seconds"]
    pairs_of_phases = [log.pairs_of_phase(phase) for phase in report["phases"]]
    if names:
        short = (log.tag < 0) & (log.seconds < limit)
        for tag in names:
            of_tag = log.tag == tag
            if of_tag.any() and numpy.median(log.seconds[of_tag]) < limit:
                short |= of_tag
        kinds = matching.kinds_of_tags(log, names, ~short, pairs_of_phases)
    else:
        short = log.seconds < limit
        kinds = matching.kinds_of_groups(log, ~short, pairs_of_phases)
    rows = [compare_row(report, log, *row) for row in matching.rows(kinds, report["phases"])]
    agent = report["agent"]
    return {"rows": sorted(rows, key=lambda row: -max(row["share"], row["log_share"])),
            "short": report["short"]["time_share"], "unclassified": report["unclassified"]["time_share"],
            "log_short": float(log.seconds[short].sum() / log.seconds.sum()),
            "bursts": report["bursts"], "log_bursts": len(log.seconds),
            "seconds": report["compute_seconds"], "log_seconds": float(log.seconds.sum()),
            "agent_share": agent["share"], "processor_share": agent["processor_share"]}


def seconds_text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def interval_text(row):
    return " ".join(f"{name} " + ("none" if one is None else "holds" if one["covers"] else "MISSES")
                    for name, one in row["intervals"].items())


def print_comparison(result):
    print("      phases                of the log                share  (log)  points      bursts     (log)"
          "    off       mean      (log)    off    clock off  doubt  intervals")
    for row in result["rows"]:
        if max(row["share"], row["log_share"]) < 0.01:
            continue
        phases = ",".join(map(str, row["phases"]))
        kinds = ", ".join(row["kinds"])
        clock = "" if row["clock_off"] is None else f"{100 * row['clock_off']:+.1f}%"
        counted = "     cut into slices     " if row["cut"] else \
            f"{row['bursts']:9} {row['log_bursts']:9} {100 * row['bursts_off']:+6.1f}%"
        mean = "" if row["cut"] else f"{100 * row['mean_off']:+.1f}%"
        print(f"      {phases[:20]:<20}  {kinds[:24]:<24} {100 * row['share']:6.2f} "
              f"{100 * row['log_share']:6.2f} {100 * row['share_off']:+7.2f}   {counted} "
              f"{seconds_text(row['mean']):>10} {seconds_text(row['log_mean']):>10} {mean:>7} "
              f"{clock:>9} {100 * row['doubt']:5.1f}%  {interval_text(row)}")
    print(f"      short {100 * result['short']:.2f}% (log, by the final limit: {100 * result['log_short']:.2f}%), "
          f"unclassified {100 * result['unclassified']:.2f}%, bursts {result['bursts']} "
          f"(log {result['log_bursts']}), computing {result['seconds']:.3f} s (log {result['log_seconds']:.3f}), "
          f"own cost {100 * result['agent_share']:.2f}%", flush=True)


def all_rows(results, least=0):
    return [(name, row) for name, result in results for row in result["rows"]
            if max(row["share"], row["log_share"]) >= least]


def coverage(results):
    """Returns {quantity: (holds, stated, not stated)} over all rows."""
    table = {}
    for name in INTERVALS:
        found = [row["intervals"][name] for _, row in all_rows(results)
                 if name in row["intervals"]]
        stated = [one for one in found if one]
        table[name] = sum(one["covers"] for one in stated), len(stated), len(found) - len(stated)
    return table


def summary(results):
    """Returns a text for each value that misses its bar. results: [(program and budget, comparison)]."""
    worst = []
    for name, row in all_rows(results, LARGE):
        of_row = [("share", abs(row["share_off"]) / SHARE_BAR, f"{100 * row['share_off']:+.2f} points")]
        if not row["cut"]:
            of_row += [("bursts", abs(row["bursts_off"]) / NUMBER_BAR, f"{100 * row['bursts_off']:+.1f}%"),
                       ("mean", abs(row["mean_off"]) / MEAN_BAR, f"{100 * row['mean_off']:+.1f}%")]
        worst += [(times, f"{name}, phases {row['phases']}: {what} {text}") for what, times, text in of_row]
    worst.sort(reverse=True)
    return {"coverage": coverage(results), "values": len(worst),
            "within": int(sum(times <= 1 for times, _ in worst)),
            "worst": [text for times, text in worst if times > 1]}


def not_told_apart(results):
    """Returns the behaviours that share a row, of rows above LARGE."""
    return [f"{name} ({', '.join(row['kinds'])})" for name, row in all_rows(results, LARGE)
            if name.startswith(KNOWN) and len(row["kinds"]) > 1]


def print_summary(results, budgets):
    total = summary(results)
    print(f"  of {total['values']} numbers, means and shares of rows above {100 * LARGE:.0f}% of the time, "
          f"{total['within']} are within 2%, 2% and one point of the log; the worst of the others:")
    for text in total["worst"][:12]:
        print(f"      {text}")
    for name, (holds, stated, missing) in total["coverage"].items():
        part = f"{holds} of {stated} hold ({100 * holds / stated:.0f}%)" if stated else "none is stated"
        print(f"  95% intervals, {name:<7} {part}; {missing} rows state none")
    together = not_told_apart(results)
    if together:
        print(f"  behaviours that are not told apart: {'; '.join(together)}")
    left = [(result["short"] + result["unclassified"], name) for name, result in results
            if name.endswith(" " + BUDGETS[0])]
    over = [f"{name} {100 * share:.1f}%" for share, name in sorted(left, reverse=True) if share > LEFT_BAR]
    print(f"  unclassified and short are above {100 * LEFT_BAR:.0f}% with the default budget in "
          f"{len(over)} of {len(left)}: {'; '.join(over)}")
    for budget in budgets:
        share = float(budget.rstrip("%")) / 100
        costs = [(result["agent_share"] / share, name) for name, result in results
                 if name.endswith(" " + budget)]
        over = [f"{name} x {times:.2f}" for times, name in sorted(costs, reverse=True) if times > 1.1]
        print(f"  own cost above {budget} by more than a tenth in {len(over)} of {len(costs)}: {'; '.join(over)}")
    return total


def print_clock(log, told):
    """Compares the log with the program's own measurement by the same clock, inside of the burst."""
    for tag, (bursts, seconds) in told.items():
        of_tag = log.tag == tag
        number = int(of_tag.sum() + (log.polling["tag"] == tag).sum())
        if number != bursts:
            print(f"      THE LOG HAS {number} BURSTS OF TAG {tag}, THE PROGRAM {bursts}")
    differences = [(log.seconds[log.tag == tag].sum() - seconds) / bursts
                   for tag, (bursts, seconds) in told.items()]
    if differences:
        print(f"      a burst of the log is longer than its computing by the program's own clock by "
              f"{1e9 * statistics.median(differences):.0f} ns (median of behaviours)")


def differences(log, name, rank):
    """Returns the seconds by which each burst is longer by the agent's clock than in the log.

    The bursts are those that the agent has read, from the table of PHASEMUX_REPORT=bursts.
    """
    table = numpy.loadtxt(name, delimiter=",", skiprows=1 if rank == 0 else 0, usecols=(2, 3), ndmin=2)
    begin, seconds = log.begin[log.rank == rank].astype(float), log.seconds[log.rank == rank]
    best = []
    # the agent's times are since its start, so its first burst is one of the first in the log
    for first in range(min(100, len(begin))):
        shifted = table[:, 0] - table[0, 0] + begin[first]
        near = numpy.clip(numpy.searchsorted(begin, shifted - MATCH_NS), 0, len(begin) - 1)
        alike = abs(begin[near] - shifted) < MATCH_NS
        if alike.sum() > len(best):
            best = (1e-9 * (table[:, 1] - table[:, 0]) - seconds[near])[alike]
    return best


def print_differences(log, output):
    found = [differences(log, os.path.join(output, f"bursts.{rank:06}.csv"), rank)
             for rank in numpy.unique(log.rank)]
    low, middle, high = numpy.quantile(numpy.concatenate(found), [0.05, 0.5, 0.95])
    print(f"    of {sum(map(len, found))} bursts that the agent has read, its length is above the log's by "
          f"{1e9 * middle:.0f} ns (median; {1e9 * low:.0f} to {1e9 * high:.0f} in 90%)")
    return {"median_seconds": middle, "low_seconds": low, "high_seconds": high}


def measure(run, words, folder, build, bench, **settings):
    """Runs the program once. Returns (report, log, output of the program)."""
    output, prefix = os.path.join(folder, "truth.result"), os.path.join(folder, "truth.log")
    shutil.rmtree(output, ignore_errors=True)
    _, text = run(words, folder, LD_PRELOAD=preload(build, bench), PHASEMUX_OUTPUT=output,
                  BURST_LOG=prefix, **settings)
    with open(os.path.join(output, "report.json")) as file:
        report = json.load(file)
    log = burst_log.Log(prefix)
    for name in os.listdir(folder):
        if name.startswith("truth.log."):
            os.remove(os.path.join(folder, name))
    return report, log, text


def known_programs(build, seconds):
    """Returns (name, MPI, words) of each shape of tests/programs/spmd.c."""
    program = os.path.join(build, "tests", "programs", "spmd.openmpi")
    if not os.path.exists(program):
        return
    for shape in subprocess.run([program], capture_output=True, text=True).stdout.split():
        yield f"{KNOWN} {shape}", "openmpi", [program, shape, str(seconds)]
