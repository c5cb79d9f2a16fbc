# SPDX-License-Identifier: BSD-3-Clause
"""Compares the calls that `phasemux trace --expand` lists with those that burst_log.so has logged.

    expanded.py CHECK LOG RANK LIST

LOG: the start of the names of the log's files; LIST: what the command has printed for this rank. Exits with 0 if the
check holds, or says why not:

    whole   each call of the log is in the list, and nothing else
    true    so is each call that the list has, at its place; it may say that others are not known
    holes   the same, and it does say so
    ends    the same, and it ends before the last call, and says so
"""
import os
import re
import struct
import subprocess
import sys

RECORD = struct.Struct("<QQIIHHiQ")  # struct record of tests/bench/burst_log.c
NEAR = 40      # calls that must be those of the log behind calls that are not known
HIDDEN = re.compile(r"# about (\d+) (more )?calls, ")
problems = []


class Log:
    """The calls of a rank in order, each as its name and the places of its path in the source.

    Several paths may be the same places, because the compiler makes copies of loops.
    """

    def __init__(self, prefix, rank):
        with open(prefix + ".calls", encoding="utf-8") as file:
            names = file.read().split()
        calls = []
        with open(f"{prefix}.{rank}.0.bursts", "rb") as file:
            for _, _, path, to_path, call, to_call, _, _ in RECORD.iter_unpack(file.read()):
                if not calls:
                    calls.append((names[call], path))
                if calls[-1] != (names[call], path):
                    problems.append(f"the log lacks a call before call {len(calls)}")
                calls.append((names[to_call], to_path))
        with open(f"{prefix}.{rank}.0.paths", encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        frames = {int(words[0]): [frame.split(" ")[1:] for frame in words[1:]] for words in lines}
        places = {number: frozenset().union(*map(places_of, map(tuple, path))) for number, path in frames.items()}
        self.calls = [(name, places[path]) for name, path in calls]


known = {}


def places_of(frame):
    """Returns the places of an address as "FUNCTION FILE:LINE", also those that the compiler inlined there."""
    if frame not in known:
        module, offset = frame
        text = ""
        if os.path.exists(module):
            text = subprocess.run(["addr2line", "-f", "-i", "-e", module, offset], capture_output=True,
                                  text=True, check=True).stdout
        lines = text.splitlines()
        known[frame] = {f"{function} {os.path.basename(position).split(' ')[0]}"
                        for function, position in zip(lines[::2], lines[1::2])}
    return known[frame]


class List:
    """The lines of a list beside a log. Each line must stand for one call at one place, and each of these for one line."""

    def __init__(self, name, log):
        with open(name, encoding="utf-8") as file:
            self.lines = file.read().splitlines()
        self.log = log
        self.line_of, self.call_of = {}, {}

    def fits(self, line, at):
        """Returns whether a line is call `at` of the log."""
        if at >= len(self.log.calls):
            return False
        made = self.log.calls[at]
        if made not in self.line_of:
            name, _, place = line.partition(" in ")
            if name != made[0] or place not in made[1] or line in self.call_of:
                return False
            self.line_of[made] = line
            self.call_of[line] = made
        return self.line_of[made] == line

    def behind_hidden(self, number, at, hidden):
        """Returns the call at which the list goes on behind line `number`, which stands for some `hidden` calls."""
        following = []
        for line in self.lines[number + 1:number + 1 + NEAR]:
            if HIDDEN.match(line):
                break
            following.append(line)
        for off in sorted(range(-hidden, len(self.log.calls) - at - hidden + 1), key=abs):
            if all(self.fits(line, at + hidden + off + i) for i, line in enumerate(following)):
                return at + hidden + off
        return None


def compare(entries):
    """Returns how many calls are hidden within the list, and behind its end."""
    at = hidden = 0
    for number, line in enumerate(entries.lines):
        match = HIDDEN.match(line)
        if match and match[2]:
            if number + 1 != len(entries.lines):
                problems.append(f"lines follow \"{line}\"")
            print(f"{at} calls, {line}, {len(entries.log.calls) - at} in the log")
            return hidden, len(entries.log.calls) - at
        if match:
            to = entries.behind_hidden(number, at, int(match[1]))
            if to is None:
                problems.append(f"behind \"{line}\" after call {at}, the log has other calls")
                return hidden, 0
            print(f"{line}, {to - at} in the log")
            hidden += to - at
            at = to
        elif not entries.fits(line, at):
            made = entries.log.calls[at] if at < len(entries.log.calls) else "none"
            problems.append(f"call {at} is \"{line}\", the log has {made}")
            return hidden, 0
        else:
            at += 1
    if at != len(entries.log.calls):
        problems.append(f"{at} calls, the log has {len(entries.log.calls)}")
    return hidden, 0


check, prefix, rank, name = sys.argv[1:]
within, behind = compare(List(name, Log(prefix, rank)))
if check == "whole" and within + behind:
    problems.append(f"{within + behind} calls are not known")
if check == "holes" and not within:
    problems.append("all calls are known")
if check == "ends" and not behind:
    problems.append("all calls are known to the end")
for problem in problems:
    print(problem)
sys.exit(bool(problems))
