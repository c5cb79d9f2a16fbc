# SPDX-License-Identifier: BSD-3-Clause
"""Compares a Paraver trace with the calls that `phasemux trace --expand` lists: prv.py NAME RANKS LISTS

The trace is NAME.prv, NAME.pcf and NAME.row; the list of rank R is LISTS.R. Exits with 0 if each rank has the calls of
its list in order, if the records are in order of time, and if the states of a rank follow each other.
"""
import os
import re
import sys

HEADER = re.compile(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:1\((\d+)\):1:(\d+)\(1:1(,1:1)*\)$")
HIDDEN = re.compile(r"# about (\d+) ")
CALLS, FUNCTION, LINE = ("50000001", "50000002", "50000003"), "70000001", "80000001"
NOT_KNOWN, TIMES = "90000011", "90000012"
problems = []


def names_of(pcf):
    """Returns {type: {value: name}}."""
    names, section = {}, None
    for line in pcf.read().splitlines():
        words = line.split(None, 2)
        if line in ("EVENT_TYPE", "VALUES"):
            section = line
        elif not words:
            section = None
        elif section == "EVENT_TYPE":
            kind = names.setdefault(words[1], {"": words[2]})
        elif section == "VALUES":
            kind[words[0]] = line.split(None, 1)[1]
    return names


class Rank:
    """What the trace has of a rank."""

    def __init__(self):
        self.lines, self.end, self.open = [], 0, False

    def state(self, begin, end):
        if begin < self.end or end <= begin:
            problems.append(f"a state from {begin} to {end} follows one that ends at {self.end}")
        self.end = end

    def events(self, pairs, names):
        for kind in CALLS:
            value = pairs.get(kind)
            if value == "0":
                if not self.open:
                    problems.append("a call ends that has not begun")
                self.open = False
            elif value is not None:
                line = names[kind][value]
                if FUNCTION in pairs:
                    line += " in " + names[FUNCTION][pairs[FUNCTION]]
                if LINE in pairs:
                    line += " " + os.path.basename(names[LINE][pairs[LINE]])
                if self.open:
                    problems.append("a call begins in another one")
                self.lines.append(line)
                self.open = True
        if pairs.get(NOT_KNOWN, "0") != "0":
            self.lines.append(pairs[NOT_KNOWN])


def read_prv(file, names, ranks):
    """Returns what the trace has of each rank."""
    header = HEADER.match(file.readline())
    if not header or int(header[2]) != ranks or int(header[3]) != ranks:
        problems.append("the first line is wrong")
        return []
    found, before = [Rank() for _ in range(ranks)], 0
    for line in file:
        fields = line.rstrip("\n").split(":")
        kind, cpu, application, task, thread, begin = fields[:6]
        if cpu != task or application != "1" or thread != "1":
            problems.append(f"the place of {line}")
        if int(begin) < before or int(begin) > int(header[1]):
            problems.append(f"the time of {line}")
        before = int(begin)
        if kind == "1":
            found[int(task) - 1].state(before, int(fields[6]))
        else:
            found[int(task) - 1].events(dict(zip(fields[6::2], fields[7::2])), names)
    if max(rank.end for rank in found) > int(header[1]):
        problems.append("a state ends behind the end")
    return found


name, ranks, lists = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(name + ".pcf", encoding="utf-8") as pcf:
    known = names_of(pcf)
if "not recorded time stamps" not in known[TIMES]["1"]:
    problems.append("it is not said what the times are")
with open(name + ".prv", encoding="utf-8") as prv:
    traced = read_prv(prv, known, ranks)
for number, rank in enumerate(traced):
    with open(f"{lists}.{number}", encoding="utf-8") as file:
        wanted = [HIDDEN.match(line)[1] if HIDDEN.match(line) else line for line in file.read().splitlines()]
    if rank.lines != wanted:
        at = next((i for i, (a, b) in enumerate(zip(rank.lines, wanted)) if a != b), min(len(rank.lines), len(wanted)))
        problems.append(f"rank {number}: {len(rank.lines)} of {len(wanted)} calls, the first that differs is {at}: "
                        f"{rank.lines[at:at + 1]} {wanted[at:at + 1]}")
with open(name + ".row", encoding="utf-8") as row:
    if row.read().count("THREAD 1.") != ranks:
        problems.append("the names of the ranks")
for problem in problems[:20]:
    print(problem)
sys.exit(bool(problems))
