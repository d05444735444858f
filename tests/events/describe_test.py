#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events that the recorder wrote, in both APIs, as `kubectl describe` and `kubectl get events` show them.

  describe_test.py SERVER EVENT_WRITER

SERVER is evenkeel-apiserver or evenkeel-control-plane.
"""
import json
import os
import subprocess
import sys
import tempfile

OBJECTS = '''
apiVersion: v1
kind: Namespace
metadata: {name: %(name)s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: empty, namespace: %(name)s}
'''


class Test:
    def __init__(self, config, writer):
        self.config, self.writer = config, writer

    def run(self, *command, stdin=None):
        done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120, check=False)
        if done.returncode != 0:
            raise SystemExit('%s: code %d\n%s' % (' '.join(command), done.returncode, done.stdout))
        return done.stdout

    def kubectl(self, *words, stdin=None):
        return self.run('kubectl', '--kubeconfig', self.config, *words, stdin=stdin)

    def expect(self, text, *words):
        """A line of `text` with all words, in any number of spaces."""
        lines = [' '.join(line.split()) for line in text.splitlines()]
        if not any(all(word in line for word in words) for line in lines):
            raise SystemExit('no line with %s in\n%s' % (words, text))

    def check(self, api):
        name = 'events-of-' + api
        self.kubectl('apply', '-f', '-', stdin=OBJECTS % {'name': name})
        self.run(self.writer, self.config, api, 'empty', name)
        described = self.kubectl('describe', 'configmap', 'empty', '-n', name)
        count = ['(x4 over '] if api == 'core' or self.counts_series() else []
        self.expect(described, 'Warning Empty', *count, 'event-writer there is nothing in it')
        [event] = self.events_of(api, 'ConfigMap', 'empty', name)
        if (event['series'] if api == 'events' else event)['count'] != 4:
            raise SystemExit('not four times: %s' % event)
        listed = self.kubectl('get', 'events', '-n', name)
        self.expect(listed, 'Warning Empty configmap/empty there is nothing in it')
        if len(listed.splitlines()) != 2:
            raise SystemExit('more than one Event:\n' + listed)
        self.check_tried(api, name)
        self.check_long(name)
        print('%s: kubectl describe shows\n%s' % (api, described[described.index('Events:'):]))

    def counts_series(self):
        """`kubectl describe` counts them since 1.23 (kubernetes/kubernetes#104482); Debian's is 1.20."""
        client = json.loads(self.kubectl('version', '--client', '-o', 'json'))['clientVersion']
        return int(client['minor'].rstrip('+')) >= 23

    def events_of(self, api, kind, name, namespace='default'):
        listed = json.loads(self.kubectl('get', 'events.events.k8s.io' if api == 'events' else 'events', '-n', namespace,
                                         '-o', 'json'))
        about = 'regarding' if api == 'events' else 'involvedObject'
        found = [one for one in listed['items'] if (one[about]['kind'], one[about]['name']) == (kind, name)]
        return sorted(found, key=lambda one: one['metadata']['name'])

    def check_tried(self, api, name):
        """Eleven messages are one series, or nine Events and one that stands for the others."""
        events = self.events_of(api, 'Namespace', name)
        if api == 'events':
            seen = [(one['note'], one['series']['count']) for one in events]
            wanted = [('attempt 1', 11)]
        else:
            seen = [(one['message'], one['count']) for one in events]
            wanted = [('attempt %d' % number, 1) for number in range(1, 10)]
            wanted.append(('(combined from similar events): attempt 11', 2))
        if seen != wanted:
            raise SystemExit('about the namespace: %s, not %s' % (seen, wanted))

    def check_long(self, name):
        events = self.events_of('core', 'ClusterRole', 'system:' + name)
        seen = [(one['reason'], one['message'], one['metadata']['name'].rpartition('.')[0]) for one in events]
        wanted = [('r' * 128, '\u20ac' * 341, 'system-' + name)]
        if seen != wanted:
            raise SystemExit('about the cluster role: %s, not %s' % (seen, wanted))


def main():
    server, writer = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, 'kubeconfig')
        with subprocess.Popen([server, '--write-kubeconfig', config], stdout=subprocess.PIPE, text=True) as process:
            try:
                for line in process.stdout:
                    if ' is ready at ' in line:
                        break
                else:
                    raise SystemExit('the server ended')
                test = Test(config, writer)
                test.check('events')
                test.check('core')
            finally:
                process.terminate()
                process.stdout.close()


if __name__ == '__main__':
    main()
