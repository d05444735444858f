# SPDX-License-Identifier: Apache-2.0
"""Runs a server program and a kubectl that uses it, and records the output of kubectl.

Values that differ between runs (ages, uids, versions, times, addresses, the namespace) are replaced in the records.
Every wait has a time limit and an error message with its condition.
"""
import json
import os
import re
import select
import signal
import stat
import subprocess
import threading
import time

START_SECONDS, STOP_SECONDS, COMMAND_SECONDS, WATCH_SECONDS = 60, 20, 60, 20


class Failure(Exception):
    pass


def without_managed_fields(text):
    """Removes the member from YAML and descriptions: kubectl hides it since 1.21."""
    kept, depth = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and (indent > depth or (indent == depth and line.lstrip().startswith('- '))):
            continue
        depth = None
        if line.strip() in ('managedFields:', 'Managed Fields:'):
            depth = indent
            continue
        kept.append(line)
    return '\n'.join(kept)


REPLACED = [(re.compile(pattern), by) for pattern, by in (
    (r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'UID'),
    (r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', 'TIME'),
    (r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000( UTC)?', 'TIME'),
    (r'[A-Z][a-z][a-z], \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d [+-]\d{4}', 'TIME'),
    (r'(resourceVersion(?:\\?")?: ?\\?")\d+', r'\1VERSION'),
    (r'(?m)^(UID +)\d+$', r'\1NUMBER'),
    (r'(/tmp/(?:kubectl-edit|LIVE|MERGED)-)[a-z0-9]+', r'\1NAME'),
    (r'(?m)^[WIE]\d{4} .* reflector\.go:.*\n?', ''),  # depends on when a wait ends
    (r'(?m)^([WIE])\d{4} [0-9:.]+ +\d+ (\S+):\d+\]', r'\1 \2]'),
    (r'("serverAddress": ")[0-9.]+:\d+', r'\1ADDRESS'),
    (r'(Resource Version: +)\d+', r'\1VERSION'),
    (r'https?://127\.0\.0\.1:\d+', 'SERVER'),
    (r'\b127\.0\.0\.1:\d+', 'ADDRESS'),
    (r'\b10\.\d+\.\d+\.\d+\b', 'CLUSTER-IP'),
    (r'(?i)(node-?port: +(?:\S+ +)?)3[0-2]\d{3}\b', r'\1NODE-PORT'),
    (r'(?<=:)3[0-2]\d{3}(?=/TCP)', 'NODE-PORT'),
    (r'(?m)\b\d+(ms|s|m)\d*s?$', 'AGE'),
    (r'(?m)(?<= )\d+(ms|s|m)(\d+s)?(?= )', 'AGE'),
    (r'(?<=\S) {2,}', '   '),  # the width of columns depends on replaced values
    (r'(?m)[ \t]+$', ''),
    # A difference in times only occurs if a second has passed.
    (r'(?m)^@@ .*\n(?: .*\n)*-( +time: "TIME")\n\+\1\n(?: .*\n?)*', ''),
)]


def normalised(text, namespace):
    text = text.replace(namespace, 'NS')
    for pattern, by in REPLACED:
        text = pattern.sub(by, text)
    return text.strip('\n')


class Server:
    """A server program, which writes `kubeconfig` before it is ready."""

    def __init__(self, command, kubeconfig):
        self.process = subprocess.Popen([*command, '--write-kubeconfig', kubeconfig], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL)
        ready = select.select([self.process.stdout], [], [], START_SECONDS)[0]
        line = self.process.stdout.readline().decode() if ready else ''
        if ' is ready at ' not in line:
            self.process.kill()
            self.process.wait()
            raise Failure('waited %d s for %s to be ready; it said %r' % (START_SECONDS, command[0], line))

    def stop(self):
        """Returns the exit code; None if it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


class Program:
    """A kubectl with a separate home directory."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = {'HOME': folder, 'NO_PROXY': '*', 'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'TZ': 'UTC',
                            'GOGC': 'off',  # a process ends before it pays to collect garbage
                            'KUBECACHEDIR': os.path.join(folder, 'cache')}
        done = subprocess.run([path, 'version', '--client', '-o', 'json'], env=self.environment, text=True,
                              stdout=subprocess.PIPE, timeout=COMMAND_SECONDS, check=True)
        version = json.loads(done.stdout)['clientVersion']
        self.version = version['gitVersion']
        self.minor = '%s.%s' % (version['major'], re.match(r'\d+', version['minor']).group(0))


class Watch:
    """A kubectl that runs in the background, and the lines that it printed."""

    def __init__(self, session, arguments):
        self.session, self.arguments, self.lines = session, arguments, []
        self.process = subprocess.Popen(session.command(arguments), env=session.environment, cwd=session.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip('\n'))
                self.changed.notify_all()

    def wait_for_text(self, text):
        self.wait_until(lambda: any(text in line for line in self.lines), 'a line with %r' % text)

    def wait_for(self, count):
        self.wait_until(lambda: len(self.lines) >= count, '%d lines' % count)

    def wait_until(self, holds, what):
        end = time.monotonic() + WATCH_SECONDS
        with self.changed:
            while not holds():
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() > end:
                    self.process.kill()
                    raise Failure('waited %d s for %s of kubectl %s; got %s'
                                  % (WATCH_SECONDS, what, ' '.join(self.arguments), self.lines))

    def end(self, by_itself=False, last=0):
        """Records its output, or its `last` lines. It is stopped, or must end `by_itself`."""
        code = ''
        if by_itself:
            try:
                code = self.process.wait(WATCH_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise Failure('waited %d s for the end of kubectl %s' % (WATCH_SECONDS, ' '.join(self.arguments)))
        else:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.session.note(self.arguments, '\n'.join(self.lines[-last:]), code or 0)


class Session:
    """kubectl in a separate namespace; calling it runs a command and records the output.

    `real`: Kubernetes' own controllers are running, so tests wait for them.
    """

    def __init__(self, program, kubeconfig, name, real):
        self.program, self.name, self.real = program, name, real
        self.namespace = '%s-%d' % (name.replace('_', '-'), os.getpid())
        self.folder = os.path.join(program.folder, name)
        os.mkdir(self.folder)
        self.environment = {**program.environment, 'KUBECONFIG': os.path.join(self.folder, 'kubeconfig')}
        with open(kubeconfig) as source, open(self.environment['KUBECONFIG'], 'w') as target:
            target.write(source.read())
        self.steps = []
        self.run('create', 'namespace', self.namespace, check=True)
        self.run('config', 'set-context', '--current', '--namespace', self.namespace, check=True)

    def command(self, arguments):
        return [self.program.path, '--cache-dir', self.program.environment['KUBECACHEDIR'], *arguments]

    def run(self, *arguments, stdin=None, environment=None, check=False):
        """Runs a command without recording it."""
        try:
            done = subprocess.run(self.command(arguments), input=stdin or '', text=True, cwd=self.folder,
                                  env={**self.environment, **(environment or {})}, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure('waited %d s for kubectl %s' % (COMMAND_SECONDS, ' '.join(arguments)))
        if check and done.returncode:
            raise Failure('kubectl %s: %s' % (' '.join(arguments), done.stderr))
        return done

    def __call__(self, arguments, stdin=None, edit=None):
        """Records both streams of a command and its exit code.

        `arguments`: a list, or a string that is split at blanks. `edit`: a sed expression that serves as the editor.
        """
        arguments = arguments.split() if isinstance(arguments, str) else arguments
        done = self.run(*arguments, stdin=stdin, environment=self.editor(edit) if edit else None)
        self.note(arguments, done.stdout + done.stderr, done.returncode)

    def note(self, arguments, text, code):
        command = '$ kubectl ' + ' '.join(arg if re.fullmatch(r'\S+', arg) else repr(arg) for arg in arguments)
        body = text if '--show-managed-fields' in arguments else without_managed_fields(text)
        lines = [normalised(command, self.namespace), normalised(body, self.namespace)]
        self.steps.append('\n'.join([line for line in lines if line] + (['[exit %d]' % code] if code else [])))

    def outline(self, arguments):
        """Records the output of explain without descriptions, which are Kubernetes' prose."""
        done = self.run(*arguments.split())
        kept = [line for line in done.stdout.splitlines() if re.match(r'[A-Z]+:? *\S* *$| *[a-zA-Z]+\t<| *enum: |[A-Z]+: ', line)]
        self.note(arguments.split(), '\n'.join(kept) + done.stderr, done.returncode)

    def raw(self, arguments, stdin=None):
        """Records a JSON document that a command prints, with the members of objects sorted."""
        done = self.run(*arguments.split(), stdin=stdin)
        try:
            text = json.dumps(json.loads(done.stdout), sort_keys=True, indent=1)
        except ValueError:
            text = done.stdout
        self.note(arguments.split(), text + done.stderr, done.returncode)

    def watch(self, arguments):
        return Watch(self, arguments.split())

    def wait_until(self, what, arguments, wanted):
        """Runs a command, without recording it, until it prints `wanted`."""
        end = time.monotonic() + WATCH_SECONDS
        while True:
            printed = self.run(*arguments.split()).stdout.strip()
            if printed == wanted:
                return
            if time.monotonic() > end:
                raise Failure('waited %d s until %s; last: %r' % (WATCH_SECONDS, what, printed))

    def editor(self, expression):
        path = os.path.join(self.folder, 'editor')
        with open(path, 'w') as file:
            file.write('#!/bin/sh\nexec sed -i "%s" "$1"\n' % expression)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return {'KUBE_EDITOR': path}

    def write(self, name, text):
        """Creates a file in the working directory of kubectl."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text)
