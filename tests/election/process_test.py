#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Leader election between processes that end in all possible ways.

  process_test.py SERVER EXAMPLE...

SERVER is evenkeel-apiserver or evenkeel-control-plane. The candidates run the EXAMPLEs in turn; one whose name ends in
"-loop" may not have a second thread. The duration of each change of leadership is printed; no test fails because a
machine is slow.
"""
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE_SECONDS = 60
LEASE_SECONDS = 3
CONFIG_MAP = '{apiVersion: v1, kind: ConfigMap, metadata: {name: seen, namespace: default}}'


class Process:
    """A program whose output can be waited for line by line."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip())
        self.lines.put(None)

    def wait_for(self, wanted):
        """Skips lines until one contains `wanted`; returns it."""
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise SystemExit('%s: waited %d s for "%s"' % (self.name, DEADLINE_SECONDS, wanted)) from None
            self.seen.append(line or '')
            if line is None:
                raise SystemExit('%s ended while "%s" was awaited' % (self.name, wanted))
            print('%6.2f %s: %s' % (time.monotonic() - STARTED, self.name, line), flush=True)
            if wanted in line:
                return line

    def threads(self):
        return len(os.listdir('/proc/%d/task' % self.process.pid))

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Waits for the process to end; returns the exit code."""
        try:
            return self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            raise SystemExit('%s: waited %d s for its end' % (self.name, DEADLINE_SECONDS)) from None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def expect(condition, what):
    if not condition:
        raise SystemExit('expected: ' + what)


def expect_no_second_thread(candidate):
    if candidate.is_loop:
        expect(candidate.threads() == 1, '%s has one thread' % candidate.name)


def run(start):
    took = {}

    def timed(what, candidate, term):
        begun = time.monotonic()
        candidate.wait_for('leading, term %d' % term)
        took[what] = time.monotonic() - begun
        expect_no_second_thread(candidate)

    a = start('a')
    a.wait_for('leading, term 0')
    b = start('b')
    b.wait_for('holder: a')
    a.send(signal.SIGTERM)
    timed('the leader stopped', b, 1)
    expect(a.end() == 0, 'a leader that is told to stop ends with 0')

    c = start('c')
    c.wait_for('holder: b')
    b.send(signal.SIGKILL)
    timed('the leader was killed', c, 2)

    d = start('d')
    d.wait_for('holder: c')
    c.send(signal.SIGSTOP)
    timed('the leader was suspended', d, 3)
    c.send(signal.SIGCONT)
    c.wait_for('lost')
    c.wait_for('holder: d')

    d.send(signal.SIGINT)
    timed('it stopped, and the one that was suspended is a candidate again', c, 4)
    c.send(signal.SIGTERM)
    expect(c.end() == 0, 'it ends with 0 in its second term, too')
    if c.is_loop:
        expect(any('config map' in line for line in c.seen), 'its watch works beside the election')
    for what, seconds in took.items():
        print('%-70s %6.3f s' % (what, seconds))


def main():
    server_program, examples = sys.argv[1], sys.argv[2:]
    processes = []
    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = os.path.join(directory, 'kubeconfig')
        command = [server_program, '--write-kubeconfig', kubeconfig]
        if os.path.basename(server_program) == 'evenkeel-apiserver':  # a real control plane makes config maps itself
            command += ['--crd', os.path.join(directory, 'map.yaml')]
            with open(command[-1], 'w') as manifest:
                manifest.write(CONFIG_MAP)
        server = Process('server', command)
        processes.append(server)
        environment = dict(os.environ, KUBECONFIG=kubeconfig)

        def start(identity):
            example = examples[len(processes) % len(examples)]
            candidate = Process(identity, [example, 'election', identity, str(LEASE_SECONDS)], environment)
            candidate.is_loop = example.endswith('-loop')
            processes.append(candidate)
            return candidate

        try:
            server.wait_for('is ready')
            run(start)
            server.send(signal.SIGTERM)
            expect(server.end() == 0, 'the server ends with 0')
        finally:
            for process in processes:
                process.kill()
    return 0


STARTED = time.monotonic()
if __name__ == '__main__':
    sys.exit(main())
