#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks runs of tests/programs/leads.c with leads beside one in which each rank reads.

usage: leads.py CHECK ALL LEADS [ARGUMENT...]

ALL and LEADS are the folders of the results, with report.json and the tables of the bursts that were read. Exits with 0 if
the check holds, or says why not. The check "agree" also takes reports that are files.
"""
import csv
import json
import os
import sys

RANKS = 4
INSTRUCTIONS = 6  # column of the table of bursts
AGAIN = 100  # steps in a row that a rank reads again
LARGE = 0.05  # share of the computing time from which phases are compared
PLACED = 0.03  # error of means because bursts that were delayed, and not read, are placed by their lengths


def report(folder):
    name = os.path.join(folder, "report.json") if os.path.isdir(folder) else folder
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def rows(folder, rank):
    """Yields the instructions of each burst that the rank has read."""
    with open(os.path.join(folder, f"bursts.{rank:06}.csv"), encoding="utf-8") as file:
        for row in csv.reader(file):
            if row[0] != "task":
                yield float(row[INSTRUCTIONS])


def check_reads(every, leads):
    """Each burst that was spared has saved two reads, and no other one has."""
    saved = report(every)["agent"]["reads"] - report(leads)["agent"]["reads"]
    spared = report(leads)["leads"]["spared_bursts"]
    if spared < 100:
        yield f"only {spared} bursts were spared"
    if abs(saved - 2 * spared) > 0.005 * report(every)["agent"]["reads"]:
        yield f"{saved} reads were saved, and {spared} bursts were spared"


def check_who(every, leads, setting):
    """The loop of all ranks has as many leads as it should, and other ranks read fewer bursts."""
    of = report(leads)["leads"]
    common = [shape for shape in of["shapes"] if shape["ranks"] == RANKS]
    if of["setting"] != setting:
        yield f"the setting is {of['setting']}"
    if not common or any(shape["leads"] != int(setting) != len(shape["lead_ranks"]) for shape in common):
        yield f"the leads are {of}"
    named = {rank for shape in of["shapes"] for rank in shape["lead_ranks"]}
    read = [sum(1 for _ in rows(leads, rank)) for rank in range(RANKS)]
    for rank in set(range(RANKS)) - named:
        if read[rank] > 0.95 * sum(1 for _ in rows(every, rank)):
            yield f"rank {rank} has read {read[rank]} bursts, and is no lead"


def check_still(prefix, leads):
    """In most of the last steps, the scripted PMU was not read at all by ranks that were spared, and in each by leads."""
    named = {rank for shape in report(leads)["leads"]["shapes"] for rank in shape["lead_ranks"]}
    for rank in range(RANKS):
        with open(f"{prefix}.{rank}", encoding="utf-8") as file:
            steps = [int(line) for line in file]
        last = steps[len(steps) * 4 // 5:]
        still = last.count(0) / len(last)
        print(f"rank {rank}: {'lead' if rank in named else 'spared'}, {100 * still:.0f}% of the steps without a read")
        if rank not in named and still < 0.6:
            yield f"rank {rank} is no lead, and has read in {100 * (1 - still):.0f}% of the last steps"
        if len(named) == 1 and rank in named and still > 0.1:
            yield f"rank {rank} is the lead, and has not read in {100 * still:.0f}% of the last steps"
    if len(named) == RANKS:
        yield "all ranks were named"


def check_again(prefix, leads, changed):
    """Most spared ranks have read some hundred steps in a row after this one, because their arguments changed, and hardly any before."""
    named = {rank for shape in report(leads)["leads"]["shapes"] for rank in shape["lead_ranks"]}
    spared = set(range(RANKS)) - named
    again = 0
    for rank in spared:
        with open(f"{prefix}.{rank}", encoding="utf-8") as file:
            steps = [int(line) for line in file]
        before, after = steps[int(changed) - AGAIN:int(changed)], steps[int(changed):]
        most = max(sum(map(bool, after[i:i + AGAIN])) for i in range(len(after) - AGAIN))
        print(f"rank {rank}: {sum(map(bool, before))} of {AGAIN} steps before the change with reads, and {most} after it")
        again += most > 0.9 * AGAIN and sum(map(bool, before)) < 0.5 * AGAIN
    # on a busy machine other ranks become leads in the course of the run
    if again < min(2, max(1, len(spared))):
        yield f"{again} of {len(spared)} ranks have read again"


def check_samples(every, leads):
    """Spared ranks take no samples: the others alone have them while the ranks repeat the loop."""
    taken, of_all = (report(folder)["samples"]["in_bursts"] for folder in (leads, every))
    spared = (RANKS - 1) / RANKS * report(leads)["leads"]["time_share"]
    print(f"{taken} samples, and {of_all} without leads")
    if not of_all > 50 or taken > (1 - spared / 2) * of_all:
        yield f"{taken} samples, and {of_all} if each rank reads; a share of {spared:.2f} should be spared"


def check_change(_, leads, instructions, least):
    """Each rank has read the bursts of a behaviour that comes only once, while others were spared."""
    for rank in range(RANKS):
        read = sum(1 for value in rows(leads, rank) if value == float(instructions))
        if read < int(least):
            yield f"rank {rank} has read {read} of the bursts with {instructions} instructions"


def check_lost(every, leads):
    """No burst is missing, and each is in a phase, short or unclassified."""
    one, other = report(every), report(leads)
    if one["bursts"] != other["bursts"]:
        yield f"{other['bursts']} bursts and not {one['bursts']}"
    time = sum(phase["time_share"] for phase in other["phases"])
    time += other["unclassified"]["time_share"] + other["short"]["time_share"]
    if abs(time - 1) > 0.001:
        yield f"shares sum to {time}"


def check_clusters(leads, _, *sizes):
    """The ranks were in clusters of these sizes, with one lead each."""
    of = report(leads)["leads"]["clusters"]
    if sorted(cluster["ranks"] for cluster in of) != sorted(map(int, sizes)):
        yield f"the clusters are {of}"
    if any(len(cluster["lead_ranks"]) != 1 for cluster in of):
        yield f"the leads are {of}"


def place(phase):
    return [phase["source"][0][end] for end in ("from", "to")] if phase["source"] else None


def like(phase, phases):
    """Returns the phase that executes the same code about as often, if there is one: on a busy machine phases may differ."""
    same = [other for other in phases if place(other) == place(phase)
            and abs(other["bursts"] - phase["bursts"]) < 0.1 * phase["bursts"]]
    return max(same, key=lambda other: other["time_share"], default=None)


def check_agree(every, leads):
    """Counters of large phases are those of the run in which each rank reads, within twice the intervals of both, and
    what a busy machine may add."""
    compared = 0
    for phase in report(leads)["phases"]:
        if phase["time_share"] < LARGE:
            continue
        other = like(phase, report(every)["phases"])
        if other is None:
            continue
        for name, counter in phase["counters"].items():
            known = other["counters"][name]
            if not counter or not known or not counter["observed"] or not known["observed"] or counter["ci95"] is None:
                continue
            compared += 1
            within = 2 * (counter["ci95"] + (known["ci95"] or 0)) + PLACED * abs(known["mean"])
            if abs(counter["mean"] - known["mean"]) > within:
                yield f"phase {phase['id']}: {name} is {counter['mean']} +- {counter['ci95']}, and not {known['mean']}"
    if compared < 20:
        yield f"only {compared} counters were compared"


def main():
    problems = list(globals()["check_" + sys.argv[1]](*sys.argv[2:]))
    print("\n".join(problems))
    return bool(problems)


sys.exit(main())
