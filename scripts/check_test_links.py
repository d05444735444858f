#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each test that a page of docs/ names is there.

A page names a test as `controller/controller_test.cpp:ControllerTest.RequeueKeepsCounting`, the file below tests/ or
from the root of the repository. A path like `tests/programs/curve/tool_test.py` must exist as well."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = re.compile(r'`([\w./-]+\.\w+):(\w+)\.(\w+)`')
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


def main():
    found, named = [], 0
    for page in [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'docs').rglob('*.md'))]:
        text = page.read_text()
        named += len(NAMED.findall(text))
        found += complaints(page.relative_to(ROOT), text)
    print('\n'.join(found) or f'{named} tests that the pages name are there')
    return 1 if found or named == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
