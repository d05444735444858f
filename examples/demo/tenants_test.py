#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo operator as a process with 5,100 objects of 51 tenants at once and 128 MiB of memory.

  tenants_test.py APISERVER OPERATOR

The first tenant has thousands of objects, the fiftieth a hundred, the others 40 each. All of them are there when the operator
starts, with a setting that makes namespaces take turns. It must not exceed its memory, must stay ready, must complete every object, and the
objects of the fiftieth tenant must be complete when their turns have come: in the order of the server's watch events, which is that
of the writes. While a worker waits for a processor the others go on, so two objects for each worker may be late, by a tenth of
the turns."""
import http.client
import json
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

TENANTS, FIFTIETH = 51, 'tenant-50'
OBJECTS = {'tenant-%02d' % number: 40 for number in range(1, TENANTS + 1)} | {'tenant-01': 3040, FIFTIETH: 100}
WORKERS, MEMORY = 4, 128 << 20
# Turns until the fiftieth tenant has had its hundred: every tenant has had as many, or all its objects.
TURNS = sum(min(objects, OBJECTS[FIFTIETH]) for objects in OBJECTS.values())
DEADLINE_SECONDS = 240
DEMOS = '/apis/demo.evenkeel.dev/v1alpha1/demos'
CONFIG = 'controllers:\n  demo: {workers: %d, store: fair}\n' % WORKERS


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as free:
        return free.getsockname()[1]


def manifests():
    """The objects as documents of YAML, tenant by tenant."""
    for tenant, objects in OBJECTS.items():
        yield {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': tenant}}
        for number in range(objects):
            yield {'apiVersion': 'demo.evenkeel.dev/v1alpha1', 'kind': 'Demo',
                   'metadata': {'name': 'web-%04d' % number, 'namespace': tenant}, 'spec': {'replicas': 1, 'image': 'web:1'}}


def bounded_memory():
    """Malloc fails beyond the limit; small stacks, because a stack counts as a whole."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class Cluster:
    def __init__(self, server, operator, folder):
        self.folder, self.operator, self.children = pathlib.Path(folder), operator, []
        self.begun, self.probes = time.monotonic(), free_port()
        (self.folder / 'config').write_text(CONFIG)
        with open(self.folder / 'demos.yaml', 'w', encoding='utf-8') as file:
            file.write(subprocess.run([operator, '--print-crds'], check=True, capture_output=True, text=True).stdout)
            for one in manifests():
                file.write('---\n' + json.dumps(one) + '\n')
        self.kubeconfig = self.folder / 'kubeconfig'
        self.start([server, '--write-kubeconfig', self.kubeconfig, '--crd', self.folder / 'demos.yaml'])
        while not (self.kubeconfig.exists() and self.kubeconfig.stat().st_size):
            self.check_alive()
            time.sleep(0.05)
        self.address = re.search(r'http://(127\.0\.0\.1:\d+)', self.kubeconfig.read_text())[1]
        self.note('the server has its objects')

    def start(self, command, **options):
        log = open(self.folder / 'log', 'a', encoding='utf-8')
        self.children.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, **options))
        return self.children[-1]

    def start_operator(self):
        return self.start([self.operator, '--kubeconfig', self.kubeconfig, '--config', self.folder / 'config',
                           '--log-level=warn', '--health-probe-bind-address=127.0.0.1:%d' % self.probes],
                          preexec_fn=bounded_memory)

    def fail(self, why):
        raise SystemExit('%s\n%s' % (why, (self.folder / 'log').read_text()[-4000:]))

    def note(self, what):
        print('%-50s %7.3f s' % (what, time.monotonic() - self.begun), flush=True)

    def check_alive(self):
        if time.monotonic() - self.begun > DEADLINE_SECONDS:
            self.fail('in vain after %d s' % DEADLINE_SECONDS)
        for child in self.children:
            if child.poll() is not None:
                self.fail('%s ended with %d' % (child.args[0], child.returncode))

    def probe(self, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.probes, timeout=DEADLINE_SECONDS)
        connection.request('GET', path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def watch(self):
        """The server's events of the objects, from before the operator starts."""
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_SECONDS)
        connection.request('GET', DEMOS + '?limit=1')
        version = json.load(connection.getresponse())['metadata']['resourceVersion']
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_SECONDS)
        connection.request('GET', DEMOS + '?watch=1&resourceVersion=' + version)
        return connection.getresponse()

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()


def completions(cluster, events):
    """Namespaces and names in the order in which they became complete; the operator stays ready all the while."""
    order = {}
    while len(order) < sum(OBJECTS.values()):
        line = events.readline()
        if not line:
            cluster.fail('the watch ended after %d objects' % len(order))
        found = json.loads(line)['object']
        key = (found['metadata']['namespace'], found['metadata']['name'])
        if found.get('status', {}).get('phase') != 'Ready' or key in order:
            continue
        order[key] = len(order) + 1
        if len(order) % 500 == 1:
            cluster.check_alive()
            for path in ('/healthz', '/readyz'):
                status, text = cluster.probe(path)
                if status != 200:
                    cluster.fail('%s after %d objects: %d %s' % (path, len(order), status, text))
    return order


def check(cluster):
    events = cluster.watch()
    operator = cluster.start_operator()
    order = completions(cluster, events)
    cluster.note('all of %d objects are complete' % len(order))
    places = sorted(place for (tenant, _), place in order.items() if tenant == FIFTIETH)
    in_time, last = places[-2 * WORKERS - 1], places[-1]
    print('the last ones of %s are number %d and, of late workers, %d' % (FIFTIETH, in_time, last))
    if in_time > TURNS + WORKERS or last > TURNS * 1.1:
        cluster.fail('its turns ended with number %d' % TURNS)
    peak = int(re.search(r'^VmHWM:\s+(\d+) kB', pathlib.Path('/proc/%d/status' % operator.pid).read_text(), re.M)[1]) << 10
    print('peak of its resident memory: %.1f MiB' % (peak / (1 << 20)))
    if peak > MEMORY:
        cluster.fail('that is more than %d MiB' % (MEMORY >> 20))
    operator.send_signal(signal.SIGTERM)
    code = operator.wait(DEADLINE_SECONDS)
    if code != 0:
        cluster.fail('it ended with %d' % code)


def main():
    with tempfile.TemporaryDirectory() as folder:
        cluster = None
        try:
            cluster = Cluster(sys.argv[1], sys.argv[2], folder)
            check(cluster)
        finally:
            if cluster:
                cluster.end()


if __name__ == '__main__':
    main()
