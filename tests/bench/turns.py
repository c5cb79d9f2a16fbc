# SPDX-License-Identifier: BSD-3-Clause
"""Commands that take turns on the machine: what changes from second to second (a virtual machine's
host has other guests) meets all alike, as it does not when they run one after the other. What stays
the same in each run of a command, where its heap lies, is drawn anew (heap_shift.c).
"""
import os
import random
import select
import shutil
import signal
import subprocess
import tempfile
import time

TURN_SECONDS = 0.1
LINE, PLACE, PAGE = 64, 16, 4096  # bytes: a cache line; what malloc aligns to
SHIFT_MIN = 70008               # more than what is free before the program begins: the heap's top moves


def family(pid):
    """The process and all below it."""
    children = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(name))
        except (OSError, ValueError):
            pass
    processes = [pid]
    for process in processes:
        processes += children.get(process, [])
    return processes


class Command:
    """Started, and stopped at once."""

    def __init__(self, words, folder, environment):
        self.seconds = 0
        begin = time.monotonic()
        self.process = subprocess.Popen(words, cwd=folder, env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.end = os.pidfd_open(self.process.pid)
        self.family = family(self.process.pid)
        self.stop(begin)

    def send(self, number):
        for process in self.family:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def stop(self, begin):
        self.send(signal.SIGSTOP)
        self.seconds += time.monotonic() - begin
        # those that were started meanwhile; who has lost its parent stays in the family
        while new := set(family(self.process.pid)) - set(self.family):
            self.family += new
            self.send(signal.SIGSTOP)

    def turn(self, limit):
        """Runs on, for a turn or to its end: whether that was it."""
        begin = time.monotonic()
        self.send(signal.SIGCONT)
        # without looking every now and then: who wakes up takes a processor from a rank
        ended = select.select([self.end], [], [], limit)[0]
        if ended:
            self.seconds += time.monotonic() - begin
            self.process.wait()
            os.close(self.end)
            return True
        self.stop(begin)
        return False


def heap_shifts(commands):
    """Endless: for each of so many commands, by how many bytes its heap begins later. Of each four times,
    each command meets each of the four places in a cache line once."""
    places = range(LINE // PLACE)
    while True:
        orders = [random.sample(places, len(places)) for _ in range(commands)]
        for drawn in zip(*orders):
            yield [SHIFT_MIN + random.randrange(0, PAGE, LINE) + PLACE * place for place in drawn]


def seconds_in_turns(several, folder):
    """Of commands, each (words, environment): how long each ran. Each has a copy of the folder: two in
    one would write the same files."""
    with tempfile.TemporaryDirectory(prefix="phasemux-turns.") as copies:
        commands = [Command(words, shutil.copytree(folder, os.path.join(copies, str(i))), environment)
                    for i, (words, environment) in enumerate(several)]
        running = list(commands)
        while running:
            running.reverse()
            for command in list(running):
                if command.turn(TURN_SECONDS if len(running) > 1 else None):
                    running.remove(command)
    for command in commands:
        if command.process.returncode:
            raise RuntimeError(f"{' '.join(command.process.args)} ended with "
                               f"{command.process.returncode}")
    return [command.seconds for command in commands]
