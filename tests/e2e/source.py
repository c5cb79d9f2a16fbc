#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the includes that the order of the folders does not allow, rooms that are too full, circles, and namesakes.

usage: source.py ROOT

ROOM says for each folder what its files may include, besides itself: a folder (only what lies in it, not in
folders below) or a header. The order of its rows is that of the rooms, from the bottom to the top. A circle is
one of modules, and a module is a source with its header.
"""
import pathlib
import re
import sys

ROOM = {
    "cluster/density": [],
    "cluster/loops": [],
    "cluster/recurrence": [],
    "cluster/sequence": ["cluster/density"],
    "cluster/streams": ["cluster/loops/counts.h"],
    "cluster": ["cluster/density", "cluster/sequence"],
    "sampling": [],
    "sampling/names": ["sampling"],
    "sampling/emulated": ["sampling"],
    "multiplex": [],
    "multiplex/estimate": ["multiplex"],
    "multiplex/models": ["multiplex", "multiplex/estimate", "sampling"],
    "multiplex/scheme": ["multiplex", "multiplex/estimate"],
    "agent/host": ["sampling"],
    "agent/loader": ["agent/host"],
    "agent/mpi": ["agent/host", "sampling"],
    "agent/boundary": ["agent/host/file_status.h", "agent/mpi", "sampling"],
    "agent/candidate": ["agent/boundary/computing.h", "agent/boundary/tasks.h", "agent/host", "agent/loader", "sampling"],
    "agent/symbols": ["agent/host/hash.h", "agent/loader"],
    "agent/stacks": ["agent/host/hash.h", "agent/symbols"],
    "agent/setup": ["agent/host", "multiplex", "multiplex/models", "multiplex/scheme", "sampling",
                    "sampling/emulated", "sampling/names"],
    "agent/timeline": ["agent/host/array.h", "agent/mpi", "cluster/prototypes.h"],
    "agent/requests": ["agent/host/hash.h"],
    "agent/thread": ["agent/boundary", "agent/host", "agent/mpi", "agent/requests", "agent/timeline", "cluster", "cluster/streams", "multiplex", "multiplex/estimate", "multiplex/scheme",
                     "sampling"],
    "agent/region": ["agent/host", "agent/loader", "agent/setup", "agent/thread", "cluster/prototypes.h", "sampling"],
    "agent/leads": ["agent/host", "agent/region", "agent/thread", "cluster", "cluster/loops", "multiplex/mix.h", "sampling"],
    "agent/iterations": ["agent/host/memory.h", "agent/thread", "cluster/loops", "cluster/prototypes.h", "multiplex/mix.h", "sampling"],
    "agent/bursts": ["agent/boundary", "agent/host", "agent/iterations", "agent/leads", "agent/region", "agent/thread", "agent/timeline", "cluster/loops",
                     "cluster/recurrence", "sampling"],
    "agent/spool": ["agent/boundary", "agent/host", "agent/iterations/iteration_sample.h", "agent/loader", "agent/mpi", "agent/setup", "agent/stacks", "agent/symbols",
                    "agent/region/region_totals.h", "agent/thread", "agent/timeline", "cluster", "cluster/loops", "cluster/recurrence", "cluster/streams", "multiplex", "multiplex/estimate",
                    "multiplex/scheme"],
    "agent/structures": ["agent/host/hash.h", "agent/loader", "agent/spool", "agent/symbols", "agent/thread", "cluster",
                         "cluster/loops", "cluster/recurrence"],
    "agent/ledger": ["agent/host", "agent/iterations", "agent/setup", "agent/spool", "agent/stacks", "agent/thread", "agent/timeline", "cluster", "cluster/density",
                     "multiplex", "multiplex/scheme", "sampling"],
    "agent/rounds": ["agent/host", "agent/leads", "agent/ledger", "agent/mpi", "agent/region", "agent/thread", "sampling"],
    "agent/ranks": ["agent/host/array.h", "agent/host/hash.h", "agent/iterations/rank_iterations.h", "agent/mpi", "agent/spool", "agent/timeline", "cluster", "multiplex/estimate"],
    "agent/report/parts": ["agent/boundary", "agent/host/hash.h", "agent/leads/votes.h", "agent/region/region_choice.h", "agent/region/region_totals.h", "agent/ledger/reservoir.h", "agent/ranks", "agent/setup", "agent/spool",
                           "agent/stacks", "agent/structures", "agent/symbols", "agent/timeline", "cluster", "cluster/streams"],
    "agent/report": ["agent/ledger/reservoir.h", "agent/mpi", "agent/region/region_choice.h", "agent/region/steady.h", "agent/rounds/history.h", "agent/iterations", "agent/ranks", "agent/report/parts", "agent/setup", "agent/spool", "agent/structures",
                     "agent/symbols", "agent/timeline", "cluster", "multiplex", "multiplex/estimate", "multiplex/scheme"],
    "agent/text": ["agent/symbols"],
    "agent/trace": ["agent/report/parts/document.h", "agent/text"],
    "agent/whatif": ["agent/text"],
    "agent/page/parts": ["agent/text", "cluster/colours.h", "multiplex/models"],
    "agent/page/figures": ["agent/page/parts", "agent/text"],
    "agent/page": ["agent/page/figures", "agent/page/parts", "agent/text", "agent/whatif"],
    "agent/preload": ["agent/boundary", "agent/candidate", "agent/host", "agent/loader", "agent/mpi", "agent/setup/agreement.h", "sampling",
                      "sampling/emulated"],
    "agent/core": ["agent/boundary", "agent/bursts", "agent/host", "agent/ledger", "agent/loader", "agent/mpi",
                   "agent/report", "agent/rounds", "agent/setup", "agent/spool", "agent/thread", "sampling"],
    "agent/results": ["agent/core", "agent/host", "agent/iterations", "agent/ledger", "agent/mpi", "agent/page", "agent/ranks", "agent/region", "agent/report",
                      "agent/setup", "agent/spool", "agent/structures", "agent/symbols", "agent/text", "agent/thread",
                      "agent/trace", "sampling"],
    "agent/process": ["agent/boundary", "agent/bursts", "agent/core", "agent/host", "agent/iterations", "agent/leads", "agent/ledger", "agent/loader",
                      "agent/region", "agent/report", "agent/results", "agent/setup", "agent/thread", "sampling", "sampling/emulated"],
    "tools": ["agent/boundary/kin.h", "agent/boundary/preload.h", "agent/setup", "multiplex", "multiplex/models", "sampling",
              "sampling/emulated", "sampling/names"],
    "tools/cluster": ["tools", "cluster", "cluster/density", "cluster/sequence", "multiplex"],
    "tools/doctor": ["tools", "agent/mpi/mpi_family.h", "agent/setup", "multiplex", "multiplex/models", "sampling",
                     "sampling/emulated", "sampling/names"],
    "tools/paraver": ["cluster/colours.h"],
    "tools/results": ["tools", "tools/paraver", "agent/report", "agent/setup", "agent/spool", "agent/text", "agent/trace"],
    "tools/run": ["tools", "tools/results", "agent/boundary/preload.h", "agent/setup", "agent/spool", "cluster/loops", "sampling/emulated"],
    "tools/report": ["tools", "tools/cluster", "tools/results", "agent/page", "agent/report/parts/document.h", "agent/setup",
                     "agent/text"],
    "tools/region": ["tools", "tools/paraver", "tools/report/track_events.h", "agent/boundary", "agent/loader", "agent/region/region_format.h", "agent/symbols",
                     "agent/thread", "cluster/prototypes.h"],
    "tools/compare": ["tools", "tools/cluster", "tools/results", "agent/page", "agent/page/parts", "agent/report/parts/document.h",
                      "agent/text", "cluster", "cluster/density", "multiplex/estimate"],
    "tools/replay/plan": ["multiplex/mix.h"],
    "tools/whatif": ["tools", "tools/replay", "tools/replay/plan", "tools/results", "agent/report/parts/document.h", "agent/text", "agent/whatif",
                     "multiplex/estimate/student.h"],
    "tools/replay": ["tools", "tools/replay/plan", "tools/results", "agent/report/parts/document.h", "agent/text", "agent/whatif", "multiplex/mix.h"],
    "tools/replay/program": ["tools/replay/plan", "multiplex/mix.h"],
    "tools/slurm": ["agent/setup"],
    "tools/validate": ["tools", "tools/cluster", "cluster/sequence", "multiplex", "multiplex/estimate",
                       "multiplex/models", "multiplex/scheme", "sampling/emulated"],
    "tools/caches": ["tools", "tools/results", "tools/run/stop_after.h", "tools/validate/child.h",
                     "agent/report/parts/document.h", "agent/text", "agent/whatif", "sampling/emulated"],
    "tools/recover": ["tools", "tools/results", "tools/validate/child.h", "agent/page", "agent/setup",
                      "agent/spool", "agent/text", "agent/trace"],
}
FILES_MAX = 20  # sources and headers of a room
NAMESAKES_MAX = 2  # files with a static function of the same one word
STATIC = re.compile(r"^static [^=;(]*[ *]([a-z0-9]+)\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def includes(root):
    """Returns {file: [what it includes]}, paths relative to root, of all folders of the table and below."""
    tops = {room.split("/")[0] for room in ROOM}
    files = [path for top in sorted(tops) for path in sorted((root / top).rglob("*")) if path.suffix in (".c", ".h")]
    return {path.relative_to(root): [pathlib.Path(name) for name in INCLUDE.findall(path.read_text())]
            for path in files}


def upwards():
    """Yields each row of the table that allows a folder of a later row."""
    above = []
    for room, allowed in ROOM.items():
        for name in allowed:
            if name not in above and str(pathlib.PurePath(name).parent) not in above:
                yield f"table: {room} may include {name}, which stands above it"
        above.append(room)


def not_allowed(included):
    for path, names in included.items():
        room = str(path.parent)
        if room not in ROOM:
            yield f"{path}: the folder {room} is not in the table"
            continue
        allowed = [room, *ROOM[room]]
        for name in names:
            if str(name) not in allowed and str(name.parent) not in allowed:
                yield f"{path}: includes {name}, and {room} may include {' '.join(allowed)}"
    for room in sorted({str(path.parent) for path in included} & ROOM.keys()):
        files = sum(str(path.parent) == room for path in included)
        if files > FILES_MAX:
            yield f"{room}: {files} files, and a room has at most {FILES_MAX}"


def circles(included):
    """Yields each set of modules that include each other, by Tarjan's algorithm."""
    uses = {}
    for path, names in included.items():
        module = path.with_suffix("")
        uses.setdefault(module, set()).update(name.with_suffix("") for name in names)
        uses[module].discard(module)
    number, lowest, stack = {}, {}, []

    def visit(module):
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for used in sorted(uses[module] & uses.keys()):
            if used not in number:
                yield from visit(used)
            if used in stack:
                lowest[module] = min(lowest[module], lowest[used])
        if lowest[module] == number[module]:
            at = stack.index(module)
            circle = stack[at:]
            del stack[at:]
            if len(circle) > 1:
                yield circle

    for module in sorted(uses):
        if module not in number:
            yield from visit(module)


def namesakes(root, files):
    """Yields each name of one word that static functions of too many files have: it lacks what they are about."""
    places = {}
    for path in files:
        for name in set(STATIC.findall((root / path).read_text())):
            places.setdefault(name, []).append(str(path))
    for name, paths in sorted(places.items()):
        if len(paths) > NAMESAKES_MAX:
            yield f"{name}() is a static function of {' '.join(paths)}: name what each is about"


def main():
    root = pathlib.Path(sys.argv[1])
    included = includes(root)
    found = [*upwards(), *not_allowed(included), *namesakes(root, included)]
    found += ["circle: " + " ".join(map(str, circle)) for circle in circles(included)]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
