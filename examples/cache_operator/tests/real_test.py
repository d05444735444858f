#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operator on a real control plane, installed with one `kubectl apply` and running with the rights of its service account.

  real_test.py CONTROL_PLANE OPERATOR

The controllers of Kubernetes make the Pods, which no node runs: the test says that they are ready."""
import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

DEADLINE_SECONDS = 120
SPACE = 'cache-operator-system'
SAMPLES = pathlib.Path(__file__).resolve().parent.parent / 'samples'
CERTIFY = ('openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=webhooks '
           '-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem')


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as free:
        return free.getsockname()[1]


class Cluster:
    def __init__(self, control_plane, operator, folder):
        self.folder, self.children, self.operator = pathlib.Path(folder), [], operator
        self.webhook = '127.0.0.1:%d' % free_port()
        subprocess.run(CERTIFY.split(), cwd=folder, check=True, capture_output=True)
        self.kubeconfig = self.folder / 'kubeconfig'
        self.start(control_plane, '--write-kubeconfig', self.kubeconfig, '--controller-manager', '--controllers',
                   'garbage-collector-controller,statefulset-controller,disruption-controller,cronjob-controller')
        self.until('the control plane is there', lambda: ' is ready at ' in self.log())

    def log(self):
        return (self.folder / 'log').read_text()

    def start(self, *command):
        with open(self.folder / 'log', 'a', encoding='utf-8') as log:
            self.children.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))
        return self.children[-1]

    def end(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
                child.wait(DEADLINE_SECONDS)

    def try_kubectl(self, *arguments, stdin=None):
        return subprocess.run(['kubectl', '--kubeconfig', self.kubeconfig, *arguments], input=stdin, text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS, check=False)

    def kubectl(self, *arguments, stdin=None):
        done = self.try_kubectl(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise SystemExit('kubectl %s: %s\n%s' % (' '.join(arguments), done.stderr, self.log()[-4000:]))
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.kubectl('get', *arguments, '-o', 'json'))

    def is_there(self, *arguments):
        return self.kubectl('get', *arguments, '--ignore-not-found') != ''

    def until(self, what, condition):
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > DEADLINE_SECONDS or any(one.poll() is not None for one in self.children):
                raise SystemExit('in vain: %s\n%s' % (what, self.log()[-4000:]))
            time.sleep(0.1)
        print('%-50s %7.3f s' % (what, time.monotonic() - begun), flush=True)

    def is_true(self, name, condition):
        conditions = self.get('memcached', name).get('status', {}).get('conditions', [])
        return any(one['type'] == condition and one['status'] == 'True' for one in conditions)

    def say_ready(self, name):
        """For each Pod of the cache, what a node would report."""
        for pod in self.get('pods', '-l', 'app.kubernetes.io/instance=' + name)['items']:
            ready = {'status': {'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]}}
            self.try_kubectl('patch', 'pod', pod['metadata']['name'], '--subresource=status', '-p', json.dumps(ready))


def install(cluster):
    """One apply, as a user does; only the address of the webhooks is another, because the operator runs outside."""
    manifests = subprocess.run([cluster.operator, '--print-manifests', '--manifest-image', 'example.com/cache-operator:0.1'],
                               check=True, capture_output=True, text=True).stdout
    cluster.kubectl('apply', '-f', '-', stdin=manifests)
    authority = base64.b64encode((cluster.folder / 'cert.pem').read_bytes()).decode()

    def moved(config):
        path = config.pop('service').get('path', '')
        return {**config, 'url': 'https://' + cluster.webhook + path, 'caBundle': authority}

    for kind in ('mutatingwebhookconfiguration', 'validatingwebhookconfiguration'):
        for found in cluster.get(kind)['items']:
            for webhook in found['webhooks']:
                webhook['clientConfig'] = moved(webhook['clientConfig'])
            cluster.kubectl('replace', '-f', '-', stdin=json.dumps(found))
    crd = cluster.get('crd', 'memcacheds.cache.evenkeel.dev')
    conversion = crd['spec']['conversion']['webhook']
    conversion['clientConfig'] = moved(conversion['clientConfig'])
    cluster.kubectl('replace', '-f', '-', stdin=json.dumps(crd))


def start_operator(cluster):
    """With the token of its service account."""
    token = cluster.kubectl('-n', SPACE, 'create', 'token', 'cache-operator').strip()
    config = json.loads(cluster.kubectl('config', 'view', '--raw', '-o', 'json'))
    for user in config['users']:
        user['user'] = {'token': token}
    for context in config['contexts']:
        context['context']['namespace'] = SPACE
    own = cluster.folder / 'operator.kubeconfig'
    own.touch(0o600)
    own.write_text(json.dumps(config))
    return cluster.start(cluster.operator, '--kubeconfig', own, '--leader-elect', '--metrics-bind-address=0',
                         '--health-probe-bind-address=0', '--webhook-bind-address=' + cluster.webhook,
                         '--webhook-cert-file', cluster.folder / 'cert.pem', '--webhook-key-file', cluster.folder / 'key.pem')


def check_versions(cluster):
    """An object of the old version becomes one of the new, and back."""
    cluster.kubectl('apply', '-f', str(SAMPLES / 'memcached_v1alpha1.yaml'))
    pages = cluster.get('memcached', 'pages')
    if (pages['apiVersion'], pages['spec']['replicas'], pages['spec']['memory']) != ('cache.evenkeel.dev/v1', 2, '128Mi'):
        raise SystemExit('converted to %s' % pages)
    sessions = cluster.get('memcacheds.v1alpha1.cache.evenkeel.dev', 'sessions')
    if (sessions['spec']['size'], sessions['spec']['secretName']) != (3, 'sessions-users'):
        raise SystemExit('converted to %s' % sessions)


def check_refusals(cluster):
    for patch, wanted in (({'spec': {'memory': '1Mi'}}, 'spec.memory: Invalid value: must be at least 8Mi'),
                          ({'spec': {'port': 2000}}, 'spec.port'),
                          ({'spec': {'threads': 64, 'connections': 8}}, 'there must be a connection for each thread')):
        done = cluster.try_kubectl('patch', 'memcached', 'sessions', '--type=merge', '-p', json.dumps(patch))
        if done.returncode == 0 or wanted not in done.stderr:
            raise SystemExit('%s: %d %s' % (patch, done.returncode, done.stderr))


def check(cluster):
    install(cluster)
    operator = start_operator(cluster)
    # Until the operator answers, the server refuses what it cannot show to the webhooks.
    cluster.until('the caches are created',
                  lambda: cluster.try_kubectl('apply', '-f', str(SAMPLES / 'memcached.yaml')).returncode == 0)
    check_versions(cluster)
    check_refusals(cluster)
    for name in ('sessions', 'pages'):
        wanted = cluster.get('memcached', name)['spec']['replicas']
        cluster.until('the Pods of %s are made' % name, lambda name=name, wanted=wanted: wanted == len(
            cluster.get('pods', '-l', 'app.kubernetes.io/instance=' + name)['items']))
        cluster.say_ready(name)
        cluster.until('%s is available' % name,
                      lambda name=name: cluster.is_true(name, 'Available') and not cluster.is_true(name, 'Progressing'))
    for kind in ('service', 'configmap', 'poddisruptionbudget', 'cronjob'):
        names = [one['metadata']['name'] for one in cluster.get(kind)['items'] if 'ownerReferences' in one['metadata']]
        print('%-50s %s' % (kind, ' '.join(sorted(names))))

    cluster.kubectl('delete', '-f', str(SAMPLES / 'memcached.yaml'), '--wait=false')
    cluster.until('the cache has drained and is gone', lambda: not cluster.is_there('memcached', 'sessions'))
    cluster.until('its objects are collected', lambda: not any(
        cluster.is_there(kind, '-l', 'app.kubernetes.io/instance=sessions')
        for kind in ('statefulset', 'service', 'configmap', 'poddisruptionbudget', 'cronjob', 'pod')))
    operator.send_signal(signal.SIGTERM)
    code = operator.wait(DEADLINE_SECONDS)
    if code != 0 or 'is forbidden' in cluster.log():
        raise SystemExit('ended with %d:\n%s' % (code, cluster.log()[-4000:]))


def main():
    os.umask(0o077)
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(sys.argv[1], sys.argv[2], folder)
        try:
            check(cluster)
        finally:
            cluster.end()


if __name__ == '__main__':
    main()
