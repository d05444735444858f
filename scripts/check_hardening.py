#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the ELF files of a hardened build and says what is missing: PIE, full RELRO, no executable stack, stack
protector, FORTIFY, assertions of the C++ library; and of the flags that leave no trace in the file, the command of
every source.

usage: check_hardening.py BUILD [PROGRAM ...]
  BUILD     a build folder, configured with EVENKEEL_HARDENING in an optimised configuration
  PROGRAM   what to look at; default: every program and shared library in it"""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

FLAGS = ['-fstack-protector-strong', '-fstack-clash-protection', '-D_GLIBCXX_ASSERTIONS', '-U_FORTIFY_SOURCE']
X86 = platform.machine() in ('x86_64', 'i686')
# Imported where a call had a size that only the program's run tells.
FORTIFIED = re.compile(r'\b__\w+_chk\b')


def readelf(path, *options):
    return subprocess.run(['readelf', '--wide', *options, str(path)], capture_output=True, text=True, check=True).stdout


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with open(path, 'rb') as file:
        return file.read(4) == b'\x7fELF'


def linked_files(build):
    for path in sorted(build.rglob('*')):
        if 'CMakeFiles' in path.parts or path.suffix in ('.o', '.a') or not is_elf(path):
            continue
        if os.access(path, os.X_OK) or '.so' in path.name:
            yield path


def problems_of(path):
    """(problems, whether it was fortified)."""
    dynamic, segments, header = readelf(path, '-d'), readelf(path, '-l'), readelf(path, '-h')
    imported = readelf(path, '--dyn-syms')
    problems = []
    if not re.search(r'Type:\s+DYN', header):
        problems.append('is no position independent executable')
    if 'INTERP' in segments and not re.search(r'FLAGS_1.*\bPIE\b', dynamic):
        problems.append('is not marked as a position independent executable')
    if 'GNU_RELRO' not in segments:
        problems.append('has no GNU_RELRO segment')
    if not re.search(r'\(FLAGS\).*BIND_NOW', dynamic) and not re.search(r'FLAGS_1.*\bNOW\b', dynamic):
        problems.append('is not bound at start (BIND_NOW)')
    if not re.search(r'GNU_STACK.*\bRW\b', segments) or re.search(r'GNU_STACK.*\bRWE\b', segments):
        problems.append('has an executable stack')
    if '(TEXTREL)' in dynamic:
        problems.append('has relocations in its text (TEXTREL)')
    if '__stack_chk_fail' not in imported:
        problems.append('does not use the stack protector')
    if 'glibcxx_assert_fail' not in imported:
        problems.append('has no assertions of the C++ library')
    return problems, bool(FORTIFIED.search(imported))


def unmarked_members(build):
    """Objects of our archives without the mark of -fcf-protection. Whether a program has it depends on the start files
    of the C library, too, and Debian's have not."""
    if not X86:
        return []
    problems = []
    for archive in sorted(build.rglob('libevenkeel_*.a')):
        for member in readelf(archive, '-n').split('\nFile: ')[1:]:
            if not re.search(r'x86 feature:.*\bIBT\b.*\bSHSTK\b', member):
                problems.append(f'{member.splitlines()[0]}: is not marked for control-flow enforcement (IBT, SHSTK)')
    return problems


def commands(build):
    """Problems of the commands that sources are compiled with; empty without compile_commands.json."""
    file = build / 'compile_commands.json'
    if not file.exists():
        return ['no compile_commands.json: configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON']
    problems = []
    for entry in json.loads(file.read_text()):
        words = entry['command'].split()
        missing = [flag for flag in FLAGS + (['-fcf-protection'] if X86 else []) if flag not in words]
        if not any(re.fullmatch(r'-D_FORTIFY_SOURCE=[23]', word) for word in words):
            missing.append('-D_FORTIFY_SOURCE')
        if not {'-fPIC', '-fPIE'} & set(words):
            missing.append('-fPIE')
        if missing:
            problems.append(f'{pathlib.Path(entry["file"]).name}: compiled without {" ".join(missing)}')
    return problems


def main():
    build = pathlib.Path(sys.argv[1])
    files = [pathlib.Path(name) for name in sys.argv[2:]] or list(linked_files(build))
    found = commands(build) + unmarked_members(build)
    fortified = 0
    for path in files:
        problems, chk = problems_of(path)
        fortified += chk
        found += [f'{path}: {problem}' for problem in problems]
    if not fortified:
        found.append(f'none of {len(files)} files calls a fortified function of the C library')
    for problem in found:
        print(problem)
    print(f'{len(files)} programs and libraries, {fortified} of them with fortified calls, {len(found)} problems')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
