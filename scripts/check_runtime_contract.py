#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/runtime-contract.md against the tests, as check_catalogue.py holds docs/queue.md.

A test says which rows it covers above its name, beside it or beside one of its lines: `// go:2.1.3 cat:C6`.
Refused: a row of the list without a line, or with two; a line without a test; a line that names a test which is not
there or does not say so (tests of queue and limiters are told so by docs/queue.md and need not); a test of a
listed row that its line does not name. `--write` adds to each line the tests that say so."""
import collections
import pathlib
import re
import sys

import check_catalogue

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/runtime-contract.md'
ROW = re.compile(r'\b(?:go:|cat:(?=C))(C\d+|\d\.\d+\.\d+)')
LINE = re.compile(r'^\| (C\d+|\d\.\d+\.\d+) \| (.*?) \| (.*?) \|$', re.M)
LISTED = re.compile(r'^Rows: (.*(?:\n(?!\n).*)*)', re.M)
NAMED = re.compile(r'`([\w/.]+):(\w+\.\w+)`')
CITED_ELSEWHERE = ('workqueue/', 'ratelimit/')


def expanded(text):
    """'2.1.1-3 C4-C5' -> ['2.1.1', '2.1.2', '2.1.3', 'C4', 'C5']"""
    rows = []
    for word in text.split():
        first, _, last = word.partition('-')
        stem, number = re.fullmatch(r'(C|\d\.\d+\.)(\d+)', first).groups()
        rows += [f'{stem}{n}' for n in range(int(number), int(last.lstrip('C') or number) + 1)]
    return rows


def written(line, covered):
    named = {f'{name}:{test}' for name, test in NAMED.findall(line[3])}
    more = ''.join(f', `{test}`' for test in sorted(covered[line[1]] - named))
    return f'| {line[1]} | {line[2]} | {line[3]}{more} |'


def complaints(text, covered, every):
    listed = expanded(LISTED.search(text)[1])
    lines = LINE.findall(text)
    for row, count in collections.Counter(row for row, _, _ in lines).items():
        if count > 1:
            yield f'{row} stands there {count} times'
        if row not in listed:
            yield f'{row} is in the map and not on the list'
    in_map = {row: third for row, _, third in lines}
    for row in listed:
        if row not in in_map:
            yield f'{row} is on the list and not in the map'
            continue
        named = {f'{name}:{test}' for name, test in NAMED.findall(in_map[row])}
        if not named:
            yield f'{row} names no test'
        for test in sorted(named - every):
            yield f'{row} names {test}, which is not there'
        for test in sorted((named & every) - covered[row]):
            if not test.startswith(CITED_ELSEWHERE):
                yield f'{row} names {test}, which does not say so'
        for test in sorted(covered[row] - named):
            yield f'{row} does not name {test}, which says that it covers it'


def main():
    covered, every, _ = check_catalogue.tests(ROW)
    text = PAGE.read_text()
    if '--write' in sys.argv:
        text = LINE.sub(lambda line: written(line, covered), text)
        PAGE.write_text(text)
    found = [f'docs/runtime-contract.md: {one}' for one in complaints(text, covered, every)]
    rows = LINE.findall(text)
    tests = {test for _, _, third in rows for test in NAMED.findall(third)}
    print('\n'.join(found) or f'{len(rows)} behaviours of controllers are covered by {len(tests)} tests')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
