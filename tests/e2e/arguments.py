# SPDX-License-Identifier: BSD-3-Clause
"""Compares the calls that `phasemux trace --expand` lists with those that tests/programs/messages.c has logged.

    arguments.py CHECK LIST LOG [REPORT RANK]

Exits with 0 if the check holds, or says why not:

    whole    the list has each call of the log with its arguments, and nothing else
    part     the list has calls of the log with their arguments or without any, in their order, and lacks others
    few      the arguments of fewer than 30 calls in the list are known
    start    the list has the first calls of the log with their arguments, and says that the last ones are missing
    end      the list has the last calls of the log with their arguments, and says that it lacks others
    bounded  the list has each call of the log. The arguments of the first ones are known, and of all of them the report
             has number, least, most and mean
"""
import json
import re
import sys

problems = []


def read(name):
    with open(name, encoding="utf-8") as file:
        return [re.sub(r" in \S+ \S+$", "", line.rstrip("\n")) for line in file]


def whole(listed, logged):
    for at, (call, made) in enumerate(zip(listed, logged)):
        if call != made:
            problems.append(f"call {at} is \"{call}\", the program made \"{made}\"")
            return
    if len(listed) != len(logged):
        problems.append(f"{len(listed)} calls, the program made {len(logged)}")


def known_of(listed, logged):
    without = {call for call in logged if " " not in call}  # calls that have no arguments
    return [call for call in listed
            if not call.startswith("#") and "?" not in call and (" " in call or call in without)]


def few(listed, logged):
    known = known_of(listed, logged)
    if len(known) >= 30:
        problems.append(f"{len(known)} calls are known")


def part(listed, logged):
    rest = iter(logged)
    known = known_of(listed, logged)
    missing = [call for call in known if call not in rest]
    if missing:
        problems.append(f"{len(missing)} calls are not those of the program: {missing[0]}")
    if not any(call.startswith("#") for call in listed):
        problems.append("all calls are known")
    if len(known) < 30:
        problems.append(f"only {len(known)} calls are known")
    print(f"{len(known)} of {len(listed)} lines are known, the program made {len(logged)} calls")


def start(listed, logged):
    print(f"{len(listed) - 1} of {len(logged)} calls")
    if not listed[-1].startswith("# the run did not end by itself") or len(listed) < 100:
        problems.append(f"the list ends with {listed[-1]} after {len(listed) - 1} calls")
    whole(listed[:-1], logged[:len(listed) - 1])


def end(listed, logged):
    gap = max((at for at, call in enumerate(listed) if call.startswith("#")), default=-1)
    known = listed[gap + 1:]
    print(f"{len(known)} of {len(logged)} calls")
    if gap < 0 or len(known) < 100:
        problems.append(f"{len(known)} calls behind line {gap}")
    whole(known, logged[-len(known):])


def bounded(listed, logged, report, rank):
    first = next(at for at, call in enumerate(listed) if "?" in call)
    whole(listed[:first], logged[:first])
    whole([call.split(" ")[0] for call in listed], [call.split(" ")[0] for call in logged])
    print(f"{first} calls are known")
    if first < 1000:
        problems.append(f"only {first} calls are known")
    sizes = [int(size) for call in logged if call.startswith("MPI_Sendrecv")
             for size in re.findall(r"(\d+) bytes", call)[:1]]
    with open(report, encoding="utf-8") as file:
        paths = json.load(file)["structure"]["arguments"]["paths"]
    found = [each for path in paths if path["call"] == "MPI_Sendrecv" for each in path["bytes"]
             if any(first <= rank < first + count * step for first, step, count in each["rank_ranges"])]
    if len(found) != 1:
        problems.append(f"{len(found)} sequences of sizes")
        return
    got = (found[0]["values"] / found[0]["ranks"], found[0]["least"], found[0]["most"], found[0]["mean"])
    want = (len(sizes), min(sizes), max(sizes), sum(sizes) / len(sizes))
    if any(abs(x - y) > 1e-9 * y for x, y in zip(got, want)):
        problems.append(f"number, least, most and mean are {got}, and should be {want}")
    if found[0]["exact_values"] is None or found[0]["exact_values"] >= len(sizes):
        problems.append("the sequence of sizes is complete")


check, listed_name, logged_name, *rest_of = sys.argv[1:]
if check == "bounded":
    bounded(read(listed_name), read(logged_name), rest_of[0], int(rest_of[1]))
else:
    {"whole": whole, "part": part, "few": few, "start": start, "end": end}[check](read(listed_name), read(logged_name))
for problem in problems:
    print(problem)
sys.exit(bool(problems))
