#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the recorded scenarios against evenkeel-apiserver and compares with the verdicts that are expected.

  conformance_test.py PROGRAM [--renamed [--seed N]] [--only NAME ...] [--verbose] [--update]

Without --renamed each scenario must have the verdict that expected.txt gives it: getting worse fails, and so
does getting better, so that the list stays true (--update writes it). With --renamed the scenarios are played
with other names and values, and each must have the verdict of the list.
"""
import argparse
import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time

import exchange
import rename

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, 'expected.txt')
START_SECONDS, STOP_SECONDS, ESTABLISH_SECONDS = 20, 5, 10


def read_line(stream, seconds, what):
    end = time.monotonic() + seconds
    data = b''
    while not data.endswith(b'\n'):
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise SystemExit('waited %d s for %s; so far: %r' % (seconds, what, data))
        piece = os.read(stream.fileno(), 1)
        if not piece:
            raise SystemExit('the program ended while %s was awaited' % what)
        data += piece
    return data.decode()


@contextlib.contextmanager
def running(program):
    """The program on a free port; yields its URL. It must end cleanly and at once when told to."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    try:
        yield read_line(process.stdout, START_SECONDS, 'the line that it is ready').split()[-1]
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise SystemExit('waited %d s for the program to end after SIGTERM' % STOP_SECONDS)
        if code != 0:
            raise SystemExit('the program ended with %d after SIGTERM' % code)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def load():
    folder = os.path.join(HERE, 'recorded')
    with open(os.path.join(folder, '_setup.json')) as file:
        setup = json.load(file)
    scenarios = []
    for name in sorted(os.listdir(folder)):
        if name.endswith('.json') and not name.startswith('_'):
            with open(os.path.join(folder, name)) as file:
                scenarios.append(json.load(file))
    return setup, scenarios


def install(server, setup):
    for document in setup:
        status, _, body = server.call('POST', document['path'], json.dumps(document['body']),
                                      {'Content-Type': 'application/json'})
        if status not in (200, 201):
            raise SystemExit('installing %s: %d %s' % (document['body']['metadata']['name'], status, body))
    for document in setup:
        spec = document['body']['spec']
        path = '/apis/%s/%s/%s' % (spec['group'], spec['versions'][0]['name'], spec['names']['plural'])
        end = time.monotonic() + ESTABLISH_SECONDS
        while server.call('GET', path, None, {})[0] != 200:
            if time.monotonic() > end:
                raise SystemExit('waited %d s for %s to be served' % (ESTABLISH_SECONDS, path))
            time.sleep(0.05)


def play(server, scenario):
    """The verdict, and what differs."""
    try:
        got, env = exchange.run(server, {'steps': [step['request'] for step in scenario['steps']]})
        got = exchange.normalise(got, env)
    except Exception as error:  # whatever a broken answer makes of the player
        return 'different', ['%s: %s' % (type(error).__name__, error)]
    differs = worded = []
    for at, (step, answer) in enumerate(zip(scenario['steps'], got)):
        want, place = step['answer'], 'step %d' % at
        worded = worded + list(exchange.differences(want, answer, place))
        differs = differs + list(exchange.differences(exchange.without_messages(want),
                                                      exchange.without_messages(answer), place))
    if differs:
        return 'different', differs
    return ('wording', worded) if worded else ('equal', [])


def read_expected():
    verdicts = {}
    with open(EXPECTED) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                name, verdict = line.split()
                verdicts[name] = verdict
    return verdicts


def write_expected(verdicts):
    with open(EXPECTED, 'w') as file:
        file.write('# What each recorded scenario is against the embedded server: equal, wording (equal but for\n'
                   '# the texts of messages) or different. Written by conformance_test.py --update.\n')
        for name, verdict in sorted(verdicts.items()):
            file.write('%s %s\n' % (name, verdict))


def judge(verdicts, expected, differences, verbose):
    ranks = ['different', 'wording', 'equal']
    surprises = 0
    for name, verdict in verdicts.items():
        wanted = expected.get(name, 'missing from expected.txt')
        note = ''
        if verdict != wanted:
            surprises += 1
            better = wanted in ranks and ranks.index(verdict) > ranks.index(wanted)
            note = '  <- expected %s%s' % (wanted, '; update expected.txt' if better else '')
        print('%-32s %-10s%s' % (name, verdict, note))
        for difference in differences[name][:None if verbose else 6] if note or verbose else []:
            print('      ' + difference)
    for name in sorted(set(expected) - set(verdicts)):
        surprises += 1
        print('%-32s was not played' % name)
    return surprises


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--renamed', action='store_true')
    parser.add_argument('--seed', type=int, default=20260101)
    parser.add_argument('--only', nargs='+')
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('--update', action='store_true')
    options = parser.parse_args()

    setup, scenarios = load()
    if options.renamed:
        print('seed %d' % options.seed)
        prefix, kinds = rename.choose(random.Random(options.seed))
        print('prefix %s, %s' % (prefix, ', '.join('%s -> %s' % pair for pair in kinds)))
        setup = rename.rename_kinds(setup, kinds)
        scenarios = [rename.renamed(scenario, prefix, kinds) for scenario in scenarios]
    if options.only:
        scenarios = [scenario for scenario in scenarios if scenario['name'] in options.only]
    verdicts, differences = {}, {}
    with running(options.program) as url:
        server = exchange.Server(url, '')
        install(server, setup)
        for scenario in scenarios:
            verdicts[scenario['name']], differences[scenario['name']] = play(server, scenario)
    if options.update:
        write_expected(verdicts)
    expected = read_expected() if os.path.exists(EXPECTED) else {}
    if options.only:
        expected = {name: verdict for name, verdict in expected.items() if name in options.only}
    surprises = judge(verdicts, expected, differences, options.verbose)
    counts = [list(verdicts.values()).count(verdict) for verdict in ('equal', 'wording', 'different')]
    print('%d scenarios: %d equal, %d equal but for message texts, %d different; %d not as expected'
          % (len(verdicts), *counts, surprises))
    return 1 if surprises else 0


if __name__ == '__main__':
    sys.exit(main())
