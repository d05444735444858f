#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/limits.md against the sources.

A row of a table that names an option or a constant must have its value: `Options::member`, `limits::name`, or a lone name
in a section whose heading names the options, or in a row that names the file. Each constant of src/base/limits.hpp must be
in a row, and each name and file must exist. Options are those of public headers, or the row names the file. Values that are no constants are not checked."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/limits.md'
UNITS = {'bytes': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30, 'ms': 1e-3, 's': 1, 'min': 60, 'h': 3600}
DURATIONS = {'milliseconds': 1e-3, 'seconds': 1, 'minutes': 60, 'hours': 3600}


def sources():
    for folder in ('include', 'src'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.hpp', '.cpp'):
                yield path, path.read_text()


TEXTS = dict(sources())


def texts_of(scope):
    """The texts in which a name of `scope` (a struct, a namespace or a file) is defined."""
    if '/' in scope:
        return [TEXTS.get(ROOT / scope) or TEXTS.get(ROOT / 'include/evenkeel' / scope, '')]
    found = []
    for text in TEXTS.values():
        for match in re.finditer(rf'^ *(?:struct|class|namespace) (?:EVENKEEL_API )?{scope}\b[^;]*?\{{', text, re.M):
            indent = re.match(r' *', match[0])[0]
            end = text.find(f'\n{indent}}}', match.end())
            found.append(text[match.end():end])
    return found


def is_public(scope):
    return any(re.search(rf'struct (?:EVENKEEL_API )?{scope}\b', text)
               for path, text in TEXTS.items() if path.is_relative_to(ROOT / 'include'))


def evaluate(expression, depth=0):
    """The number that a C++ constant has, durations in seconds; None if it is not understood."""
    text = re.sub(r"(?<=\d)'(?=\d)", '', expression.strip())
    text = re.sub(r'std::chrono::(\w+)\{([^}]*)\}', lambda m: f'({m[2]}) * {DURATIONS.get(m[1], "x")}', text)
    text = re.sub(r'std::size_t\{([^}]*)\}', r'(\1)', text)
    text = re.sub(r'(?<=\d)(?:UL|u|U|L)\b', '', text)
    if re.fullmatch(r'(?:limits::)?\w*[A-Za-z]\w*', text) and depth < 3:
        for source in TEXTS.values():
            if found := re.search(rf'\bconstexpr [\w:]+ {text.split("::")[-1]}\s*(?:=\s*|(?=\{{))([^;]+);', source):
                return evaluate(found[1].strip('{}') if found[1].startswith('{') else found[1], depth + 1)
    if not re.fullmatch(r'[\d.\se()*<+-]+', text):
        return None
    return eval(text)  # digits and operators only


def value_of(scope, name):
    """The default or value of a name, or None."""
    for text in texts_of(scope):
        if found := re.search(rf'\b{name}\s*(?:=\s*([^;,]+?(?:\{{[^}}]*\}}[^;,]*)?)|\{{([^}}]+)\}});', text, re.S):
            return evaluate(found[1] or found[2])
    return None


def numbers_in(cell):
    """The quantities of a cell; "5 s each" is 5, "1.5 MiB" the number of bytes, "2 GiB" both 2 and the bytes."""
    found = set()
    for number, unit in re.findall(r'(\d[\d,]*(?:\.\d+)?)(?: (bytes|KiB|MiB|GiB|ms|s|min|h)\b)?', cell):
        found.add(round(float(number.replace(',', '')) * UNITS.get(unit, 1), 6))
    return found


def complaints():
    section_scope = None
    text = PAGE.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('#'):
            scope = re.search(r'`(\w+Options)`', line)
            section_scope = scope[1] if scope else None
        if not line.startswith('|') or set(line) <= set('|- '):
            continue
        names = re.findall(r'`((?:\w+::)?[a-z]\w+)(?:\(\))?`', line)
        files = re.findall(r'`((?:src|include|serve|workqueue)/[\w./]+)`', line)
        for name in files:
            if not any((root / name).exists() for root in (ROOT, ROOT / 'include/evenkeel')):
                yield number, f'names {name}, which does not exist'
        said = numbers_in(re.sub(r'`[^`]*`', '', line))
        scope = None
        for name in names:
            explicit = '::' in name and not name.startswith('ek::')
            if explicit:
                scope, name = name.split('::')
            where = [place for place in (scope or section_scope, *files) if place]
            if explicit and scope.endswith('Options') and not files and not is_public(scope):
                yield number, f'names {scope}, which programs cannot set'
            values = [value for place in where if (value := value_of(place, name)) is not None]
            if not values and explicit and not any(re.search(rf'\b{name}\b', text) for text in texts_of(scope)):
                yield number, f'names {scope}::{name}, which does not exist'
            elif values and round(values[0], 6) not in said:
                yield number, f'{name} is {values[0]}, which the row does not say'
    for name in re.findall(r'constexpr [\w:]+ (\w+) =', (ROOT / 'src/base/limits.hpp').read_text()):
        if f'`limits::{name}`' not in text:
            yield 0, f'limits::{name} is in no row'


def main():
    failed = 0
    for number, complaint in complaints():
        failed += 1
        print(f'docs/limits.md:{number}: {complaint}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
