# SPDX-License-Identifier: BSD-3-Clause
"""Measures how often the intervals of the report cover the truth if a few ranks read for all: `run leads`.

The program (tests/programs/led.c) tells what the events of the scripted PMU have counted in all bursts of all ranks. Its
ranks differ at random, and so do its bursts. Each trial has another seed. docs/leads.md has the figures of one machine.
"""
import os
import shutil

RANKS = 4
STEPS = 3000
NOISE = 0.05               # relative deviation of each event in each burst, beside that of its instructions
SPREADS = (0, 0.03, 0.1)   # relative deviations of the work of a rank
SETTINGS = ("all", "1")    # PHASEMUX_LEADS
TRIALS, TRIALS_QUICK = 30, 5
INSIDE = (0.90, 0.98)      # share of the intervals that should cover the truth
RESOLUTION = 1e-6          # counters are whole numbers
SAME = 0.2                 # most by which a phase's instructions are off those of the kind of bursts that it is


def truth_of(output):
    """Returns the bursts of each kind and the mean of each event, as the program has printed them."""
    kinds = {}
    for line in output.splitlines():
        word, *rest = line.split()
        if word == "truth":
            kind, bursts, event, total = rest
            kinds.setdefault(kind, {"bursts": int(bursts)})[event] = float(total) / int(bursts)
    return kinds


def compare(report, kinds):
    """Yields kind, event, true mean, estimated mean and half-width of each interval of the largest phase of each kind."""
    for kind, means in kinds.items():
        true = means["ex_ret_instr"]
        same = [phase for phase in report["phases"] if phase["counters"]["ex_ret_instr"]["mean"] is not None
                and abs(phase["counters"]["ex_ret_instr"]["mean"] / true - 1) < SAME]
        phase = max(same, key=lambda each: each["bursts"], default=None)
        # if a busy machine has split a kind, its phases are not all of its bursts
        if phase is None or phase["bursts"] < 0.98 * means["bursts"]:
            continue
        for event, mean in means.items():
            counter = phase["counters"].get(event)
            # an interval of no width says that all bursts were read
            if mean and counter and counter["mean"] is not None and counter["ci95"]:
                yield kind, event, mean, counter["mean"], counter["ci95"]


def trials_of(bench, spread, setting, trials):
    """Runs some trials. Returns how many intervals there are, how many cover the truth, and how wide they are."""
    rows, in_l, kinds_compared = [], [], 0
    for seed in range(1, trials + 1):
        words = [os.path.join(bench.build, "tests", "programs", "led." + bench.mpi), str(STEPS), str(seed), str(spread)]
        out, report, folder = bench.observed(RANKS, words, counted=True, PHASEMUX_BUDGET="none", PHASEMUX_LEADS=setting,
                                             SCRIPTED_PMU=f"noise={NOISE},seed={seed},spin=0.3")
        shutil.rmtree(folder)
        found = list(compare(report, truth_of(out)))
        rows += found
        kinds_compared += len({row[0] for row in found})
        in_l.append(report["leads"]["time_share"] if report["leads"] else 0)
    covered, events = [], {}
    for _, event, true, mean, half in rows:
        covered.append(abs(mean - true) <= half + RESOLUTION * true)
        events.setdefault(event, []).append(covered[-1])
    return {"spread": spread, "leads": setting, "trials": trials, "phases": kinds_compared, "intervals": len(rows),
            "inside": sum(covered) / len(rows),
            "inside_of_event": {event: sum(each) / len(each) for event, each in events.items()}, "time_in_l": sum(in_l) / trials,
            "half_width": sum(half / true for _, _, true, _, half in rows) / len(rows),
            "error": sum(abs(mean / true - 1) for _, _, true, mean, _ in rows) / len(rows)}


def measure(bench, quick):
    """Returns a row for each spread and setting, and prints them."""
    rows = []
    print(f"leads, {bench.mpi}: {RANKS} ranks that differ at random; intervals beside what the events really counted")
    for spread in SPREADS:
        for setting in SETTINGS:
            row = trials_of(bench, spread, setting, TRIALS_QUICK if quick else TRIALS)
            rows.append(row)
            print(f"    ranks differ by {100 * spread:4.0f}%, PHASEMUX_LEADS={setting:<4} {100 * row['time_in_l']:5.1f}% of the time "
                  f"in L, {row['intervals']:5} intervals of {row['phases']:4} phases, {100 * row['inside']:5.1f}% inside, "
                  f"+- {100 * row['half_width']:.2f}%, mean error {100 * row['error']:.2f}%", flush=True)
            least = min(row["inside_of_event"], key=row["inside_of_event"].get)
            print(f"      least of all events: {least}, {100 * row['inside_of_event'][least]:.1f}% inside")
    holds = all(INSIDE[0] <= row["inside"] <= INSIDE[1] for row in rows if row["leads"] != "all")
    print(f"  with leads, {100 * INSIDE[0]:.0f} to {100 * INSIDE[1]:.0f}% inside: {'holds' if holds else 'DOES NOT HOLD'}")
    return {"holds": holds, "rows": rows}
