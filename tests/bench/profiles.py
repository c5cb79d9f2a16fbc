# SPDX-License-Identifier: BSD-3-Clause
"""Compares the functions in which a program computes by phasemux and by perf: `run profiles`.

Each program runs twice on two ranks, once under `perf record` (processor time of all processes at user level) and
once under phasemux. Both lists hold functions outside of MPI and the C library that both tools name. A function
without a name has the name of its file.
"""
import json
import os
import re
import subprocess

# files in which the program does not compute, or that MPI calls as well
APART = re.compile(r"^(libmpi|libopen-|libpmix|libprrte|libevent|libuc|libhwloc|libfabric|mca_|ld-"
                   r"|libc\.|libpthread|libphasemux|mpirun|orterun|hydra|\[|perf$|lib(rt|dl)\.)")
NAMED = 0.05  # functions above this share are shown


def name(function, module):
    """Returns the name of a function that both tools use: that of its file if it has none, and in Fortran without the
    underscore."""
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
        # cycles, or else processor time, because the duration includes preemption
        weight = phase["bursts"] * next(iter(phase["counters"].values()))["mean"]
        for row in phase["profile"]["functions"]:
            function = name(row["function"], "")
            shares[function] = shares.get(function, 0) + weight * row["share"]
    return shares


def compare(report, data):
    """Returns [(function, share by perf, share by phasemux)], ordered by the first share.

    It holds the functions of which one of the shares is at least NAMED.
    """
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
