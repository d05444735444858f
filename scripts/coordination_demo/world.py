# SPDX-License-Identifier: Apache-2.0
"""One API server with three namespaces, one database, three operators, and the part of the store that is theirs."""
import collections
import json
import random
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request

from .basics import GROUP, PROCESSES, QUIET, SETS, SITES, Failed, Process, Proxy, free_port, request, wait_for
from .servers import ApiServer, Hub

STAYS = ('instances', 'guard', 'tokens', 'arbiter/lock', 'arbiter/claims', 'arbiter/targets', 'arbiter/taken',
         'arbiter/tokens')


class World:
    def __init__(self, demo, story, mode, scale):
        self.demo, self.story, self.mode, self.scale = demo, story, mode, scale
        self.scenario, self.silence, self.ready_by = story.name, story.silence, demo.options.ready_by
        self.name = f'{story.name}-{mode}' + ('' if scale == demo.options.scale else '-slower')
        self.root = f'/demo/{self.name}'
        self.directory = demo.directory / self.name
        self.directory.mkdir()
        self.random = random.Random(f'{demo.options.seed}/{story.name}')
        self.processes = []
        self.operators = {}
        self.metrics = {}     # of each operator: the URL
        self.notes = []       # (seconds since the start of the database, lane, mark)
        self.samples = []     # (the same, {(set, scope): count})
        self.signs = {}       # scope: what its record said last, then when it changed
        self.conditions = {}  # site: [(seconds, {type: (status, message)})], whenever one changed
        self.shows = []       # (title, lines): what a user sees
        self.checks = []
        self.figures = {}     # what agreement cost, by the operators' own metrics
        self.watching = True
        self.store_urls = {}  # of operators that reach the store by a way of their own
        self.proxies = []

    # -- time

    def scaled(self, seconds):
        """Seconds of the story as a flag's text."""
        return f'{seconds / self.scale * 1000:.0f}ms'

    def real(self, seconds):
        return seconds / self.scale

    def now(self):
        return time.time() - self.started

    def patience(self, seconds):
        """A deadline for a wait that should be over after `seconds` of the story, generous for machines that do more."""
        return 30 + 3 * self.real(seconds)

    # -- set up

    def run(self, name, program, *arguments):
        process = Process(self.directory, name, [self.demo.programs[program], *arguments],
                          {'KUBECONFIG': str(self.server.kubeconfig)})
        self.processes.append(process)
        return process

    def start(self):
        self.server = ApiServer(self.demo, self.directory)
        self.processes.append(self.server.process)
        self.server.wait()
        for site in SITES:
            self.call('POST', '/api/v1/namespaces', {'metadata': {'name': site}})
        self.store = Hub(self.server) if self.demo.etcd is None else self.demo.etcd
        self.start_database()
        if self.scenario == 'partition':
            host, port = self.store.http.rsplit('/', 1)[1].split(':')
            self.proxies.append(Proxy((host, int(port))))
            self.store_urls['dc3'] = f'etcd://127.0.0.1:{self.proxies[0].port}'
        for site in SITES:
            self.call('POST', f'/apis/{GROUP}/v1/namespaces/{site}/ringclusters', {
                'apiVersion': f'{GROUP}/v1', 'kind': 'RingCluster', 'metadata': {'name': 'ring', 'namespace': site},
                'spec': {'processGroupIdPrefix': site, 'processes': PROCESSES, 'knobs': {'cache': '1'},
                         'automationOptions': {'synchronizationMode': self.mode}}})
            self.start_operator(site)
        for look in (self.sample, self.follow):
            threading.Thread(target=look, daemon=True).start()

    def start_database(self):
        urls = self.directory / 'doors.json'
        ring = self.run(
            'ringdb-sim', 'ringdb-sim', '--kubeconfig', self.server.kubeconfig, '--write-urls', urls,
            '--callers', ','.join(SITES), '--processes', len(SITES) * sum(PROCESSES.values()), '--coordinators', 9,
            '--seed', self.demo.options.seed, '--recovery', self.scaled(4), '--move', self.scaled(60),
            '--start-min', self.scaled(40), '--start-max', self.scaled(120), '--sync-min', self.scaled(30),
            '--sync-max', self.scaled(60), '--workers', 4, '--log-level', 'warn')
        wait_for('that the database listens', lambda: ring.check() or urls.exists(), 60)
        self.doors = json.loads(urls.read_text())
        self.started = self.journal()['startedAt']

    def start_operator(self, site):
        port = free_port()
        self.metrics[site] = f'http://127.0.0.1:{port}/metrics'
        self.operators[site] = self.run(
            f'operator-{site}', 'ring-operator', '--kubeconfig', self.server.kubeconfig, '--namespace', site,
            '--instance', site, '--database', self.doors[site], '--store', self.store_urls.get(site, self.store.url),
            '--root', self.root, '--ready-by', self.ready_by, '--minimum-uptime', '120s', '--silence', f'{self.silence}s',
            '--time-scale', self.scale, '--rate-limiter', f'exponential({self.scaled(4)}, {self.scaled(40)})',
            '--metrics-bind-address', f'127.0.0.1:{port}', '--log-format', 'json')

    def kill_operator(self, site):
        self.operators[site].kill()
        self.processes.remove(self.operators.pop(site))

    def stop(self):
        self.watching = False
        for process in reversed(self.processes):
            process.ask_to_stop()
        for process in reversed(self.processes):
            process.stop()
        for proxy in self.proxies:
            proxy.close()

    def bring_up(self):
        self.start()
        self.wait_settled('the database is up', 600)
        # Nothing is restarted or excluded too soon after a recovery; that is waited out before the clock starts.
        wait_for('the recovery is long ago', lambda: self.status()['secondsSinceRecovery'] >= self.real(125), self.patience(300))
        self.begun = self.now()
        self.first_entry = len(self.journal()['entries'])

    # -- what happens in it

    def call(self, method, path, body=None, content_type='application/json'):
        return self.server.call(method, path, body, content_type)

    def journal(self):
        return request('GET', self.doors['admin'] + '/journal')

    def status(self):
        return request('GET', self.doors['admin'] + '/status')

    def cluster(self, site):
        return self.call('GET', f'/apis/{GROUP}/v1/namespaces/{site}/ringclusters/ring')

    def patch(self, site, spec):
        self.note(site, '*')
        self.call('PATCH', f'/apis/{GROUP}/v1/namespaces/{site}/ringclusters/ring', {'spec': spec},
                  'application/merge-patch+json')

    def stagger(self, seconds, change):
        """Patches the three resources, each within `seconds` of the story."""
        delays = sorted((self.random.uniform(0, seconds), site) for site in SITES)
        begun = time.monotonic()
        for delay, site in delays:
            time.sleep(max(0.0, begun + self.real(delay) - time.monotonic()))
            self.patch(site, change(site))

    def note(self, lane, mark):
        self.notes.append((self.now(), lane, mark))

    def coordctl(self, *arguments):
        command = [self.demo.programs['coordctl'], '--store', self.store.url, '--root', self.root, '--kubeconfig',
                   self.server.kubeconfig, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Failed(f'coordctl {" ".join(arguments)} ended with {done.returncode}: {done.stderr.strip()}')
        return done.stdout

    def watch(self):
        """Begins `coordctl watch`; tables() has what it printed."""
        self.run('coordctl', 'coordctl', '--store', self.store.url, '--root', self.root, '--kubeconfig',
                 self.server.kubeconfig, 'watch', '--interval', '100ms', '--quiet-window', self.scaled(QUIET),
                 '--silent-after', self.scaled(self.silence))

    def tables(self):
        text = (self.directory / 'coordctl.log').read_text(encoding='utf-8')
        return ['SCOPE' + table.rstrip() for table in ('\n' + text).split('\nSCOPE')[1:]]

    def show(self, title, text):
        self.shows.append((title, text.strip('\n').splitlines()))

    # -- what is looked at all the time

    def sample(self):
        """Looks at the store a few times a second, for the timeline."""
        while self.watching and self.mode != 'local':
            try:
                counts = collections.Counter()
                now = self.now()
                for key, value in self.store.keys(self.root + '/').items():
                    parts = key[len(self.root) + 1:].split('/')
                    if parts[0] in SETS and len(parts) == 3:
                        counts[parts[0], parts[1]] += 1
                    if parts[0] == 'instances' and self.signs.get(parts[1], [None])[0] != value:
                        self.signs.setdefault(parts[1], [None]).append(now)
                        self.signs[parts[1]][0] = value
                self.samples.append((now, counts))
            except (OSError, urllib.error.URLError):
                pass  # the store is down, as it may be in a scenario
            time.sleep(0.1)

    def follow(self):
        """Notes the conditions of the three resources, whenever they change."""
        url = f'{self.server.url}/apis/{GROUP}/v1/ringclusters?watch=1'
        while self.watching:
            try:
                call = urllib.request.Request(url, headers=self.server.headers)
                with urllib.request.urlopen(call, timeout=30, context=self.server.context) as stream:
                    for line in stream:
                        self.note_conditions(json.loads(line)['object'])
            except (OSError, ValueError, urllib.error.URLError):
                time.sleep(0.1)  # the server ends, or it ended the watch

    def note_conditions(self, cluster):
        if cluster.get('kind') != 'RingCluster':
            return
        conditions = {one['type']: (one['status'], one.get('message', '')) for one in cluster.get('status', {}).get('conditions', [])}
        known = self.conditions.setdefault(cluster['metadata']['namespace'], [])
        if not known or known[-1][1] != conditions:
            known.append((self.now(), conditions))

    def condition_messages(self, site, condition):
        """What the condition said, each time that it was true, in order."""
        return [found[condition][1] for _, found in list(self.conditions.get(site, []))
                if found.get(condition, ('', ''))[0] == 'True']

    # -- how far it is

    def where(self):
        """Where the operators are, for the message when something is not reached."""
        lines = []
        for site in SITES:
            status = self.cluster(site).get('status', {})
            conditions = {c['type']: c.get('message', '') for c in status.get('conditions', []) if c['type'] != 'Ready'}
            lines.append(f"{site}: {status.get('phase')} {status.get('ready')}/{status.get('wanted')} {conditions}")
        return '; '.join(lines)

    def settled(self, sites=SITES):
        for process in self.processes:
            process.check()
        for site in sites:
            cluster = self.cluster(site)
            status = cluster.get('status', {})
            if status.get('phase') != 'Ready' or status.get('generation') != cluster['metadata']['generation']:
                return False
        return True

    def wait(self, what, condition, story_seconds):
        return wait_for(lambda: f'{self.name}: {what}; {self.where()}', condition, self.patience(story_seconds))

    def wait_settled(self, what, story_seconds, sites=SITES):
        self.wait(what, lambda: self.settled(sites), story_seconds)

    def entries(self):
        return self.journal()['entries'][self.first_entry:]

    def counters(self):
        entries = [entry for entry in self.entries() if not entry.get('refused')]
        count = collections.Counter(entry['call'] for entry in entries if entry['recovery'] or entry['call'] == 'process lost')
        last = max((entry['atSeconds'] for entry in entries), default=self.begun)
        return {'kill': count['kill'], 'exclude': count['exclude'], 'coordinators': count['coordinators'],
                'include': count['include'], 'recoveries': sum(entry['recovery'] for entry in entries),
                'lost': count['process lost'], 'seconds': (last - self.begun) * self.scale}

    def groups(self):
        return {site: [group['id'] for group in self.cluster(site)['status']['processGroups']] for site in SITES}

    def has_argument(self, site, argument):
        return all(argument in process['commandLine'] for process in self.status()['processes'] if process['dc'] == site)

    def members(self, scope, name='pendingForRestart'):
        """How many members of a set the scope has in the store now."""
        return len(self.store.keys(f'{self.root}/{name}/{scope}/'))

    def left_in_store(self):
        """What should be gone when everybody is done. The registry stays, and so does what guards it: see STAYS."""
        left = []
        for key, value in self.store.keys(self.root + '/').items():
            path = key[len(self.root) + 1:]
            if not path.startswith(tuple(name if name == 'arbiter/lock' else name + '/' for name in STAYS)):
                left.append(key)
            elif path == 'arbiter/lock' and json.loads(value).get('owner'):
                left.append(f'{key}: held by {json.loads(value)["owner"]}')
            elif path.startswith('arbiter/claims/') and json.loads(value).get('state') == 'executing':
                left.append(f'{key}: still executing')
        return left

    def scrape(self, site):
        """{'name{labels}': value} of an operator's /metrics."""
        with urllib.request.urlopen(self.metrics[site], timeout=10) as answer:
            text = answer.read().decode()
        samples = [line.rsplit(' ', 1) for line in text.splitlines() if line and not line.startswith('#')]
        return {name: float(value) for name, value in samples}

    def metric(self, family, sites=SITES, **labels):
        """The sum of the samples of `family` that have these labels, at these sites."""
        wanted = [f'{name}="{value}"' for name, value in labels.items()]
        return sum(value for site in sites for key, value in self.scrape(site).items()
                   if key.partition('{')[0] == family and all(label in key for label in wanted))

    # -- checks

    def check(self, what, holds, found=''):
        if not holds:
            raise Failed(f'{self.name}: {what}: found {found}')
        self.checks.append(what)

    def out_of_step(self):
        """Why the count of calls says nothing about coordination: the machine did not keep the pace. Empty if it did."""
        times = [at for at, _ in self.samples if at >= self.begun]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        if gaps and max(gaps) > self.real(QUIET):
            return f'this script was held up for {max(gaps):.1f} s'
        for site in SITES if self.scenario not in ('crash', 'partition') else SITES[:2]:
            signs = [at for at in self.signs.get(site, [None])[1:] if at >= self.begun]
            gaps = [later - earlier for earlier, later in zip(signs, signs[1:])]
            if gaps and max(gaps) > self.real(self.silence) * 0.8:
                return f'the operator of {site} was held up for {max(gaps):.1f} s'
        return self.came_late()

    def came_late(self):
        calls = [entry['atSeconds'] for entry in self.entries() if entry['call'] in ('kill', 'exclude')]
        for site in SITES if calls else ():
            first = next((at for at, counts in self.samples if at >= self.begun and any(
                counts[name, site] for name in ('pendingForRestart', 'pendingForExclusion'))), None)
            if first is not None and first > calls[0] - self.real(QUIET) * 0.9:
                return f'{site} came only {calls[0] - first:.1f} s before the first call'
        return ''

    def log_lines(self, site, message):
        """Lines of an operator's log that have this message."""
        lines = []
        for line in self.operators[site].text().splitlines():
            if re.search(re.escape(message), line):
                lines.append(json.loads(line))
        return lines
