#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Five replicas of an operator that share 60 objects, some of which are killed, stopped and started.

  process_test.py SERVER SHARDS_OPERATOR

SERVER is evenkeel-apiserver or evenkeel-control-plane. From the lines that the replicas print about their runs it is
shown that no object is reconciled twice at a time, that terms never decrease, and that all objects are reconciled
again after each change. The durations are printed; no test fails because a machine is slow.
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE_SECONDS = 90
OBJECTS = 60


class Process:
    """A program; the lines that it printed, with those of a run as (what, key, term, nanoseconds)."""

    def __init__(self, name, command, environment=None):
        self.name, self.lines, self.runs, self.killed = name, [], [], None
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=environment)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if len(words) == 4 and words[0] in ('begin', 'end'):
                self.runs.append((words[0], words[1], int(words[2]), int(words[3])))
            else:
                self.lines.append(line.rstrip())

    def says(self, text):
        return any(text in line for line in list(self.lines))

    def keys_since(self, when):
        return {key for what, key, _, at in list(self.runs) if what == 'begin' and at > when}

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.killed is None:
            self.killed = time.monotonic_ns()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            raise SystemExit('%s does not end' % self.name) from None
        if code != 0:
            raise SystemExit('%s ended with %d:\n%s' % (self.name, code, '\n'.join(self.lines[-20:])))


def wait_until(what, condition, processes):
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > DEADLINE_SECONDS:
            for process in processes:
                print('---- %s\n%s' % (process.name, '\n'.join(process.lines[-20:])))
            raise SystemExit('waited %d s in vain: %s' % (DEADLINE_SECONDS, what))
        time.sleep(0.02)
    print('%-60s %7.3f s' % (what, time.monotonic() - begun), flush=True)


def all_run(replicas, when):
    keys = set()
    for replica in replicas:
        keys |= replica.keys_since(when)
    return len(keys) == OBJECTS


def check_runs(replicas):
    """Each run is an interval; one that was cut off ends when its replica was killed."""
    intervals = {}
    for replica in replicas:
        open_runs = {}
        for what, key, term, at in replica.runs:
            if what == 'begin':
                open_runs[key] = (term, at)
            else:
                term, begun = open_runs.pop(key)
                intervals.setdefault(key, []).append((begun, at, term, replica.name))
        for key, (term, begun) in open_runs.items():
            intervals.setdefault(key, []).append((begun, replica.killed, term, replica.name))
    runs = moves = 0
    for key, all_of_key in intervals.items():
        all_of_key.sort()
        for before, after in zip(all_of_key, all_of_key[1:]):
            if after[0] < before[1]:
                raise SystemExit('%s ran twice at a time: %s, %s' % (key, before, after))
            if after[2] < before[2]:
                raise SystemExit('%s ran in an older term: %s, %s' % (key, before, after))
            moves += before[3] != after[3]
        runs += len(all_of_key)
    print('%d runs of %d objects, %d times by another replica than before; none overlapped another'
          % (runs, len(intervals), moves))
    if moves < OBJECTS:
        raise SystemExit('too few objects moved')


def run(start):
    replicas = []

    def others():
        return [one for one in replicas if one.process.poll() is None]

    def settled(what, each=True):
        now = time.monotonic_ns()
        wait_until(what, lambda: all_run(others(), now) and
                   (not each or all(one.keys_since(now) for one in others())), replicas)

    replicas.append(start('a'))
    settled('one replica reconciles everything')
    replicas.extend(start(name) for name in 'bcde')
    settled('five share the objects')
    replicas[0].kill()
    replicas[2].kill()
    settled('two were killed with kill -9')
    replicas.extend(start(name) for name in 'fg')
    settled('two were started')
    replicas[1].stop()
    settled('one was stopped')
    for victim in (3, 4, 5):
        replicas[victim].kill()
    settled('three of the last four were killed at once')
    replicas[6].stop()
    for replica in replicas:
        replica.reader.join()
    check_runs(replicas)


def main():
    server_program, operator = sys.argv[1:]
    processes = []
    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = os.path.join(directory, 'kubeconfig')
        server = Process('server', [server_program, '--write-kubeconfig', kubeconfig])
        processes.append(server)
        environment = dict(os.environ, KUBECONFIG=kubeconfig)

        def start(name):
            processes.append(Process(name, [operator, '--objects', str(OBJECTS), '--log-level', 'warn'], environment))
            return processes[-1]

        try:
            wait_until('the server is ready', lambda: server.says('is ready'), processes)
            run(start)
            server.stop()
        finally:
            for process in processes:
                process.kill()
    return 0


if __name__ == '__main__':
    sys.exit(main())
