# SPDX-License-Identifier: BSD-3-Clause
"""Measures what whatif, replay and the simulation need for longer and longer runs of one structure: `run whatif`.

docs/measurements/whatif.md has the figures of one machine.

usage: growth.py REPORT TIMES     prints the report of a run of 1,000 steps as if it had TIMES as many
"""
import json
import os
import subprocess
import sys
import time

RANKS = 2
SHAPE = "integer_sort"  # of tests/programs/shapes.c, with few calls in a step
STEPS = (1_000, 10_000, 100_000, 1_000_000)
RECORDED = 1_000        # steps of the run; the structures of longer ones have other counts
COMMANDS = ("whatif", "check", "simulate")
MEMORY_GROWS = 1.25
MEMORY_LEAST = 4 * 2**20  # bytes of a command of some milliseconds, which may end before it is seen with all of them
OFTEN = 10
LOOK_SECONDS = 0.1
CALLS_GROW = 1.6         # those that are simulated of long runs; windows have whole numbers of rounds


def descendants(process):
    """Returns a process and those that it has started."""
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        children = []
    return [process] + [each for child in children for each in descendants(child)]


def most_memory(process):
    """Returns the most bytes that a process has had so far since it started its program, or 0."""
    try:
        # a process that was just forked still has the memory of this one
        if os.readlink(f"/proc/{process}/exe") == os.readlink("/proc/self/exe"):
            return 0
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            return max((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")), default=0)
    except OSError:
        return 0


def measured(words):
    """Returns the seconds, and the most bytes of a process, of a command that must end well."""
    begin, most = time.monotonic(), 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        while command.poll() is None:
            most = max([most] + [most_memory(each) for each in descendants(command.pid)])
            # short commands are looked at all the time
            if time.monotonic() - begin > LOOK_SECONDS:
                time.sleep(LOOK_SECONDS)
        assert command.returncode == 0, words
    return time.monotonic() - begin, most


def measured_often(words):
    """Returns the least seconds, and the most bytes, of several runs: a short one is seldom seen when it is largest."""
    runs = [measured(words) for _ in range(OFTEN)]
    return min(seconds for seconds, _ in runs), max(memory for _, memory in runs)


def scaled(value, times):
    """Returns what the structure of a run is after `times` as many steps: counts are multiples of the steps."""
    if isinstance(value, dict):
        return {key: scaled(each, times) for key, each in value.items()}
    if isinstance(value, list):
        return [scaled(each, times) for each in value]
    if isinstance(value, (int, float)) and value >= RECORDED and value == int(value):
        return value % RECORDED + (value - value % RECORDED) * times
    return value


def measure(record, phasemux, folder, quick):
    """record(steps, output) makes a run. Returns a row for each number of steps."""
    rows = []
    recorded = os.path.join(folder, "growth.recorded")
    record(RECORDED, recorded)
    with open(os.path.join(recorded, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    for steps in STEPS[:2] if quick else STEPS:
        output = os.path.join(folder, f"growth.{steps}")
        os.mkdir(output)
        longer = {**report, "structure": scaled(report["structure"], steps // RECORDED)}
        with open(os.path.join(output, "report.json"), "w", encoding="utf-8") as file:
            json.dump(longer, file)
        row = {"steps": steps, "calls": longer["structure"]["structures"][0]["calls"]}
        row["whatif"] = measured_often([phasemux, "whatif", output])
        row["check"] = measured_often([phasemux, "replay", "--check", output])
        row["simulate"] = measured([phasemux, "whatif", "--simulate", "--cpu", "2", output])
        with open(os.path.join(output, "replay", "simulation.json"), encoding="utf-8") as file:
            row["simulated"] = json.load(file)["simulated_calls"]
        row["walked"] = json.loads(subprocess.check_output([phasemux, "replay", "--check", "--json", output]))["walked"]
        rows.append(row)
        print(f"    {steps:>9,} steps, {row['calls']:>11,.0f} calls: "
              + "; ".join(f"{what} {row[what][0]:.3f} s, {row[what][1] / 2**20:.1f} MiB" for what in COMMANDS)
              + f"; {row['walked']:,.0f} calls were checked, {row['simulated']:,.0f} simulated",
              flush=True)
    kept = (all(row[what][1] <= MEMORY_GROWS * max(MEMORY_LEAST, rows[0][what][1]) for row in rows for what in COMMANDS)
            and all(row["walked"] <= rows[0]["walked"] for row in rows)
            and all(row["simulated"] <= CALLS_GROW * rows[1]["simulated"] for row in rows))
    print(f"    memory, and the calls that are checked and simulated, do not grow with the steps: {'kept' if kept else 'NOT KEPT'}")
    return {"rows": rows, "kept": kept}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as given:
        run = json.load(given)
    json.dump({**run, "structure": scaled(run["structure"], int(sys.argv[2]))}, sys.stdout)
