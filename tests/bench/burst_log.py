# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of burst_log.so, which burst_log.c describes, and finds their places in report.json."""
import glob
import re
import shutil
import subprocess

import numpy

RECORD = numpy.dtype([("begin", "u8"), ("end", "u8"), ("from", "u4"), ("to", "u4"), ("from_call", "u2"),
                      ("to_call", "u2"), ("tag", "i4"), ("cpu", "u8")])
# characters of a name that are compared, because the report cuts long names
NAME_LENGTH = 60
# a shorter time between two calls that only ask is polling
POLLING_NS = 2000
# the functions that call main
OUTSIDE = {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "?"}


def demangled(names):
    names = sorted(names)
    if not shutil.which("c++filt") or not names:
        return {name: name for name in names}
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout
    return dict(zip(names, text.splitlines()))


def short_name(name):
    """Returns the name without parameters and without the underscore that Fortran adds."""
    return re.sub(r"\(.*$", "", name)[:NAME_LENGTH].rstrip("_")


class Log:
    """Every burst of a run, in numpy arrays of equal length: rank, begin, end, tag, cpu and pair.

    A pair is an index of `pairs`, whose entries are (call before, its path, call after, its path). A path is a
    tuple of the functions that have a name, innermost first. `polling` holds the RECORDs between calls that only
    ask, because the report has them apart.
    """

    def __init__(self, prefix):
        with open(prefix + ".calls") as file:
            self.calls = file.read().split()
        parts, self.pairs = [], []
        raw = {}
        for name in sorted(glob.glob(glob.escape(prefix) + ".*.*.bursts")):
            rank = int(name.split(".")[-3])
            raw[name] = rank, numpy.fromfile(name, RECORD), self.read_paths(name[:-6] + "paths")
        names = demangled({function for _, _, paths in raw.values() for path in paths.values()
                           for function in path})
        number = {}
        for rank, records, paths in raw.values():
            shown = {at: tuple(short_name(names[function]) for function in path
                               if function not in OUTSIDE) for at, path in paths.items()}
            ends, where = numpy.unique(records[["from_call", "from", "to_call", "to"]],
                                       return_inverse=True)
            pair = [number.setdefault((self.calls[a], shown.get(b, ()), self.calls[c], shown.get(d, ())),
                                      len(number)) for a, b, c, d in ends.tolist()]
            parts.append((numpy.full(len(records), rank), records,
                          numpy.array(pair, int)[where] if pair else where))
        self.pairs = list(number)
        self.rank = numpy.concatenate([part[0] for part in parts])
        records = numpy.concatenate([part[1] for part in parts])
        self.pair = numpy.concatenate([part[2] for part in parts])
        keep = ~self.is_polling(records)
        self.polling = records[~keep]
        records, self.rank, self.pair = records[keep], self.rank[keep], self.pair[keep]
        self.begin, self.end, self.tag = records["begin"], records["end"], records["tag"]
        # at least 1 ns, because the logarithm of the length is taken
        self.seconds = numpy.maximum(1, (self.end - self.begin).astype(float)) * 1e-9
        self.cpu = records["cpu"].astype(float) * 1e-9
        self.names = {function for pair in self.pairs for path in (pair[1], pair[3])
                      for function in path}

    def is_polling(self, records):
        """Returns which records are short times between calls that only ask (agent/bursts/polling.h)."""
        asks = numpy.array([re.match("(MPI_)?(Test(all|any|some)?|Iprobe|Improbe|Request_get_status.*)$", name)
                            is not None for name in self.calls])
        return asks[records["from_call"]] & asks[records["to_call"]] & \
            (records["end"] - records["begin"] < POLLING_NS)

    @staticmethod
    def read_paths(name):
        with open(name) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        return {int(words[0]): [frame.split(" ")[0] for frame in words[1:]] for words in lines}

    def path_of_report(self, path):
        """Returns the functions of a report's path that the log knows. It knows no inlined functions."""
        return tuple(name for name in (short_name(row["function"]) for row in path)
                     if name in self.names)

    def pairs_of_phase(self, phase):
        """Returns the indices of the pairs that a phase of report.json names."""
        found = set()
        for place in phase["source"]:
            wanted = (place["from_call"], self.path_of_report(place["from_path"]),
                      place["to_call"], self.path_of_report(place["to_path"]))
            found.update(number for number, pair in enumerate(self.pairs) if same_pair(pair, wanted))
        return found


def same_path(one, other):
    """Returns whether two paths are equal up to the end of the shorter one. The agent may end a path earlier."""
    length = min(len(one), len(other))
    return one[:length] == other[:length] and (length > 0 or len(one) == len(other))


def same_pair(one, other):
    return one[0] == other[0] and one[2] == other[2] and same_path(one[1], other[1]) and \
        same_path(one[3], other[3])
