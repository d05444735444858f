#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what docs/deployment.md says: applies what the demo operator prints with --print-manifests to the embedded API
server, runs the operator with the arguments of its Deployment, and holds every request that it sends against the rules of
its roles. The YAML of the page must be pieces of what is printed.

usage: check_deployment.py BUILD
  BUILD   a build folder with evenkeel-apiserver and demo-operator

A relay stands between operator and server and notes the request lines; kubectl goes to the server itself."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/deployment.md'
PRINTED = re.compile(r'<!-- printed by: (\S+) -->\n```yaml\n(.*?)```', re.S)
REQUEST = re.compile(rb'^(GET|POST|PUT|PATCH|DELETE) (\S+) HTTP/1\.1\r$', re.M)
DEMO = {'apiVersion': 'demo.evenkeel.dev/v1alpha1', 'kind': 'Demo', 'metadata': {'name': 'web', 'namespace': 'default'},
        'spec': {'replicas': 2, 'image': 'web:1'}}
IMAGE = 'registry.example.com/demo-operator:0.1'
SPACE = 'demo-operator-system'
SECONDS = 60
# An operator asks once whether a server answers; a 403 is an answer, too.
PREFLIGHT = ('get', '', 'namespaces')


class Relay:
    def __init__(self, port):
        self.port, self.requests = port, []
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.address = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.socket.accept()[0]
            server = socket.create_connection(('127.0.0.1', self.port))
            threading.Thread(target=self.copy, args=(client, server, self.note), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, lambda data: None), daemon=True).start()

    def note(self, data):
        self.requests += [(method.decode(), target.decode()) for method, target in REQUEST.findall(data)]

    @staticmethod
    def copy(source, sink, note):
        try:
            while data := source.recv(1 << 16):
                note(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def attributes(method, target):
    """(verb, group, resource with subresource, namespace) of a request, as an authorizer sees it; none of others."""
    path, _, query = target.partition('?')
    found = re.fullmatch(r'/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<space>[^/]+)(?=/))?'
                         r'/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?P<sub>/[^/]+)?)?', path)
    if not found:
        return None
    verb = {'POST': 'create', 'PUT': 'update', 'PATCH': 'patch', 'DELETE': 'delete'}.get(method)
    if method == 'GET':
        verb = 'watch' if re.search(r'\bwatch=(1|true)\b', query) else 'get' if found['name'] else 'list'
    return verb, found['group'] or '', found['resource'] + (found['sub'] or ''), found['space'] or ''


def granted(request, roles):
    verb, group, resource, space = request
    return any(verb in rule['verbs'] and group in rule['apiGroups'] and resource in rule['resources']
               for role in roles if role['kind'] == 'ClusterRole' or role['metadata']['namespace'] == space
               for rule in role['rules'])


class Check:
    def __init__(self, build):
        self.build, self.children = build, []
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.kubeconfig = self.folder / 'kubeconfig'

    def start(self, program, *arguments):
        log = open(self.folder / f'{program.name}.log', 'w', encoding='utf-8')
        self.children.append(subprocess.Popen([program, *map(str, arguments)], stdout=log, stderr=log))
        return self.children[-1]

    def kubectl(self, *arguments, text=None):
        done = subprocess.run(['kubectl', '--kubeconfig', self.kubeconfig, *arguments], input=text, capture_output=True,
                              text=True, timeout=SECONDS)
        if done.returncode:
            raise SystemExit(f'deployment.md: kubectl {" ".join(arguments)}: {done.stderr}')
        return done.stdout

    def run(self):
        server, operator = self.build / 'src/evenkeel-apiserver', self.build / 'examples/demo-operator'
        self.start(server, '--write-kubeconfig', self.kubeconfig)
        self.until('the server is there', lambda: self.kubeconfig.exists() and self.kubeconfig.stat().st_size)
        stale = [flag for flag, text in PRINTED.findall(PAGE.read_text()) if text not in self.printed(operator, flag)]
        self.kubectl('apply', '-f', '-', text=self.printed(operator, '--print-manifests'))
        deployment = json.loads(self.kubectl('-n', SPACE, 'get', 'deployment', 'demo-operator', '-o', 'json'))
        container = deployment['spec']['template']['spec']['containers'][0]
        roles = json.loads(self.kubectl('get', 'clusterroles/demo-operator', '-o', 'json')), json.loads(
            self.kubectl('-n', SPACE, 'get', 'roles/demo-operator-runtime', '-o', 'json'))

        direct = self.kubeconfig.read_text()
        relay = Relay(int(re.search(r'http://127\.0\.0\.1:(\d+)', direct)[1]))
        indirect = self.folder / 'relayed'
        indirect.write_text(re.sub(r'127\.0\.0\.1:\d+', f'127.0.0.1:{relay.address}', direct)
                            .replace('namespace: default', f'namespace: {SPACE}'))
        # Ports of one's own: the page's may be taken here.
        arguments = [re.sub(r'=:80(80|81)$', '=127.0.0.1:0', argument) for argument in container['args']]
        process = self.start(operator, '--kubeconfig', indirect, *arguments)
        self.kubectl('apply', '-f', '-', text=json.dumps(DEMO))
        self.until_field('demo/web', '.status.phase', 'Ready')
        self.kubectl('delete', 'demo/web', f'--timeout={SECONDS}s')
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=SECONDS)

        asked = {attributes(*request) for request in relay.requests} - {None}
        denied = sorted(one for one in asked if not granted(one, roles) and one[:3] != PREFLIGHT)
        for verb, group, resource, space in denied:
            print(f'deployment.md: no role grants {verb} of {resource}.{group} in namespace "{space}"')
        for flag in stale:
            print(f'deployment.md: demo-operator {flag} no longer prints a block of the page')
        said = [float(size) for size in re.search(r'has ([\d.]+) MB, or ([\d.]+) MB stripped', PAGE.read_text()).groups()]
        if any(abs(now / then - 1) > 0.25 for now, then in zip(self.sizes(operator), said)):
            print('deployment.md: the binary has %.1f MB, or %.1f MB stripped' % self.sizes(operator))
            stale.append('size')
        if code:
            print(f'deployment.md: the operator ended with code {code}')
        if ('patch', 'demo.evenkeel.dev', 'demos/status', 'default') not in asked:
            print(f'deployment.md: the relay did not see the operator at work: {sorted(asked)}')
            return 1
        print(f'deployment.md: {len(asked)} kinds of requests, {len(denied)} not granted')
        return 1 if denied or code or stale else 0

    @staticmethod
    def printed(operator, flag):
        return subprocess.run([operator, flag, '--manifest-image', IMAGE], capture_output=True, text=True, check=True).stdout

    def sizes(self, operator):
        """The sizes of a program, as it is and stripped, in MB."""
        stripped = self.folder / 'stripped'
        subprocess.run(['strip', '-o', stripped, operator], check=True)
        return operator.stat().st_size / 1e6, stripped.stat().st_size / 1e6

    def until_field(self, name, path, value):
        """Debian's kubectl, 1.20, cannot wait for a field."""
        self.until(f'{path} of {name} is {value}',
                   lambda: self.kubectl('get', name, '-o', f'jsonpath={{{path}}}') == value)

    @staticmethod
    def until(what, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f'deployment.md: not within {SECONDS} s: {what}')
            time.sleep(0.05)

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()


def main():
    check = Check(pathlib.Path(os.path.abspath(sys.argv[1])))
    try:
        return check.run()
    finally:
        check.end()


if __name__ == '__main__':
    sys.exit(main())
