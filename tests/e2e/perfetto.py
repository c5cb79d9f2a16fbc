#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Decodes a trace for Perfetto, and compares it with the result that it was made from: perfetto.py CHECK ARGUMENT...

Exits with 0 if the check holds, or says why not.
"""
import csv
import json
import pathlib
import struct
import sys

BEGIN, END, INSTANT = 1, 2, 3
FIELDS = ("categories", "names", "arguments")  # of the interned data, from 1


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Yields the number and the value of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            assert tag & 7 == 2, f"wire type {tag & 7} at {at}"
            length, at = varint(data, at)
            assert at + length <= len(data), "a field beyond the end"
            value, at = data[at:at + length], at + length
        yield tag >> 3, value


def one(data):
    return dict(fields(data))


class Trace:
    """Processes, threads by their tracks, and the slices and instants of each track."""

    def __init__(self, name):
        self.processes, self.threads, self.slices, self.instants = {}, {}, {}, {}
        self.interned = {field: {} for field in FIELDS}
        self.open, cleared = {}, False
        for number, packet in fields(pathlib.Path(name).read_bytes()):
            assert number == 1
            packet = one(packet)
            assert packet[10] == 1 and packet[13] & 2, "sequence"
            cleared = cleared or packet[13] & 1
            assert cleared, "names before the state is cleared"
            for kind, entry in fields(packet.get(12, b"")):
                entry = one(entry)
                names = self.interned[FIELDS[kind - 1]]
                assert entry[1] not in names, "a number twice"
                names[entry[1]] = entry[2].decode()
            if 60 in packet:
                self.track(one(packet[60]))
            if 11 in packet:
                self.event(packet[8], packet[11])
        assert not any(self.open.values()), "a slice without an end"

    def track(self, track):
        if 3 in track:
            process = one(track[3])
            assert process[1] not in self.processes, "a process twice"
            self.processes[process[1]] = process[6].decode()
        else:
            thread = one(track[4])
            assert thread[1] in self.processes and track[1] not in self.threads
            assert thread[2] not in [tid for _, tid, _ in self.threads.values()], "a thread twice"
            self.threads[track[1]] = thread[1], thread[2], thread[5].decode()
            self.slices[track[1]], self.instants[track[1]], self.open[track[1]] = [], [], None

    def event(self, time, data):
        event = {key: value for key, value in fields(data) if key != 4}
        track = event[11]
        if event[9] == END:
            begin, *rest = self.open[track]
            assert begin < time
            self.slices[track].append((begin, time, *rest))
            self.open[track] = None
            return
        arguments = {}
        for key, value in fields(data):
            if key == 4:
                argument = one(value)
                value = next(argument[kind] for kind in (3, 5, 6) if kind in argument)
                arguments[self.interned["arguments"][argument[1]]] = value.decode() if 6 in argument else value
        entry = time, self.interned["names"][event[10]], self.interned["categories"][event[3]], arguments
        assert self.open[track] is None, "a slice within a slice"
        assert not self.slices[track] or self.slices[track][-1][1] <= time, "time"
        if event[9] == BEGIN:
            self.open[track] = entry
        else:
            assert event[9] == INSTANT
            self.instants[track].append(entry)


def check_bursts(name, run):
    """Each burst of the table is a slice of its thread, with its phase and its counters."""
    trace = Trace(name)
    with open(f"{run}/report.json", encoding="utf-8") as file:
        phases = {prototype: phase["id"] for phase in json.load(file)["phases"] for prototype in phase["prototypes"]}
    lines = []
    for file in sorted(pathlib.Path(run).glob("bursts.*.csv")):
        lines += file.read_text(encoding="utf-8").splitlines()
    wanted = {}
    for row in csv.DictReader(lines):
        thread = row.pop("task"), row.pop("thread")
        begin, end = int(row.pop("begin_ns")), int(row.pop("end_ns"))
        values = {key: float(value) for key, value in row.items() if value}
        phase = phases.get(values.get("prototype"))
        wanted.setdefault(thread, []).append((begin, end, f"phase {phase}" if phase else "unclassified",
                                              "computation", values))
    got = {}
    for track, (pid, tid, thread) in trace.threads.items():
        assert trace.processes[pid] == f"rank {pid - 1}" and (tid == pid) == (thread == "thread 0")
        got[str(pid - 1), thread.split()[1]] = trace.slices[track]
    assert sum(map(len, wanted.values())) > 100 and wanted.keys() == got.keys(), (wanted.keys(), got.keys())
    for thread, bursts in wanted.items():
        assert sorted(bursts, key=lambda burst: burst[:2]) == got[thread], f"thread {thread}"
    print(sum(map(len, got.values())))


def check_calls(name, run, *lists):
    """The calls of each rank are those of `trace --expand`, and take as long as the structure says."""
    trace = Trace(name)
    with open(f"{run}/report.json", encoding="utf-8") as file:
        structures = json.load(file)["structure"]["structures"]
    assert len(trace.threads) == len(lists)
    total = 0
    for track, (pid, _, _) in trace.threads.items():
        assert trace.processes[pid] == f"rank {pid - 1} (times are means)"
        calls = sorted([(begin, call, arguments) for begin, _, call, kind, arguments in trace.slices[track]
                        if kind == "call"] + [(begin, call, arguments)
                                              for begin, call, _, arguments in trace.instants[track]],
                       key=lambda call: call[0])
        listed = pathlib.Path(lists[pid - 1]).read_text(encoding="utf-8").splitlines()
        assert not any(line.startswith("#") for line in listed)
        assert [call for _, call, _ in calls] == [line.split()[0] for line in listed], f"rank {pid - 1}"
        for (_, call, arguments), line in zip(calls, listed):
            assert all(value.split("/")[-1] in line for value in arguments.values()), (call, arguments, line)
        total += trace.slices[track][-1][1]

    def seconds(body):
        return sum(seconds(token["body"]) if "body" in token else token["count"] *
                   (token["burst_seconds"]["mean"] + token["call_seconds"]["mean"]) for token in body)

    whole = sum(seconds(structure["text"]) for structure in structures)
    assert abs(total * 1e-9 - whole) < 1e-3 * whole, (total, whole)
    assert any(call.startswith("phase ") for _, _, call, _, _ in next(iter(trace.slices.values())))


def check_region(name, ranks, calls, counter=None):
    """Each rank has this number of calls, with their places, and bursts in phases between them, most of them with a counter."""
    trace = Trace(name)
    assert sorted(trace.processes.values()) == [f"rank {rank}" for rank in range(int(ranks))]
    for track, slices in trace.slices.items():
        made = [arguments for _, _, _, kind, arguments in slices if kind == "call"]
        made += [arguments for _, _, _, arguments in trace.instants[track]]
        assert len(made) == int(calls), (track, len(made))
        assert all("shapes.c:" in arguments["position"] for arguments in made)
        bursts = [(what, arguments) for _, _, what, kind, arguments in slices if kind == "computation"]
        assert any(what.startswith("phase ") for what, _ in bursts)
        assert not counter or sum(counter in arguments for _, arguments in bursts) > 0.5 * len(bursts)


def check_decoded(text, count):
    """What protoc has decoded has this number of slices, and no field that it does not know."""
    lines = pathlib.Path(text).read_text(encoding="utf-8").splitlines()
    unknown = [line for line in lines if line.strip()[:1].isdigit()]
    assert not unknown, unknown[:3]
    for kind in ("TYPE_SLICE_BEGIN", "TYPE_SLICE_END"):
        assert sum(line.strip() == f"type: {kind}" for line in lines) == int(count), kind


def main():
    try:
        globals()["check_" + sys.argv[1]](*sys.argv[2:])
    except (AssertionError, IndexError, KeyError) as problem:
        sys.exit(f"{type(problem).__name__}: {problem}")


main()
