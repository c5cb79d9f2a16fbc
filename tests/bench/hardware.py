# SPDX-License-Identifier: BSD-3-Clause
"""Measures what to know first of a machine that has hardware counters: `run hardware`.

Writes one Markdown file, which is ready to be committed in docs/measurements. It has each command and what it
printed, and a line for each check. A line that begins with **does not hold** is a check that failed. A step that
cannot run says why, and the others go on.
"""
import csv
import glob
import json
import os
import platform
import re
import shutil
import statistics
import subprocess

SCHEMES = ("time-space", "time", "space", "random", "adaptive", "none")
LARGE = 0.05        # share of the computing time above which phases are compared
VALIDATED = 5       # number of programs
RUN_S = 1800        # time limit of each command, in seconds
OWN = "phases"      # the program whose phases are known
# Instructions that a burst has at most beside the program's own: those of the calls around it, and a half of each
# read. tests/machine/truth.py allows them as well.
AROUND = 2000
INTERRUPTS = 0.001  # share of the instructions of a burst that interrupts may add to a count
# Share of a total that interrupts may add. They add as much to the total of perf stat, so the two nearly cancel.
INTERRUPTS_OF_TOTAL = 0.0001


class Amounts:
    """How much is measured."""

    def __init__(self, quick):
        self.iterations = 8 if quick else 200   # of the program whose phases are known
        self.repetitions = 1 if quick else 3     # runs with each scheme
        self.compared = 1 if quick else 2        # number of programs whose schemes are compared
        self.validated = 1 if quick else VALIDATED
        self.validate = ("--scheme", SCHEMES[0]) if quick else ("-n", "2")  # options of phasemux validate
        self.loops = (1, 4) if quick else (50, 250)  # iterations of the program beside perf stat
        self.pairs = 1 if quick else 15
        self.melt = ("-var", "steps", "200") if quick else ()  # options of LAMMPS


class Page:
    """The Markdown file. Each part is also printed at once, because the whole takes minutes."""

    def __init__(self, path, shortened):
        self.file, self.path, self.shortened = open(path, "w"), path, shortened
        self.failed = 0

    def say(self, text):
        print(text, flush=True)
        self.file.write(text + "\n")
        self.file.flush()

    def block(self, text):
        """Writes what a command printed, without the folders of this machine."""
        for folder, name in self.shortened:
            text = text.replace(folder, name)
        self.say("```\n" + text.rstrip("\n") + "\n```\n")

    def command(self, words, text):
        self.block("$ " + " ".join(words) + "\n" + text)

    def check(self, holds, text):
        self.failed += not holds
        self.say(f"- {text}" if holds else f"- **does not hold**: {text}")

    def step(self, title, run, *arguments):
        """Writes a section. If it cannot be measured, the section ends with the reason."""
        self.say(f"## {title}\n")
        try:
            run(self, *arguments)
        except (RuntimeError, OSError, KeyError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
            self.say(f"Not measured: {type(error).__name__}: {' '.join(str(error).split())}\n")
            self.failed += 1

    def not_run(self, why):
        self.say(f"Not run: {why}.\n")


class Machine:
    """The build, and the functions that run commands with it."""

    def __init__(self, root, build, mpirun, environment):
        self.root, self.build = root, build
        self.mpirun, self.environment = mpirun, environment
        self.phasemux = os.path.join(build, "phasemux")
        self.bench = os.path.join(build, "tests", "bench")

    def run(self, words, folder, **settings):
        """Returns (exit code, stdout and stderr)."""
        done = subprocess.run(words, cwd=folder, env=self.environment(**settings), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_S,
                              check=False)
        return done.returncode, done.stdout

    def must_run(self, words, folder, **settings):
        """Returns stdout and stderr of a command that has to succeed."""
        code, text = self.run(words, folder, **settings)
        if code:
            raise RuntimeError(f"{' '.join(words)} ended with {code}: {text[-500:]}")
        return text

    def observed(self, output, words, *options):
        """Returns the words of a run under phasemux."""
        return [self.phasemux, "run", "--output", output, *options, "--"] + words

    def report(self, folder, output, words, *options):
        """Returns the report of a run under phasemux, whose results are then in `output`."""
        shutil.rmtree(output, ignore_errors=True)
        self.must_run(self.observed(output, words, *options), folder)
        with open(os.path.join(output, "report.json")) as file:
            return json.load(file)


def own_programs(build, iterations):
    """Returns (name, MPI, words) of each program whose phases are known."""
    for mpi in ("openmpi", "mpich"):
        program = os.path.join(build, "tests", "programs", f"{OWN}.{mpi}")
        if os.path.exists(program) and shutil.which("mpirun." + mpi):
            yield f"{OWN}, {mpi}", mpi, [program, "-n", str(iterations)]


def compiler(build):
    """Returns what the compiler wrote into the library about itself, or None."""
    with open(os.path.join(build, "libphasemux.so"), "rb") as file:
        found = re.search(rb"GCC: \([^)\0]*\) [\d.]+|[\w ]*clang version [\d.]+[^\0]*", file.read())
    return found[0].decode() if found else None


def revision(machine):
    """Returns the commit of the sources, or None."""
    if not shutil.which("git"):
        return None
    code, text = machine.run(["git", "describe", "--always", "--dirty"], machine.root)
    return text.strip() if code == 0 else None


def head(page, machine, report):
    rows = {
        "processor": report["processor"] or platform.machine(),
        "model": report["model"],
        "logical processors": os.cpu_count(),
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": compiler(machine.build) or "not known",
        "MPI": report["mpi"],
        "phasemux": machine.run([machine.phasemux, "--version"], ".")[1].strip(),
        "commit": revision(machine) or "not known",
        "date": report["date"],
    }
    if "PHASEMUX_PMU" in machine.environment():
        rows["counters"] = "**invented by PHASEMUX_PMU, as in tests: they are not those of a machine**"
    page.say(f"# Hardware counters of {rows['processor']}\n\nBy `tests/bench/run hardware`. Folders of this "
             "machine are written as `ROOT` (the sources), `BUILD` and `TMP`.\n\n| | |\n| --- | --- |")
    page.say("\n".join(f"| {name} | {value} |" for name, value in rows.items()) + "\n")


def doctor(page, machine, folder):
    words = [machine.phasemux, "doctor"]
    page.command(words, machine.run(words, folder)[1])


def show(page, machine, output, words):
    """Writes the report of a run, whose results are in `output`."""
    with open(os.path.join(output, "report.txt")) as file:
        page.command(machine.observed(output, words), file.read())


def quickstart(page, machine, folder, options):
    """The run of tools/quickstart, which itself would install packages and build, with further options of LAMMPS."""
    lmp, mpi = shutil.which("lmp"), "openmpi"
    if not lmp or not shutil.which("mpirun." + mpi):
        page.not_run("it needs LAMMPS and Open MPI (tools/install-needed run)")
        return
    words = machine.mpirun(mpi, 4) + [lmp, "-in", os.path.join(machine.root, "tools", "melt.in"), "-log", "none",
                                      *options]
    output = os.path.join(folder, "quickstart")
    machine.report(folder, output, words)
    show(page, machine, output, words)


# ---- do schemes agree ----

def runs_of(machine, folder, words, scheme, repetitions):
    """Returns the folders of the results of some runs with a scheme."""
    outputs = [os.path.join(folder, f"{scheme}.{i}") for i in range(repetitions)]
    for output in outputs:
        machine.report(folder, output, words, "--scheme", scheme)
    return outputs


def compared(machine, folder, before, after):
    """Returns the document of `phasemux compare` for the results of two schemes, and its command."""
    words = [machine.phasemux, "compare", "--json"]
    for output in before:
        words += ["--base", output]
    words += after
    # 3 says that the program was slower, which is not asked here
    done = subprocess.run(words, cwd=folder, env=machine.environment(), text=True, capture_output=True,
                          timeout=RUN_S, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout), words


def agree(value, share):
    """Returns whether a value of two runs differs by no more than its interval and this share of it."""
    return value["ci95"] is not None and \
        abs(value["difference"]) <= value["ci95"] + share * abs(value["before"])


def phase_row(phase, scheme):
    """Returns the row of a phase, and whether the instructions and cycles of both schemes agree."""
    name = f"{'+'.join(map(str, phase['before']))} | {scheme}"
    if phase["status"] != "both":
        return f"| {name} | no such phase | | no |", False
    instructions, cpi = phase["instructions_per_burst"], phase["cpi"]
    share = AROUND / instructions["before"]
    same = agree(instructions, share + INTERRUPTS) and agree(cpi, share + INTERRUPTS)
    cells = " | ".join(f"{value['before']:.6g} {value['difference']:+.2g} +- {value['ci95'] or 0:.2g}"
                       for value in (instructions, cpi))
    return f"| {name} | {cells} | {'yes' if same else '**no**'} |", same


def schemes_agree(page, machine, folder, programs, repetitions):
    page.say(f"Instructions of a burst, and cycles for each of them, of phases above {100 * LARGE:.0f}% of the time: "
             f"those with `{SCHEMES[0]}`, the difference of another scheme, and its 95% interval by `phasemux "
             f"compare`, from {repetitions} {'run' if repetitions == 1 else 'runs'} of each. A burst may differ "
             f"by {AROUND} instructions (a read and the calls around it) and {100 * INTERRUPTS:.1f}% (interrupts) "
             "more.\n")
    if repetitions == 1:
        page.say("These intervals do not hold what differs from run to run, because there is one of each.\n")
    for name, words in programs:
        page.say(f"{name}:\n")
        first = runs_of(machine, folder, words, SCHEMES[0], repetitions)
        rows, agreed, commands = [], True, [machine.observed(first[0], words, "--scheme", SCHEMES[0])]
        for scheme in SCHEMES[1:]:
            document, command = compared(machine, folder, first,
                                         runs_of(machine, folder, words, scheme, repetitions))
            commands.append(command)
            whole = document["useful_seconds"]["before"]
            large = [phase for phase in document["phases"] if phase["before"] and
                     (phase["seconds"]["before"] or 0) >= LARGE * whole]
            told = [phase_row(phase, scheme) for phase in large]
            agreed = agreed and bool(told) and all(same for _, same in told)
            rows += [row for row, _ in told]
        page.block("\n".join("$ " + " ".join(command) for command in commands))
        page.say("| phase | scheme | instructions | cycles per instruction | agree |\n| --- | --- | --- | --- | --- |")
        page.say("\n".join(rows) + "\n")
        page.check(agreed, f"{name}: all schemes find the same instructions and cycles in each of these phases")
        page.say("")


def validated(page, machine, folder, programs, options):
    page.say("Runs with one group each, beside runs with each scheme. What the command prints of each counter is left "
             "out.\n")
    for name, words in programs:
        page.say(f"{name}:\n")
        command = [machine.phasemux, "validate", "--quiet", *options, "--"] + words
        text = machine.must_run(command, folder)
        # each scheme has a table of the counters, below its name on a line of its own
        page.command(command, re.split(rf"^(?:{'|'.join(SCHEMES)})$", text, maxsplit=1, flags=re.MULTILINE)[0])


# ---- costs ----

def reads(page, machine, folder):
    words = [os.path.join(machine.bench, "parts"), "reads"]
    text = machine.must_run(words, folder)
    page.say("Nanoseconds of a read of a whole group, by each way that this machine has.\n")
    page.command(words, text)
    if "read_at_user_level" not in text:
        page.say("This machine does not read counters at user level (`phasemux doctor` says what would help).\n")


def slowdowns(page, machine, folder, programs, pairs, pair):
    """pair: runs a command without and with phasemux (`run programs`)."""
    page.say(f"Runs in turn without and with phasemux at the default budget: the median of {pairs} "
             f"{'pair' if pairs == 1 else 'pairs'}, and the slowdown of each.\n\n| program | seconds | slowdown | in "
             "processor time | by its report | of each pair |\n| --- | --- | --- | --- | --- | --- |")
    for name, words in programs:
        try:
            rows = [pair(words, folder, os.path.join(folder, "pair"), "1%") for _ in range(pairs)]
        except (RuntimeError, OSError) as error:
            page.say(f"| {name} | not measured: {str(error).splitlines()[0][:80]} | | | | |")
            page.failed += 1
            continue
        row = {key: statistics.median(each[key] for each in rows) for key in rows[0]}
        page.say(f"| {name} | {row['bare_seconds']:.2f} | {row['slowdown']:+.2%} | {row['cpu_slowdown']:+.2%} | "
                 f"{row['agent_share']:.2%} | {' '.join(format(each['slowdown'], '+.1%') for each in rows)} |")
    page.say("")


def costs(page, machine, folder):
    """Writes a section of `run`, which prints what it measures."""
    words = [os.path.join(machine.root, "tests", "bench", "run"), "--quick", "calls"]
    page.command(words, machine.must_run(words, folder, PHASEMUX_BUILD=machine.build))


# ---- beside perf stat ----

def counted_by_perf(machine, folder, words):
    """Returns the instructions at user level by perf stat, and its command and output. A processor with two kinds
    of cores has a line for each kind."""
    command = ["perf", "stat", "-x", ",", "-e", "instructions:u", "--"] + words
    text = machine.must_run(command, folder)
    counts = re.findall(r"^(\d+),[^,]*,[^,]*instructions", text, re.MULTILINE)
    if not counts:
        raise RuntimeError(f"perf stat does not count: {text[-300:]}")
    return sum(map(int, counts)), command, text


def counted_by_agent(machine, folder, words, scheme):
    """Returns the instructions of all bursts, and their number."""
    output = os.path.join(folder, "counted")
    machine.report(folder, output, words, "--scheme", scheme, "--budget", "none", "--burst-min", "1us",
                   "--report", "json,bursts")
    total = number = 0
    for path in glob.glob(os.path.join(output, "bursts.*.csv")):
        with open(path) as file:
            for row in csv.DictReader(file):
                total, number = total + int(row["instructions"] or 0), number + 1
    return total, number


def beside_perf(page, machine, folder, loops):
    program = os.path.join(machine.build, "tests", "programs", "omp")
    if not shutil.which("perf"):
        page.not_run("perf is not installed (tools/install-needed perf)")
        return
    if not os.path.exists(program):
        page.not_run("the build has no program with OpenMP")
        return
    short, long = ([program, str(loops[i])] for i in (0, 1))
    before, command, text = counted_by_perf(machine, folder, short)
    page.command(command, text)
    after, command, text = counted_by_perf(machine, folder, long)
    page.command(command, text)
    truth = after - before
    page.say(f"Instructions at user level of {loops[1] - loops[0]} iterations: the difference of a run of {loops[1]} "
             f"and one of {loops[0]}, without the start and the end of the program. perf stat counts runs without "
             "phasemux. The agent reads every burst, and its total is the sum of all bursts.\n")
    for scheme in SCHEMES:
        total, number = counted_by_agent(machine, folder, long, scheme)
        shorter, fewer = counted_by_agent(machine, folder, short, scheme)
        total, number = total - shorter, number - fewer
        page.check(number > 0 and abs(total - truth) <= number * AROUND + INTERRUPTS_OF_TOTAL * truth,
                   f"{scheme}: {total} by the agent, {truth} by perf stat, {total - truth:+d} in {number} bursts "
                   f"({(total - truth) / max(number, 1):+.0f} for each; {AROUND} are allowed, and "
                   f"{100 * INTERRUPTS_OF_TOTAL:.2f}% for interrupts)")
    page.say("")


def measure(machine, packaged, folder, path, quick, pair):
    """Writes the page to `path`. packaged: (name, MPI, words) of real programs. Returns an error text or None, and
    the number of checks that do not hold and of steps that could not be measured."""
    amounts = Amounts(quick)
    own = list(own_programs(machine.build, amounts.iterations))[:1 if quick else None]
    if not own:
        return "no MPI", 0
    first, words = os.path.join(folder, "first"), machine.mpirun(own[0][1], 2) + own[0][2]
    report = machine.report(folder, first, words)
    if report["without_counters"]:
        return report["without_counters"], 0
    own, packaged = ([(name, machine.mpirun(mpi, 2) + words) for name, mpi, words in programs]
                     for programs in (own, [] if quick else packaged))
    mixed = own[:1] + packaged + own[1:]
    page = Page(path, ((machine.build, "BUILD"), (machine.root, "ROOT"), (folder, "TMP")))
    head(page, machine, report)
    page.step("phasemux doctor", doctor, machine, folder)
    page.step("The run of tools/quickstart", quickstart, machine, folder, amounts.melt)
    page.step("A program whose phases are known", show, machine, first, words)
    page.step("Do schemes agree", schemes_agree, machine, folder, mixed[:amounts.compared], amounts.repetitions)
    page.step("Totals beside perf stat", beside_perf, machine, folder, amounts.loops)
    page.step("phasemux validate", validated, machine, folder, mixed[:amounts.validated],
              amounts.validate)
    page.step("What a read costs", reads, machine, folder)
    if not quick:
        page.step("What an intercepted call costs", costs, machine, folder)
    page.step("Slowdown", slowdowns, machine, folder, mixed, amounts.pairs, pair)
    print(f"written: {path}; {page.failed} checks do not hold or could not be made")
    return None, page.failed
