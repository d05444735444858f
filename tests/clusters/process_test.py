#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of several clusters: clusters join and leave with their kubeconfigs.

  process_test.py CLUSTERS_OPERATOR

The demonstration of the operator starts its servers itself; what it wrote into them is read over HTTP."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

DEADLINE_SECONDS = 240
SITES = {'asia': 3, 'eu': 5, 'us': 8}


class Operator:
    def __init__(self, program):
        self.lines = []
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def says(self, *parts):
        return any(all(part in line for part in parts) for line in list(self.lines))

    def directory(self):
        found = [line.removeprefix('kubeconfigs: ') for line in list(self.lines) if line.startswith('kubeconfigs: ')]
        return pathlib.Path(found[0]) if found else None

    def wait_until(self, what, condition):
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > DEADLINE_SECONDS or self.process.poll() is not None:
                self.process.kill()
                raise SystemExit('in vain: %s\n%s' % (what, '\n'.join(self.lines[-30:])))
            time.sleep(0.05)
        print('%-50s %7.3f s' % (what, time.monotonic() - begun), flush=True)


def request(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    question = urllib.request.Request(url, data, {'Content-Type': 'application/json'})
    with urllib.request.urlopen(question, timeout=60) as answer:
        return json.load(answer)


def maps_of(server):
    return server + '/api/v1/namespaces/default/configmaps'


def census(server):
    items = request(maps_of(server) + '?labelSelector=fleet%3Dyes')['items']
    return {item.get('data', {}).get('census') for item in items}


def main():
    operator = Operator(sys.argv[1])
    operator.wait_until('the operator says where its kubeconfigs are', operator.directory)
    directory = operator.directory()
    kubeconfigs = {name: (directory / (name + '.kubeconfig')).read_text() for name in SITES}
    servers = {name: re.search(r'server: "?(http://[^"\s]+)', text)[1] for name, text in kubeconfigs.items()}
    for name, count in SITES.items():
        operator.wait_until('all sites of %s are counted' % name,
                            lambda name=name, count=count: census(servers[name]) == {'%d in %s' % (count, name)})

    (directory / 'us.kubeconfig').unlink()
    operator.wait_until('a cluster leaves', lambda: operator.says('a cluster has left', 'us'))
    site = {'metadata': {'name': 'late', 'labels': {'fleet': 'yes'}}}
    request(maps_of(servers['us']), site)
    request(maps_of(servers['eu']), site)
    operator.wait_until('the others go on', lambda: {'6 in eu'} <= census(servers['eu']))
    if None not in census(servers['us']):
        raise SystemExit('a cluster that has left was written to')

    (directory / 'us.kubeconfig').write_text(kubeconfigs['us'])
    operator.wait_until('it joins again', lambda: {'9 in us'} <= census(servers['us']))
    operator.process.send_signal(signal.SIGTERM)
    code = operator.process.wait(DEADLINE_SECONDS)
    if code != 0:
        raise SystemExit('ended with %d:\n%s' % (code, '\n'.join(operator.lines[-30:])))


if __name__ == '__main__':
    main()
