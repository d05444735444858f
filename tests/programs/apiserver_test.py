#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program evenkeel-apiserver as a process: its flags, output and exit codes.

  apiserver_test.py PROGRAM
"""
import base64
import http.client
import http.server
import json
import os
import re
import select
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = None
START_SECONDS, STOP_SECONDS, ANSWER_SECONDS = 20, 5, 10

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: toys, singular: toy, kind: Toy, listKind: ToyList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: seeded}
data: {k: v}
"""


CERTIFY = ('openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=webhooks '
           '-addext subjectAltName=DNS:hooks.team.svc')
WEBHOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: deny}
webhooks:
- name: deny.example.com
  clientConfig: {service: {namespace: team, name: hooks, path: /deny}, caBundle: %s}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  sideEffects: None
  admissionReviewVersions: [v1]
"""


class Denier(http.server.BaseHTTPRequestHandler):
    """A webhook that denies everything."""

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        response = {'uid': review['request']['uid'], 'allowed': False, 'status': {'message': 'not today'}}
        body = json.dumps({'apiVersion': review['apiVersion'], 'kind': 'AdmissionReview', 'response': response}).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Running:
    def __init__(self, *flags):
        self.process = subprocess.Popen([PROGRAM, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        start = time.monotonic()
        ready = select.select([self.process.stdout], [], [], START_SECONDS)[0]
        self.line = self.process.stdout.readline().decode() if ready else ''
        self.started = time.monotonic() - start
        match = re.fullmatch(r'evenkeel-apiserver is ready at (https?)://127\.0\.0\.1:(\d+)\n', self.line)
        if not match:
            self.process.kill()
            raise AssertionError('waited for the ready line, got %r %r' % (self.line, self.process.stderr.read()))
        self.tls, self.port = match.group(1) == 'https', int(match.group(2))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def get(self, path, headers=None, method='GET', body=None):
        if self.tls:
            connection = http.client.HTTPSConnection('127.0.0.1', self.port, timeout=ANSWER_SECONDS,
                                                     context=ssl._create_unverified_context())
        else:
            connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=ANSWER_SECONDS)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
        connection.close()
        return status, body

    def stop(self, number=signal.SIGTERM):
        start = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(STOP_SECONDS)
        return code, time.monotonic() - start


def run(*flags):
    return subprocess.run([PROGRAM, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=START_SECONDS)


class ApiserverTest(unittest.TestCase):
    def test_serves_until_it_is_told_to_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Running() as server:
                self.assertEqual(server.get('/version')[0], 200)
                self.assertEqual(server.stop(number)[0], 0)

    def test_ends_at_once_with_watches_open(self):
        with Running() as server:
            watches = []
            for _ in range(50):
                watch = socket.create_connection(('127.0.0.1', server.port), ANSWER_SECONDS)
                watch.sendall(b'GET /api/v1/configmaps?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: h\r\n\r\n')
                self.assertIn(b' 200 ', watch.recv(100))
                watches.append(watch)
            code, seconds = server.stop()
            self.assertEqual(code, 0)
            self.assertLess(seconds, 2)
            for watch in watches:
                watch.close()

    def test_installs_manifests(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = os.path.join(folder, 'crd.yaml')
            with open(manifest, 'w') as file:
                file.write(CRD)
            with Running('--crd', manifest) as server:
                self.assertEqual(server.get('/apis/example.com/v1/toys')[0], 200)
                self.assertEqual(server.get('/api/v1/namespaces/default/configmaps/seeded')[0], 200)

    def test_keeps_its_kubeconfig_private_whatever_is_there_already(self):
        with tempfile.TemporaryDirectory() as folder:
            kubeconfig, other = os.path.join(folder, 'k'), os.path.join(folder, 'other')
            with open(other, 'w') as file:
                file.write('kept')
            os.chmod(other, 0o666)
            for prepare in (lambda path: os.symlink(other, path), lambda path: os.link(other, path)):
                for path in (kubeconfig, kubeconfig + '.new'):
                    prepare(path)
                with Running('--token', 's3cret', '--write-kubeconfig', kubeconfig):
                    found = os.lstat(kubeconfig)
                    self.assertTrue(stat.S_ISREG(found.st_mode))
                    self.assertEqual(stat.S_IMODE(found.st_mode), 0o600)
                    with open(kubeconfig) as file:
                        self.assertIn('s3cret', file.read())
                    with open(other) as file:
                        self.assertEqual(file.read(), 'kept')
                    self.assertEqual(sorted(os.listdir(folder)), ['k', 'other'])
                os.unlink(kubeconfig)

    def test_asks_for_its_token_over_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            kubeconfig = os.path.join(folder, 'kubeconfig')
            with Running('--tls', '--token', 's3cret', '--write-kubeconfig', kubeconfig) as server:
                self.assertTrue(server.tls)
                self.assertEqual(server.get('/version')[0], 401)
                self.assertEqual(server.get('/version', {'Authorization': 'Bearer s3cret'})[0], 200)
                self.assertEqual(stat.S_IMODE(os.stat(kubeconfig).st_mode), 0o600)
                with open(kubeconfig) as file:
                    text = file.read()
                self.assertIn('server: "https://127.0.0.1:%d"' % server.port, text)
                self.assertIn('token: "s3cret"', text)
                self.assertIn('certificate-authority-data: ', text)

    def test_its_token_expires(self):
        with Running('--token', 's3cret', '--token-expires-after', '0s') as server:
            self.assertEqual(server.get('/version', {'Authorization': 'Bearer s3cret'})[0], 401)
        with Running('--token', 's3cret', '--token-expires-after', '1h') as server:
            self.assertEqual(server.get('/version', {'Authorization': 'Bearer s3cret'})[0], 200)

    def test_injects_faults_and_logs_requests(self):
        with Running('--fault', 'verb=list,status=429,retry-after=3,count=1', '--fault', 'verb=get,drop=before,'
                     'resource=configmaps', '--log-requests') as server:
            status, body = server.get('/api/v1/configmaps')
            self.assertEqual(status, 429)
            self.assertEqual(json.loads(body)['details']['retryAfterSeconds'], 3)
            self.assertEqual(server.get('/api/v1/configmaps?limit=5')[0], 200)
            with self.assertRaises(http.client.RemoteDisconnected):
                server.get('/api/v1/namespaces/default/configmaps/a')
            server.stop()
            self.assertEqual(server.process.stderr.read().decode().splitlines(), [
                "evenkeel-apiserver: without --token, every request is an administrator's",
                'GET /api/v1/configmaps 429 kubernetes-admin',
                'GET /api/v1/configmaps?limit=5 200 kubernetes-admin',
                'GET /api/v1/namespaces/default/configmaps/a dropped kubernetes-admin'])

    def test_records_accesses(self):
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, 'accesses.txt')
            with open(record, 'w') as file:
                file.write('# of an earlier run\ndelete - pods default a\n')
            with Running('--access-record', record, '--access-record-user', 'kubernetes-admin') as server:
                self.assertEqual(server.get('/api/v1/namespaces/default/configmaps?watch=0')[0], 200)
                self.assertEqual(server.get('/version')[0], 200)
                self.assertEqual(server.get('/apis/apps/v1/namespaces/default/deployments/a')[0], 404)
                server.stop()
            with open(record) as file:
                self.assertEqual(file.read().splitlines(), [
                    '# Requests of clients of evenkeel-apiserver: verb, API group, resource, namespace and name; - is none, '
                    '* are various.',
                    'delete - pods default a', 'get apps deployments default a', 'list - configmaps default -'])
            with Running('--access-record', record + '.others', '--access-record-user', 'somebody') as server:
                self.assertEqual(server.get('/api/v1/configmaps')[0], 200)
                server.stop()
            with open(record + '.others') as file:
                self.assertEqual(len(file.read().splitlines()), 1)

    def test_says_what_is_wrong(self):
        with Running() as server, tempfile.TemporaryDirectory() as folder:
            broken = os.path.join(folder, 'broken.yaml')
            with open(broken, 'w') as file:
                file.write('apiVersion: v1\nkind: [\n')
            for code, flags, message in (
                    (1, ['--port', str(server.port)],
                     'cannot listen on 127.0.0.1:%d: Address already in use' % server.port),
                    (1, ['--crd', os.path.join(folder, 'missing')], 'missing: cannot read: No such file or directory'),
                    (1, ['--crd', broken], 'broken.yaml: '),
                    (2, ['--fault', 'verb=list'], 'fault rule: does nothing'),
                    (2, ['--token', 't', '--token-expires-after', 'soon'], 'expected a time like 10s, found "soon"'),
                    (2, ['--token-expires-after', '5s'], '--token'),
                    (2, ['--access-record', broken], '--access-record: ' + broken + ':1: expected VERB GROUP RESOURCE '
                     'NAMESPACE NAME, found "apiVersion: v1"'),
                    (2, ['--access-record-user', 'a'], '--access-record'),
                    (2, ['--webhook-service', 'hooks=127.0.0.1:1'],
                     'expected NAMESPACE/NAME=HOST:PORT, found "hooks=127.0.0.1:1"'),
                    (2, ['--fault', 'colour=red'], 'fault rule: unknown member "colour"'),
                    (1, ['--write-kubeconfig', os.path.join(folder, 'no', 'where')], 'cannot write: No such file'),
                    (2, ['--authorization-mode', 'ABAC'], '--authorization-mode: ABAC not in {AlwaysAllow,RBAC}'),
                    (2, ['--port', 'abc'], '--port'), (2, ['--nonsense'], '--nonsense')):
                done = run(*flags)
                self.assertEqual(done.returncode, code, flags)
                self.assertIn(message, done.stderr, flags)
                self.assertNotRegex(done.stderr, r'[\x00-\x08]', flags)
                self.assertEqual(done.stdout, '', flags)

    def test_calls_the_webhooks_of_a_service(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = os.path.join(folder, 'certificate.pem'), os.path.join(folder, 'key.pem')
            subprocess.run([*CERTIFY.split(), '-keyout', key, '-out', certificate], check=True, stderr=subprocess.DEVNULL)
            hooks = http.server.HTTPServer(('127.0.0.1', 0), Denier)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            hooks.socket = context.wrap_socket(hooks.socket, server_side=True)
            manifest = os.path.join(folder, 'webhook.yaml')
            with open(certificate, 'rb') as file, open(manifest, 'w') as out:
                out.write(WEBHOOK % base64.b64encode(file.read()).decode())
            thread = threading.Thread(target=hooks.serve_forever)
            thread.start()
            try:
                with Running('--webhook-service', 'team/hooks=127.0.0.1:%d' % hooks.server_port, '--crd', manifest) as server:
                    status, body = server.get('/api/v1/namespaces/default/configmaps', {'Content-Type': 'application/json'},
                                              'POST', '{"metadata":{"name":"a"}}')
            finally:
                hooks.shutdown()
                thread.join()
                hooks.server_close()
        self.assertEqual(status, 400)
        self.assertEqual(json.loads(body)['message'], 'admission webhook "deny.example.com" denied the request: not today')

    def test_tells_version_and_help(self):
        self.assertRegex(run('--version').stdout, r'^evenkeel-apiserver \d+\.\d+\.\d+\n$')
        usage = run('--help').stdout
        self.assertIn('--write-kubeconfig FILE', usage)
        self.assertIn('--authorization-mode MODE:{AlwaysAllow,RBAC}', usage)
        self.assertNotRegex(usage, r'[\x00-\x08]')


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
