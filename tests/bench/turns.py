# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands in turns on the machine.

The load of a machine changes from second to second, for example because its host has other guests. Commands that take
turns meet the same changes, and commands that run one after the other do not. The place of the heap is the same in
each run of a command. Therefore it is drawn at random for each run (heap_shift.c).
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
LINE, PLACE, PAGE = 64, 16, 4096  # bytes of a cache line, and the alignment of malloc
SHIFT_MIN = 70008               # bytes; more than is free when the program starts, so that the top of the heap moves


def family(pid):
    """Returns the process and all its descendants."""
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
    """A command that is started, and stopped at once."""

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
        # processes that were started meanwhile; a process that has lost its parent stays in the family
        while new := set(family(self.process.pid)) - set(self.family):
            self.family += new
            self.send(signal.SIGSTOP)

    def turn(self, limit):
        """Continues the command for at most `limit` seconds. Returns whether it has ended."""
        begin = time.monotonic()
        self.send(signal.SIGCONT)
        # one wait without polling, because each look would take a processor from a rank
        ended = select.select([self.end], [], [], limit)[0]
        if ended:
            self.seconds += time.monotonic() - begin
            self.process.wait()
            os.close(self.end)
            return True
        self.stop(begin)
        return False


def heap_shifts(commands):
    """Yields, without end, the bytes by which the heap of each of `commands` commands starts later.

    Within four yields, each command has each of the four places in a cache line once.
    """
    places = range(LINE // PLACE)
    while True:
        orders = [random.sample(places, len(places)) for _ in range(commands)]
        for drawn in zip(*orders):
            yield [SHIFT_MIN + random.randrange(0, PAGE, LINE) + PLACE * place for place in drawn]


def seconds_in_turns(several, folder):
    """Returns the run time in seconds of each command (words, environment).

    Each command has a copy of the folder, because two commands in one folder would write the same files.
    """
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
