#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The repository speaks of the project only: no path of a machine, no unfinished words, scripts executable."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINE_PATH = re.compile(r'/(?:work|home/\w+|root|tmp/bash_jobs)/')
UNFINISHED = re.compile(r'\b(TODO|FIXME|XXX)\b')


def main():
    names = subprocess.run(['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    found = []
    for name in names:
        path = ROOT / name
        if name == 'scripts/check_repository.py' or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if data.startswith(b'#!') and not path.stat().st_mode & 0o100:
            found.append(f'{name}: has a #! line but is not executable')
        if b'\0' in data or name.startswith(('tests/conformance/recorded/', 'src/testing/data/')):
            continue
        for number, line in enumerate(data.decode('utf-8', 'replace').splitlines(), 1):
            if MACHINE_PATH.search(line):
                found.append(f'{name}:{number}: a path of one machine')
            if UNFINISHED.search(line):
                found.append(f'{name}:{number}: unfinished')
    print('\n'.join(found) or f'{len(names)} files speak of the project only')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
