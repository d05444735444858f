#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The repository speaks of the project only: no path of a machine, no unfinished words, scripts executable, and no
reference by a number to a list or a document that is not here. Say it in half a sentence, or cite a name that a page of
docs/ has. Sources of ported behaviour (a file and a function) are fine."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINE_PATH = re.compile(r'/(?:work|home/\w+|root|tmp/bash_jobs)/')
UNFINISHED = re.compile(r'\b(TODO|FIXME|XXX)\b')
PROSE = ('.cpp', '.hpp', '.h', '.in', '.py', '.go', '.sh', '.cmake', '.md', '')  # '': scripts
CODE = re.compile(r'\bcat:[A-Z]\d|(?<![\w.])go:\d+(?:\.\d+)*\b|[a-z]_go\d+(?:_|\b)'
                  r'|\b[Ss]emantics \d|\b[Pp]rediction \d|\b[Aa]rticle \d|\b[Hh]azards? H?\d|\b[Ii]nvariants? [A-Z]?\d'
                  r'|\b[Tt]able \d\.\d|\b(?:[Ff]eature|[Rr]ow|[Ss]cenario|[Rr]ule) [A-Z]\d|\bdesign documents?\b|\b(?:our|the) notes of\b')
# In comments: "(I6, I4)", "S7, H2: a scope ...", "3.1: killed ...", "the table of 1.7".
BARE = re.compile(r'(?<![-\w/.])(?!S3\b)[DGHIKMQRS]\d{1,2}\b(?!\.\.)|^(?://+<?|"""|#) ?\d\.\d+(?:\.\d+)?[:,] |\(\d\.\d\)'
                  r'|\bof \d\.\d\b(?! ?[\w.%])')
PAGE = re.compile(r'^\| ?[A-Z]\d{1,2} ?\||\([DGHIKMQRS]\d{1,2}(?:, [A-Z]\d{1,2})*\)')
COMMENT = re.compile(r'(?:^|\s)(?://|# |#$)|"""|^\s*<!--')


def refers_by_number(line, suffix):
    """True if the line cites a list or a document by a number. Bare ids count in comments and pages only."""
    if CODE.search(line):
        return True
    if suffix == '.md':
        return PAGE.search(line) is not None
    comment = COMMENT.search(line)
    return comment is not None and BARE.search(line[comment.start():].lstrip()) is not None


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
        if b'\0' in data or name.startswith(('tests/conformance/recorded/', 'src/apiserver/data/')):
            continue
        for number, line in enumerate(data.decode('utf-8', 'replace').splitlines(), 1):
            if MACHINE_PATH.search(line):
                found.append(f'{name}:{number}: a path of one machine')
            if UNFINISHED.search(line):
                found.append(f'{name}:{number}: unfinished')
            if path.suffix in PROSE and refers_by_number(line, path.suffix):
                found.append(f'{name}:{number}: refers by a number to what is not here: {line.strip()[:60]}')
    print('\n'.join(found) or f'{len(names)} files speak of the project only')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
