# SPDX-License-Identifier: Apache-2.0
"""The API servers and the stores, as the script sees them."""
import base64
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import urllib.error
import urllib.parse

from .basics import Failed, Process, free_port, request, wait_for

TOKEN = 'of-the-demo'  # the administrator's, of a server that lives for a minute on 127.0.0.1


class ApiServer:
    """The embedded one, or a real control plane; started with the CRD."""

    def __init__(self, demo, directory):
        self.kubeconfig = directory / 'kubeconfig'
        arguments = [demo.programs[demo.server], '--write-kubeconfig', self.kubeconfig, '--crd', demo.crds]
        if demo.server == 'evenkeel-control-plane':
            arguments += ['--token', TOKEN]
        self.process = Process(directory, 'apiserver', arguments)

    def wait(self):
        wait_for('that the API server is ready', self.is_ready, 90)
        self.url = self.process.text().split(' is ready at ')[1].split()[0]
        self.headers, self.context = {}, None
        if self.url.startswith('https:'):
            authority = re.search(r'certificate-authority-data"?: *"?([A-Za-z0-9+/=]+)', self.kubeconfig.read_text())
            self.context = ssl.create_default_context(cadata=base64.b64decode(authority.group(1)).decode())
            self.headers = {'Authorization': 'Bearer ' + TOKEN}

    def is_ready(self):
        self.process.check()
        return ' is ready at ' in self.process.text()

    def call(self, method, path, body=None, content_type='application/json'):
        return request(method, self.url + path, body, content_type, headers=self.headers, context=self.context)


def find_etcd():
    """A real one: $ETCD, on the PATH, or what scripts/get-program unpacked; None if there is none."""
    unpacked = pathlib.Path(__file__).resolve().parent.parent.parent / 'build' / 'debian' / 'etcd'
    return os.environ.get('ETCD') or shutil.which('etcd') or (str(unpacked) if unpacked.exists() else None)


class Etcd:
    """etcd, real or not, that runs for as long as the demo, or ran before."""

    def __init__(self, programs, directory, url):
        self.process = None
        if url:
            self.url = self.name = url
        else:
            self.start(programs, directory)
        self.http = 'http://' + self.url.split('://', 1)[1]
        wait_for('that etcd answers', self.answers, 30)

    def start(self, programs, directory):
        etcd = find_etcd()
        port, peer = free_port(), free_port()
        self.url = f'etcd://127.0.0.1:{port}'
        client, other = f'http://127.0.0.1:{port}', f'http://127.0.0.1:{peer}'
        if etcd:
            arguments = ['--data-dir', directory / 'etcd', '--listen-client-urls', client, '--advertise-client-urls', client,
                         '--listen-peer-urls', other, '--initial-advertise-peer-urls', other,
                         '--initial-cluster', f'default={other}']
            arguments += ['--unsafe-no-fsync'] if self.knows_no_fsync(etcd) else []
            self.name = self.version(etcd)
            self.process = Process(directory, 'etcd', [etcd, *arguments])
        else:
            self.name = 'the in-tree server of etcd\'s API'
            self.process = Process(directory, 'etcd', [programs['evenkeel-etcd'], '--port', port])

    @staticmethod
    def version(etcd):
        done = subprocess.run([etcd, '--version'], capture_output=True, text=True, check=False)
        return 'etcd ' + (re.findall(r'etcd Version: (\S+)', done.stdout) or ['of unknown version'])[0]

    @staticmethod
    def knows_no_fsync(etcd):
        return '--unsafe-no-fsync' in subprocess.run([etcd, '--help'], capture_output=True, text=True, check=False).stdout

    def answers(self):
        if self.process:
            self.process.check()
        try:
            self.keys('/nothing')
            return True
        except (OSError, urllib.error.URLError):
            return False

    def put(self, key, value):
        request('POST', self.http + '/v3/kv/put', {'key': encoded(key), 'value': encoded(value)})

    def keys(self, prefix):
        """The keys below `prefix`, with their values."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        answer = request('POST', self.http + '/v3/kv/range', {'key': encoded(prefix), 'range_end': encoded(end)})
        return {decoded(kv['key']): decoded(kv.get('value', '')) for kv in answer.get('kvs', [])}


class FoundationDb:
    """A FoundationDB cluster that runs already: fdb://CLUSTER_FILE. fdbcli is in FDB_PREFIX/bin or on the path."""
    STAMP = 10  # bytes before each value, see FoundationDbStore

    def __init__(self, url):
        self.url = self.name = url
        self.cluster_file = url.removeprefix('fdb://')
        prefix = os.environ.get('FDB_PREFIX')
        self.fdbcli = f'{prefix}/bin/fdbcli' if prefix else 'fdbcli'
        wait_for('that FoundationDB answers', self.answers, 60)

    def ask(self, command):
        return subprocess.run([self.fdbcli, '-C', self.cluster_file, '--timeout', '10', '--exec', command],
                              capture_output=True, text=True, check=True).stdout

    def answers(self):
        return 'The database is available' in self.ask('status minimal')

    def put(self, key, value):
        raise Failed('entries of nobody are put into etcd only')

    def keys(self, prefix):
        """The keys below `prefix`, with their values."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        lines = re.findall(r"^`(.*)' is `(.*)'$", self.ask(f'getrange "{prefix}" "{end}" 100000'), re.MULTILINE)
        return {self.unescaped(key).decode(): self.unescaped(value)[self.STAMP:].decode('utf-8', 'replace')
                for key, value in lines}

    @staticmethod
    def unescaped(text):
        return re.sub(r'\\(x[0-9a-f]{2}|\\)', lambda m: chr(int(m[1][1:], 16)) if m[1][0] == 'x' else '\\',
                      text).encode('latin-1', 'replace')


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def decoded(text):
    return base64.b64decode(text).decode('utf-8', 'replace')


class Hub:
    """ConfigMaps in a namespace of the API server that the operators have in common: kube://hub/ring."""
    url = 'kube://hub/ring'

    def __init__(self, server):
        self.server = server
        server.call('POST', '/api/v1/namespaces', {'metadata': {'name': 'hub'}})

    def put(self, key, value):
        raise Failed('entries of nobody are put into etcd only')

    def keys(self, prefix):
        selector = urllib.parse.quote('evenkeel.dev/coordination=ring')
        found = self.server.call('GET', f'/api/v1/namespaces/hub/configmaps?labelSelector={selector}')
        keys = {}
        for config in found['items']:
            for line in config.get('data', {}).get('entries', '').splitlines():
                key, _, value = (line.split(' ', 2) + ['', ''])[:3]
                keys[urllib.parse.unquote(key)] = urllib.parse.unquote(value)
        return {key: value for key, value in keys.items() if key.startswith(prefix)}
