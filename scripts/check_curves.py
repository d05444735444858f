#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every evenkeel-curve command of docs/rate-limiting.md and compares what it prints.

    check_curves.py PROGRAM          compare
    check_curves.py --draw PROGRAM   write the tables and draw the pictures instead

A command is an indented line that begins with "$ evenkeel-curve". What it prints stands below it, as
indented as itself; if it draws into NAME.svg and nothing stands below, in NAME.txt."""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/rate-limiting.md'
COMMAND = re.compile(r'^    \$ evenkeel-curve (?P<arguments>.*)\n(?P<printed>(?:    .*\n)*)', re.M)


def without_picture(arguments):
    """The arguments without --svg NAME, and NAME or None."""
    if '--svg' not in arguments:
        return arguments, None
    at = arguments.index('--svg')
    return arguments[:at] + arguments[at + 2:], ROOT / arguments[at + 1]


def main():
    draw = sys.argv[1] == '--draw'
    program = str(pathlib.Path(sys.argv[-1]).resolve())
    checked = failed = 0
    for match in COMMAND.finditer(PAGE.read_text()):
        arguments, picture = without_picture(shlex.split(match['arguments']))
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
        expected = re.sub('^    ', '', match['printed'], flags=re.M)
        if picture and not expected:
            table = picture.with_suffix('.txt')
            if draw:
                table.write_text(done.stdout)
                subprocess.run([program, *arguments, '--svg', str(picture)], check=True, stdout=subprocess.DEVNULL)
            expected = table.read_text()
        checked += 1
        if done.stdout + done.stderr != expected:
            failed += 1
            print(f'{PAGE.relative_to(ROOT)}: evenkeel-curve {match["arguments"]}\nprints\n{done.stdout}{done.stderr}'
                  f'but the page says\n{expected}')
    print(f'{checked} commands, {failed} print something else')
    return 1 if failed or not checked else 0


if __name__ == '__main__':
    sys.exit(main())
