#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks an installed library for its components, by find_package and by pkg-config, with other packages hidden, and
compares what is found and what is said.

usage: check_components.py PREFIX static|shared
  PREFIX   where the library is installed: static with all components but foundationdb, shared with all but apiserver and testing"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = 'workqueue metrics client tracing serve election coordination runtime process_groups apiserver testing'
PACKAGES = ['CURL', 'simdjson', 'yaml-cpp', 'OpenSSL', 'ZLIB', 'zstd', 'libyaml', 're2', 'spdlog', 'nlohmann_json', 'Boost', 'CLI11']
SHARED = 'workqueue metrics client tracing serve election coordination foundationdb runtime process_groups'


def case(name, expected, wanted='', optional='', hidden=(), kind='static'):
    return {'name': name, 'expected': expected, 'wanted': wanted, 'optional': optional, 'hidden': hidden, 'kind': kind}


def given(names):
    return f'-- targets: {names}; found: {names}'


CASES = [
    case('the queue needs no package', given('workqueue'), 'workqueue', hidden=PACKAGES),
    case('without COMPONENTS, all that can be found', given('workqueue metrics'), hidden=['simdjson']),
    case('without COMPONENTS, the rest is named', '-- evenkeel: left out: client needs simdjson, which CMake did not find; '
         'tracing needs simdjson, which CMake did not find; serve needs simdjson, which CMake did not find; election needs simdjson, which CMake did not find; coordination needs simdjson, which CMake did not find; '
         'runtime needs simdjson, which CMake did not find; process_groups needs simdjson, which CMake did not find; '
         'apiserver needs simdjson, which CMake did not find; testing needs simdjson, which CMake did not find', hidden=['simdjson']),
    case('without COMPONENTS, all', given(ALL)),
    case('a component brings those that it needs', given('workqueue client election'), 'election',
         hidden=['spdlog', 'Boost', 'CLI11', 'nlohmann_json']),
    case('several components', given('workqueue metrics client tracing serve election coordination runtime'), 'runtime;coordination'),
    case('a package that is missing is named', 'evenkeel: runtime needs spdlog, which CMake did not find',
         'runtime', hidden=['spdlog']),
    case('a package that another component needs is named', 'evenkeel: client needs yaml-cpp, which CMake did not find; '
         'election needs yaml-cpp, which CMake did not find', 'election', hidden=['yaml-cpp']),
    case('an unknown component', 'evenkeel: there is no component "queue"; this installation has: ' + ALL.replace(' ', ', '),
         'queue'),
    case('an optional component that is missing', given('workqueue metrics'), 'workqueue', 'runtime',
         hidden=['spdlog', 'CURL']),
    case('an optional component that does not exist', given('workqueue'), 'workqueue', 'queue'),
    case('a shared library brings its packages itself', given(SHARED), hidden=PACKAGES, kind='shared'),
]


def configure(prefix, tested, build):
    command = ['cmake', '-S', str(ROOT / 'tests/install/components'), '-B', str(build), f'-DCMAKE_PREFIX_PATH={prefix}',
               '-DCMAKE_BUILD_TYPE=Debug', f'-DWANTED={tested["wanted"]}', f'-DOPTIONAL={tested["optional"]}',
               *(f'-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON' for package in tested['hidden'])]
    done = subprocess.run(command, capture_output=True, text=True)
    # CMake breaks its messages' lines.
    return re.sub(r'\s+', ' ', done.stdout + done.stderr)


def check_pkg_config(prefix, kind):
    """Modules of this prefix alone: the queue is there, and the client misses what a static library needs."""
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=f'{prefix}/lib/pkgconfig')
    environment.pop('PKG_CONFIG_PATH', None)

    def ask(module):
        return subprocess.run(['pkg-config', '--print-errors', '--cflags', '--libs', module], env=environment,
                              capture_output=True, text=True)
    queue, client = ask('evenkeel-workqueue'), ask('evenkeel-client')
    if queue.returncode != 0:
        return f'pkg-config evenkeel-workqueue: {queue.stderr}'
    if kind == 'static' and 'libcurl' not in client.stderr:
        return f'pkg-config evenkeel-client does not ask for libcurl: {client.stdout}{client.stderr}'
    return ''


def main():
    prefix, kind = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    failed = tested = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, one in enumerate(c for c in CASES if c['kind'] == kind):
            build = pathlib.Path(scratch) / str(number)
            printed = configure(prefix, one, build)
            tested += 1
            ok = one['expected'] in printed
            if ok and one['name'] == 'the queue needs no package':
                ok = subprocess.run(['cmake', '--build', str(build)], capture_output=True).returncode == 0
            if not ok:
                failed += 1
                print(f'{one["name"]}: expected\n  {one["expected"]}\nprinted was\n  {printed}')
    problem = check_pkg_config(prefix, kind)
    if problem:
        failed += 1
        print(problem)
    print(f'components of the {kind} library: {tested} cases of find_package, and pkg-config; {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
