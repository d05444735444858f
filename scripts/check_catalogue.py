#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the map of behaviours in docs/queue.md against the tests.

A test says above its name, beside it or beside one of its lines which rows it covers: `// cat:Q5 cat:Q15`. Refused: a row of the list
without a line in the map, a line that names a test which is not there or does not say so, a test that says so
and is not in the map, and more than five rows answered by a reason. Rows C are the controller's and not here.
Whatever test the page names elsewhere must exist as well. `--write` writes the third column of the map as the
tests have it."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/queue.md'
TEST = re.compile(r'^\s*TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)', re.M)
ROW = re.compile(r'\bcat:([A-Z]\d+)')
LINE = re.compile(r'^\| ([A-Z]\d+) \| (.*?) \| (.*?) \|$', re.M)
LISTED = re.compile(r'^Rows: (.*(?:\n(?!\n).*)*)', re.M)
NAMED = re.compile(r'`([\w/.]+):(\w+\.\w+)`')
MOST_REASONS = 5


def tests(pattern=ROW):
    """{row: {'file:Suite.Name', ...}}, all tests, and complaints about comments that belong to none."""
    covered, every, stray = collections.defaultdict(set), set(), []
    for path in sorted((ROOT / 'tests').rglob('*_test.cpp')):
        name = str(path.relative_to(ROOT / 'tests'))
        pending, where, last = [], 0, None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            rows, test = pattern.findall(line), TEST.match(line)
            if test:
                every.add(f'{name}:{test[1]}.{test[2]}')
                for row in pending + rows:
                    covered[row].add(f'{name}:{test[1]}.{test[2]}')
                pending, last = [], f'{name}:{test[1]}.{test[2]}'
            elif rows and line.lstrip().startswith('//'):
                pending, where = pending + rows, number
            elif rows and last is not None:  # beside a line of a test
                for row in rows:
                    covered[row].add(last)
            elif rows and any(not row.startswith('C') for row in rows):
                stray.append(f'tests/{name}:{number}: names {rows}, but is in no test')
            elif pending and not line.lstrip().startswith('//'):
                stray.append(f'tests/{name}:{where}: {pending} stands above no test')
                pending = []
    return covered, every, stray


def expanded(text):
    """'Q1-Q3 D5' -> ['Q1', 'Q2', 'Q3', 'D5']"""
    rows = []
    for word in re.findall(r'[A-Z]\d+(?:-[A-Z]\d+)?', text):
        first, _, last = word.partition('-')
        numbers = range(int(first[1:]), int((last or first)[1:]) + 1)
        rows += [f'{first[0]}{number}' for number in numbers]
    return rows


def written(line, tests_of_row):
    third = ', '.join(f'`{test}`' for test in sorted(tests_of_row)) or line[3]
    return f'| {line[1]} | {line[2]} | {third} |'


def main():
    covered, every, found = tests()
    text = PAGE.read_text()
    if '--write' in sys.argv:
        text = LINE.sub(lambda line: written(line, covered[line[1]]), text)
        PAGE.write_text(text)
    listed = expanded(LISTED.search(text)[1])
    lines = LINE.findall(text)
    reasons = 0
    for row, count in collections.Counter(row for row, _, _ in lines).items():
        if count > 1:
            found.append(f'docs/queue.md: {row} stands there {count} times')
    in_map = {row: third for row, _, third in lines}
    for row in listed:
        if row not in in_map:
            found.append(f'docs/queue.md: {row} is on the list and not in the map')
    for row, third in in_map.items():
        if row not in listed:
            found.append(f'docs/queue.md: {row} is in the map and not on the list')
        named = {f'{name}:{test}' for name, test in NAMED.findall(third)}
        if not named:
            reasons += 1
            if 'decision' not in third:
                found.append(f'docs/queue.md: {row} has neither a test nor a decision')
        for test in sorted(named - covered[row]):
            found.append(f'docs/queue.md: {row} names {test}, which is not there or does not say cat:{row}')
        for test in sorted(covered[row] - named):
            found.append(f'docs/queue.md: {row} does not name {test}, which says cat:{row}')
    for row in sorted(covered):
        if row not in in_map and not row.startswith('C'):
            found.append(f'{sorted(covered[row])[0]} says cat:{row}, which is not in the map')
    for name, test in NAMED.findall(text):
        if f'{name}:{test}' not in every and name.endswith('.cpp'):
            found.append(f'docs/queue.md names {name}:{test}, which is not there')
    if reasons > MOST_REASONS:
        found.append(f'docs/queue.md: {reasons} rows are answered by a reason, at most {MOST_REASONS} may be')
    count = len({test for row in in_map for test in covered[row]})
    print('\n'.join(dict.fromkeys(found)) or f'{len(in_map)} behaviours are covered by {count} tests, {reasons} by a reason')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
