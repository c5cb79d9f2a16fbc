#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the call stacks of a report against its folded stacks, and against what the program is known to do.

usage: stacks.py folded REPORT FILE     the folded stacks have all samples of the report's phases
       stacks.py deep FILE LEAST        at least LEAST samples, nearly all of them of tests/programs/deep.c
       stacks.py frameless FILE LEAST   of the same without frame pointers: no caller is invented
"""
import json
import sys

UNKNOWN, LEFT_OUT = "[unknown]", "[left_out]"


def read_folded(name):
    """Returns [([frame, ...], samples)], as tools for flame graphs read it: what follows the last blank is the number."""
    stacks = []
    with open(name, encoding="utf-8") as file:
        for line in file:
            frames, _, samples = line.rstrip("\n").rpartition(" ")
            stacks.append((frames.split(";"), int(samples)))
    return stacks


def check_folded(report, name):
    with open(report, encoding="utf-8") as file:
        phases = json.load(file)["phases"]
    found = {}
    for frames, samples in read_folded(name):
        assert len(frames) > 1 and all(frames), frames
        assert not any(" " in frame for frame in frames[1:]), frames
        found[frames[0]] = found.get(frames[0], 0) + samples
    wanted = {}
    for phase in phases:
        stacks = phase["profile"]["stacks"]
        samples = sum(stack["samples"] for stack in stacks["stacks"]) + stacks["left_out"]
        assert samples >= phase["profile"]["samples"], (phase["id"], samples)
        if samples:
            wanted[f"phase {phase['id']}"] = samples
    assert found == wanted and found, (found, wanted)


def without_line(frames):
    return [frame for frame in frames[1:] if ".c:" not in frame]


def shares(name, least):
    """Returns the share of the samples of each stack without its phase and line."""
    found = {}
    for frames, samples in read_folded(name):
        key = ";".join(without_line(frames))
        found[key] = found.get(key, 0) + samples
    total = sum(found.values())
    assert total >= int(least), total
    return {key: samples / total for key, samples in found.items()}


def check_deep(name, least):
    found = shares(name, least)
    solve, check = (found.get(f"main;step;{who};sweep", 0) for who in ("solve", "check"))
    # some samples are in calls of the clock, or at the moment at which a function is entered or left
    assert solve + check > 0.9, found
    assert 0.6 < solve / (solve + check) < 0.9, found
    names = {frame for key in found for frame in key.split(";")}
    assert {"main", "step", "solve", "check", "sweep"} <= names, names


def check_frameless(name, least):
    found = shares(name, least)
    assert sum(share for key, share in found.items() if key == UNKNOWN + ";sweep") > 0.9, found
    # main itself is sampled at times, with what the compiler inlined in it
    for key in found:
        assert key.startswith(UNKNOWN) or key in ("main", "main;processor_seconds"), found


def main():
    {"folded": check_folded, "deep": check_deep, "frameless": check_frameless}[sys.argv[1]](*sys.argv[2:])


main()
