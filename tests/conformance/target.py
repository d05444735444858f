# SPDX-License-Identifier: Apache-2.0
"""The server under test: a program that prints "... is ready at URL" and writes a kubeconfig; it ends on SIGTERM."""
import base64
import contextlib
import os
import re
import select
import signal
import ssl
import subprocess
import tempfile
import time

START_SECONDS, STOP_SECONDS = 60, 30


class Target:
    """Address and credentials of a server. Thread-safe: immutable."""

    def __init__(self, url, kubeconfig):
        self.url = scalar(kubeconfig, 'server') or url
        self.token = scalar(kubeconfig, 'token')
        self.tls = context(kubeconfig) if self.url.startswith('https:') else None


def scalar(kubeconfig, key):
    """Returns the value of the only `key: value` of a kubeconfig as our programs write it: one scalar a line."""
    found = re.search(r'[\s{]%s:\s*("[^"]*"|[^\s,}]+)' % re.escape(key), kubeconfig)
    return found.group(1).strip('"') if found else ''


def context(kubeconfig):
    authority = scalar(kubeconfig, 'certificate-authority-data')
    if not authority:
        return ssl._create_unverified_context()
    made = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    certificate, key = scalar(kubeconfig, 'client-certificate-data'), scalar(kubeconfig, 'client-key-data')
    if certificate and key:
        with tempfile.NamedTemporaryFile() as file:
            file.write(base64.b64decode(certificate) + b'\n' + base64.b64decode(key))
            file.flush()
            made.load_cert_chain(file.name)
    return made


@contextlib.contextmanager
def running(program, flags=()):
    """Runs the program with these flags on a free port, as a Target. It must end cleanly and promptly on SIGTERM."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'kubeconfig')
        process = subprocess.Popen([program, '--write-kubeconfig', path, *flags], stdout=subprocess.PIPE)
        try:
            url = ready_url(process.stdout)
            with open(path) as file:
                target = Target(url, file.read())
            yield target
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                raise SystemExit('waited %d s for the program to end after SIGTERM' % STOP_SECONDS)
            if code != 0:
                raise SystemExit('the program ended with %d after SIGTERM' % code)
        finally:
            if process.poll() is None:
                process.terminate()  # if killed immediately, a control plane would leave its processes behind
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(STOP_SECONDS)
            if process.poll() is None:
                process.kill()
                process.wait()


def ready_url(stream):
    """Reads lines until one says "ready at URL"."""
    end, data = time.monotonic() + START_SECONDS, b''
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise SystemExit('waited %d s for the line that the server is ready; so far: %r' % (START_SECONDS, data))
        piece = os.read(stream.fileno(), 1)
        if not piece:
            raise SystemExit('the program ended before it was ready; so far: %r' % data)
        data += piece
        found = re.search(rb'ready at (\S+)\n', data)
        if found:
            return found.group(1).decode()
