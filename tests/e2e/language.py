#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the comments and messages that are not plain English, each with the form that was found.

usage: language.py PATH...

A PATH is a file or a folder. Comments of C, Python (with docstrings), shell and CMake are read, and strings of more
than one word in C. CONTRIBUTING.md (Words) says what to write instead.
"""
import io
import pathlib
import re
import sys
import tokenize

FORMS = {  # a pattern, and what is wrong with it
    r"^(The same|So (many|long|much|often)|That (?!is)|Those|Of |As above|But |Beside)": "points at something else",
    r"(?i)\b(whoever|whom|nobody|somebody|anybody)\b": "has no actor",
    r"(?i)(?<!\d )(?<!\d)\b(we|us|our|ours)\b": "has no actor",
    r"(?i)\bbut for\b": "except",
    r"(?i)\bmakes? no sense\b": "invalid",
    r"(?i)\bto be had\b": "available",
    r"(?i)\bheld up\b": "preempted, or delayed",
    r"(?i)\bby chance\b": "at random",
    r"(?i)\bgo(es)? by\b(?! the)": "skipped",
    r"(?i)\bso (many|long) (of|bursts|calls|ticks|times|ns|us|ms)\b": "name the number",
    r", for (it|they|there|that|these|this|what) (is|are|was|were|may|can|has|have|would|took|takes)\b": "because",
}
C_TEXT = re.compile(r"/\*(.*?)\*/|//([^\n]*)|\"((?:\\.|[^\"\\])*)\"", re.S)
UNIT = re.compile(r"%[-+ #0-9.*]*[a-z]+ us\b|\bus: %")  # microseconds in a format


def of_c(text):
    for match in C_TEXT.finditer(text):
        words = match.group(1) or match.group(2)
        if not words and " " in (match.group(3) or ""):
            words = UNIT.sub("", match.group(3)).strip()
        if words:
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\n\s*\*", "\n", words)


def of_python(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#")
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            yield token.start[0], token.string.strip('"')


def of_shell(text):
    """Yields comments that have lines of their own. Successive lines are one comment."""
    for match in re.finditer(r"(?:^[ \t]*#(?!!).*\n?)+", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"(?m)^\s*#", "", match.group(0))


def reader_of(path, text):
    if path.suffix in (".c", ".h", ".def"):
        return of_c
    if path.suffix == ".py" or re.match(r"#!.*python", text):
        return of_python
    if path.suffix in (".t", ".sh", ".cmake") or path.name == "CMakeLists.txt" or re.match(r"#!.*sh\b", text):
        return of_shell
    return None


def texts(path):
    """Yields (line, words) of each comment or message of a file."""
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return
    reader = reader_of(path, text)
    for line, words in reader(text) if reader else ():
        yield line, " ".join(re.sub(r"^\s*SPDX-License-Identifier: \S+", "", words).split())


def files(arguments):
    for argument in map(pathlib.Path, arguments):
        yield from [argument] if argument.is_file() else sorted(path for path in argument.rglob("*") if path.is_file())


def main():
    found = 0
    for path in files(sys.argv[1:]):
        if path.name == "language.py" or "data" in path.parts:
            continue
        for line, words in texts(path):
            for pattern, wrong in FORMS.items():
                hit = re.search(pattern, words)
                if hit:
                    found += 1
                    print(f"{path}:{line}: '{hit.group(0)[:40].strip()}' ({wrong}): {words[:100]}")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
