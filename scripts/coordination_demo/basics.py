# SPDX-License-Identifier: Apache-2.0
"""What everything here needs: errors, waiting, HTTP, child processes, a connection that can be cut."""
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

SITES = ('dc1', 'dc2', 'dc3')
PROCESSES = {'storage': 8, 'log': 4, 'stateless': 4}  # of each site
QUIET = 30     # seconds without a new member before anything is done in agreement
SILENCE = 120  # seconds after which an operator that says nothing is not waited for, in most stories
GROUP = 'ringdb.evenkeel.dev'
SETS = ('pendingForRemoval', 'pendingForExclusion', 'readyForExclusion', 'pendingForInclusion', 'readyForInclusion',
        'pendingForRestart', 'readyForRestart')
# Which process groups wait for each other before they are excluded; the first is the rule of the operator's design.
READY_BY = ('process_class', 'transaction_system', 'all')
PRINT = threading.Lock()


class Failed(Exception):
    pass


class TooSlow(Failed):
    """The machine did not keep the pace that the scenario rests upon; nothing is shown by that."""


def say(text):
    with PRINT:
        print(text, flush=True)


def wait_for(what, condition, timeout):
    """Polls `condition` until it gives something true."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f'not within {timeout:.0f} s: {what() if callable(what) else what}')
        time.sleep(0.05)


def request(method, url, body=None, content_type='application/json', timeout=10, headers=None, context=None):
    data = None if body is None else json.dumps(body).encode()
    call = urllib.request.Request(url, data=data, method=method, headers={'Content-Type': content_type, **(headers or {})})
    with urllib.request.urlopen(call, timeout=timeout, context=context) as answer:
        return json.loads(answer.read() or b'{}')


class Process:
    """A program with its log in a file; SIGTERM ends it, whatever became of the script."""
    all = []

    def __init__(self, directory, name, arguments, environment=None):
        self.name = name
        self.log = directory / (name + '.log')
        self.out = open(self.log, 'a', encoding='utf-8')
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(self.arguments, stdout=self.out, stderr=self.out, start_new_session=True,
                                        env={**os.environ, **(environment or {})})
        Process.all.append(self)

    def check(self):
        if self.process.poll() is not None:
            raise Failed(f'{self.name} ended with code {self.process.returncode}; its log: {self.log}')

    def text(self):
        return self.log.read_text(encoding='utf-8')

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask_to_stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()

    def stop(self):
        self.ask_to_stop()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.out.close()


def free_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Proxy:
    """A way to the store that can be cut."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.open = True
        self.pairs = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.open:
                client.close()
                continue
            try:
                server = socket.create_connection(self.target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            self.pairs += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=(source, sink), daemon=True).start()

    @staticmethod
    def forward(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            shut(end)

    def cut(self):
        self.open = False
        for end in self.pairs:
            shut(end)
        self.pairs.clear()

    def heal(self):
        self.open = True

    def close(self):
        self.cut()
        self.listener.close()


def shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
