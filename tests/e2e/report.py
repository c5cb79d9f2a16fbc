#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks report.json: report.py CHECK FILE [ARGUMENT...]. Exits with 0 if the check holds, or says why not."""
import datetime
import itertools
import json
import math
import os
import sys

LARGE = 0.05  # share of the computing time above which phases are compared
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
SCHEMA = os.path.join(ROOT, "agent", "report", "report.schema.json")
COMPARISON = os.path.join(ROOT, "tools", "compare", "comparison.schema.json")
problems = []


def expect(condition, message):
    if not condition:
        problems.append(message)


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file, parse_constant=lambda word: problems.append(f"not JSON: {word}"))


def large(report):
    return [phase for phase in report["phases"] if phase["time_share"] > LARGE]


def instructions(report, phase):
    """Returns instructions per burst: the model's second common event, or IPC x cycles if it has another name."""
    for name, counter in phase["counters"].items():
        if "instr" in name.lower() or name == "PAPI_TOT_INS":
            return counter["mean"]
    return phase["ipc"] * next(iter(phase["counters"].values()))["mean"]


def check_schema(*names, schema=SCHEMA):
    import jsonschema

    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    for name in names:
        for error in validator.iter_errors(load(name)):
            problems.append(f"{name}: {'/'.join(map(str, error.path))}: {error.message}")


def check_comparison(name):
    check_schema(name, schema=COMPARISON)


def check_schemas():
    """Both schemas are valid JSON schemas."""
    import jsonschema

    for name in SCHEMA, COMPARISON:
        schema = load(name)
        jsonschema.validators.validator_for(schema).check_schema(schema)


def check_accounting(name):
    """All computing time is in a phase, unclassified or short, within 0.1%."""
    report = load(name)
    total = sum(phase["time_share"] for phase in report["phases"])
    total += report["unclassified"]["time_share"] + report["short"]["time_share"]
    expect(abs(total - 1) <= 0.001, f"shares sum to {total}")


def check_long(name):
    """Checks that no phase has short bursts, in a run in which each burst is read."""
    report = load(name)
    for phase in report["phases"]:
        mean = phase["duration_seconds"]["mean"]
        expect(mean >= 0.999 * report["burst_min_seconds"], f"phase {phase['id']}: {mean} s")


def check_complete(name, bursts=0):
    """Every event of every group has a value, with an interval, in each large phase of `bursts` or more for each
    group. With few of them a phase may miss a group."""
    report = load(name)
    expect(len(report["groups"]) > 0, "no groups")
    phases = [phase for phase in large(report) if phase["bursts"] >= int(bursts) * len(report["groups"])]
    expect(phases, f"no phase above 5% with {bursts} bursts for each group")
    for phase in phases:
        for number, group in enumerate(report["groups"]):
            for event in group["events"]:
                counter = phase["counters"].get(event)
                where = f"phase {phase['id']}, group {number}, {event}"
                if counter is None or counter["mean"] is None:
                    problems.append(f"{where}: no value")
                    continue
                expect(math.isfinite(counter["mean"]) and counter["mean"] >= 0,
                       f"{where}: {counter['mean']}")
                expect(counter["observed"] > 0, f"{where}: never observed")


def check_breakdown(name):
    """The components of each large phase sum to its CPI."""
    report = load(name)
    expect(large(report), "no phase above 5%")
    for phase in large(report):
        parts = [part for part in phase["cpi_breakdown"] if part.get("level", 0) == 0]
        expect(len(parts) >= 2, f"phase {phase['id']}: {len(parts)} components")
        total = sum(part["cpi"] for part in parts if part["cpi"] is not None)
        expect(phase["cpi"] and abs(total / phase["cpi"] - 1) < 1e-6,
               f"phase {phase['id']}: components sum to {total}, CPI is {phase['cpi']}")
        expect(abs(phase["cpi"] * phase["ipc"] - 1) < 1e-6, f"phase {phase['id']}: CPI x IPC")


def whole_breakdown(phase):
    """Checks that each component of a phase has a value and an interval. Returns the components by name."""
    parts = {part["component"]: part for part in phase["cpi_breakdown"]}
    for part in parts.values():
        if part["cpi"] == 0 and part["ci95"] is None:
            part["ci95"] = 0  # what was never counted has no variation
    missing = [component for component, part in parts.items()
               if part.get("level", 0) == 0 and (part["cpi"] is None or part["ci95"] is None)]
    expect(len(parts) >= 2 and not missing, f"phase {phase['id']}: no value of {missing or 'any component'}")
    return parts


def compare_components(phase, parts, known, beside=1e-3):
    """Checks that each component has an interval under a fifth of the CPI, and is that of the known phase whose IPC is
    nearest, within twice its interval. beside: share of the CPI by which the known one may differ."""
    like = min(known, key=lambda other: abs(math.log(other["ipc"] / phase["ipc"])))
    for want in like["cpi_breakdown"]:
        part = parts[want["component"]]
        where = f"phase {phase['id']}, {want['component']}: {part['cpi']} +- {part['ci95']}"
        if part["cpi"] is None or part["ci95"] is None:
            problems.append(where)
            continue
        expect(part["ci95"] < phase["cpi"] / 5, f"{where} of {phase['cpi']}")
        expect(abs(part["cpi"] - want["cpi"]) <= 2 * part["ci95"] + beside * phase["cpi"],
               f"{where}, not {want['cpi']}")


def fully_explained(name):
    """Returns the phases of a report whose components all have values."""
    return [phase for phase in load(name)["phases"]
            if phase["cpi_breakdown"] and all(part["cpi"] is not None for part in phase["cpi_breakdown"])]


def check_explained(name, truth, least):
    """Each large phase has a breakdown, and there are at least `least` of slices of 10 ms with a second of computing
    on the scripted PMU. In these every component has an interval under a fifth of the CPI, and is what it is in the
    report `truth`, within twice its interval. Phases are alike if their IPC is."""
    report, found, known = load(name), 0, fully_explained(truth)
    for phase in large(report):
        parts = whole_breakdown(phase)
        cycles = next(iter(phase["counters"].values()))["mean"]
        if phase["bursts"] * cycles < 4e9 or abs(cycles / 4e7 - 1) > 0.1:
            continue
        found += 1
        compare_components(phase, parts, known)
    expect(found >= int(least), f"{found} phases have slices for a second")


def check_sliced(name, truth, least):
    """As `explained`, in the emulator, where slices have no known length: phases of slices that take a second. The calls
    between the pieces of the known one have cache misses and mispredicted branches of their own."""
    report, found, known = load(name), 0, fully_explained(truth)
    for phase in large(report):
        parts = whole_breakdown(phase)
        if phase["slices"] and phase["time_share"] * report["compute_seconds"] >= 1:
            found += 1
            compare_components(phase, parts, known, 0.01)
    expect(found >= int(least), f"{found} phases have slices for a second")


def check_same(name, other, within="0.02"):
    """Checks that each phase above 5% of the time in one report is in the other one too, with as many
    instructions per burst within 2%, or what is given. A phase near 5% may be below it there, because others use
    the machine, but not below 2%."""
    first, second = load(name), load(other)
    expect(large(first) and large(second), "no phase above 5%")
    for one, another in (first, second), (second, first):
        there = [instructions(another, phase) for phase in another["phases"]
                 if phase["time_share"] > 0.02]
        for phase in large(one):
            mine = instructions(one, phase)
            expect(any(theirs and abs(mine / theirs - 1) <= float(within) for theirs in there),
                   f"no phase of {mine} instructions among {there}")


def check_instructions(name, *wanted):
    """Checks that the large phases are exactly those with these instructions per burst, within 2%."""
    report = load(name)
    found = sorted(instructions(report, phase) for phase in large(report))
    wanted = sorted(map(float, wanted))
    expect(len(found) == len(wanted), f"{len(found)} phases: {found}")
    for x, y in zip(found, wanted):
        expect(abs(x / y - 1) <= 0.02, f"instructions per burst: {x}, not {y}")


def check_turns(name, *works):
    """Checks a run of one rank in which every burst is read, and works of these instructions took turns. Each has
    its number of bursts within one, and exactly its instructions, except for unclassified bursts."""
    report = load(name)
    missing = report["unclassified"]["bursts"]
    for turn, work in enumerate(map(float, works)):
        all_bursts = (report["bursts"] - turn + len(works) - 1) // len(works)
        bursts = 0
        for phase in report["phases"]:
            if abs(instructions(report, phase) / work - 1) > 1e-9:
                continue
            bursts += phase["bursts"]
            expect(phase["read"] == phase["bursts"], f"phase {phase['id']}: not all were read")
        expect(all_bursts - missing <= bursts <= all_bursts,
               f"{bursts} bursts of {work} instructions, not {all_bursts}")
    total = sum(phase["bursts"] for phase in report["phases"])
    expect(total + missing == report["bursts"], f"{total} + {missing}, not {report['bursts']}")


def check_ipc(name, *pairs):
    """Checks INSTRUCTIONS:IPC...: the phase with INSTRUCTIONS per burst has this IPC, within 2%."""
    report = load(name)
    for pair in pairs:
        wanted, ipc = map(float, pair.split(":"))
        near = [phase for phase in large(report)
                if abs(instructions(report, phase) / wanted - 1) <= 0.02]
        if len(near) != 1:
            problems.append(f"{len(near)} phases of {wanted:.0f} instructions")
            continue
        expect(abs(near[0]["ipc"] / ipc - 1) <= 0.02, f"IPC {near[0]['ipc']}, not {ipc}")


def check_source(name, wanted, *ends):
    """Checks from_function, from, to_function, to of nearly all of the phase with these instructions.

    A position is that of a file without its folder. If it ends with 0x, it is the start of a position. Delays by a
    busy machine are left out of the shares, which are of time. A thread may wait in its first burst for a tenth of
    the phase's time, and may wait for locks that are otherwise free.
    """
    report = load(name)
    near = [phase for phase in large(report)
            if abs(instructions(report, phase) / float(wanted) - 1) <= 0.02]
    if len(near) != 1:
        problems.append(f"{len(near)} phases of {wanted} instructions")
        return
    pair = near[0]["source"][0]
    found = [pair["from_function"], os.path.basename(pair["from"]),
             pair["to_function"], os.path.basename(pair["to"])]
    for got, want in zip(found, ends, strict=True):
        same = got.startswith(want) if want.endswith("0x") else got == want
        expect(same, f"{got}, not {want}, in {found}")
    busy = sum(other["share"] for other in near[0]["source"][1:]
               if other["from_call"] in ("MPI_Init", "", "pthread_mutex_lock")
               or other["to_call"] == "pthread_mutex_lock")
    expect(pair["share"] > 0.9 * (1 - busy), f"that is {pair['share']} of the phase, without {busy}")


def check_hot(name, wanted, function, least, line=None):
    """Checks the share of samples in the function and line, of the phase with these instructions ("-": the largest)."""
    report = load(name)
    near = [phase for phase in large(report)
            if wanted == "-" or abs(instructions(report, phase) / float(wanted) - 1) <= 0.02]
    if not near or (wanted != "-" and len(near) > 1):
        problems.append(f"{len(near)} phases of {wanted} instructions")
        return
    for key, want in ("function", function), ("line", line):
        rows = near[0]["profile"][key + "s"]
        found = {os.path.basename(row[key]): row["share"] for row in rows}
        expect(want is None or found.get(want, 0) >= float(least), f"{want}: {found}")


def check_fold(name, wanted, event, *rates):
    """Checks FROM:TO:RATE...: the event has this rate in the phase of these instructions, within 0.15."""
    report = load(name)
    near = [phase for phase in large(report)
            if abs(instructions(report, phase) / float(wanted) - 1) <= 0.02]
    if len(near) != 1 or not near[0]["fold"]:
        problems.append(f"{len(near)} phases of {wanted} instructions, or none was folded")
        return
    found = near[0]["fold"]["rates"][event]
    for words in rates:
        first, last, rate = map(float, words.split(":"))
        for place in range(math.ceil(first * len(found)), int(last * len(found))):
            expect(abs(found[place] - rate) <= 0.15, f"place {place}: {found[place]}, not {rate}")


def check_like_perf(name, text, *parts):
    """The phases were sampled where `perf report -F overhead,dso,sym` says, in these shared objects.

    Each function with 10% of the time in phases in one of them has this share in the other, within 5%.
    """
    mine, perfs = {}, {}
    for phase in load(name)["phases"]:
        for row in phase["profile"]["functions"]:
            share = phase["time_share"] * row["share"]
            mine[row["function"]] = mine.get(row["function"], 0) + share
    with open(text, encoding="utf-8") as file:
        for line in file:
            words = line.split(None, 3)  # overhead, object, [.], symbol
            if len(words) == 4 and words[0].endswith("%") and words[1].startswith(parts):
                function = words[3].split("(")[0].strip()
                perfs[function] = perfs.get(function, 0) + float(words[0][:-1])
    mine = {function: share for function, share in mine.items() if function in perfs}
    expect(mine and perfs, f"nothing to compare: {mine} {perfs}")
    for shares in mine, perfs:
        total = sum(shares.values())
        for function in shares:
            shares[function] /= total
    for function in {**mine, **perfs}:
        a, b = mine.get(function, 0), perfs.get(function, 0)
        expect(max(a, b) < 0.1 or abs(a - b) <= 0.05, f"{function}: {a}, perf says {b}")


def check_same_as(name, other):
    """Checks that both files have the same JSON value."""
    expect(load(name) == load(other), "they differ")


def check_phases(name, least, most):
    """The number of phases above 5% lies between two bounds."""
    count = len(large(load(name)))
    expect(int(least) <= count <= int(most), f"{count} phases above 5%")


def stretched(phase, kernel):
    """Tells whether a phase without counters is bursts of a kernel that a busy machine made longer."""
    return (phase.get("ipc") is None
            and phase["duration_seconds"]["mean"] > 1.2 * kernel["duration_seconds"]["mean"])


def check_kernels(name, bursts, within, *functions):
    """Checks that each function is one phase of `bursts` bursts, within a share, and no other has a tenth of that.

    A function is named by the path of the call that ends its bursts. Numbers of bursts are compared, and
    not times, because on a busy machine a few bursts that wait take most of the time. The scheduler can
    take the processor in the same kernel for many iterations in turn, and without counters nothing but
    the time tells such bursts from others: they may be a second phase, the kernel has less for it.
    """
    wanted = float(bursts)
    kernels = {}
    for phase in load(name)["phases"]:
        if phase["bursts"] < 0.1 * wanted:
            continue
        path = phase["source"][0]["to_path"] if phase["source"] else []
        function = next((frame["function"] for frame in path if frame["function"] in functions), "?")
        kernels.setdefault(function, []).append(phase)
    for function, phases in kernels.items():
        phases.sort(key=lambda phase: phase["bursts"], reverse=True)
        for phase in phases[1:]:
            expect(stretched(phase, phases[0]),
                   f"{function} is phases {phases[0]['id']} and {phase['id']}: {phases[0]}, {phase}")
        has = sum(phase["bursts"] for phase in phases)
        expect(abs(has / wanted - 1) <= float(within), f"the phases of {function} have {has} bursts")
    expect(sorted(kernels) == sorted(functions), f"the phases are {sorted(kernels)}")


def check_uncounted(name):
    """Without counters: phases from time, no CPI, no invented counts."""
    report = load(name)
    expect(large(report), "no phase above 5%")
    for phase in report["phases"]:
        expect(phase.get("cpi") is None, f"phase {phase['id']} has CPI {phase.get('cpi')}")
        expect(phase.get("ipc") is None, f"phase {phase['id']} has IPC {phase.get('ipc')}")
        expect(not phase.get("cpi_breakdown"), f"phase {phase['id']} has a breakdown")
        expect(phase["duration_seconds"]["mean"] > 0, f"phase {phase['id']} takes no time")


def check_efficiency(name):
    """Parallel efficiency is load balance x communication efficiency; each is a share."""
    efficiency = load(name)["efficiency"]
    product = efficiency["load_balance"] * efficiency["communication"]
    expect(abs(efficiency["parallel"] - product) < 1e-6, f"not a product: {efficiency}")
    for what, share in efficiency.items():
        expect(0 < share <= 1, f"{what} is {share}")


def check_levels(name):
    """With threads: parallel efficiency is that of MPI x that of threads."""
    efficiency = load(name)["efficiency"]
    product = efficiency["mpi"] * efficiency["threads"]
    expect(abs(efficiency["parallel"] - product) < 1e-6, f"not a product: {efficiency}")
    for what, share in efficiency.items():
        expect(0 < share <= 1, f"{what} is {share}")


def check_value(name, path, wanted):
    """A value by its path (efficiency/parallel) equals what is wanted, as JSON."""
    value = load(name)
    for key in path.split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    expect(value == json.loads(wanted), f"{path} is {json.dumps(value)}, not {wanted}")


def check_rank_times(name):
    """Each rank's times are there, and its efficiencies follow from them: of ranks with one thread each."""
    report = load(name)
    times, wall = report["rank_times"]["each"], report["wall_seconds"]
    useful = [time["useful_seconds"] for time in times]
    expect(len(times) == report["ranks"], f"{len(times)} of {report['ranks']} ranks")
    for rank, time in enumerate(times):
        expect(0 < time["useful_seconds"] + time["mpi_seconds"] <= 1.01 * wall, f"rank {rank}: {time} of {wall} s")
        expect(time["mpi_seconds"] > 0, f"rank {rank}: no time in MPI")
    for what, value in (("load_balance", sum(useful) / len(useful) / max(useful)), ("communication", max(useful) / wall)):
        expect(math.isclose(value, report["efficiency"][what], rel_tol=1e-3), f"{what} of the ranks is {value}")


def check_balance(name, ranks, slowest, balance):
    """One large phase has this balance of instructions, and the others have none to speak of; the rest follows from it."""
    report = load(name)
    everyone, time = int(ranks), report["compute_seconds"]
    uneven = [phase for phase in large(report) if phase["instructions_balance"] < 0.9]
    for phase in large(report):
        mean, most = phase["rank_seconds"]["mean"], phase["rank_seconds"]["most"]
        saved = min(most - mean, report["wall_seconds"] * (1 - report["efficiency"]["parallel"])) / report["wall_seconds"]
        expect(phase["ranks"] == everyone, f"phase {phase['id']} is of {phase['ranks']} ranks")
        expect(math.isclose(mean * everyone, phase["time_share"] * time, rel_tol=1e-3), f"phase {phase['id']}: {mean} s")
        expect(math.isclose(phase["load_balance"], mean / most, rel_tol=1e-9), f"phase {phase['id']}: not mean / most")
        expect(math.isclose(phase["imbalance_share"], saved, abs_tol=1e-6), f"phase {phase['id']}: saves {saved}")
        expect(math.isclose(phase["ipc_balance"], 1, abs_tol=0.02), f"phase {phase['id']}: IPC {phase['ipc_balance']}")
        wanted = float(balance) if phase in uneven else 1
        expect(abs(phase["instructions_balance"] - wanted) < 0.03, f"phase {phase['id']}: {phase['instructions_balance']}")
    expect(len(uneven) == 1, f"{len(uneven)} phases are uneven")
    for phase in uneven:
        expect(phase["slowest_rank"] == int(slowest), f"rank {phase['slowest_rank']} is the slowest")
        expect(phase["load_balance"] < 0.9, f"load balance {phase['load_balance']}")


def check_together(name, ranks, slowest, balance):
    """One set of large phases has these ranks together, of which this one is the slowest, and this balance of instructions."""
    report = load(name)
    sets = [phase for phase in large(report) if "together" in phase and phase["together"]["phases"][0] == phase["id"]]
    expect(len(sets) == 1, f"{len(sets)} sets of phases")
    for together in (phase["together"] for phase in sets):
        members = [phase for phase in report["phases"] if phase["id"] in together["phases"]]
        time = sum(phase["ranks"] * phase["rank_seconds"]["mean"] for phase in members)
        expect(all(phase["together"] == together for phase in members), "the phases of a set differ")
        expect(all(phase["ranks"] < int(ranks) for phase in members), "a phase is of all ranks")
        expect(together["ranks"] == int(ranks), f"{together['ranks']} ranks")
        expect(together["slowest_rank"] == int(slowest), f"rank {together['slowest_rank']} is the slowest")
        expect(math.isclose(together["ranks"] * together["rank_seconds"]["mean"], time, rel_tol=0.02), f"{time} s")
        expect(abs(together["instructions_balance"] - float(balance)) < 0.03, f"balance {together['instructions_balance']}")


def check_phase_efficiency(name, text):
    """The large phases have a parallel efficiency, which is the product of its factors, and the text has those below 90%."""
    phases = [phase for phase in large(load(name)) if phase["efficiency"]]
    expect(phases, "no efficiency of a phase above 5%")
    for phase in phases:
        efficiency = phase["efficiency"]
        expect(0 < efficiency["parallel"] <= 1, f"phase {phase['id']}: {efficiency}")
        if efficiency["communication"] is not None:
            expect(math.isclose(efficiency["parallel"], phase["load_balance"] * efficiency["communication"], rel_tol=1e-9),
                   f"phase {phase['id']}: {efficiency} is not the product of its factors")
    with open(text, encoding="utf-8") as file:
        lines = file.read().count("      parallel efficiency ")
    low = sum(phase["efficiency"]["parallel"] < 0.9 for phase in phases)
    expect(lines >= low, f"{lines} lines of {low} phases")


def check_per_iteration(name, bursts):
    """An iteration of a rank has this number of bursts of each large phase, or (null) that is not known of any phase."""
    report = load(name)
    expect(large(report), "no phase above 5%")
    for phase in large(report):
        per = phase["per_iteration"]
        if bursts == "null" or per is None:
            expect(bursts == "null" and per is None, f"phase {phase['id']}: {per}")
            continue
        mean = phase["duration_seconds"]["mean"]
        expect(abs(per["bursts"] - float(bursts)) <= 0.05, f"phase {phase['id']}: {per['bursts']} bursts")
        expect(math.isclose(per["seconds"], per["bursts"] * mean, rel_tol=1e-3), f"phase {phase['id']}: {per['seconds']} s")


def check_started(name, earliest, latest):
    """The run began between two moments, in seconds since 1970."""
    date = datetime.datetime.strptime(load(name)["date"], "%Y-%m-%dT%H:%M:%S%z").timestamp()
    expect(int(earliest) <= date <= int(latest), f"date is {date}, not between {earliest} and {latest}")


def check_account(name):
    """Checks that the overhead in the report includes the start and the end, in every process."""
    report = load(name)
    agent = report["agent"]
    ends = (agent["start_seconds"] + agent["end_seconds"]) * report["ranks"]
    expect(agent["start_seconds"] > 0 and agent["end_seconds"] > 0, f"{agent}")
    expect(agent["seconds"] > ends, f"{agent['seconds']} s, of them {ends} at start and end")
    whole = report["wall_seconds"] * report["threads_mean"]
    own = agent["processor_share"]
    expect(abs(own * whole / agent["seconds"] - 1) < 1e-6, f"a share of {own}")
    # two ranks that wait for each other, and do not always read the same bursts
    work = agent["work"]
    both = (work["reads"] + work["switches"] + work["samples"]) / whole
    expect(report["ranks"] == 2 and own < agent["share"] <= own + both, f"{own} and {agent['share']}, {both}")


def check_between(name, path, low, high):
    """A number by its path lies between two bounds."""
    value = load(name)
    for key in path.split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    expect(float(low) <= value <= float(high), f"{path} is {value}")


def timeline_of(report):
    """Returns {phase: seconds of all ranks in each bin} of the timeline."""
    bins = {}
    for group in report["timeline"]["groups"]:
        for phase in group["phases"]:
            before = bins.get(phase["id"], [0] * report["timeline"]["bins"])
            bins[phase["id"]] = [a + 1e-6 * b for a, b in zip(before, phase["microseconds"], strict=True)]
    return bins


def check_timeline(name, least="0.7"):
    """
    The bins of each phase add up to its time, and those of all computing to all of it. The groups have all ranks and threads,
    and at least a part of their time.
    """
    report = load(name)
    timeline = report["timeline"]
    groups = timeline["groups"]
    phases = {phase["id"]: phase["time_share"] * report["compute_seconds"] for phase in report["phases"]}
    computing = {id: sum(bins) for id, bins in timeline_of(report).items()}
    for id, seconds in computing.items():
        expect(math.isclose(seconds, phases[id], rel_tol=1e-4, abs_tol=1e-5),
               f"phase {id}: {seconds} s in bins, of {phases[id]} s")
    expect(len(computing) == min(len(phases), 8), f"{len(computing)} of {len(phases)} phases")
    other = 1e-6 * sum(sum(group["other_computing_microseconds"]) for group in groups)
    expect(math.isclose(other + sum(computing.values()), report["compute_seconds"], rel_tol=1e-3),
           f"computing: {other} s and {computing}, of {report['compute_seconds']} s")
    expect(sum(group["ranks"] for group in groups) == report["ranks"], f"ranks: {groups}")
    time = other + sum(computing.values())
    for group in groups:
        time += 1e-6 * (sum(group["calls_microseconds"]) + sum(group["off_microseconds"]))
    whole = sum(group["threads"] for group in groups) * timeline["seconds"]
    expect(float(least) * whole <= time <= 1.02 * whole, f"{time} s in bins, of {whole} s")
    expect((timeline["bins"] - 2) * timeline["bin_seconds"] <= timeline["seconds"],
           f"{timeline['bins']} bins of {timeline['bin_seconds']} s, of {timeline['seconds']} s")


def bin_of(seconds, part):
    """Returns the number of the bin up to which a part of the seconds lies."""
    at = 0
    for number, more in enumerate(seconds):
        at += more
        if at >= part * sum(seconds):
            return number
    return len(seconds) - 1


def check_in_turn(name, *functions):
    """Phases whose bursts end in functions of these names, up to a number, end before those of the next one begin."""
    report = load(name)
    bins = timeline_of(report)
    of = {function: [0] * report["timeline"]["bins"] for function in functions}
    for phase in report["phases"]:
        place = str([value for key, value in phase["source"][0].items() if key.startswith("to_")])
        for function in functions:
            if function in place and phase["id"] in bins:
                of[function] = [a + b for a, b in zip(of[function], bins[phase["id"]], strict=True)]
    for function, seconds in of.items():
        expect(sum(seconds) > 0.2 * report["compute_seconds"], f"{function}: {sum(seconds)} s")
    for one, other in itertools.pairwise(functions):
        ends, begins = bin_of(of[one], 0.97), bin_of(of[other], 0.03)
        expect(ends <= begins + 1, f"{one} is up to bin {ends}, and {other} from bin {begins} on")


def check_off(name):
    """The time in which the agent was off is in the timeline."""
    report = load(name)
    off = 1e-6 * sum(sum(group["off_microseconds"]) for group in report["timeline"]["groups"])
    wanted = report["toggle"]["off_seconds"] * report["threads"]
    expect(0.8 * wanted <= off <= 1.2 * wanted and off > 0, f"off for {off} s in bins, of {wanted} s")


def main():
    check = globals().get("check_" + sys.argv[1])
    if check is None:
        sys.exit(f"no such check: {sys.argv[1]}")
    try:
        check(*sys.argv[2:])
    except (OSError, ValueError, KeyError, TypeError) as error:
        problems.append(f"{type(error).__name__}: {error}")
    for problem in problems:
        print(problem)
    return len(problems) > 0


sys.exit(main())
