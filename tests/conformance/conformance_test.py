#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the scenarios against a server and compares its responses with those of a real control plane.

  conformance_test.py PROGRAM            each scenario is equal, or differs exactly as differences.txt states
  conformance_test.py PROGRAM --update   writes differences.txt and the table of docs/conformance.md
  conformance_test.py PROGRAM --true     all must be equal: verifies the recordings against a real control plane
  conformance_test.py PROGRAM --renamed  plays the scenarios of base with other names and values
  conformance_test.py PROGRAM --record   writes the recordings of scenarios/, against a real control plane

--flags 'A B' passes more flags to PROGRAM. PROGRAM prints "... is ready at URL", takes --write-kubeconfig FILE and ends on SIGTERM. README.md has the rest.
"""
import argparse
import collections
import concurrent.futures
import functools
import random
import shlex
import sys
import threading
import time

import differences
import exchange
import normalise
import recordings
import rename
import target

WORKERS = 8
ESTABLISH_SECONDS = 30


def install(server, setup):
    for document in setup:
        status, _, body = server.send('POST', document['path'], document['body'])
        if status not in (200, 201):
            raise SystemExit('installing %s: %d %s' % (document['body']['metadata']['name'], status, body))
    for document in setup:
        spec = document['body']['spec']
        path = '/apis/%s/%s/%s' % (spec['group'], spec['versions'][0]['name'], spec['names']['plural'])
        end = time.monotonic() + ESTABLISH_SECONDS
        while server.call('GET', path)[0] != 200:
            if time.monotonic() > end:
                raise SystemExit('waited %d s for %s to be served' % (ESTABLISH_SECONDS, path))
            time.sleep(0.05)


def answers(server, entry, lags=False):
    player = exchange.Player(server, lags)
    steps = [step['request'] for step in entry['steps']]
    return normalise.normalise(player.play(steps), player.env, steps)


def compare(server, entry, lags=False):
    """Returns the verdict and the differences. `lags`: of a real server."""
    if entry['stale']:
        return 'different', ['%s: record it (README.md)' % entry['stale']]
    try:
        got = answers(server, entry, lags)
    except Exception as error:  # a broken response may raise anything in the player
        return 'different', ['%s: %s' % (type(error).__name__, error)]
    differs = []
    for at, (step, answer) in enumerate(zip(entry['steps'], got)):
        differs += normalise.differences(normalise.without_prose(step['answer']), normalise.without_prose(answer),
                                         'step %d' % at)
    return ('different' if differs else 'equal'), differs


def record(server, entry):
    """Records the responses of the server if two runs give the same ones."""
    try:
        first, second = answers(server, entry, lags=True), answers(server, entry, lags=True)
    except exchange.Waited as error:
        return 'failed', [str(error)]
    unstable = [line for at, pair in enumerate(zip(first, second))
                for line in normalise.differences(*pair, 'step %d' % at)]
    if unstable:
        return 'unstable', unstable
    recordings.save(entry, first)
    return 'recorded', []


def for_all(scenarios, where, work):
    """Returns {name: work(server, scenario)}: first runs the exclusive scenarios, then the others concurrently."""
    local, results = threading.local(), {}

    def one(entry):
        if not hasattr(local, 'server'):
            local.server = exchange.Server(where)
        return work(local.server, entry)

    for entry in scenarios:
        if entry['alone']:
            results[entry['name']] = one(entry)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        pending = {entry['name']: pool.submit(one, entry) for entry in scenarios if not entry['alone']}
        results.update((name, future.result()) for name, future in pending.items())
    return {entry['name']: results[entry['name']] for entry in scenarios}


def judge(results, expected, verbose):
    """Prints unexpected verdicts; returns their number."""
    surprises = 0
    for name, (verdict, lines) in results.items():
        wanted = expected.get(name, ('equal', ''))[0]
        if verdict != wanted:
            surprises += 1
            print('%-50s %s, expected %s' % (name, verdict, wanted))
        elif verbose:
            print('%-50s %s' % (name, verdict))
        for line in lines[:None if verbose else 6] if verbose or verdict != wanted else []:
            print('      ' + line)
    return surprises


def chosen(scenarios, only):
    """Returns the scenarios with these names: areas, or area/name."""
    if not only:
        return scenarios
    wanted = [entry for entry in scenarios if {entry['name'], entry['name'].partition('/')[0]} & set(only)]
    for name in only:
        if not any(entry['name'] == name or entry['name'].startswith(name + '/') for entry in wanted):
            raise SystemExit('there is no scenario or area %s' % name)
    return wanted


def renamed(setup, scenarios, seed):
    print('seed %d' % seed)
    prefix, kinds = rename.choose(random.Random(seed))
    print('prefix %s, %s' % (prefix, ', '.join('%s -> %s' % pair for pair in kinds)))
    return (rename.rename_kinds(setup, kinds),
            [rename.renamed(entry, prefix, kinds) for entry in scenarios if entry['name'].startswith('base/')])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument('--record', action='store_true')
    mode.add_argument('--update', action='store_true')
    mode.add_argument('--true', action='store_true')
    mode.add_argument('--renamed', action='store_true')
    parser.add_argument('--flags', default='', type=shlex.split)
    parser.add_argument('--seed', type=int, default=20260101)
    parser.add_argument('--only', nargs='+', metavar='AREA[/NAME]')
    parser.add_argument('--verbose', action='store_true')
    return parser.parse_args()


def main():
    options = parse()
    setup, scenarios = recordings.setup(), chosen(recordings.load(), options.only)
    if options.record:
        scenarios = [entry for entry in scenarios if not entry['name'].startswith('base/')]
        for entry in [entry for entry in scenarios if entry['stale'] == 'has no source']:
            recordings.remove(entry)
            scenarios.remove(entry)
    if options.renamed:
        setup, scenarios = renamed(setup, scenarios, options.seed)
    start = time.monotonic()
    with target.running(options.program, options.flags) as where:
        install(exchange.Server(where), setup)
        work = record if options.record else functools.partial(compare, lags=options.true)
        results = for_all(scenarios, where, work)
    if options.update:
        differences.write({name: verdict for name, (verdict, _) in results.items()}, whole=not options.only)
        differences.update_document()
    expected = {} if options.true else differences.read()
    if options.record:
        expected = {name: ('recorded', '') for name in results}
    surprises = judge(results, expected, options.verbose)
    counts = collections.Counter(verdict for verdict, _ in results.values())
    print('%d scenarios in %.1f s: %s; %d not as expected' % (
        len(results), time.monotonic() - start,
        ', '.join('%d %s' % (count, verdict) for verdict, count in sorted(counts.items())), surprises))
    complaints = [] if options.only or options.record or options.true else list(differences.complaints())
    print('\n'.join(complaints), end='\n' if complaints else '')
    return 1 if surprises or complaints else 0


if __name__ == '__main__':
    sys.exit(main())
