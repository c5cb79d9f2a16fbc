# SPDX-License-Identifier: BSD-3-Clause
"""Says which functions of some object files ran, by profiles of callgrind.

    without_structure.py CHECK CORE PROFILE... -- OBJECT...

CORE: file name of the library whose functions are looked at; OBJECT: files that have them, or names of functions.
Static functions are only reached through others, so they are not looked at. Exits with 0 if the check holds, or says
why not:

    none   nothing of the objects ran, except functions that returned at once
    some   functions of most objects ran
"""
import collections
import os
import re
import subprocess
import sys

AT_ONCE = 24   # instructions of a function that only finds that it has nothing to do
NAME = re.compile(r"\((\d+)\)(?: (.*))?")


def functions_of(path):
    """Returns the functions that an object file exports."""
    if not path.endswith(".o"):
        return {path}
    lines = subprocess.run(["nm", "--defined-only", "--extern-only", path], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[2] for line in lines if line.split()[1] == "T"}


class Profile:
    """The number of calls of each function of a library, and its instructions with those of all that it called."""

    def __init__(self, path, library):
        self.instructions = collections.Counter()
        self.calls = collections.Counter()
        self.names = {}
        with open(path, encoding="utf-8", errors="replace") as file:
            self.read(file, library)

    def name_of(self, kind, text):
        """Returns a name of callgrind, which is written out only where it comes first."""
        number, name = NAME.match(text).groups()
        if name:
            self.names[kind, number] = name
        return self.names[kind, number]

    def read(self, file, library):
        at = to = None           # library and function
        inside = called = ""
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("ob", "cob"):
                called = self.name_of("ob", value)
                inside = called if key == "ob" else inside
            elif key == "fn":
                at, called = (inside, self.name_of("fn", value)), inside
            elif key == "cfn":
                to, called = (called, self.name_of("fn", value)), inside
            elif key == "calls":
                if os.path.basename(to[0]) == library:
                    self.calls[to[1]] += int(value.split()[0])
            elif line[:1].isdigit() or line[:1] in "+-*":
                if at and os.path.basename(at[0]) == library:
                    self.instructions[at[1]] += int(line.split()[1])


check, core = sys.argv[1:3]
split = sys.argv.index("--")
profiles = [Profile(path, core) for path in sys.argv[3:split]]
objects = {path: functions_of(path) for path in sys.argv[split + 1:]}
all_of_core = sum(profile.calls["delimit_begin"] for profile in profiles)
problems = []
if all_of_core < 100:
    problems.append(f"delimit_begin was called {all_of_core} times")
ran = set()
for path, functions in objects.items():
    if not functions:
        problems.append(f"{path} has no functions")
    for name in sorted(functions):
        for profile in profiles:
            calls = max(profile.calls[name], profile.instructions[name] > 0)
            if calls and check == "none" and profile.instructions[name] > AT_ONCE * calls:
                problems.append(f"{name}: {profile.instructions[name]} instructions in {calls} calls")
            elif calls:
                ran.add((path, name))
print("ran:", ", ".join(sorted(name for _, name in ran)))
if check == "some" and len({path for path, _ in ran}) < 0.7 * len(objects):
    problems.append(f"only functions of {len({path for path, _ in ran})} of {len(objects)} objects ran")
for problem in problems:
    print(problem)
sys.exit(bool(problems))
