#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what pages show, so that a change of them is seen in a diff: golden.py COMMAND ARGUMENT...

    make PHASEMUX [FOLDER]       makes the pages of the reports in FOLDER (tests/data/pages), and keeps what they show
    compare PHASEMUX [FOLDER]    compares what the pages show with what is kept, and prints the differences
    show PAGE                    prints what is kept of a page

What is kept of a page is its words and numbers in their order, a line for each paragraph, row of a table, and mark of a
figure. A mark has its size, because that shows a number, and its colour; of a path, the length and a checksum. Places
are left out, and so are the style, the script, the data, and the meanings in the glossary, which are those of
docs/glossary.md and of the models: they change without a view that says something else.
"""
import difflib
import html.parser
import pathlib
import subprocess
import sys
import zlib

PAGES = pathlib.Path(__file__).resolve().parent.parent / "data" / "pages"
# Elements that begin a line, and those whose text is not kept.
BLOCKS = {"h1", "h2", "h3", "h4", "p", "li", "dt", "dd", "tr", "caption", "summary", "figcaption", "text", "pre", "title", "br"}
CELLS = {"td", "th"}
LEFT_OUT = {"style", "script", "defs"}
MARKS = {"rect": ("width", "height"), "circle": ("r",), "ellipse": ("rx", "ry")}


class Skeleton(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.lines, self.line, self.open, self.section = [], "", [], ""
        self.key = False  # in a figure that only shows the colour of a name
        self.feed(text)
        self.close()
        self.end_line()

    def end_line(self):
        line = " ".join(self.line.split())
        if line.strip("| "):
            self.lines.append(line.removeprefix("| "))
        self.line = ""

    def break_line(self, tag):
        """Ends the line, or adds a blank in a row of a table."""
        if "tr" in self.open and tag in ("p", "br", "li"):
            self.line += " "
        else:
            self.end_line()

    def left_out(self):
        return any(tag in LEFT_OUT or tag == "dd" and self.section == "glossary" for tag in self.open)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ("br", "meta"):
            self.open.append(tag)
        if tag == "section":
            self.section = attributes["id"]
        if tag == "svg":
            self.key = attributes.get("aria-hidden") == "true"
        if tag in BLOCKS:
            self.break_line(tag)
        if tag in CELLS:
            self.line += " | "
        if tag == "h2":
            self.lines.append("")
            self.line = "== "
        if attributes.get("aria-label") and not self.left_out():
            self.end_line()
            self.lines.append(f"{tag}: {attributes['aria-label']}")
        self.mark(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        self.mark(tag, dict(attributes))

    def mark(self, tag, attributes):
        """Keeps the size and the colour of what is drawn."""
        hidden = attributes.get("class") == "track" or attributes.get("fill") == "none" and "stroke" not in attributes
        if hidden or self.key or self.left_out() or tag not in MARKS and tag != "path":
            return
        self.end_line()
        sizes = [attributes.get(name, "") for name in MARKS.get(tag, ())]
        if tag == "path":
            path = attributes.get("d", "")
            sizes = [f"{len(path)} characters {zlib.crc32(path.encode()):08x}"]
        self.lines.append(" ".join(filter(None, ["  " + tag, " x ".join(sizes), attributes.get("fill")])))

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        if tag in BLOCKS:
            self.break_line(tag)

    def handle_data(self, data):
        if self.left_out():
            return
        if "pre" in self.open:
            self.lines += filter(None, map(str.rstrip, data.split("\n")))
        else:
            self.line += data


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def pages(phasemux, folder):
    """Yields the name of each page, and the page."""
    for report in sorted(path.parent for path in folder.glob("*/report.json")):
        yield report.name, run(phasemux, "report", "--html", str(report))


def kept(page):
    return "\n".join(Skeleton(page).lines) + "\n"


def make(phasemux, folder=PAGES):
    for name, page in pages(phasemux, pathlib.Path(folder)):
        (pathlib.Path(folder) / f"{name}.txt").write_text(kept(page), encoding="utf-8")


def compare(phasemux, folder=PAGES):
    same = True
    for name, page in pages(phasemux, pathlib.Path(folder)):
        before = (pathlib.Path(folder) / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        lines = list(difflib.unified_diff(before, kept(page).splitlines(), f"kept/{name}.txt", f"now/{name}.txt", lineterm=""))
        print(*lines[:60], sep="\n", end="\n" if lines else "")
        same = same and not lines
    return 0 if same else 1


def show(page):
    print(kept(pathlib.Path(page).read_text(encoding="utf-8")), end="")


if __name__ == "__main__":
    sys.exit({"make": make, "compare": compare, "show": show}[sys.argv[1]](*sys.argv[2:]))
