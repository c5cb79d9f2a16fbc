#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""disturb.py stop|move FILE COMMAND...

Runs the command, and repeatedly stops it for a while, or moves its threads to another processor, as happens when a
processor is taken offline. FILE receives how often, and the seconds that the command was on a processor. Exits as the
command does.
"""
import os
import signal
import subprocess
import sys
import time


def stop(pid, _):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(pid, signal.SIGCONT)


def move(pid, times):
    processors = sorted(os.sched_getaffinity(0))
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            os.sched_setaffinity(int(thread), {processors[times % len(processors)]})
        except ProcessLookupError:
            pass


def main():
    how = {"stop": stop, "move": move}[sys.argv[1]]
    process = subprocess.Popen(sys.argv[3:])
    times = 0
    while True:
        time.sleep(0.1)
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        how(process.pid, times)
        times += 1
    with open(sys.argv[2], "w") as file:
        print(times, used.ru_utime + used.ru_stime, file=file)
    return os.waitstatus_to_exitcode(status)


sys.exit(main())
