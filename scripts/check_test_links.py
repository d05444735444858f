#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each test that a page of docs/ names is there, and has the figures that it is said to hold.

A page names a test as `controller/controller_test.cpp:ControllerTest.RequeueKeepsCounting`, the file below tests/ or
from the root of the repository. A path like `tests/programs/curve/tool_test.py` must exist as well.

In a table with the columns "figure" and "test", each number of a figure ("0.16 s", "10,000") must be in the code of one
of the tests, in an example or in a page of the row, in any unit: 160ms, 10'000."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = re.compile(r'`([\w./-]+\.\w+):(\w+)\.(\w+)`')
NUMBER = re.compile(r"(?<![\w.])(\d[\d',]*(?:\.\d+)?) ?(ns|us|ms|s|min|h)?U?(?![a-zA-Z])")
SECONDS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1, 'min': 60, 'h': 3600, '': 1}
NAMED_FILE = re.compile(r'`((?:tests|examples)/[\w./-]+\.(?:cpp|hpp|py))`')
TEST = re.compile(r'^[ \t]*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+),\s*(\w+)\)', re.M)


def tests_of(path, cache={}):
    """{('Suite', 'Test'), ...} of one source file; None if there is no such file."""
    if path not in cache:
        cache[path] = set(TEST.findall(path.read_text())) if path.is_file() else None
    return cache[path]


def complaints(page, text):
    for match in NAMED.finditer(text):
        name, suite, test = match.groups()
        where = f'{page}:{text.count(chr(10), 0, match.start()) + 1}'
        tests = tests_of(ROOT / 'tests' / name)
        if tests is None:
            tests = tests_of(ROOT / name)
        if tests is None:
            yield f'{where}: names {name}, which does not exist'
        elif (suite, test) not in tests:
            yield f'{where}: names {suite}.{test}, which is not in {name}'
    for match in NAMED_FILE.finditer(text):
        if not (ROOT / match[1]).exists():
            yield f'{page}:{text.count(chr(10), 0, match.start()) + 1}: names {match[1]}, which does not exist'


def numbers(text):
    """The numbers of a text, durations in seconds."""
    return {round(float(re.sub("[',]", '', number)) * SECONDS[unit], 9) for number, unit in NUMBER.findall(text)}


def code_of(name, suite, test):
    """The code of a test, without comments."""
    path = next((path for path in (ROOT / 'tests' / name, ROOT / name) if path.is_file()), None)
    if path is None:
        return ''
    body = re.search(rf'^TEST\w*\(\s*{suite},\s*{test}\).*?^\}}', path.read_text(), re.M | re.S)
    return re.sub(r'//[^\n]*', '', body[0]) if body else ''


def evidence(page, cell):
    """The texts in which a row's figures are looked for: its tests, examples, and linked pages."""
    yield from (code_of(*named) for named in NAMED.findall(cell))
    for name in re.findall(r'`((?:examples|tests)/[\w/.]+)`', cell) + re.findall(r'\]\(([\w./-]+\.md)', cell):
        path = (page.parent if name.endswith('.md') else ROOT) / name
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (file.read_text() for file in files if file.suffix in ('.cpp', '.hpp', '.txt', '.md', '.py'))


def missing_figures(page, text):
    figure = test = None
    for at, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line[1:-1].split('|')] if line.startswith('|') else []
        if 'figure' in cells and 'test' in cells:
            figure, test = cells.index('figure'), cells.index('test')
        elif not cells:
            figure = None
        elif figure is not None and numbers(cells[figure]):
            known = set().union(*map(numbers, evidence(page, cells[test])))
            for number in sorted(numbers(cells[figure]) - known):
                yield f'{page.relative_to(ROOT)}:{at}: says {number:g}, which none of its tests has'


def main():
    found, named = [], 0
    for page in [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'docs').rglob('*.md'))]:
        text = page.read_text()
        named += len(NAMED.findall(text))
        found += [*complaints(page.relative_to(ROOT), text), *missing_figures(page, text)]
    print('\n'.join(found) or f'{named} tests that the pages name are there')
    return 1 if found or named == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
