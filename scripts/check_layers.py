#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the floors of docs/architecture.md against the includes of the code.

Refused: an include of a higher floor, of another floor's detail/, of a private header of another floor unless it
is of base/ or says that it is shared with floors above, of the umbrella from inside, of a banned or third-party header in include/, and of threads, locks or clocks in a core.
Run by ctest; prints one line per offence and exits 1 if there is any."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A floor may include itself and the floors that it names here, with everything below them.
FLOORS = {
    'base': [],
    'ratelimit': ['base'],
    'workqueue': ['ratelimit'],
    'metrics': ['base'],
    'api': ['base'],
    'http': ['base'],
    'tracing': ['api', 'http'],
    'serve': ['http'],
    'client': ['api', 'http', 'ratelimit'],
    'cache': ['client'],
    'election': ['client'],
    'sharding': ['election'],
    'events': ['client'],
    'clusters': ['cache', 'events'],
    'controller': ['workqueue', 'cache', 'sharding', 'events', 'clusters'],
    'webhook': ['client', 'serve'],
    'manager': ['controller', 'election', 'serve', 'metrics', 'tracing', 'webhook'],
    'coordination': ['client', 'controller'],
    'apiserver': ['client', 'serve'],
    'testing': ['manager', 'coordination', 'apiserver'],
}
# Folders of a floor, lowest first: each may include itself and those before it.
FOLDERS = {'apiserver': ['text', 'schema', 'merge', 'store', 'openapi', 'query', 'access', 'request', 'webhook',
                         'rest', 'controllers', 'core', 'shell'],
           'client': ['config', 'request', 'call', 'watch', 'pods', 'discovery']}
BANNED = {'iostream', 'regex', 'filesystem', 'future', 'random', 'ranges', 'coroutine'}
THIRD_PARTY = re.compile(r'^(nlohmann|re2|spdlog|fmt|curl|simdjson\.h|yaml-cpp|yaml\.h|boost|openssl|zlib|zstd|CLI|gtest|gmock|benchmark)')
THIRD_PARTY_ALLOWED = {'include/evenkeel/api/nlohmann.hpp': 'nlohmann'}
# Cores decide; they get time and input as arguments. The header of a core lists the duties of its driver; a header
# that is named *_core and describes a shell says so.
SHARED = 'Shared with floors above.'
DRIVER = re.compile(r'^//+ Driver:', re.M)
SHELL = re.compile(r'^//+ Shell:', re.M)
# In the embedded API server everything is core but its shells.
CORE_FOLDERS = re.compile(r'^src/apiserver/(?!shell/)')
CORE_BANNED = {'thread', 'mutex', 'condition_variable', 'shared_mutex', 'evenkeel/base/mutex.hpp', 'evenkeel/base/clock.hpp'}
NOW = re.compile(r'\b(steady_clock|system_clock)::now\(')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def below(floor):
    seen, todo = set(), [floor]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += FLOORS[one]
    return seen


def floor_of(path):
    parts = path.parts
    for top in ('include/evenkeel', 'src'):
        prefix = pathlib.PurePath(top).parts
        if parts[:len(prefix)] == prefix and len(parts) > len(prefix) + 1:
            return parts[len(prefix)] if parts[len(prefix)] in FLOORS else None
    return None


def public_part(path):
    """Path of a header or source below include/evenkeel or src, without its suffix and the folder of its floor."""
    parts = path.with_suffix('').parts[1 if path.parts[0] == 'src' else 2:]
    if len(parts) > 2 and parts[1] in FOLDERS.get(parts[0], ()):
        parts = parts[:1] + parts[2:]
    return '/'.join(parts)


def cores(files):
    """Headers that list the duties of a driver, and the sources of the same names."""
    return {public_part(path) for path in files
            if path.suffix == '.hpp' and path.parts[0] in ('include', 'src') and DRIVER.search((ROOT / path).read_text())}


def is_core(path, known):
    return bool(path.parts[0] in ('include', 'src') and public_part(path) in known or CORE_FOLDERS.search(str(path)))


def is_shared(target):
    """Whether a private header says in its opening comment that floors above may include it."""
    header = ROOT / 'src' / target
    return not header.exists() or SHARED in header.read_text().split('#pragma once')[0]


def folder_offence(name, floor, target):
    """An include of a folder of the own floor that stands above."""
    folders = FOLDERS.get(floor)
    if not folders or not name.startswith(f'src/{floor}/') or not target.startswith(f'{floor}/'):
        return None
    own, other = name.split('/')[2], target.split('/')[1]
    if own in folders and other in folders and folders.index(other) > folders.index(own):
        return f'folder {own} includes {target} of a higher folder'
    return None


def offences(path, known_cores):
    name = str(path)
    text = (ROOT / path).read_text()
    core = is_core(path, known_cores)
    floor = floor_of(path)
    allowed = below(floor) if floor else None
    public = name.startswith('include/')
    for quote, target in INCLUDE.findall(text):
        if target == 'evenkeel/evenkeel.hpp' and name != 'include/evenkeel/evenkeel.hpp' and (public or name.startswith('src/')):
            yield 'includes the umbrella'
        if folder := folder_offence(name, floor, target):
            yield folder
        if (target.startswith('evenkeel/') and target.count('/') >= 2) or (quote == '"' and target.count('/') >= 1):
            other = target.removeprefix('evenkeel/').split('/')[0]
            if allowed is not None and other in FLOORS and other not in allowed:
                yield f'floor {floor} includes {target} of a higher floor'
            if quote == '"' and floor and other in FLOORS and other not in (floor, 'base') and not is_shared(target):
                yield f'includes a private header of another floor: {target}'
            if '/detail/' in target and floor != other and name.startswith(('include/', 'src/')):
                yield f'includes a private header of another floor: {target}'
        if public and target in BANNED:
            yield f'includes <{target}>, banned in public headers'
        if public and THIRD_PARTY.match(target) and not target.startswith(THIRD_PARTY_ALLOWED.get(name, '\0')):
            yield f'a third-party header in a public one: {target}'
        if core and target in CORE_BANNED:
            yield f'a core includes {target}'
    if core and NOW.search(text):
        yield 'a core reads a clock'
    if path.name.endswith('_core.hpp') and not (core and DRIVER.search(text) or SHELL.search(text)):
        yield 'says neither which duties the "Driver:" of the core has nor that it is a "Shell:"'
    if public and '#pragma once' not in text:
        yield 'has no #pragma once'
    if 'SPDX-License-Identifier: Apache-2.0' not in text[:200]:
        yield 'has no SPDX line'


def main():
    files = sorted(p.relative_to(ROOT) for top in ('include', 'src', 'tests', 'examples', 'benchmarks')
                   for ext in ('*.hpp', '*.cpp') for p in (ROOT / top).rglob(ext))
    known = cores(files)
    found = [f'{path}: {offence}' for path in files for offence in offences(path, known)]
    print('\n'.join(found) or f'{len(files)} files keep the floors')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
