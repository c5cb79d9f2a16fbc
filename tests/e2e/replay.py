#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Helps tests/e2e/replay.t.

usage: replay.py calls LIST AGAIN          whether a replay made the same calls, and two of its own
       replay.py times OUTPUT REPORT       whether the times of a replay are those that it should have
       replay.py all OUTPUT                whether all calls were made again
       replay.py otherwise OUTPUT CALL:REASON...
                                           whether these calls were not made, for this reason
       replay.py means OUTPUT              whether some calls were made with a mean size, and all were made
       replay.py edit REPORT CHANGE        prints the report with a change: tag, order, size, start, counts, or a number: seed
                                           of a number in the structure that becomes another one
"""
import json
import random
import sys


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def same_calls(recorded, again):
    recorded, again = ([line.rstrip("\n") for line in open(name, encoding="utf-8")] for name in (recorded, again))
    own = ("MPI_Barrier", "MPI_Reduce root 0, 16 bytes")
    if (again[1], again[-2]) != own:
        return f"the replay's own calls are {again[1]} and {again[-2]}"
    again = again[:1] + again[2:-2] + again[-1:]
    for at, (one, other) in enumerate(zip(recorded, again)):
        if one != other:
            return f"call {at} is \"{other}\", the program made \"{one}\""
    return None if len(recorded) == len(again) else f"{len(again)} calls, the program made {len(recorded)}"


def computing(body):
    """Returns the seconds of bursts in a body, of all ranks."""
    return sum(computing(token["body"]) if "body" in token else token["count"] * token["burst_seconds"]["mean"]
               for token in body)


def times(output, report):
    outcome, report = read(output), read(report)
    recorded, replayed = outcome["recorded_seconds"], outcome["replayed_seconds"]
    least = max(computing(structure["text"]) / structure["ranks"] for structure in report["structure"]["structures"])
    print(f"{recorded} s recorded, {replayed} s replayed, {least} s of computing")
    if recorded != report["wall_seconds"]:
        return "the recorded time is not that of the report"
    if abs(outcome["accuracy"] - (1 - abs(recorded - replayed) / recorded)) > 1e-9:
        return "the accuracy is not that of these times"
    # the lengths of bursts are drawn: if few of them are long, because ranks were preempted, then few draws have them
    return None if replayed > 0.02 * least else "the replay does not compute"


def all_made(output):
    outcome = read(output)
    made = outcome["calls"] == outcome["made"] and not outcome["otherwise"]
    return None if made and outcome["calls"] > 100 else str(outcome)


def otherwise(output, *wanted):
    outcome = read(output)
    got = {f"{row['call']}:{row['reason']}" for row in outcome["otherwise"]
           if row["instead"] == "time" and row["calls"] > 0}
    missing = set(wanted) - got
    return f"{missing} are missing in {got}" if missing or outcome["in_copies"] else None


def means(output):
    outcome = read(output)
    return None if outcome["mean_sizes"] > 10 and outcome["calls"] == outcome["made"] else str(outcome)


def numbers(value, found):
    """Finds all numbers in a value, each as its container and its key."""
    for key in range(len(value)) if isinstance(value, list) else list(value):
        if isinstance(value[key], (list, dict)):
            numbers(value[key], found)
        elif isinstance(value[key], (int, float)) and not isinstance(value[key], bool):
            found.append((value, key))


def tokens(body):
    for token in body:
        yield token
        yield from tokens(token.get("body", ()))


def edit(report, change):
    report = read(report)
    structure = report["structure"]
    paths = structure["arguments"]["paths"]

    def first(call):
        return next(path for path in paths if path["call"] == call)

    if change == "tag":
        first("MPI_Sendrecv_replace")["from_tag"][0]["stream"] = [[100, 77]]
    elif change == "order":
        token = next(token for token in tokens(structure["structures"][0]["text"])
                     if token.get("call") == "MPI_Barrier")
        token["repeats"] = [token["repeats"][0] + 2, token["repeats"][1] + 2]
        if isinstance(structure["structures"][0]["variants"], list):
            at = list(tokens(structure["structures"][0]["text"])).index(token)
            structure["structures"][0]["variants"][0]["counts"][at] = 3
    elif change == "size":
        values = first("MPI_Allgather")["bytes"]
        values[:] = [dict(values[0], rank_ranges=[[0, 1, 1]]),
                     dict(values[0], rank_ranges=[[1, 1, 3]], stream=[[100, 25]])]
    elif change == "start":
        first("MPI_Start")["request"][0]["stream"] = [[1000, 77]]
    elif change == "counts":
        token = next(token for token in tokens(structure["structures"][0]["text"]) if "call" in token)
        token["counts"] = [[1, -1]]
        structure["structures"][0]["variants"] = None
    else:
        found = []
        numbers(structure, found)
        draw = random.Random(int(change))
        where, key = draw.choice(found)
        where[key] = draw.choice([0, 1, -1, 7, 1000, 2 ** 20, -2 ** 40])
    json.dump(report, sys.stdout)


def main():
    command, *arguments = sys.argv[1:]
    problem = {"calls": same_calls, "times": times, "all": all_made, "otherwise": otherwise, "means": means,
               "edit": edit}[command](*arguments)
    if problem:
        print(problem)
    return bool(problem)


if __name__ == "__main__":
    sys.exit(main())
