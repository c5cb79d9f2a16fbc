#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the forms of a result that other tools read: formats.py CHECK ARGUMENT...

Exits with 0 if the check holds, or says why not.
"""
import collections
import csv
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "agent/report/report.schema.json"
DOCUMENT = ROOT / "docs/report.md"


def load(name):
    return json.loads(pathlib.Path(name).read_text(encoding="utf-8"))


def keys_of(node, path):
    """Yields the path of each key below a node of the schema. Objects that are referred to are not entered."""
    for key, value in node.get("properties", {}).items():
        name = f"{path}.{key}" if path else key
        yield name
        yield from keys_of(value, name)
    if isinstance(node.get("items"), dict):
        yield from keys_of(node["items"], path + "[]")
    if isinstance(node.get("additionalProperties"), dict):
        name = path + ".*"
        if node["additionalProperties"].get("type") == "array":
            yield name
        yield from keys_of(node["additionalProperties"], name)
    for kind in ("anyOf", "oneOf", "allOf"):
        for each in node.get(kind, []):
            yield from keys_of(each, path)


def schema_keys(schema):
    keys = set(keys_of(schema, ""))
    for name, node in schema["$defs"].items():
        keys |= set(keys_of(node, name))
    return keys


def document_keys(text):
    part = text.split("## The keys of report.json\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", part, re.M)
    assert all(meaning.strip() for _, meaning in rows), "a key without a meaning"
    return [key for key, _ in rows]


def compare_keys(schema, text):
    described = document_keys(text)
    twice = [key for key, count in collections.Counter(described).items() if count > 1]
    wanted = schema_keys(schema)
    lists = {"path"}  # is no object, and is described
    return sorted(wanted - set(described)), sorted(set(described) - wanted - lists), twice


def check_keys():
    """docs/report.md describes each key of the schema once, and no other key. A key more or less is found."""
    schema, text = load(SCHEMA), DOCUMENT.read_text(encoding="utf-8")
    assert len(schema_keys(schema)) > 150
    assert compare_keys(schema, text) == ([], [], []), compare_keys(schema, text)
    schema["$defs"]["estimate"]["properties"]["median"] = {"type": "number"}
    assert compare_keys(schema, text)[0] == ["estimate.median"]
    del schema["properties"]["hosts"]["properties"]["count"]
    assert compare_keys(schema, text)[1] == ["hosts.count"]


def check_columns(table):
    """docs/report.md describes each column and each table of the long tables."""
    text = DOCUMENT.read_text(encoding="utf-8").split("## Long tables\n")[1].split("\n## ")[0]
    columns = re.findall(r"^\| ([a-z0-9]+) \| ", text, re.M)
    tables = re.findall(r"^\| `([a-z]+)` \| ", text, re.M)
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    header = [column for column in columns if column not in ("column", "table")]
    header.insert(1, "table")
    assert list(rows[0]) == header, (list(rows[0]), header)
    assert {row["table"] for row in rows} == set(tables), ({row["table"] for row in rows}, tables)


def near(text, value):
    return text == ("" if value is None else text) and (value is None or float(text) == value)


def check_tables(table, *folders):
    """The tables of these runs have the values of their reports, all of them and no others."""
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(None not in row and None not in row.values() for row in rows), "columns"
    found = {}
    for row in rows:
        key = tuple(row[column] for column in ("run", "table", "phase", "rank", "item", "quantity"))
        assert key not in found, f"twice: {key}"
        found[key] = row["value"], row["ci95"]

    def expect(value, ci95, *key):
        got = found.pop(key)
        assert near(got[0], value) and near(got[1], ci95), (key, got, value, ci95)

    for run in folders:
        report = load(f"{run}/report.json")
        for key in ("ranks", "threads", "threads_mean", "wall_seconds", "compute_seconds", "bursts",
                    "burst_min_seconds"):
            expect(report[key], None, run, "run", "", "", "", key)
        for key, value in report["efficiency"].items():
            expect(value, None, run, "run", "", "", "", "efficiency_" + key)
        for name, keys in (("unclassified", ("time_share", "bursts")), ("short", ("time_share", "bursts")),
                           ("lost", ("bursts",)), ("agent", ("share",))):
            for key in keys:
                expect(report[name][key], None, run, "run", "", "", "", f"{name}_{key}")
        for rank, times in enumerate(report["rank_times"]["each"]):
            for key, value in times.items():
                expect(value, None, run, "ranks", "", str(rank), "", key)
        for phase in report["phases"]:
            number = str(phase["id"])
            for key, ci95 in (("time_share", "time_share_ci95"), ("bursts", "bursts_ci95"), ("read", None),
                              ("slices", None), ("ipc", None), ("cpi", None), ("ranks", None),
                              ("slowest_rank", None), ("load_balance", None), ("instructions_balance", None),
                              ("ipc_balance", None), ("imbalance_share", None)):
                expect(phase[key], phase.get(ci95), run, "phases", number, "", "", key)
            length = phase["duration_seconds"]
            expect(length["mean"], length["ci95"], run, "phases", number, "", "", "duration_mean_seconds")
            expect(length["sd"], None, run, "phases", number, "", "", "duration_sd_seconds")
            for key, value in phase["rank_seconds"].items():
                expect(value, None, run, "phases", number, "", "", f"rank_seconds_{key}")
            for key, value in (phase.get("efficiency") or {}).items():
                expect(value, None, run, "phases", number, "", "",
                       key if key == "call_seconds" else f"{key}_efficiency")
            for key, value in (phase.get("per_iteration") or {}).items():
                expect(value, None, run, "phases", number, "", "", f"{key}_per_iteration")
            for name, counter in phase["counters"].items():
                expect(counter["mean"], counter["ci95"], run, "counters", number, "", name, "mean")
                expect(counter["observed"], None, run, "counters", number, "", name, "observed")
                if "sd" in counter:
                    expect(counter["sd"], None, run, "counters", number, "", name, "sd")
            for name, metric in phase.get("metrics", {}).items():
                expect(metric["value"], metric["ci95"], run, "metrics", number, "", name, metric["unit"])
            whole = None
            for part in phase["cpi_breakdown"]:
                whole = whole if part["level"] else part["component"]
                name = f"{whole}/{part['component']}" if part["level"] else whole
                expect(part["cpi"], part["ci95"], run, "breakdown", number, "", name, "cpi")
    left = {key[1] for key in found}
    assert left <= {"source", "bursts"}, left


def check_bursts(table, run):
    """The table of bursts has each burst of the files of the ranks, with the phase of its prototype."""
    phases = {prototype: str(phase["id"]) for phase in load(f"{run}/report.json")["phases"]
              for prototype in phase["prototypes"]}
    bursts = collections.defaultdict(dict)
    with open(table, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == "bursts" and row["run"] == run:
                burst = bursts[row["rank"], row["item"]]
                burst[row["quantity"]] = row["value"]
                assert burst.setdefault("phase", row["phase"]) == row["phase"]
    lines = []
    for file in sorted(pathlib.Path(run).glob("bursts.*.csv")):
        lines += file.read_text().splitlines()
    wanted = []
    for row in csv.DictReader(lines):
        burst = {key: value for key, value in row.items() if value}
        burst["phase"] = phases.get(int(row["prototype"]), "") if row["prototype"] else ""
        wanted.append((burst.pop("task"), burst.pop("thread"), burst))
    got = [(rank, item.split(".")[0], burst) for (rank, item), burst in bursts.items()]

    def order(entry):
        return entry[0], entry[1], int(entry[2]["begin_ns"]), int(entry[2]["end_ns"]), sorted(entry[2].items())

    assert len(wanted) > 100 and sorted(got, key=order) == sorted(wanted, key=order), "bursts differ"


def check_talp(name, run, kind):
    """The JSON of TALP has the efficiencies of the report, and null for what was not measured."""
    report, talp = load(f"{run}/report.json"), load(name)
    region = talp["Application"]["Global"]
    assert talp["dlbVersion"].startswith("3.5") and talp["timestamp"] == report["date"]
    assert talp["resources"] == {key: region[key] for key in ("numCpus", "numNodes", "numMpiRanks")}
    efficiency, each = report["efficiency"], report["rank_times"] and report["rank_times"]["each"]
    assert region["parallelEfficiency"] == efficiency["parallel"]
    assert region["elapsedTime"] == round(report["wall_seconds"] * 1e9)
    assert region["usefulTime"] == round(report["compute_seconds"] * 1e9)
    assert region["numCpus"] == round(report["threads_mean"])
    if kind == "mpi":
        assert region["mpiParallelEfficiency"] == efficiency["parallel"]
        assert region["mpiLoadBalance"] == efficiency["load_balance"]
        assert region["mpiCommunicationEfficiency"] == efficiency["communication"]
        assert region["ompParallelEfficiency"] is None
        seconds = [time["useful_seconds"] for time in each]
    elif kind == "hybrid":
        seconds = [report["wall_seconds"] - time["mpi_seconds"] for time in each]
        assert region["mpiParallelEfficiency"] == efficiency["mpi"]
        assert region["ompParallelEfficiency"] == efficiency["threads"]
        assert abs(region["mpiLoadBalance"] - sum(seconds) / len(seconds) / max(seconds)) < 1e-9
        assert abs(region["mpiCommunicationEfficiency"] - max(seconds) / report["wall_seconds"]) < 1e-9
    if kind == "none":
        assert region["numMpiRanks"] == 0
        assert {value for key, value in region.items() if re.match("mpi[A-Z]", key)} == {None}
        assert region["ompParallelEfficiency"] == efficiency["threads"]
    else:
        assert region["numMpiRanks"] == report["ranks"]
        assert region["mpiTime"] == round(sum(time["mpi_seconds"] for time in each) * 1e9)
        # all ranks are on one host
        assert abs(region["mpiLoadBalanceIn"] - sum(seconds) / len(seconds) / max(seconds)) < 1e-9
        assert abs(region["mpiLoadBalanceOut"] - 1) < 1e-9
    counted = [phase for phase in report["phases"] if phase["ipc"] is not None]
    totals = [sum(phase["bursts"] * list(phase["counters"].values())[i]["mean"] for phase in counted) for i in (0, 1)]
    if counted:
        assert all(abs(region[key] / total - 1) < 1e-9 for key, total in zip(("cycles", "instructions"), totals))
    else:
        assert region["cycles"] is None and region["instructions"] is None
    for key in ("numMpiCalls", "numOmpParallels", "ompLoadBalance", "ompSchedulingEfficiency"):
        assert region[key] is None, key


def check_hosts(before, after):
    """Writes a report of four ranks on two hosts, as blocks of ranks, and one on which the ranks take turns."""
    report = load(before)
    report["ranks"] = report["threads"] = report["threads_mean"] = 4
    report["rank_times"] = {"deciles": None, "each": [{"useful_seconds": seconds, "mpi_seconds": 10 - seconds}
                                                      for seconds in (2, 4, 6, 8)]}
    report["hosts"] = {"count": 2, "uncounted_ranks": 0, "named": [
        {"host": "a", "ranks": 2, "first_rank": 2}, {"host": "b", "ranks": 2, "first_rank": 0}]}
    pathlib.Path(f"{after}.blocks.json").write_text(json.dumps(report))
    report["hosts"]["named"][0]["first_rank"] = 1
    pathlib.Path(f"{after}.turns.json").write_text(json.dumps(report))


def check_between(blocks, turns):
    """Hosts of 3 and 7 s in the mean, and a rank of 8 s: 7 / 8 within hosts, 5 / 7 between them."""
    region = load(blocks)["Application"]["Global"]
    assert abs(region["mpiLoadBalanceIn"] - 7 / 8) < 1e-9 and abs(region["mpiLoadBalanceOut"] - 5 / 7) < 1e-9, region
    assert region["numNodes"] == 2
    region = load(turns)["Application"]["Global"]
    assert region["mpiLoadBalanceIn"] is None and region["mpiLoadBalanceOut"] is None, region


def check_program(program):
    """Writes the program of docs/report.md that reads the tables."""
    text = DOCUMENT.read_text(encoding="utf-8")
    pathlib.Path(program).write_text(re.search(r"```python\n(.*?)```", text, re.S).group(1), encoding="utf-8")


def main():
    try:
        globals()["check_" + sys.argv[1]](*sys.argv[2:])
    except (AssertionError, KeyError) as problem:
        sys.exit(f"{type(problem).__name__}: {problem}")


main()
