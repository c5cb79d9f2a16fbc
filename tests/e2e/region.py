# SPDX-License-Identifier: BSD-3-Clause
"""Checks a Paraver trace of a region: region.py NAME RANKS [CALLS BODY]

The trace is NAME.prv, NAME.pcf and NAME.row. Exits with 0 if the states of each rank follow each other, if each rank has CALLS
calls, a number of rounds of BODY ("MPI_Send MPI_Wait"), and if in the Nth MPI_Allreduce of all ranks, no rank leaves it before
all have entered it. So all ranks have recorded the same iterations.
"""
import re
import sys

name, ranks = sys.argv[1], int(sys.argv[2])
problems = []
names, kind, section = {}, None, None
with open(name + ".pcf", encoding="utf-8") as pcf:
    for line in pcf.read().splitlines():
        words = line.split(None, 2)
        if line in ("EVENT_TYPE", "VALUES"):
            section = line
        elif not words:
            section = None
        elif section == "EVENT_TYPE":
            kind = names.setdefault(words[1], {})
        elif section == "VALUES":
            kind[words[0]] = line.split(None, 1)[1]
calls, reduces, states = [[] for _ in range(ranks)], [[] for _ in range(ranks)], [0] * ranks
phases = set()
with open(name + ".prv", encoding="utf-8") as prv:
    header = re.match(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:1\((\d+)\):1:(\d+)\(1:1(,1:1)*\)$", prv.readline())
    if not header or int(header[3]) != ranks:
        sys.exit("the first line is wrong")
    before = 0
    for line in prv:
        fields = [int(field) for field in line.split(":")]
        rank, at = fields[3] - 1, fields[5]
        if at < before or at > int(header[1]):
            problems.append(f"the time of {line}")
        before = at
        if fields[0] == 1:
            if at < states[rank] or fields[6] <= at:
                problems.append(f"a state from {at}, before {states[rank]}")
            states[rank] = fields[6]
            continue
        events = dict(zip(map(str, fields[6::2]), map(str, fields[7::2])))
        phases.add(events.get("90000010"))
        for kind in ("50000001", "50000002", "50000003"):
            if events.get(kind, "0") != "0":
                calls[rank].append(names[kind][events[kind]])
                if calls[rank][-1] == "MPI_Allreduce":
                    reduces[rank].append([at, None])
                if not names["80000001"].get(events.get("80000001")):
                    problems.append("a call without a line")
            elif kind in events and calls[rank][-1] == "MPI_Allreduce":
                reduces[rank][-1][1] = at
if len(sys.argv) > 3:
    body = sys.argv[4].split()
    for rank, made in enumerate(calls):
        if len(made) != int(sys.argv[3]) or any(call != body[i % len(body)] for i, call in enumerate(made)):
            problems.append(f"rank {rank} has {len(made)} calls: {made[:2 * len(body)]}")
if not phases - {None, "0"}:
    problems.append("no phase")
apart = [number for number, each in enumerate(zip(*reduces))
         if max(entered for entered, _ in each) > min(left for _, left in each)]
if apart:
    problems.append(f"ranks are in other iterations: {len(apart)} of {len(reduces[0])} reductions")
with open(name + ".row", encoding="utf-8") as row:
    if row.read().count("THREAD 1.") != ranks:
        problems.append("the names of the ranks")
for problem in problems[:20]:
    print(problem)
sys.exit(bool(problems))
