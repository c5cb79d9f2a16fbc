# SPDX-License-Identifier: BSD-3-Clause
"""What phasemux and perf say of where a program computes: `run profiles`.

Each program runs twice on two ranks, once under `perf record` (the processor's time at user level, of
all processes) and once under phasemux. Both lists are of functions outside of MPI and the C library,
by their share of what phasemux names as well; what has no name goes by its file.
"""
import json
import os
import re
import subprocess

# where nobody computes, or what both MPI and the program call
APART = re.compile(r"^(libmpi|libopen-|libpmix|libprrte|libevent|libuc|libhwloc|libfabric|mca_|ld-"
                   r"|libc\.|libpthread|libphasemux|mpirun|orterun|hydra|\[|perf$|lib(rt|dl)\.)")
NAMED = 0.05  # functions above this share are shown


def name(function, module):
    """Both name it so: what has no name by its file, Fortran's without the underscore."""
    if function.startswith("0x"):
        function = module
    return re.sub(r"\.so.*$", "", function).rstrip("_")


def of_perf(data):
    text = subprocess.run(["perf", "report", "-i", data, "--stdio", "-F", "overhead,dso,sym"],
                          capture_output=True, text=True).stdout
    shares = {}
    for line in text.splitlines():
        words = line.split(None, 3)  # overhead, object, [.], symbol
        if len(words) < 4 or not words[0].endswith("%") or APART.match(words[1]):
            continue
        function = name(words[3].split("(")[0].strip(), words[1])
        shares[function] = shares.get(function, 0) + float(words[0][:-1])
    return shares


def of_phases(report):
    shares = {}
    for phase in report["phases"]:
        # cycles, or the processor's time where there are none: others may have had the processor
        weight = phase["bursts"] * next(iter(phase["counters"].values()))["mean"]
        for row in phase["profile"]["functions"]:
            function = name(row["function"], "")
            shares[function] = shares.get(function, 0) + weight * row["share"]
    return shares


def compare(report, data):
    """[(function, perf's share, ours)] by perf's share, of those that either has above NAMED."""
    perf, mine = of_perf(data), of_phases(report)
    mine = {function: share for function, share in mine.items() if function in perf}
    perf = {function: share for function, share in perf.items() if function in mine}
    for shares in perf, mine:
        total = sum(shares.values()) or 1
        for function in shares:
            shares[function] /= total
    rows = [(function, perf.get(function, 0), mine.get(function, 0))
            for function in {**perf, **mine}]
    return sorted((row for row in rows if max(row[1:]) >= NAMED), key=lambda row: -row[1])


def load(folder):
    with open(os.path.join(folder, "report.json")) as file:
        return json.load(file)
