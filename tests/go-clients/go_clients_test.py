#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Go program in this directory and compares what it tells of a server with what it told of a real one.

  go_clients_test.py [--real [--record]] SERVER [ARGUMENT]...

The program runs twice on one server: sending JSON, and sending protobuf for built-in kinds as clients in Go like to;
both must read like recorded.txt. SERVER writes a kubeconfig (--write-kubeconfig FILE), prints "... is ready at URL"
and ends on SIGTERM. --real says that it is a real control plane; where the embedded one differs, differences.txt has
the lines of both and why. The program is kept in the cache that scripts/control-plane uses. Ends with 77 if there is no
Go that can build it, unless EVENKEEL_REQUIRE_REAL is set.
"""
import argparse
import difflib
import hashlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED, BUILD_SECONDS, START_SECONDS, RUN_SECONDS, STOP_SECONDS = 77, 900, 60, 240, 20
HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def numbers(version):
    return tuple(int(part) for part in re.findall(r'\d+', version)[:2])


def check_go():
    """Older ones since 1.21 would download the one that go.mod asks for."""
    with open(os.path.join(HERE, 'go.mod')) as file:
        wanted = re.search(r'(?m)^go (\S+)', file.read()).group(1)
    if shutil.which('go') is None:
        raise Skipped('the program needs Go %s, and there is no go on the PATH' % wanted)
    found = subprocess.run(['go', 'env', 'GOVERSION'], env={**os.environ, 'GOTOOLCHAIN': 'local'}, cwd='/',
                           stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if numbers(found) < numbers(wanted):
        raise Skipped('the program needs Go %s, this is %s' % (wanted, found))


def cache_directory():
    base = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return os.path.join(os.environ.get('EVENKEEL_CACHE') or os.path.join(base, 'evenkeel'), 'go-clients')


def build():
    """The path of the program, built if it is not there yet."""
    digest = hashlib.sha256()
    for name in sorted(os.listdir(HERE)):
        if name.endswith('.go') or name in ('go.mod', 'go.sum'):
            with open(os.path.join(HERE, name), 'rb') as file:
                digest.update(file.read())
    program = os.path.join(cache_directory(), digest.hexdigest()[:16])
    if os.access(program, os.X_OK):
        return program
    check_go()
    os.makedirs(cache_directory(), exist_ok=True)
    # The flags of scripts/control-plane: what has been compiled for it is not compiled again.
    environment = {**os.environ, 'GOTOOLCHAIN': 'local', 'GOFLAGS': '-mod=readonly', 'CGO_ENABLED': '0'}
    new = '%s.%d' % (program, os.getpid())
    done = subprocess.run(['go', 'build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', new, '.'], cwd=HERE,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS)
    if done.returncode:
        raise Failure('go build:\n' + done.stdout)
    os.rename(new, program)
    return program


def start(command, kubeconfig):
    process = subprocess.Popen([*command, '--write-kubeconfig', kubeconfig], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    ready = select.select([process.stdout], [], [], START_SECONDS)[0]
    line = process.stdout.readline().decode() if ready else ''
    if ' is ready at ' not in line:
        process.kill()
        raise Failure('waited %d s for %s to be ready; it said %r' % (START_SECONDS, command[0], line))
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure('waited %d s for the server to end after SIGTERM' % STOP_SECONDS)


def transcript(program, kubeconfig, content):
    try:
        done = subprocess.run([program, '-content', content], env={**os.environ, 'KUBECONFIG': kubeconfig, 'NO_PROXY': '*'},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure('waited %d s for the program (%s)' % (RUN_SECONDS, content))
    print('with %s:\n%s' % (content, done.stderr))
    if done.returncode not in (0, 1):
        raise Failure('the program ended with %d:\n%s' % (done.returncode, done.stdout[-2000:]))
    return done.stdout


def on_the_embedded_one(recorded):
    """The recording with the lines replaced that differences.txt lists: '# why', '- real', '+ embedded'."""
    with open(os.path.join(HERE, 'differences.txt')) as file:
        entries = file.read().split('\n\n')
    for entry in entries:
        lines = [line for line in entry.splitlines() if line]
        real = ''.join(line[2:] + '\n' for line in lines if line.startswith('- '))
        own = ''.join(line[2:] + '\n' for line in lines if line.startswith('+ '))
        if not real:
            continue
        if not any(line.startswith('# ') for line in lines):
            raise Failure('no reason in differences.txt:\n' + entry)
        if real not in recorded:
            raise Failure('not in recorded.txt:\n' + real)
        recorded = recorded.replace(real, own)
    return recorded


def compare(wanted, told, content):
    lines = list(difflib.unified_diff(wanted.splitlines(), told.splitlines(), 'recorded', 'told with ' + content, n=3, lineterm=''))
    print('\n'.join(lines) if lines else '%s: %d lines, all as recorded' % (content, len(told.splitlines())))
    return not lines


def run(options, folder):
    program = build()
    kubeconfig = os.path.join(folder, 'kubeconfig')
    server = start(options.server, kubeconfig)
    try:
        told = {content: transcript(program, kubeconfig, content) for content in ('json', 'protobuf')}
    finally:
        stop(server)
    path = os.path.join(HERE, 'recorded.txt')
    if options.record:
        with open(path, 'w') as file:
            file.write(told['json'])
    with open(path) as file:
        wanted = file.read()
    if not options.real:
        wanted = on_the_embedded_one(wanted)
    return 0 if all([compare(wanted, text, content) for content, text in told.items()]) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--real', action='store_true')
    parser.add_argument('--record', action='store_true')
    parser.add_argument('server', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='evenkeel-go-')
    try:
        return run(options, folder)
    except Skipped as reason:
        print('SKIPPED: %s' % reason)
        return 1 if os.environ.get('EVENKEEL_REQUIRE_REAL') else SKIPPED
    except Failure as failure:
        print('FAILED: %s' % failure)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
