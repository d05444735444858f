#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses comments and pages that are not in plain technical English; CONTRIBUTING.md has the rules.

usage: scripts/check_english.py [--count] [PATH ...]

Without PATH it reads every file that git tracks. --count prints the number of findings of each folder
instead of the findings. Exit code 1 if there are any.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".hpp", ".cpp", ".h", ".md"}

# A comment that begins so describes its subject instead of naming it.
OPENING = re.compile(r"(What|Who|Whoever|Whose|Whom|Whether|How|Of|The same|As)\b(?! of\b)")

# Pattern -> what to write instead.
WORDS = {
    r"whoever": "name the thread, caller, client, candidate or replica",
    r"anew": "again",
    r"for ever": "without end, never ends",
    r"for so long|so long without|for so many": "for this long, that many",
    r"hindrances?": "blocked reason",
    r"(?:the|a) lead(?= (?:is|was|has|and)\b|[.,;)])": "leadership",
    r"campaign(?:s|ed|ing)? for the lead": "wait to become leader",
    r"(?:is|are|was|were|this is) no (?:object|list|map|string|number|integer|name|kind|key)s?": "is not a ...",
    r"books of|keeps? books": "name what is recorded",
    r"mends?|mended": "fix, repair",
    r"dear": "expensive",
    r"daily bread": "name the thing",
    r"(?:has|have|is|are|was|were|being|be|been|not) told": "notified, reported, specified",
    r"tells? (?:nobody|everybody|who|whether|why|what)": "report, return",
}
WORD = re.compile(r"\b(?:" + "|".join(f"(?P<w{i}>{p})" for i, p in enumerate(WORDS)) + r")\b")

COMMENT = re.compile(r"^\s*(///<?|//)\s?(.*)$")
TRAILING = re.compile(r"[^\s/].*?\s(///<|//)\s(.*)$")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def comments(lines):
    """(line number, text, whether the comment begins here) of each line with a comment."""
    before = False
    for number, line in enumerate(lines, 1):
        whole = COMMENT.match(line)
        if whole:
            yield number, whole.group(2), not before
            before = bool(whole.group(2).strip()) and not whole.group(2).startswith("SPDX-")
            continue
        before = False
        rest = TRAILING.search(STRING.sub('""', line))
        if rest:
            yield number, rest.group(2), True


def prose(lines):
    """(line number, text, False) of each line of a page outside of its code blocks."""
    code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", "``", line), False


def findings(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, text, begins in (prose if path.suffix == ".md" else comments)(lines):
        opening = OPENING.match(text) if begins else None
        if opening:
            yield number, f'a comment opens with "{opening.group(1)}": open with a noun phrase or a verb'
        for word in WORD.finditer(text):
            advice = list(WORDS.values())[int(word.lastgroup[1:])]
            yield number, f'"{word.group(0)}": {advice}'


def tracked(paths):
    listed = subprocess.check_output(["git", "ls-files", "--", *paths], text=True, cwd=ROOT).split("\n")
    return [ROOT / name for name in listed if pathlib.Path(name).suffix in SUFFIXES]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--count"]
    counts = collections.Counter()
    for path in tracked(arguments):
        for number, problem in findings(path):
            name = path.relative_to(ROOT)
            counts["/".join(name.parts[:3 if name.parts[0] == "include" else 2])] += 1
            if "--count" not in sys.argv:
                print(f"{name}:{number}: {problem}")
    for folder, count in sorted(counts.items()) if "--count" in sys.argv else ():
        print(f"{count:6} {folder}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
