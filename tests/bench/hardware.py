# SPDX-License-Identifier: BSD-3-Clause
"""Measures what to know first of a machine that has hardware counters: `run hardware`.

Writes one Markdown file, which is ready to be committed in docs/measurements. A line that begins with ** is a
check that failed.
"""
import json
import os
import platform
import re
import shutil
import subprocess

SCHEMES = ("time-space", "time", "space", "random", "adaptive")
LARGE = 0.05        # share of the computing time above which phases are compared
AGREE = 0.05        # largest relative difference of a phase's instructions between two schemes
VALIDATED = 5       # number of programs
TOTAL_BAR = 0.02    # largest relative difference between the totals of the agent and of perf stat
RUN_S = 600         # time limit of each command, in seconds


class Page:
    """The Markdown file. Each part is also printed at once, because the whole takes minutes."""

    def __init__(self, path):
        self.file, self.path = open(path, "w"), path

    def say(self, text):
        print(text, flush=True)
        self.file.write(text + "\n")
        self.file.flush()

    def block(self, text):
        self.say("```\n" + text.rstrip("\n") + "\n```\n")

    def check(self, holds, text):
        self.say(f"- {text}" if holds else f"- **does not hold**: {text}")


class Machine:
    """The build, and the functions that run commands with it."""

    def __init__(self, root, build, mpirun, environment):
        self.root, self.build = root, build
        self.mpirun, self.environment = mpirun, environment
        self.phasemux = os.path.join(build, "phasemux")

    def run(self, words, folder, **settings):
        """Returns (exit code, stdout and stderr)."""
        done = subprocess.run(words, cwd=folder, env=self.environment(**settings), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_S,
                              check=False)
        return done.returncode, done.stdout

    def report(self, words, folder, **settings):
        """Returns the report of a run under phasemux, and its text."""
        output = os.path.join(folder, "output")
        shutil.rmtree(output, ignore_errors=True)
        code, text = self.run([self.phasemux, "run", "--output", output, "--"] + words, folder,
                              **settings)
        path = os.path.join(output, "report.json")
        if code or not os.path.exists(path):
            raise RuntimeError(f"{' '.join(words)} ended with {code}: {text[-500:]}")
        with open(path) as file:
            report = json.load(file)
        with open(os.path.join(output, "report.txt")) as file:
            return report, file.read()


def own_programs(build):
    """Returns (name, MPI, words) of each program whose phases are known."""
    for mpi in ("openmpi", "mpich"):
        program = os.path.join(build, "tests", "programs", "phases." + mpi)
        if os.path.exists(program) and shutil.which("mpirun." + mpi):
            yield f"phases, {mpi}", mpi, [program, "-n", "200"]


def head(page, machine, report):
    _, version = machine.run([machine.phasemux, "--version"], ".")
    page.say(f"# Hardware counters of {report['processor'] or platform.machine()}\n")
    page.say(f"By `tests/bench/run hardware`, with {version.strip()} on Linux {platform.release()}, "
             f"{os.cpu_count()} processors, model {report['model']}.\n\n## phasemux doctor\n")
    page.block(machine.run([machine.phasemux, "doctor"], ".")[1])


def main_job(page, machine, name, words, folder):
    page.say(f"## {name}\n")
    page.block(machine.report(words, folder)[1])


def instructions_of(phase, model):
    """Returns (mean, half-width of the 95% interval) of a phase's instructions."""
    counter = phase["counters"][model]
    return counter["mean"], counter["ci95"] or 0


def like(phase, report, model):
    """Returns the phase of another run that is nearest in instructions and has at least half of LARGE."""
    mean = instructions_of(phase, model)[0]
    return min((other for other in report["phases"] if other["time_share"] > LARGE / 2),
               key=lambda other: abs(instructions_of(other, model)[0] - mean), default=None)


def instructions_event(report):
    """Returns the model's name for instructions, which is the second event that all groups have."""
    return report["groups"][0]["events"][1]


def schemes_agree(page, machine, programs, folder):
    page.say("## Schemes agree\n\nInstructions for each burst and CPI, of phases above 5% of the time, beside "
             "those of `time-space`.\n\n| program | phase | scheme | instructions | CPI |\n| --- | --- | --- | --- "
             "| --- |")
    worst = 0
    for name, words in programs:
        first = machine.report(words, folder, PHASEMUX_SCHEME=SCHEMES[0])[0]
        event = instructions_event(first)
        reports = {scheme: machine.report(words, folder, PHASEMUX_SCHEME=scheme)[0]
                   for scheme in SCHEMES[1:]}
        for phase in first["phases"]:
            if phase["time_share"] < LARGE:
                continue
            mean, half = instructions_of(phase, event)
            page.say(f"| {name} | {phase['id']} | {SCHEMES[0]} | {mean:.5g} +- {half:.2g} | "
                     f"{phase['cpi']:.3f} |")
            for scheme, report in reports.items():
                other = like(phase, report, event)
                if not other:
                    page.say(f"| | | {scheme} | no such phase | |")
                    worst = 1
                    continue
                value, half = instructions_of(other, event)
                worst = max(worst, abs(value / mean - 1))
                page.say(f"| | | {scheme} | {value:.5g} +- {half:.2g} | {other['cpi']:.3f} |")
    page.say("")
    page.check(worst <= AGREE, f"schemes find instructions within {100 * AGREE:.0f}% (worst: "
                               f"{100 * worst:.2f}%)")
    page.say("")


def validated(page, machine, programs, folder):
    page.say("## phasemux validate\n\nRuns with one group each, beside runs with each scheme.\n")
    for name, words in programs[:VALIDATED]:
        page.say(f"{name}:\n")
        page.block(machine.run([machine.phasemux, "validate", "--quiet", "--"] + words, folder)[1])


def costs(page, machine, folder, sections):
    """Writes the sections of `run`, which print what they measure."""
    for section in sections:
        page.say(f"## {section}\n")
        page.block(machine.run([os.path.join(machine.root, "tests", "bench", "run"), "--quick",
                                section], folder, PHASEMUX_BUILD=machine.build)[1])


def total_of(report, event):
    return sum(phase["counters"][event]["mean"] * phase["bursts"] for phase in report["phases"])


def perf_total(machine, words, folder):
    """Returns the instructions at user level by perf stat, or None."""
    code, text = machine.run(["perf", "stat", "-x", ",", "-e", "instructions:u"] + words, folder)
    found = re.search(r"^(\d+),[^,]*,instructions:u", text, re.MULTILINE)
    return int(found[1]) if code == 0 and found else None


def beside_perf(page, machine, folder):
    program = os.path.join(machine.build, "tests", "programs", "omp")
    page.say("## Totals beside perf stat\n\nInstructions of a program at user level. perf stat counts a run "
             "without phasemux, with the start of the program.\n")
    if not shutil.which("perf") or not os.path.exists(program):
        page.say("Not measured: there is no perf, or no OpenMP.\n")
        return
    words = [program, "200"]
    told = perf_total(machine, words, folder)
    if not told:
        page.say("Not measured: perf does not count.\n")
        return
    for scheme in SCHEMES:
        report, _ = machine.report(words, folder, PHASEMUX_SCHEME=scheme)
        total = total_of(report, instructions_event(report))
        page.check(abs(total / told - 1) <= TOTAL_BAR,
                   f"{scheme}: {total:.6g} in phases, {told:.6g} by perf stat ({100 * (total / told - 1):+.3f}%)")
    page.say("")


def measure(machine, packaged, folder, path):
    """Writes the page to `path`. packaged: (name, MPI, words) of real programs. Returns an error text, or None."""
    own = list(own_programs(machine.build))
    if not own:
        return "no MPI"
    report, _ = machine.report(machine.mpirun(own[0][1], 2) + own[0][2], folder)
    if report["without_counters"]:
        return report["without_counters"]
    programs = [(name, machine.mpirun(mpi, 2) + words) for name, mpi, words in own + list(packaged)]
    page = Page(path)
    head(page, machine, report)
    main_job(page, machine, *programs[min(len(own), len(programs) - 1)], folder)
    schemes_agree(page, machine, programs, folder)
    validated(page, machine, programs, folder)
    beside_perf(page, machine, folder)
    costs(page, machine, folder, ["calls", "parts", "programs"])
    print(f"written: {path}")
    return None
