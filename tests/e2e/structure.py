# SPDX-License-Identifier: BSD-3-Clause
"""Checks the structure of the calls in a report: structure.py CHECK REPORT OUTPUT [ARGUMENT...].

OUTPUT: what tests/programs/shapes.c printed. Exits with 0 if the check holds, or says why not.
"""
import json
import sys

TIME_OFF = 0.5    # share of the run by which the time of the calls and bursts may be below it: reads are in neither ...
TIME_LATE = 0.05  # ... nor is the start of the run: seconds
ROUNDS_OFF = 0.1  # share by which the rounds of a program without loops may be off
problems = []


def expect(condition, message):
    if not condition:
        problems.append(message)


def calls_of(body):
    """Returns the number of calls in a text, of all its ranks."""
    return sum(calls_of(token["body"]) if "body" in token else token["count"] for token in body)


def seconds_of(body):
    return sum(token["count"] * (token["burst_seconds"]["mean"] + token["call_seconds"]["mean"]) for token in body)


def of_rank(structures, rank):
    for structure in structures:
        if structure["first_rank"] == rank:
            return structure
    problems.append(f"no structure begins with rank {rank}")
    return structures[0]


def check_alike(report, _output, ranks):
    structures = report["structure"]["structures"]
    expect([one["ranks"] for one in structures] == [int(ranks)], f"ranks {[one['ranks'] for one in structures]}")
    expect(report["structure"]["left_out_ranks"] == 0, "ranks are left out")


def check_calls(report, output):
    """Checks that rank 0 has made as many calls as it says, and that the text of each structure has all of its calls."""
    made = int(output.split("calls ")[1].split()[0])
    for structure in report["structure"]["structures"]:
        expect(calls_of(structure["text"]) == structure["calls"], f"{calls_of(structure['text'])} calls in the text")
    first = of_rank(report["structure"]["structures"], 0)
    calls = first["calls"] / first["ranks"]
    for variant in first["variants"] or []:
        if any(start <= 0 < start + step * count for start, step, count in variant["rank_ranges"]):
            calls = variant["calls"] / variant["ranks"]
    expect(calls == made, f"{calls} calls of rank 0, {made} made")


def check_iterations(report, _output, rounds):
    for structure in report["structure"]["structures"]:
        found = structure["iteration"]["rounds"] if structure["iteration"] else 0
        expect(found == int(rounds), f"{found} iterations of rank {structure['first_rank']}")


def check_recurs(report, _output, call, rounds, calls):
    """Checks that a call comes back regularly in each structure, in about these rounds of about as many calls."""
    for structure in report["structure"]["structures"]:
        found = structure["recurrence"]
        expect(structure["iteration"] is None, "there is an iteration")
        if not found:
            problems.append(f"no call comes back in the structure of rank {structure['first_rank']}")
            continue
        expect(found["call"] == call, f"{found['call']} comes back")
        expect(found["ranks"] == structure["ranks"], f"it does so in {found['ranks']} ranks")
        expect(abs(found["rounds"] / float(rounds) - 1) < ROUNDS_OFF, f"{found['rounds']} rounds")
        expect(abs(found["mean_calls"] / float(calls) - 1) < ROUNDS_OFF, f"{found['mean_calls']} calls in a round")
        seconds = found["mean_seconds"] * found["rounds"]
        expect(0.5 * found["time_share"] < seconds / report["wall_seconds"] < 1.1, f"{seconds} s in rounds")


def check_recurs_not(report, _output):
    for structure in report["structure"]["structures"]:
        expect(structure["recurrence"] is None, f"{structure['recurrence']} of rank {structure['first_rank']}")


def check_time(report, _output):
    for structure in report["structure"]["structures"]:
        seconds = seconds_of(structure["text"]) / structure["ranks"]
        wall = report["wall_seconds"]
        expect((1 - TIME_OFF) * wall - TIME_LATE <= seconds <= wall, f"{seconds} s, the run took {wall} s")


def check_first_alone(report, _output):
    expect(of_rank(report["structure"]["structures"], 0)["ranks"] == 1, "other ranks do as rank 0")


def check_groups(report, _output, *ranks):
    found = sorted(structure["ranks"] for structure in report["structure"]["structures"])
    expect(found == sorted(map(int, ranks)), f"ranks {found}")


def check_none(report, _output):
    expect(report["structure"] is None, "there is a structure")


check, name, output, *arguments = sys.argv[1:]
with open(name, encoding="utf-8") as file:
    document = json.load(file)
with open(output, encoding="utf-8") as file:
    globals()[f"check_{check}"](document, file.read(), *arguments)
for problem in problems:
    print(problem)
sys.exit(bool(problems))
