# SPDX-License-Identifier: BSD-3-Clause
"""Measures the structure of calls on programs whose loops are known (tests/programs/shapes.c): `run structure`.

The shapes run beside a log of all calls (burst_log.c), which says what each rank has really done. docs/structure.md
explains what is measured, and docs/measurements/structure.md has the figures of one machine.
"""
import collections
import json
import os
import re
import shutil
import statistics
import struct
import subprocess

RECORD = struct.Struct("<QQIIHHiQ")  # struct record of burst_log.c
RANKS = 16
# Most bytes of the trace of each shape, by the number of ranks.
TRACE_BYTES = {"wavefront": {4: 12000, 8: 18000, 16: 25000, 64: 25000},
               "multi_partition": {4: 10000, 16: 10000, 64: 10000}, "conjugate_gradient": {16: 10000}}
GROWS = 1.1                       # two traces of equal texts differ by the digits of their numbers
TEXT_BYTES = 8192                 # largest text of a rank, of the shapes that REGULAR names
PACKAGED_BYTES = 16384            # largest text of a rank of a packaged program
ARENA_BYTES = 65536               # largest structure of a thread, whatever it does
CALL_NS = 40                      # largest cost of the structure for a call
REGULAR = ("multi_partition", "wavefront", "conjugate_gradient")
RANDOM_CALLS = 10_000_000
# Steps for bar 7. On a busy machine, the least of many short runs differs less than that of a few long ones.
SHORT = {"multi_partition": 400, "conjugate_gradient": 15, "solver": 400, "disorder": 4000}
# Steps for leads, which need some 20 rounds until all ranks have read all phases.
LED = {"multi_partition": 800, "conjugate_gradient": 150, "solver": 1500, "changes": 6000}
LED_RANKS = 4
IN_L = 0.95                       # least share of the calls in state L
ROUND_LONGER = 0.1                # most of a round's time that the votes on leads may add
SPARED_NS = 2                     # largest cost of a call of a rank that is no lead

# Steps are those of the benchmarks whose shapes these are: BT.W, LU.A, CG.A, MG.A, IS.
# loops: what makes a step, as the numbers of repetitions of the loops from the iteration inwards.
Shape = collections.namedtuple("Shape", "steps loops")
SHAPES = {
    "multi_partition": Shape(200, (200,)),
    "wavefront": Shape(250, (250,)),
    "conjugate_gradient": Shape(15, (15, 25)),
    "v_cycle": Shape(4, (4,)),
    "integer_sort": Shape(10, (10,)),
    "workers": Shape(600, None),   # each worker has another number of steps, which the log has
    "solver": Shape(40, (40,)),
    "uneven": Shape(40, (40,)),    # each rank has other inner steps
    "changes": Shape(200, (10,)),  # two behaviours of ten steps each
    "disorder": Shape(100, ()),
}


class Bench:
    """What the measurements need of tests/bench/run.

    run: starts a command in a folder with settings; mpirun: gives the words that start an MPI's program.
    """

    def __init__(self, root, build, run, mpirun, mpi, folder):
        self.root, self.build, self.folder, self.mpi = root, build, folder, mpi
        self.start, self.mpirun = run, mpirun
        self.bench = os.path.join(build, "tests", "bench")
        self.phasemux = os.path.join(build, "phasemux")
        self.library = os.path.join(build, "libphasemux.so")
        self.scripted = os.path.join(build, "tests", "libscripted-pmu.so")
        self.number = 0

    def path(self, *words):
        return os.path.join(self.folder, *words)

    def fresh(self):
        """Returns the name of a folder that does not exist yet."""
        self.number += 1
        return self.path(f"structure.{self.number}")

    def observed(self, ranks, program, logged=False, counted=False, **settings):
        """Runs a program under phasemux. Returns its output, its report, and the folder of the report.

        counted: with counters, which the scripted PMU of the tests has.
        """
        output = self.fresh()
        preload = self.library
        if counted:
            preload += ":" + self.scripted
            settings = {"PHASEMUX_PMU": self.scripted, "SCRIPTED_PMU": "auto=triad", **settings}
        if logged:
            preload += ":" + os.path.join(self.bench, "burst_log.so")
            settings["BURST_LOG"] = output + ".log"
        settings = {"PHASEMUX_TRACE": "structure", **settings}
        _, out = self.start(self.mpirun(self.mpi, ranks) + program, self.folder, LD_PRELOAD=preload,
                            PHASEMUX_OUTPUT=output, PHASEMUX_REPORT="json", **settings)
        with open(os.path.join(output, "report.json"), encoding="utf-8") as file:
            return out, json.load(file), output

    def shape(self, name, steps=None):
        program = os.path.join(self.build, "tests", "programs", "shapes." + self.mpi)
        return [program, name, str(SHAPES[name].steps if steps is None else steps)]

    def calls(self, batches):
        return [os.path.join(self.bench, "calls." + self.mpi), str(batches)]

    def numbers(self, words, data=None):
        """Runs a program that prints lines of a name and a number. Returns the numbers by name."""
        done = subprocess.run(words, input=data, capture_output=True, check=True)
        return {name: float(number) for name, number in (line.split() for line in done.stdout.decode().splitlines())}


# ---- what the ranks have done, by the log ----

def logged_calls(prefix, rank):
    """Returns the calls of a rank in order, each as the number of its call and the frames of its path."""
    with open(f"{prefix}.{rank}.0.paths", encoding="utf-8") as file:
        paths = dict(line.rstrip("\n").split("\t", 1) for line in file)
    calls = []
    with open(f"{prefix}.{rank}.0.bursts", "rb") as file:
        for _, _, path, to_path, call, to_call, _, _ in RECORD.iter_unpack(file.read()):
            if not calls:
                calls.append((call, paths[str(path)]))
            calls.append((to_call, paths[str(to_path)]))
    return calls


def call_names(prefix):
    with open(prefix + ".calls", encoding="utf-8") as file:
        return file.read().split()


def symbols_of(calls):
    """Returns the calls as the numbers of their paths, in the order in which these come."""
    number = {}
    return struct.pack(f"<{len(calls)}I", *(number.setdefault(call, len(number)) for call in calls))


# ---- what the report says ----

def ranks_of(structure):
    return [first + step * i for first, step, count in structure["rank_ranges"] for i in range(count)]


def loops_of(token):
    """Returns the numbers of repetitions of a loop and of the loops in it, as long as there is one in each."""
    found = []
    while token and "body" in token:
        found.append(token["repeats"])
        token = next((inner for inner in token["body"] if "body" in inner), None)
    return found


def iteration_of(body):
    for token in body:
        found = token if token.get("iteration") else iteration_of(token.get("body", []))
        if found:
            return found
    return None


def tokens_of(body):
    return sum(1 + tokens_of(token.get("body", [])) for token in body)


def flat(body):
    """Returns the tokens of a text in its order, a loop before its body."""
    return [each for token in body for each in [token, *flat(token.get("body", []))]]


def rounds_of(structure, rank=None):
    """Returns the iterations of a rank. None: of the first one."""
    if not structure["iteration"]:
        return 0
    for variant in structure["variants"] or []:
        if rank is not None and rank in ranks_of(variant):
            counts = [count for token, count in zip(flat(structure["text"]), variant["counts"]) if token.get("iteration")]
            return counts[0] if isinstance(counts[0], int) else int(structure["iteration"]["rounds"])
    return int(structure["iteration"]["rounds"])


# ---- one shape beside its log ----

def rounds_are_right(shape, structure, rounds, rank=None):
    """Returns whether a structure has this number of iterations, and within them the loops of the shape."""
    if rounds_of(structure, rank) != rounds:
        return False
    inner = list(shape.loops or ())[1:]
    found = loops_of(iteration_of(structure["text"]))[1:] if inner else []
    return all(repeats == [times, times] for repeats, times in zip(found, inner)) and len(found) >= len(inner)


def same_calls(bench, prefix, output, rank):
    """Returns what differs between the calls of a rank and those that are listed, or None."""
    listed = f"{prefix}.{rank}.list"
    with open(listed, "w", encoding="utf-8") as file:
        subprocess.run([bench.phasemux, "trace", "--rank", str(rank), "--expand", output], stdout=file, check=True)
    done = subprocess.run(["/usr/bin/python3", os.path.join(bench.root, "tests", "e2e", "expanded.py"), "whole",
                           prefix, str(rank), listed], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip() or f"exit {done.returncode}" if done.returncode else None


def steps_made(shape, names, calls):
    """Returns how many iterations a rank has made."""
    if shape.loops is None:
        return sum(names[call] == "MPI_Recv" for call, _ in calls)
    return shape.loops[0] if shape.loops else 0


def folded(bench, calls, structure):
    """Returns what the text of a rank takes. tokens_agree: whether the report has as many tokens."""
    text = bench.numbers([os.path.join(bench.bench, "folding"), "replay"], symbols_of(calls))
    return {**text, "tokens_agree": bool(structure) and text["tokens"] == tokens_of(structure["text"])}


def beside_log(bench, name, quick):
    """Runs a shape beside a log of its calls. Returns the figures of the bars 2, 3, 4 and 6 for it."""
    shape = SHAPES[name]
    _, report, output = bench.observed(RANKS, bench.shape(name), logged=True, PHASEMUX_BUDGET="none")
    prefix = output + ".log"
    names = call_names(prefix)
    structures = report["structure"]["structures"]
    structure_of = {rank: structure for structure in structures for rank in ranks_of(structure)}
    groups = {}  # the calls of each different rank, and the lowest ranks of the structures that such ranks have
    differ, rounds, wrong, texts, compared = {}, set(), {}, [], 0
    for rank in range(RANKS):
        calls, structure = tuple(logged_calls(prefix, rank)), structure_of.get(rank)
        # ranks that differ only in the number of their steps have one structure
        group = frozenset(calls) if shape.loops is None or name == "uneven" else calls
        if group not in groups:
            texts.append(folded(bench, calls, structure))
        groups.setdefault(group, set()).add(structure["first_rank"] if structure else None)
        steps = steps_made(shape, names, calls)
        rounds.add(steps)
        if structure is None:
            wrong[rank] = "no structure"
        elif not rounds_are_right(shape, structure, steps, rank):
            wrong[rank] = f"{rounds_of(structure, rank)} iterations, the program made {steps}"
        if not quick or rank in (0, RANKS // 3, RANKS - 1):
            compared += 1
            difference = same_calls(bench, prefix, output, rank)
            if difference:
                differ[rank] = difference
    shutil.rmtree(output)
    firsts = set().union(*groups.values())
    return {"ranks": RANKS, "steps": shape.steps, "calls": sum(structure["calls"] for structure in structures),
            "ranks_compared": compared, "differences": differ, "structures": len(structures),
            "left_out_ranks": report["structure"]["left_out_ranks"], "different_ranks": len(groups),
            "right_groups": len(firsts) == len(groups) and all(len(group) == 1 for group in groups.values()),
            "iterations": sorted(rounds), "wrong_iterations": wrong,
            "tokens_agree": all(text["tokens_agree"] for text in texts),
            "fold_ns": min(text["ns_of_a_call"] for text in texts),
            **{key: max(text[key] for text in texts) for key in ("tokens", "text_bytes", "text_bytes_most")}}


# ---- the bars ----

def trace_bytes(bench, ranks, program, trace):
    """Returns the structures of a program, and the bytes of its trace."""
    _, report, output = bench.observed(ranks, program, PHASEMUX_BUDGET="none", PHASEMUX_TRACE=trace)
    size = os.path.getsize(os.path.join(output, "trace.json"))
    shutil.rmtree(output)
    return {"structures": len(report["structure"]["structures"]), "bytes": size}


def bar_size(bench, packaged, quick):
    """Bar 1: the bytes of the trace by the number of ranks, also with arguments. The bar says nothing of packaged programs."""
    shapes, others = {}, {}
    for name, sizes in TRACE_BYTES.items():
        for ranks, most in sizes.items():
            program = bench.shape(name, 20 if quick else None)
            shapes[f"{name}, {ranks} ranks"] = {"most_bytes": most, **{
                trace: trace_bytes(bench, ranks, program, trace) for trace in ("structure", "calls")}}
    for name, words in packaged:
        others[name] = {trace: trace_bytes(bench, LED_RANKS, words, trace) for trace in ("structure", "calls")}
    last, first = (shapes[f"wavefront, {ranks} ranks"]["structure"]["bytes"] for ranks in (64, 16))
    return {"holds": all(row[trace]["bytes"] < row["most_bytes"] for row in shapes.values()
                         for trace in ("structure", "calls")) and last <= GROWS * first,
            "shapes": shapes, "packaged": others, "grows": last / first}


def bar_calls(shapes):
    """Bar 2: whether the listed calls of each rank are those of the log."""
    return {"holds": not any(row["differences"] for row in shapes.values()),
            "shapes": {name: {key: row[key] for key in ("calls", "ranks_compared", "differences")}
                       for name, row in shapes.items()}}


def bar_structures(bench, shapes):
    """Bar 3: how many structures ranks have, and how many of them do different things, by the log."""
    _, report, output = bench.observed(2, bench.shape("multi_partition", 1500), PHASEMUX_BUDGET="0.01%")
    shutil.rmtree(output)
    structures = report["structure"]["structures"]
    return {"holds": all(row["right_groups"] and not row["left_out_ranks"] for row in shapes.values()),
            "shapes": {name: {key: row[key] for key in ("structures", "different_ranks", "right_groups",
                                                        "left_out_ranks")}
                       for name, row in shapes.items()},
            # not part of the bar: holes make texts differ that would be equal
            "calls_not_observed": {"ranks": 2, "different_ranks": 1, "structures": len(structures),
                                   "calls": sum(each["calls"] for each in structures),
                                   "unobserved_calls": sum(each["unobserved_calls"] for each in structures)}}


def bar_iterations(shapes):
    """Bar 4: whether each rank has the iterations that it made."""
    return {"holds": not any(row["wrong_iterations"] for row in shapes.values()),
            "shapes": {name: {"made": row["iterations"], "wrong": row["wrong_iterations"]}
                       for name, row in shapes.items()}}


def led(bench, ranks, program, leads):
    """Runs a program with leads. Returns its calls, those in state L, and what was read."""
    _, report, output = bench.observed(ranks, program, counted=True, PHASEMUX_BUDGET="none", PHASEMUX_LEADS=leads)
    shutil.rmtree(output)
    agent, of = report["agent"], report["leads"] or {}
    return {"calls": agent["calls"], "calls_in_l": of.get("calls", 0), "left": of.get("left", 0),
            "time_in_l": of.get("time_share"), "reads": agent["reads"], "seconds": report["wall_seconds"],
            "hook_ns": agent["work"]["calls"] / agent["calls"] * 1e9}


def bar_leads(bench, quick):
    """Bar 5: the share of the calls that ranks make in state L, and the steps outside of it after a change."""
    rows = {name: led(bench, LED_RANKS, bench.shape(name, steps if quick else 4 * steps), "1")
            for name, steps in LED.items()}
    for row in rows.values():
        row["share"] = row["calls_in_l"] / row["calls"]
    # 240 changes of each rank in 4,800 steps
    changing = led(bench, LED_RANKS, [os.path.join(bench.build, "tests", "programs", "leads." + bench.mpi),
                                      "1200" if quick else "4800"], "1")
    rows["leads.c"] = {**changing, "share": changing["calls_in_l"] / changing["calls"]}
    return {"holds": all(row["share"] >= IN_L for row in rows.values()), "shapes": rows}


def packaged_text(bench, words):
    """Returns what the texts of the ranks of a packaged program take, by a log of its calls: the largest ones."""
    _, report, output = bench.observed(LED_RANKS, words, logged=True, PHASEMUX_BUDGET="none")
    structure_of = {rank: structure for structure in report["structure"]["structures"] for rank in ranks_of(structure)}
    texts = []
    for rank in range(LED_RANKS):
        calls = logged_calls(output + ".log", rank)
        texts.append({"calls": len(calls), **folded(bench, calls, structure_of.get(rank))})
    shutil.rmtree(output)
    return {"tokens_agree": all(text["tokens_agree"] for text in texts),
            **{key: max(text[key] for text in texts) for key in ("calls", "tokens", "text_bytes", "text_bytes_most")}}


def bar_memory(bench, shapes, packaged, quick):
    """Bar 6: memory of a rank's text, and of a thread that calls at random."""
    others = {name: packaged_text(bench, words) for name, words in packaged}
    random = {}
    for paths in (64,) if quick else (2, 4, 16, 64, 1024):
        random[paths] = bench.numbers([os.path.join(bench.bench, "folding"), "random", str(RANDOM_CALLS), str(paths)])
    return {"holds": all(shapes[name]["text_bytes"] <= TEXT_BYTES for name in REGULAR) and
                     all(row["text_bytes"] <= PACKAGED_BYTES for row in others.values()) and
                     all(row["struct_bytes"] <= ARENA_BYTES and row["touched_bytes"] <= ARENA_BYTES and
                         not row["allocated_bytes"] for row in random.values()),
            "shapes": {name: {key: row[key] for key in ("tokens", "tokens_agree", "text_bytes", "text_bytes_most")}
                       for name, row in shapes.items()}, "packaged": others, "random": random}


def skipped_ns(bench, trace):
    """Returns the ns of a call in a loop whose calls are skipped (calls.c)."""
    output = bench.fresh()
    _, out = bench.start(bench.mpirun(bench.mpi, 1) + bench.calls(60), bench.folder, LD_PRELOAD=bench.library,
                         PHASEMUX_OUTPUT=output, PHASEMUX_TRACE=trace, PHASEMUX_BURST_MIN="1s")
    shutil.rmtree(output)
    return float(out)


def hook_ns(bench, ranks, program, trace):
    """Returns the ns that the hooks take for a call without the read of counters, by the agent's own clock."""
    _, report, output = bench.observed(ranks, program, PHASEMUX_BUDGET="none", PHASEMUX_TRACE=trace)
    shutil.rmtree(output)
    return report["agent"]["work"]["calls"] / report["agent"]["calls"] * 1e9


def bar_cost(bench, shapes, quick):
    """Bar 7: what the structure adds to a call, as the least of runs with and without it in turn."""
    ways = {"one call, skipped": lambda trace: skipped_ns(bench, trace),
            "one call": lambda trace: hook_ns(bench, 1, bench.calls(10), trace)}
    for name, steps in SHORT.items():
        program = bench.shape(name, steps)
        ways[name] = lambda trace, program=program: hook_ns(bench, 2, program, trace)
    pairs = 2 if quick else 10
    rows = {}
    for name, measure_way in ways.items():
        off, on = [], []
        for pair in range(pairs):
            for runs, trace in ((off, "off"), (on, "structure"))[::1 if pair % 2 else -1]:
                runs.append(measure_way(trace))
        rows[name] = {"off_ns": min(off), "on_ns": min(on), "added_ns": min(on) - min(off),
                      "median_added_ns": statistics.median(b - a for a, b in zip(off, on)),
                      "off_runs": off, "on_runs": on}
    leads = {name: leads_ns(bench, name, pairs) for name in ("multi_partition", "conjugate_gradient")}
    return {"holds": all(row["added_ns"] <= CALL_NS for row in rows.values()) and
                     all(row["added_ns"] <= SPARED_NS for row in leads.values()),
            "reason": f"a lead may take {CALL_NS} ns more, and other ranks {SPARED_NS}",
            "pairs": pairs, "calls": rows, "leads": leads,
            "fold_ns": {name: shapes[name]["fold_ns"] for name in shapes}}


def leads_ns(bench, name, pairs):
    """Returns what leads add to a call of two ranks, one of which is spared. Reads are not in it, but counted."""
    runs = {"all": [], "1": []}
    for pair in range(pairs):
        for leads in ("all", "1")[::1 if pair % 2 else -1]:
            runs[leads].append(led(bench, 2, bench.shape(name, LED[name] // 2), leads))
    least = {leads: min(row["hook_ns"] for row in rows) for leads, rows in runs.items()}
    reads = {leads: rows[0]["reads"] / rows[0]["calls"] for leads, rows in runs.items()}
    return {"all_ns": least["all"], "one_ns": least["1"], "added_ns": least["1"] - least["all"],
            "reads_of_a_call": reads, "runs": runs}


def round_ns(bench, quick):
    """Returns the time of a round without and with votes on leads by the number of ranks (rounds.c), and its bytes."""
    words = [os.path.join(bench.bench, "rounds." + bench.mpi),
             os.path.join(bench.build, f"libphasemux-{bench.mpi}.so"), os.path.join(bench.bench, "payload.so"), "101"]
    rows = {}
    for ranks in (2, 4, 8) if quick else (2, 4, 8, 16, 32, 64, 128):
        _, out = bench.start(bench.mpirun(bench.mpi, ranks) + words, bench.folder)
        row = {name: float(number) for name, number in map(str.split, out.splitlines())}
        without, voted = row["round_s"], row["voted_round_s"]
        rows[ranks] = {"without": without, "with": voted, "longer": voted / without - 1,
                       "bytes": row["part_bytes"], "bytes_with": row["voted_part_bytes"],
                       "messages_longer": row["voted_messages"] / row["messages"] - 1,
                       "bytes_longer": row["voted_bytes"] / row["bytes"] - 1}
    return rows


def bar_round(bench, quick):
    """Bar 8: how much longer a round is with votes. The structures are merged once, in MPI_Finalize."""
    rounds = round_ns(bench, quick)
    return {"holds": statistics.median(row["longer"] for row in rounds.values()) <= ROUND_LONGER, "rounds": rounds,
            "reason": "the median over the numbers of ranks",
            "merging": bench.numbers([os.path.join(bench.bench, "merging")])}


# ---- what is printed ----

def verdict(bar):
    return {None: "not decided", True: "holds", False: "DOES NOT HOLD"}[bar["holds"]]


def say(number, title, bar):
    print(f"  bar {number}, {title}: {verdict(bar)}{', ' + bar['reason'] if 'reason' in bar else ''}")


def print_bars(bars):
    say(1, "bytes of the trace", bars["1"])
    for name, row in {**bars["1"]["shapes"], **bars["1"]["packaged"]}.items():
        most = f" of at most {row['most_bytes']}" if "most_bytes" in row else ""
        print(f"    {name:<30} {row['structure']['structures']:3} structures, {row['structure']['bytes']:6} bytes{most}, "
              f"with arguments {row['calls']['bytes']:6}")
    print(f"    the wavefront on 64 ranks takes {bars['1']['grows']:.2f} times as much as on 16")
    say(2, "the calls listed are those of the log", bars["2"])
    for name, row in bars["2"]["shapes"].items():
        print(f"    {name:<20} {row['calls']:9.0f} calls, {row['ranks_compared']:3} ranks compared"
              + "".join(f"\n      rank {rank}: {why}" for rank, why in row["differences"].items()))
    say(3, f"structures of {RANKS} ranks", bars["3"])
    for name, row in bars["3"]["shapes"].items():
        print(f"    {name:<20} {row['structures']:3}, by the log {row['different_ranks']:3} different ranks"
              + ("" if row["right_groups"] else ", WITH OTHER STRUCTURES")
              + (f", {row['left_out_ranks']} ranks left out" if row["left_out_ranks"] else ""))
    holes = bars["3"]["calls_not_observed"]
    print(f"    {100 * holes['unobserved_calls'] / holes['calls']:.0f}% of the calls not observed: "
          f"{holes['ranks']} ranks that do the same have {holes['structures']} structure"
          f"{'s' if holes['structures'] > 1 else ''}")
    say(4, "iterations", bars["4"])
    for name, row in bars["4"]["shapes"].items():
        made = ", ".join(map(str, row["made"])) if any(row["made"]) else "none"
        print(f"    {name:<20} {made}" + "".join(f"\n      rank {rank}: {why}" for rank, why in row["wrong"].items()))
    say(5, "iterations in state L", bars["5"])
    for name, row in bars["5"]["shapes"].items():
        print(f"    {name:<20} {100 * row['share']:5.1f}% of the calls, {100 * row['time_in_l']:5.1f}% of the time, "
              f"in {row['seconds']:.0f} s; L was left {row['left'] / LED_RANKS:.0f} times by each rank")
    say(6, "memory", bars["6"])
    for name, row in {**bars["6"]["shapes"], **bars["6"]["packaged"]}.items():
        print(f"    {name:<26} {row['tokens']:4.0f} tokens, {row['text_bytes']:6.0f} bytes of text and slots, "
              f"at most {row['text_bytes_most']:6.0f} during the run"
              f"{'' if row['tokens_agree'] else '; the report has another number of tokens'}")
    for paths, row in bars["6"]["random"].items():
        print(f"    {row['calls']:.0g} random calls of {paths} paths: {row['touched_bytes']:.0f} bytes touched, "
              f"{row['allocated_bytes']:.0f} allocated, {row['ns_of_a_call']:.0f} ns a call")
    say(7, "ns of a call without and with the structure, the least of the runs", bars["7"])
    for name, row in bars["7"]["calls"].items():
        print(f"    {name:<20} {row['off_ns']:9.1f} {row['on_ns']:9.1f}  added {row['added_ns']:7.1f}, "
              f"median of the pairs {row['median_added_ns']:7.1f}")
    for name, row in bars["7"]["leads"].items():
        print(f"    {name:<20} {row['all_ns']:9.1f} {row['one_ns']:9.1f}  without and with a lead of two ranks; reads of a call "
              f"{row['reads_of_a_call']['all']:.2f} and {row['reads_of_a_call']['1']:.2f}")
    print("    the fold alone: " + ", ".join(f"{name} {ns:.0f}" for name, ns in bars["7"]["fold_ns"].items()))
    say(8, "a round without and with votes", bars["8"])
    for ranks, row in bars["8"]["rounds"].items():
        print(f"    {ranks:4} ranks  {1e6 * row['without']:8.0f} us {1e6 * row['with']:8.0f} us, {100 * row['longer']:+.0f}%; "
              f"{row['bytes']:.0f} and {row['bytes_with']:.0f} bytes of a part; in all {100 * row['messages_longer']:+.1f}% messages, "
              f"{100 * row['bytes_longer']:+.1f}% bytes")
    merging = bars["8"]["merging"]
    print(f"    merging structures in MPI_Finalize: {merging['message_bytes']:.0f} bytes; " +
          ", ".join(f"{name[:-3].replace('_', ' ')} {us:.1f} us" for name, us in merging.items()
                    if name.endswith("_us")))


def measure(bench, packaged, quick):
    """Returns the figures of all bars by their number, and prints them. packaged: name and words of further programs."""
    print(f"structure, {bench.mpi}: tests/programs/shapes.c beside a log of its calls", flush=True)
    shapes = {name: beside_log(bench, name, quick) for name in SHAPES}
    bars = {"1": bar_size(bench, packaged, quick), "2": bar_calls(shapes), "3": bar_structures(bench, shapes),
            "4": bar_iterations(shapes), "5": bar_leads(bench, quick),
            "6": bar_memory(bench, shapes, packaged, quick), "7": bar_cost(bench, shapes, quick), "8": bar_round(bench, quick)}
    print_bars(bars)
    return bars
