#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Helps tests/e2e/whatif.t: asks about a run, and compares the answers with runs in which the change was made.

usage: whatif.py options REPORT FUNCTION FORMAT      an option for each phase that ends in a function
       whatif.py halved REPORT                       an option for each phase, as if its components were halved
       whatif.py quiet WORK ALIKE OUTPUT REPORT      whether the bursts of tests/programs/spmd.c were as long as asked
       whatif.py alike REPORT                        whether the bursts of each phase are of one length
       whatif.py near ANSWER WHICH REPORT            whether the least or the most time is that of another run
       whatif.py simulated ANSWER REPORT             whether the simulated change takes the time of another run
       whatif.py relabel REPORT                      prints it with calls that are named after another phase
       whatif.py same ANSWER ANSWER                  whether two answers foresee the same time
       whatif.py edit REPORT KIND                    prints it with less: older, empty, missing (a rank), many (ranks)
"""
import json
import sys

TOLERANCE = 0.10  # of the foreseen time
BUSY = 0.02       # part by which bursts are longer than asked on a machine that is too busy (0.004 on a quiet one)
SPREAD = 0.1      # of the bursts of a phase; those of the two ranks differ by a factor of three
WAITS = 0.04      # part by which a run on such a machine is longer than its bursts (0.01 on a quiet one)
MS = {            # of the functions of spmd.c, in the first and the last of two ranks
    "predict": (48, 48), "correct": (32, 96), "ahead": (96, 32), "ahead_alone": (96, 32), "behind": (32, 96),
    "carry": (32, 96), "turn": (64, 64), "hurry": (96, 32), "message": (40, 40)}
CHANGED = ("correct", "ahead", "ahead_alone", "message")
ALONE = {"ahead_alone", "hurry"}  # ranks wait at the end of an iteration
LONGER = {"turn": 96 / 64}        # by what the slowest of both bursts is longer than the mean


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def options(report, function, form):
    ids = [phase["id"] for phase in load(report)["phases"]
           if any(place["function"] == function for place in phase["source"][0]["to_path"])
           # a few strange bursts may be a phase that a rank has alone
           and ("balance" not in form or phase.get("together", phase)["ranks"] > 1)]
    assert ids, f"no phase ends in {function}"
    print(*(form.replace("N", str(phase)) for phase in ids), sep="\n")


def halved(report):
    """Prints the factor of each phase in which each component that is known takes half its cycles."""
    for phase in load(report)["phases"]:
        cycles = sum(component["cpi"] for component in phase["cpi_breakdown"]
                     if component["level"] == 0 and component["ci95"] is not None)
        if cycles:
            print(f"--phase={phase['id']}={1 - 0.5 * cycles / phase['cpi']:.9f}")


def quiet(work, alike, output, report):
    asked, taken = {}, 0
    with open(output, encoding="utf-8") as lines:
        for line in lines:
            _, rank, _, function, bursts, seconds = line.split()
            ms = MS[function][int(rank)]
            if function in CHANGED:
                ms = float(work) * (64 if alike == "alike" else ms)
            asked[function, rank] = int(bursts) * ms / 1000
            taken += float(seconds)
    total = sum(asked.values())
    assert asked and taken <= total * (1 + BUSY), f"the bursts took {taken:.3f} s instead of {total:.3f} s"
    functions, ranks = {key[0] for key in asked}, {key[1] for key in asked}
    if ALONE & functions:
        path = max(sum(asked[function, rank] for function in functions) for rank in ranks)
    else:
        path = sum(LONGER.get(function, 1) * max(asked[function, rank] for rank in ranks) for function in functions)
    wall = load(report)["wall_seconds"]
    assert wall <= path * (1 + WAITS), f"the run took {wall:.3f} s instead of {path:.3f} s"


def alike(report):
    for phase in load(report)["phases"]:
        length = phase["duration_seconds"]
        assert length["sd"] <= SPREAD * length["mean"], f"phase {phase['id']}: {length}"


def last(path):
    return load(path)["answers"][-1]


def compare(foreseen, report):
    wall = load(report)["wall_seconds"]
    assert abs(foreseen / wall - 1) <= TOLERANCE, f"{foreseen:.3f} s were foreseen, and the run took {wall:.3f} s"
    print(f"{foreseen:.3f} s were foreseen, and the run took {wall:.3f} s ({foreseen / wall - 1:+.1%})")


def near(answer, which, report):
    compare(last(answer)["wall_seconds"][which], report)


def simulated(answer, report):
    answer = load(answer)
    compare(answer["recorded_seconds"] * (1 - answer["saved_share"]["mean"]), report)


def calls(body):
    for token in body:
        yield from calls(token["body"]) if "body" in token else [token]


def relabel(path):
    """The calls before which most time is computed are named after a new phase without time, which ends there, too."""
    report = load(path)
    largest = report["phases"][0]
    small = {**largest, "id": 99, "time_share": 0, "bursts": 1,
             "rank_seconds": {"mean": 1e-6, "most": 1e-6}, "duration_seconds": {"mean": 1e-6, "ci95": 0, "sd": 0}}
    report["phases"].append(small)
    for structure in report["structure"]["structures"]:
        for call in calls(structure["text"]):
            if call.get("phase") == largest["id"]:
                call["phase"] = 99
    json.dump(report, sys.stdout)


def same(one, other):
    times = [last(path)["wall_seconds"] for path in (one, other)]
    assert all(abs(times[0][key] / times[1][key] - 1) < 1e-4 for key in ("least", "most")), times


def edit(path, kind):
    report = load(path)
    if kind == "older":
        for phase in report["phases"]:
            for key in ("rank_seconds", "ranks", "slowest_rank", "together"):
                phase.pop(key, None)
    elif kind == "empty":
        report["phases"] = []
    elif kind == "missing":
        report["rank_times"]["each"][1] = {"useful_seconds": None, "mpi_seconds": None}
        report["recovered"] = {"ranks": 1, "missing": "1"}
    else:
        times = sorted(report["rank_times"]["each"], key=lambda time: time["useful_seconds"])
        deciles = [times[i * (len(times) - 1) // 10] for i in range(11)]
        report["rank_times"] = {"each": None, "deciles": deciles}
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    {"options": options, "halved": halved, "quiet": quiet, "alike": alike, "near": near, "simulated": simulated, "relabel": relabel,
     "same": same, "edit": edit}[sys.argv[1]](*sys.argv[2:])
