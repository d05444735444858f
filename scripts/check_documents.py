#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every C++ block of README.md and docs/, without a warning, and checks that local links lead somewhere and
that docs/README.md has a link to every page of docs/.

A block is a whole file if it contains a main() or an #include; otherwise it is put into a function body
that the line `<!-- code: NAME -->` above it may choose from docs/code/NAME.cpp.in (default: plain.cpp.in).
`<!-- code: from FILE -->` says that the block is a piece of that file, which the build compiles: it must be there word
for word. `<!-- code: skip REASON -->` passes over one block and is counted.
In the pages about the repository itself each path, make target and library that is named must exist.
docs/code/*.cpp are compiled as a release build is, with warnings as errors."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r'(?:<!--\s*code:\s*(?P<how>[^>]*?)\s*-->\s*\n)?```cpp[^\n]*\n(?P<code>.*?)```', re.S)
LINK = re.compile(r'\]\((?!https?:|#|mailto:)([^)#\s]+)')


ABOUT_THE_REPOSITORY = [ROOT / 'docs/architecture.md', ROOT / 'docs/glossary.md', ROOT / 'CONTRIBUTING.md',
                        ROOT / 'SECURITY.md']


def unknown_names(text):
    """The names in code of a page about the repository that do not exist: paths, make targets, libraries."""
    roots = [ROOT, ROOT / 'include/evenkeel', ROOT / 'src', ROOT / 'docs']
    targets = set(re.findall(r'^([\w-]+):', (ROOT / 'Makefile').read_text(), re.M))
    built = ''.join(path.read_text() for path in sorted((ROOT / 'src').rglob('*'))
                    if path.suffix == '.cmake' or path.name == 'CMakeLists.txt')
    libraries = set(re.findall(r'evenkeel_library\(\s*(\w+)', built)) | {'v0', 'Error'}
    for name in re.findall(r'`([^`\n]+)`', text):
        if found := re.fullmatch(r'make ([\w-]+).*', name):
            if found[1] not in targets:
                yield name
        elif found := re.fullmatch(r'evenkeel::(\w+)', name):
            if found[1] not in libraries:
                yield name
        elif re.fullmatch(r'[\w.<>*-]+/[\w.<>*/-]*|\.[a-z][\w-]+|[\w-]+\.(?:py|md|cmake)', name):
            pattern = re.sub(r'<\w+>', '*', name).rstrip('/')
            if not any(any(root.glob(pattern)) for root in roots):
                yield name


def unlisted_pages(index):
    """The pages of docs/ to which `index` has no link. A folder of pages counts as listed with a link to one of them."""
    listed = {target.split('/')[0] for target in LINK.findall(index)}
    pages = {page.relative_to(ROOT / 'docs').parts[0] for page in (ROOT / 'docs').rglob('*.md')}
    return sorted(pages - listed - {'README.md'})


def program(code, how):
    if 'int main(' in code or '#include' in code:
        return code.replace('#pragma once\n', '')
    frame = (ROOT / 'docs/code' / f'{how or "plain"}.cpp.in').read_text()
    return frame.replace('@CODE@', code)


COMPILER = ['g++', '-std=c++20', '-Wall', '-Wextra', '-Werror', '-I', str(ROOT / 'include')]


def complaint(name, source, options):
    """What the compiler says about a source, under `name`, or an empty text."""
    done = subprocess.run([*COMPILER, *options, str(source)], capture_output=True, text=True)
    return f'{name}: does not compile\n{done.stderr[:2000]}' if done.returncode else ''


def main():
    failed = skipped = quoted = 0
    sources = []  # the arguments of complaint()
    pages = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
    for page in ABOUT_THE_REPOSITORY:
        for name in unknown_names(page.read_text()):
            print(f'{page.relative_to(ROOT)}: names {name}, which does not exist')
            failed += 1
    for name in unlisted_pages((ROOT / 'docs/README.md').read_text()):
        print(f'docs/README.md: no line for {name}')
        failed += 1
    with tempfile.TemporaryDirectory() as scratch:
        for page in pages:
            text = page.read_text()
            for target in LINK.findall(re.sub(r'```.*?```|`[^`\n]*`', '', text, flags=re.S)):
                if not (page.parent / target).exists():
                    print(f'{page.relative_to(ROOT)}: link to {target}, which does not exist')
                    failed += 1
            for match in BLOCK.finditer(text):
                how = match['how'] or ''
                line = text[:match.start('code')].count('\n') + 1
                if how.startswith('skip'):
                    skipped += 1
                    continue
                if how.startswith('from '):
                    quoted += 1
                    if match['code'] not in (ROOT / how.split()[1]).read_text():
                        failed += 1
                        print(f'{page.relative_to(ROOT)}:{line}: is not in {how.split()[1]}')
                    continue
                source = pathlib.Path(scratch) / f'block{len(sources)}.cpp'
                source.write_text(program(match['code'], how))
                sources.append((f'{page.relative_to(ROOT)}:{line}', source, ['-fsyntax-only', '-Wno-unused']))
        for source in sorted((ROOT / 'docs/code').glob('*.cpp')):
            sources.append((source.relative_to(ROOT), source, ['-O3', '-c', '-o', '/dev/null']))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for text in filter(None, pool.map(lambda source: complaint(*source), sources)):
                failed += 1
                print(text)
    print(f'{len(pages)} pages, {len(sources)} blocks compiled, {quoted} quoted, {skipped} skipped, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
