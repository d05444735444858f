#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kubectl with a server program and compares its output with that recorded with a real API server.

  kubectl_test.py [--real] [--record] [--only PART]... KUBECTL SERVER [ARGUMENT]...

KUBECTL is a program, or "control-plane" for the one in the directory KUBEBUILDER_ASSETS.
SERVER writes a kubeconfig (--write-kubeconfig FILE), prints "... is ready at URL" and ends on SIGTERM; with --real it
is a real control plane. The commands are in parts_*.py; each part uses a separate namespace, and parts run
concurrently. recorded/MINOR.txt contains the output of a kubectl of that minor version with a real control plane
(complete for the newest one, differences for the others), and recorded/MINOR.embedded.txt the output that differs with
the embedded server, with reasons in differences.txt. --record writes one of these files; record the newest version
first. Exits with 77 if there is no record for the version of KUBECTL.
"""
import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import re
import shutil
import sys
import tempfile
import time

import parts_apply
import parts_custom
import parts_discovery
import parts_kinds
import parts_objects
import parts_workloads
from driver import Failure, Program, Server, Session

SKIPPED, SIDE_BY_SIDE = 77, 4
# The second run after the first: they list the served kinds.
ROUNDS = [[*parts_workloads.PARTS, *parts_kinds.PARTS, *parts_custom.PARTS, *parts_objects.PARTS, *parts_apply.PARTS],
          parts_discovery.PARTS]
NEWEST = '1.36'
HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, 'recorded')


def head(step):
    return step.split('\n', 1)[0]


def read_recording(name):
    """Returns {part: {index: step}}; empty if the file does not exist."""
    path, parts = os.path.join(RECORDED, name), {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            for part in file.read().split('\n== ')[1:]:
                title, _, text = part.partition('\n')
                steps = parts[title] = {}
                for entry in re.split(r'(?m)^(?=# step \d+\n)', text):
                    if entry.strip():
                        number, _, step = entry.partition('\n')
                        steps[int(number[len('# step '):])] = step.rstrip('\n')
    return parts


def write_recording(name, what, base, parts):
    """Writes the steps in which `parts` differ from `base`; steps that exist only in `base` are empty."""
    os.makedirs(RECORDED, exist_ok=True)
    with open(os.path.join(RECORDED, name), 'w', encoding='utf-8') as file:
        file.write('%s; written by kubectl_test.py --record\n' % what)
        for title, steps in parts.items():
            old = base.get(title, {})
            changed = [number for number in sorted({*old, *steps}) if old.get(number) != steps.get(number)]
            if changed:
                file.write('\n== %s\n%s\n' % (title, '\n'.join(
                    '# step %d\n%s' % (number, steps.get(number, '')) for number in changed)))


def over(base, changes):
    """Returns `base` with `changes` applied."""
    parts = {}
    for title in [*base, *(title for title in changes if title not in base)]:
        steps = {**base.get(title, {}), **changes.get(title, {})}
        parts[title] = {number: step for number, step in steps.items() if step}
    return parts


def recorded_real(minor):
    """Returns the records of the real server; for versions before the newest, only differences from that are stored."""
    if not os.path.exists(os.path.join(RECORDED, minor + '.txt')):
        return {}
    newest = read_recording(NEWEST + '.txt')
    return newest if minor == NEWEST else over(newest, read_recording(minor + '.txt'))


def read_reasons():
    """Returns [(part, pattern of commands, reason)]."""
    with open(os.path.join(HERE, 'differences.txt'), encoding='utf-8') as file:
        return [tuple(field.strip() for field in line.split('|', 2)) for line in file
                if line.strip() and not line.startswith('#')]


def reason_for(reasons, part, step):
    return next((entry for entry in reasons
                 if entry[0] == part and fnmatch.fnmatchcase(head(step)[len('$ kubectl '):], entry[1])), None)


def check_reasons(minor):
    """Checks that every difference has a reason, and that every reason applies to a difference."""
    real, reasons, failed = recorded_real(minor), read_reasons(), 0
    for part, answers in read_recording(minor + '.embedded.txt').items():
        for index, step in answers.items():
            if real.get(part, {}).get(index) == step:
                failed += 1
                print('FAILED: %s: %s no longer differs: --record' % (part, head(step)))
            elif not reason_for(reasons, part, step):
                failed += 1
                print('FAILED: %s: %s differs and differences.txt has no reason' % (part, head(step)))
    used = {reason_for(reasons, part, step) for name in os.listdir(RECORDED) if name.endswith('.embedded.txt')
            for part, answers in read_recording(name).items() for step in answers.values()}
    for reason in reasons:
        if reason not in used:
            failed += 1
            print('FAILED: nothing differs for the reason: %s' % ' | '.join(reason))
    return failed


def run_part(program, kubeconfig, part, real):
    """Returns the records of the part, and the reason if it ended early."""
    begun = time.monotonic()
    session = Session(program, kubeconfig, part.__name__, real)
    try:
        part(session)
        return session.steps, None, time.monotonic() - begun
    except Failure as failure:
        return session.steps, str(failure), time.monotonic() - begun


def run_parts(program, kubeconfig, options):
    results = {}
    for parts in ROUNDS:
        chosen = [part for part in parts if not options.only or part.__name__ in options.only]
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            running = {part.__name__: pool.submit(run_part, program, kubeconfig, part, options.real) for part in chosen}
            results.update({name: future.result() for name, future in running.items()})
    return results


def compare(wanted, real, results):
    """Prints the differences; returns the number of parts that differ. Output equal to the real one's is never wrong."""
    failed = 0
    for name, (steps, failure, seconds) in results.items():
        print('%-24s %3d commands %5.1f s' % (name, len(steps), seconds))
        lines = [] if not failure else ['FAILED ' + failure]
        for number in range(max(len(steps), len(wanted.get(name, {})))):
            step = steps[number] if number < len(steps) else ''
            old = wanted.get(name, {}).get(number, '')
            if step == real.get(name, {}).get(number) != old:
                print('  no longer differs: %s' % head(step))
            elif step != old:
                lines += difflib.unified_diff(old.splitlines(), step.splitlines(), 'recorded, step %d' % number, 'printed',
                                              n=4, lineterm='')
        if lines:
            failed += 1
            print('FAILED %s\n%s\n' % (name, '\n'.join(lines)))
    return failed


def record(options, program, results):
    minor, what, now = program.minor, 'what kubectl %s prints' % program.minor, {}
    for name, (steps, failure, seconds) in results.items():
        print('%-24s %3d commands %5.1f s' % (name, len(steps), seconds))
        if failure:
            raise Failure('%s: %s\n%s' % (name, failure, '\n'.join(steps)))
        now[name] = dict(enumerate(steps))
    if not options.real:
        kept = over(recorded_real(minor), read_recording(minor + '.embedded.txt')) if options.only else {}
        write_recording(minor + '.embedded.txt', what + ' where the embedded server answers otherwise than a real one',
                        recorded_real(minor), {**kept, **now})
        return
    now = {**(recorded_real(minor) if options.only else {}), **now}
    if minor == NEWEST:
        others = {name[:-len('.txt')]: recorded_real(name[:-len('.txt')]) for name in os.listdir(RECORDED)
                  if re.fullmatch(r'\d+\.\d+\.txt', name)}
        write_recording(minor + '.txt', what + ' to a real control plane', {}, now)
        for other in others.keys() - {NEWEST}:
            write_older(other, others[other])
    else:
        write_older(minor, now)


def write_older(minor, parts):
    write_recording(minor + '.txt', 'what kubectl %s prints to a real control plane where it is not what %s prints'
                    % (minor, NEWEST), recorded_real(NEWEST), parts)


def open_server(folder, kubectl, command):
    """A server that requires no credentials: kubectl must not prompt for any either."""
    kubeconfig = os.path.join(folder, 'open-kubeconfig')
    server = Server(command, kubeconfig)
    try:
        done = Session(kubectl, kubeconfig, 'open', False).run('get', 'configmaps')
        if done.stdout + done.stderr != 'No resources found in open-%d namespace.\n' % os.getpid():
            raise Failure('kubectl get configmaps without credentials: %s%s' % (done.stdout, done.stderr))
    finally:
        server.stop()


def run(options, folder):
    kubeconfig = os.path.join(folder, 'kubeconfig')
    program = Program(os.path.abspath(shutil.which(options.kubectl)), folder)
    real = wanted = recorded_real(program.minor)
    if not options.real:
        wanted = over(real, read_recording(program.minor + '.embedded.txt'))
    if not wanted and not options.record:
        print('SKIPPED: nothing is recorded of kubectl %s; recorded are %s. To record it: --real --record'
              % (program.version, ', '.join(sorted(name for name in os.listdir(RECORDED)))))
        return SKIPPED
    begun = time.monotonic()
    server = Server(options.server, kubeconfig)
    try:
        results = run_parts(program, kubeconfig, options)
    finally:
        code = server.stop()
    if options.record:
        record(options, program, results)
        return 0
    failed = compare(wanted, real, results)
    failed += 0 if options.real else check_reasons(program.minor)
    if code != 0:
        print('FAILED: the server ended with %s after SIGTERM' % code)
        failed += 1
    if not options.real:
        open_server(folder, program, options.server[:1])
    print('kubectl %s: %d commands, %d failures, %.1f s'
          % (program.version, sum(len(steps) for steps, _, _ in results.values()), failed, time.monotonic() - begun))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--real', action='store_true')
    parser.add_argument('--record', action='store_true')
    parser.add_argument('--only', action='append', metavar='PART')
    parser.add_argument('kubectl')
    parser.add_argument('server', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.kubectl == 'control-plane':
        options.kubectl = os.path.join(os.environ.get('KUBEBUILDER_ASSETS', ''), 'kubectl')
    if shutil.which(options.kubectl) is None:
        print('no kubectl at %s' % options.kubectl)
        return 1
    folder = tempfile.mkdtemp(prefix='evenkeel-kubectl-')
    try:
        return run(options, folder)
    except Failure as failure:
        print('FAILED %s' % failure)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
