#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what docs/guide.md says, in an empty folder, and compares what is printed with what the page says.

usage: check_guide.py PREFIX
  PREFIX   where the library is installed

In the page `<!-- file: NAME -->` stands above a block that is a file (`+ NAME` is appended to it), and `<!-- run -->` above
commands. They run in one shell, from the first to the last. A block without a language that follows commands is what they
print; `...` stands for anything, and so does an age like `1s`."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/guide.md'
BLOCK = re.compile(r'((?:<!--[^>]*-->\n)*)```(\w*)\n(.*?)```', re.S)
SECONDS = 300


def fits(expected, printed):
    pattern = '.*'.join(re.escape(part) for part in re.split(r'\.\.\.|\b\d+s\b', expected))
    return re.fullmatch(pattern, printed, re.S) is not None


class Shell:
    """A bash that is given one block after the other; each ends with a line that says so."""

    def __init__(self, folder, prefix):
        environment = dict(os.environ, PATH=f'{prefix}/bin:{os.environ["PATH"]}', CMAKE_PREFIX_PATH=str(prefix),
                           LD_LIBRARY_PATH=f'{prefix}/lib', HOME=str(folder),
                           CXXFLAGS='-Wall -Wextra -Werror')
        # A job gets a process group of its own, so that `kill %2` reaches it.
        self.process = subprocess.Popen(['bash', '--norc'], cwd=folder, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.process.stdin.write('set -m\n')

    def run(self, commands):
        self.process.stdin.write(f'set -e\n{commands}\nset +e\necho end-of-block\n')
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            if line == 'end-of-block\n':
                return ''.join(printed)
            printed.append(line)
        raise SystemExit(f'guide.md: a command failed in:\n{commands}\nprinted:\n{"".join(printed)}')

    def end(self):
        """Whatever it started goes with it."""
        self.process.stdin.close()
        jobs = subprocess.run(['ps', '-o', 'pid=', '--sid', str(self.process.pid)], capture_output=True, text=True)
        for pid in jobs.stdout.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass


def give_up(*_):
    raise SystemExit(f'guide.md: not done after {SECONDS} s')


def main():
    prefix = pathlib.Path(sys.argv[1]).resolve()
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    folder = pathlib.Path(tempfile.mkdtemp())
    shell = Shell(folder, prefix)
    files = runs = failed = 0
    printed = None
    try:
        for notes, language, text in BLOCK.findall(PAGE.read_text()):
            name = re.search(r'<!-- file: (\+ )?(\S+) -->', notes)
            if name:
                with open(folder / name[2], 'a' if name[1] else 'w', encoding='utf-8') as file:
                    file.write(text)
                files += 1
            elif '<!-- run -->' in notes:
                printed, runs = shell.run(text), runs + 1
            elif not language and printed is not None:
                if not fits(text, printed):
                    failed += 1
                    print(f'guide.md says:\n{text}printed was:\n{printed}')
                printed = None
    finally:
        shell.end()
        for log in sorted(folder.glob('*.log')) if failed else []:
            print(f'-- {log.name}\n{log.read_text()[-2000:]}')
        shutil.rmtree(folder)
    print(f'guide.md: {files} files written, {runs} blocks of commands run, {failed} differ')
    return 1 if failed or not runs else 0


if __name__ == '__main__':
    sys.exit(main())
