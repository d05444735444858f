#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operator as a process, installed with what it prints of itself.

  process_test.py APISERVER OPERATOR

The embedded API server has the printed manifests from the start, and calls the webhooks over TLS with the certificates that the
operator makes and injects. The part of the StatefulSet's controller is played here."""
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

DEADLINE_SECONDS = 240
SPACE = 'cache-operator-system'
WEBHOOK = SPACE + '/cache-operator-webhook'
CACHES = '/apis/cache.evenkeel.dev/v1/namespaces/default/memcacheds'
SETS = '/apis/apps/v1/namespaces/default/statefulsets'
JOBS = '/apis/batch/v1/namespaces/default/cronjobs'
SECRETS = '/api/v1/namespaces/default/secrets'
MERGE = 'application/merge-patch+json'
# Stands for nc: notes what it is asked, and answers as memcached does.
NC = """#!/bin/sh
echo "to $3:$4" >>asked
tr -d '\\r' >>asked
printf 'STORED\\r\\nOK\\r\\n'
"""
FLUSHED = """to sessions-0.sessions:11211
set auth 0 0 10
ada engine
flush_all
quit
to sessions-1.sessions:11211
set auth 0 0 10
ada engine
flush_all
quit
"""


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as free:
        return free.getsockname()[1]


class Cluster:
    def __init__(self, server, operator, folder):
        self.folder, self.children, self.webhook = pathlib.Path(folder), [], '127.0.0.1:%d' % free_port()
        self.kubeconfig, self.operator = self.folder / 'kubeconfig', operator
        manifests = self.folder / 'manifests.yaml'
        manifests.write_bytes(subprocess.run([operator, '--print-manifests'], check=True, capture_output=True).stdout)
        self.start(server, '--write-kubeconfig', self.kubeconfig, '--crd', manifests, '--webhook-service',
                   '%s=%s' % (WEBHOOK, self.webhook))
        self.until('the server is there', lambda: self.kubeconfig.exists() and self.kubeconfig.stat().st_size)
        text = self.kubeconfig.read_text()
        self.url = re.search(r'http://127\.0\.0\.1:\d+', text)[0]
        self.kubeconfig.write_text(text.replace('namespace: default', 'namespace: ' + SPACE))

    def start(self, *command):
        log = open(self.folder / 'log', 'a', encoding='utf-8')
        self.children.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))
        return self.children[-1]

    def start_operator(self):
        return self.start(self.operator, '--kubeconfig', self.kubeconfig, '--leader-elect', '--console',
                          '--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=127.0.0.1:0',
                          '--webhook-bind-address=' + self.webhook, '--webhook-service=' + WEBHOOK)

    def request(self, path, body=None, method=None, kind='application/json'):
        """(status, answer)"""
        data = None if body is None else json.dumps(body).encode()
        question = urllib.request.Request(self.url + path, data, {'Content-Type': kind}, method=method)
        try:
            with urllib.request.urlopen(question, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def get(self, path):
        return self.request(path)[1]

    def until(self, what, condition):
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > DEADLINE_SECONDS or any(one.poll() is not None for one in self.children):
                raise SystemExit('in vain: %s\n%s' % (what, (self.folder / 'log').read_text()[-4000:]))
            time.sleep(0.05)
        print('%-50s %7.3f s' % (what, time.monotonic() - begun), flush=True)

    def is_true(self, condition):
        conditions = self.get(CACHES + '/sessions').get('status', {}).get('conditions', [])
        return any(one['type'] == condition and one['status'] == 'True' for one in conditions)

    def play_statefulset(self):
        found = self.get(SETS + '/sessions')
        wanted = found['spec']['replicas']
        status = {'observedGeneration': found['metadata']['generation'], 'replicas': wanted, 'updatedReplicas': wanted,
                  'readyReplicas': wanted}
        self.request(SETS + '/sessions/status', {'status': status}, 'PATCH', MERGE)

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()


def cache(**spec):
    return {'apiVersion': 'cache.evenkeel.dev/v1', 'kind': 'Memcached', 'metadata': {'name': 'sessions'}, 'spec': spec}


def check_old_version(cluster):
    """The server has the operator convert: what is written in the old version is read in the new one."""
    sample = (pathlib.Path(__file__).resolve().parent.parent / 'samples' / 'memcached_v1alpha1.yaml').read_bytes()
    question = urllib.request.Request(cluster.url + CACHES.replace('/v1/', '/v1alpha1/'), sample,
                                      {'Content-Type': 'application/yaml'})
    with urllib.request.urlopen(question, timeout=60) as answer:
        written = json.load(answer)
    pages = cluster.get(CACHES + '/pages')
    if (written['spec']['size'], pages['spec']['replicas'], pages['spec']['memory']) != (2, 2, '128Mi'):
        raise SystemExit('converted to %s and %s' % (written, pages))


def check_flush_job(cluster):
    """Runs the command of the job as a Pod would."""
    job = cluster.get(JOBS + '/sessions-flush')
    container = job['spec']['jobTemplate']['spec']['template']['spec']['containers'][0]
    (cluster.folder / 'nc').write_text(NC)
    (cluster.folder / 'nc').chmod(0o700)
    (cluster.folder / 'users').write_text('ada:engine\n')
    environment = {one['name']: one['value'] for one in container['env']}
    environment.update(USERS='users', PATH='%s:/usr/bin:/bin' % cluster.folder)
    subprocess.run(container['command'], check=True, cwd=cluster.folder, env=environment, timeout=DEADLINE_SECONDS)
    asked = (cluster.folder / 'asked').read_text()
    if asked != FLUSHED:
        raise SystemExit('the job sends:\n' + asked)


def check(cluster):
    operator = cluster.start_operator()
    # Until the authority is injected, the server does not trust the webhooks and refuses every write.
    cluster.request(SECRETS, {'metadata': {'name': 'users'}, 'stringData': {'users': 'ada:engine'}})
    wanted = cache(replicas=2, auth={'secretName': 'users'}, flush={'schedule': '0 3 * * *'})
    cluster.until('a cache is created', lambda: cluster.request(CACHES, wanted)[0] == 201)
    image = cluster.get(CACHES + '/sessions')['spec']['image']
    if not image.startswith('memcached:'):
        raise SystemExit('the webhook set no image: ' + image)
    status, answer = cluster.request(CACHES + '/sessions', {'spec': {'memory': '1Mi'}}, 'PATCH', MERGE)
    if status != 422 or 'spec.memory: Invalid value: must be at least 8Mi' not in answer['message']:
        raise SystemExit('the webhook let 1Mi pass: %d %s' % (status, answer))

    check_old_version(cluster)
    cluster.until('the servers are applied', lambda: cluster.request(SETS + '/sessions')[0] == 200)
    check_flush_job(cluster)
    cluster.play_statefulset()
    cluster.until('it is available', lambda: cluster.is_true('Available') and not cluster.is_true('Progressing'))

    cluster.request(CACHES + '/sessions', method='DELETE')
    cluster.until('the servers are told to stop', lambda: cluster.get(SETS + '/sessions')['spec']['replicas'] == 0)
    cluster.play_statefulset()
    cluster.until('it is gone', lambda: cluster.request(CACHES + '/sessions')[0] == 404)

    operator.send_signal(signal.SIGTERM)
    code = operator.wait(DEADLINE_SECONDS)
    if code != 0:
        raise SystemExit('ended with %d:\n%s' % (code, (cluster.folder / 'log').read_text()[-4000:]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(sys.argv[1], sys.argv[2], folder)
        try:
            check(cluster)
        finally:
            cluster.end()


if __name__ == '__main__':
    main()
