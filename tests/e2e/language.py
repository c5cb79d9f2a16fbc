#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the comments of C files that are not plain English, each with the form that was found.

usage: language.py FOLDER...

CONTRIBUTING.md (Words) says what to write instead.
"""
import pathlib
import re
import sys

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
COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)|\"(?:\\.|[^\"\\])*\"", re.S)


def comments(text):
    """Yields (line, words) of each comment."""
    for match in COMMENT.finditer(text):
        words = match.group(1) or match.group(2)
        if words:
            yield text.count("\n", 0, match.start()) + 1, " ".join(re.sub(r"\n\s*\*", "\n", words).split())


def main():
    found = 0
    for folder in sys.argv[1:]:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".def"):
                continue
            for line, words in comments(path.read_text()):
                for pattern, wrong in FORMS.items():
                    hit = re.search(pattern, words)
                    if hit:
                        found += 1
                        print(f"{path}:{line}: '{hit.group(0)[:40].strip()}' ({wrong}): {words[:100]}")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
