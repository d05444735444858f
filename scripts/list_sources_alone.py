#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sources that may have lost an include since a commit: scripts/list_sources_alone.py BASE

Those that changed, and those that include, directly or not, a header of ours that went or lost an #include."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.M)


def git(*arguments):
    return subprocess.run(['git', *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def name_of(path):
    """A header as #include lines name it."""
    return re.sub(r'^(include|src)/', '', path)


def poorer_headers(base):
    """The names of the headers that went or lost an #include."""
    found, header = set(), None
    for line in git('diff', '--no-renames', base, 'HEAD', '--', 'include/*.hpp', 'src/*.hpp').splitlines():
        if line.startswith('--- '):
            header = line.removeprefix('--- a/')
        elif line.startswith('-#include') or line == '+++ /dev/null':
            found.add(name_of(header))
    return found


def main():
    base = sys.argv[1]
    changed = set(git('diff', '--name-only', '--diff-filter=d', base, 'HEAD', '--', 'src/*.cpp').split())
    texts = {path: (ROOT / path).read_text() for path in git('ls-files', 'include/*.hpp', 'src/*.hpp', 'src/*.cpp').split()}
    includes = {name_of(path): {name if '/' in name else name_of(str(pathlib.Path(path).parent / name))
                                for name in INCLUDE.findall(text)} for path, text in texts.items()}
    reached = poorer_headers(base)
    while more := {name for name, named in includes.items() if name not in reached and named & reached}:
        reached |= more
    for path in sorted(path for path in texts if path.endswith('.cpp') and (path in changed or name_of(path) in reached)):
        print(path)


if __name__ == '__main__':
    main()
