#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every C++ block of README.md and docs/, without a warning, and checks that local links and their anchors lead somewhere and
that docs/README.md has a link to every page of docs/. Tables are compared with the code: flags of programs, files of a new
project, numbers of tests.

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
ANCHOR = re.compile(r'\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)')
PROGRAMS = {'apiserver': ['apiserver'], 'control_plane': ['environment'], 'coordctl': ['coordination'], 'curve': ['rate-limiting'],
            'etcd': ['coordination-etcd'], 'evenkeel': ['explain', 'types', 'scaffolding']}


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


def prose(text):
    return re.sub(r'```.*?```|`[^`\n]*`', '', text, flags=re.S)


def anchors(page):
    headings = re.findall(r'^#+ (.*)$', re.sub(r'```.*?```', '', page.read_text(), flags=re.S), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def stale_tables():
    """What the pages say of flags, files and numbers, and the code does not."""
    for name, pages in PROGRAMS.items():
        flags = set(re.findall(r'"(--[a-z][\w-]+)"', (ROOT / f'src/programs/{name}/main.cpp').read_text())) - {'--version'}
        text = ''.join((ROOT / f'docs/{page}.md').read_text() for page in pages)
        for flag in sorted(flags - set(re.findall(r'--[a-z][\w-]+', text))):
            yield f'docs/{pages[0]}.md: lacks {flag} of src/programs/{name}'
        if name == 'apiserver':
            for flag in sorted(set(re.findall(r'^\| `(--[\w-]+)', text, re.M)) - flags):
                yield f'docs/{pages[0]}.md: has {flag}, which src/programs/{name} lacks'
    table = (ROOT / 'docs/scaffolding.md').read_text()
    project = (ROOT / 'src/programs/evenkeel/scaffold/project.cpp').read_text()
    for start, end in re.findall(r'^ +\{"([^"]*)"(?: \+ file \+ "([^"]*)")?, templates::', project, re.M):
        if not any(f'`{name}`' in table for name in (start + 'website' + end if end else start, 'website' + end)):
            yield f'docs/scaffolding.md: no row for {start}{"..." if end else ""}{end}'
    commands = len(re.findall(r'^\$ ', (ROOT / 'tests/kubectl/recorded/1.36.txt').read_text(), re.M))
    if f'`tests/kubectl` runs {commands} commands' not in (ROOT / 'docs/apiserver.md').read_text():
        yield f'docs/apiserver.md: tests/kubectl runs {commands} commands'
    for file, tests in re.findall(r'^\| `(demo_\w+\.cpp)`.*?\| (\d+) \|', (ROOT / 'docs/testing.md').read_text(), re.M):
        if len(re.findall(r'^TEST', (ROOT / 'examples/demo' / file).read_text(), re.M)) != int(tests):
            yield f'docs/testing.md: {file} does not have {tests} tests'


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
    for complaint_of_table in stale_tables():
        print(complaint_of_table)
        failed += 1
    with tempfile.TemporaryDirectory() as scratch:
        for page in pages:
            text = page.read_text()
            for target in LINK.findall(prose(text)):
                if not (page.parent / target).exists():
                    print(f'{page.relative_to(ROOT)}: link to {target}, which does not exist')
                    failed += 1
            for target, anchor in ANCHOR.findall(prose(text)):
                other = page.parent / target if target else page
                if other.suffix == '.md' and other.exists() and anchor not in anchors(other):
                    print(f'{page.relative_to(ROOT)}: link to {target}#{anchor}, which does not exist')
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
