#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the page of `phasemux report --html`: page.py CHECK ARGUMENT... Exits with 0 if the check holds, or says
why not.

    sound PAGE          elements are closed in their order, ids are unique, links lead to ids of the page, nothing on
                        it can be loaded or leave the page, and nothing but its own script of at most 20 KB can run
    data PAGE REPORT    the page holds the report, without the deciles of counters and what is only drawn
    same PAGE TEXT      the page has each sentence of the report's text, and each number of a phase in that phase
    text PAGE WORDS...  the page shows these words
    clean PAGE          no character on it is one that changes how others are shown

and makes reports from another one: page.py MAKE FROM TO

    big                 of 10,000 ranks and 200 phases
    many                of 512 ranks, of which 100 computes for 1 s, 200 for 7 s, and 300 is not known, of 8 s
    hostile             with names that would break out of a page, if they could
    old                 with nothing but what each report must have
    without:KEY         without a key
"""
import base64
import copy
import hashlib
import html.parser
import json
import math
import re
import sys
import unicodedata

VOID = {"br", "meta"}
TEXTS = {"script", "style"}
ADDRESSES = {"href", "src", "srcset", "action", "data", "xlink:href", "poster", "background", "formaction"}
# Attributes in which url(...) may name a pattern, or an outline, of the page.
PAINTS = {"fill", "stroke", "clip-path"}
HOSTILE = ["</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
           "<!--", "]]>", "&lt;b&gt;&amp;", "a\x01\x1b[31m\x7fb", "left\u202eright\u2066\u200f", "x" * 10240,
           "\u00e9\u4e2d" * 300, "%s%n%d"]
problems = []


def expect(condition, message):
    if not condition:
        problems.append(message)


def read(name):
    with open(name, encoding="utf-8", newline="") as file:
        return file.read()


class Page(html.parser.HTMLParser):
    """A page's elements, and the text that it shows by the part of the page in which it is."""

    def __init__(self, name):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.shown = [], [], [], []
        self.parts = {}  # id of an article, or of the row of a table of phases: what it shows
        self.style = self.data = self.policy = ""
        self.scripts = []  # what can run
        self.row = None
        self.feed(read(name))
        self.close()
        expect(not self.open, f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.check(tag, dict(attributes))
        expect(len(attributes) == len(dict(attributes)), f"{tag}: an attribute twice")
        if tag in ("br", "td", "th", "tr", "p", "li", "dd", "dt"):
            self.show(" ")
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))
        if tag == "tr":
            self.row = None

    def handle_startendtag(self, tag, attributes):
        self.check(tag, dict(attributes))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        expect(self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}")
        if self.open:
            self.open.pop()
        self.show(" ")

    def check(self, tag, attributes):
        for name, value in attributes.items():
            value = value or ""
            expect(not name.startswith("on") and name not in ("style", "srcdoc"), f"{tag}: attribute {name}")
            if name in ADDRESSES:
                expect(tag == "a" and value.startswith("#"), f"{tag} {name}={value!r}")
                self.links.append(value[1:])
            if "url(" in value:
                expect(name in PAINTS and re.fullmatch(r"url\(#[a-z0-9]+\)", value), f"{tag} {name}={value!r}")
                self.links.append(value[5:-1])
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a" and self.open and self.open[-1][0] == "th":
            self.row = attributes.get("href", "")[1:]
        if tag == "span" and self.open and self.open[-1][0] == "th":
            self.row = attributes.get("id")
        if tag == "script":
            expect(not attributes or attributes.get("type") == "application/json", f"a script: {attributes}")
            self.scripts += [] if attributes else [""]
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        expect(tag in "a article b body br caption circle clippath code dd defs details div dl dt ellipse figcaption figure footer g h1 h2 h3 "
               "head header html li line main meta nav p path pattern pre rect script section small span strong style "
               "summary svg table td text th title tr ul".split(), f"element {tag}")

    def handle_data(self, data):
        tag = self.open[-1][0] if self.open else ""
        if tag == "style":
            self.style += data
        elif tag == "script" and not self.open[-1][1]:
            self.scripts[-1] += data
        elif tag == "script" and self.open[-1][1] == "report-data":
            self.data += data
        elif tag == "script":
            expect(not re.search(r"[<>&]", data), "other data holds characters of HTML")
        else:
            self.show(data)

    def show(self, data):
        self.shown.append(data)
        for name in {name for tag, name in self.open if tag == "article"} | {self.row}:
            if name:
                self.parts.setdefault(name, []).append(data)

    def text(self):
        return words("".join(self.shown))

    def part(self, name):
        return words("".join(self.parts.get(name, [])))


def words(text):
    return " ".join(text.split())


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_sound(name):
    page = Page(name)
    for name in sorted({name for name in page.ids if page.ids.count(name) > 1}):
        expect(False, f"the id {name} twice")
    for link in sorted(set(page.links) - set(page.ids)):
        expect(False, f"a link to {link}, which is not there")
    expect(len(page.scripts) == 1, f"{len(page.scripts)} scripts")
    script = "".join(page.scripts)
    expect(page.policy == f"default-src 'none'; style-src '{digest(page.style)}'; script-src '{digest(script)}'; "
           "base-uri 'none'; form-action 'none'", f"the policy {page.policy!r}")
    expect(not re.search(r"url\(|@import|expression", page.style), "the stylesheet loads something")
    expect(len(script.encode()) <= 20480, f"a script of {len(script.encode())} bytes")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval", "Function(", "fetch", "XMLHttp",
                 "import(", "http:", "https:", "sendBeacon", "WebSocket", "new Image"):
        expect(word not in script.replace("http://www.w3.org/2000/svg", ""), f"the script has {word}")


def is_near(one, other, tolerance=1e-6):
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(
            is_near(one[key], other[key], 1e-3 if key == "sd" or key.endswith("ci95") else 1e-6) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_near, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=tolerance)
    return one == other


def without_unused(report):
    for key in ("sample", "timeline"):
        if report.get(key):
            del report[key]
    for phase in report["phases"]:
        if phase.get("fold"):
            del phase["fold"]
        for counter in (phase.get("counters") or {}).values():
            if isinstance(counter, dict):
                counter.pop("deciles", None)
    return report


def check_data(name, report):
    data = Page(name).data
    expect(not re.search(r"[<>&]", data), "the data holds characters of HTML")
    expect(is_near(json.loads(data), without_unused(json.loads(read(report)))), "the data is not the report")


def sentences(lines):
    """Yields the sentences of lines that may be wrapped: a line that is indented more than the one before goes on."""
    sentence, indent = "", 0
    for line in lines:
        margin = len(line) - len(line.lstrip())
        if sentence and margin > indent:
            sentence += " " + line
            continue
        if sentence:
            yield words(sentence)
        sentence, indent = line, margin
    if sentence:
        yield words(sentence)


def check_same(name, text):
    page = Page(name)
    head, phases, foot = [part.splitlines() for part in re.split(r"\n\n", read(text), maxsplit=2)]
    head[0] = head[0].replace("phasemux: ", "  ", 1)
    shown = page.text()
    for sentence in [*sentences(head), *sentences(line for line in foot if line)]:
        expect(sentence in shown, f"not on the page: {sentence}")
    part, count = "", 0
    for line in phases[1:]:
        row = re.match(r" {0,4}(\d+)  ", line)
        if re.match(r"\s+\S+  in \d+ smaller phase", line):
            expect(words(line) in shown, f"not on the page: {words(line)}")
            continue
        if row:
            part = page.part(f"phase-{row[1]}")
            expect(part, f"phase {row[1]} is not on the page")
        for number in re.findall(r"<?\d[\d.]*(?: ?[a-zA-Z%]+)?", re.sub(r"  #+$", "", line)):
            count += 1
            expect(words(number) in part, f"not in its phase: {number} of {line.strip()}")
    expect(count or "none:" in phases[1], "the text has no number in its phases")


def check_text(name, *wanted):
    shown = Page(name).text()
    for text in wanted:
        expect(words(text) in shown, f"not on the page: {text}")


def check_clean(name):
    for character in sorted(set(read(name))):
        expect(character == "\n" or character == "\t" or unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp"),
               f"the character U+{ord(character):04X}")


def make_big(report):
    report["ranks"], report["threads"] = 10000, 10000
    report["hosts"] = {"count": 512, "uncounted_ranks": 1808,
                       "named": [{"host": f"node{i:04}", "ranks": 16, "first_rank": 16 * i} for i in range(64)]}
    report["rank_times"] = {"each": None, "deciles": [{"useful_seconds": report["wall_seconds"] * (0.4 + 0.05 * i),
                                                       "mpi_seconds": report["wall_seconds"] * (0.1 + 0.05 * i)}
                                                      for i in range(11)]}
    report["sample"] = {"phase": [i % 190 for i in range(2000)], "nanoseconds": [1000 + 977 * i for i in range(2000)],
                        "instructions": [3000 + i * i % 7919 * 100 for i in range(2000)],
                        "ipc_millionths": [1000 * (1 + i * 37 % 4001) for i in range(2000)],
                        "prototypes": [{"number": i, "phase": 1 + i % 200, "instructions": [9000 + i, 10000 + i, 11111 + i],
                                        "ipc": [0.9, 1, 1.1]} for i in range(256)]}
    source = report["phases"]
    report["phases"] = [copy.deepcopy(source[i % len(source)]) for i in range(200)]
    for i, phase in enumerate(report["phases"]):
        phase["id"], phase["time_share"] = i + 1, 0.05 * 0.95 ** i


def make_many(report):
    report["ranks"], report["threads"], report["wall_seconds"] = 512, 512, 8
    times = [{"useful_seconds": 2 + i / 256, "mpi_seconds": 3} for i in range(512)]
    times[100]["useful_seconds"], times[200]["useful_seconds"] = 1, 7
    times[300] = {"useful_seconds": None, "mpi_seconds": None}
    report["rank_times"] = {"each": times, "deciles": None}


def make_hostile(report):
    count = 0

    def hostile(value, key=""):
        nonlocal count
        if isinstance(value, dict):
            names = key in ("counters", "metrics", "rates")
            return {hostile(name) if names else name: hostile(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [hostile(inner, key) for inner in value]
        if isinstance(value, str) and key not in ("over_budget",):
            count += 1
            return f"{HOSTILE[count % len(HOSTILE)]}{value}"
        return value

    changed = hostile(report)
    report.clear()
    report.update(changed)
    report["warnings"] = HOSTILE
    report["command"] = HOSTILE


def make_old(report):
    report["phases"] = [{key: phase[key] for key in ("id", "time_share", "counters")} for phase in report["phases"]]
    for key in set(report) - {"phasemux", "phases"}:
        del report[key]


def make(kind, source, target):
    report = json.loads(read(source))
    if kind.startswith("without:"):
        key = kind.partition(":")[2]
        report.pop(key, None)
        for phase in report["phases"]:
            if key not in ("id", "time_share", "counters"):
                phase.pop(key, None)
    else:
        {"big": make_big, "many": make_many, "hostile": make_hostile, "old": make_old}[kind](report)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(report, file)


CHECKS = {"sound": check_sound, "data": check_data, "same": check_same, "text": check_text, "clean": check_clean}
if sys.argv[1] in CHECKS:
    CHECKS[sys.argv[1]](*sys.argv[2:])
else:
    make(*sys.argv[1:])
for problem in problems[:20]:
    print(problem[:300])
sys.exit(bool(problems))
