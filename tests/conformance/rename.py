# SPDX-License-Identifier: Apache-2.0
"""Changes the names and values of a recorded scenario, in both requests and responses.

A server that implements the rules gives a renamed scenario the same verdict as the original. The renamed values are
identified by their position in the requests: names of objects, keys and values of labels and of data, tags, names of
parts, field managers, and the group and kinds of the custom resources. All get the same prefix, so that the order is
preserved. In responses the same positions are renamed, and quoted values in messages.
"""
import base64
import hashlib
import json
import re

GROUP = 'conformance.example.com'
WORD = re.compile(r'%[0-9A-Fa-f]{2}|[A-Za-z0-9_.{}-]+')
PLACEHOLDER = re.compile(r'\{\w+\}|<\w+>')
NAMED = ('metadata', 'ownerReferences', 'details', 'involvedObject', 'parts')
MAPS = ('data', 'labels', 'matchLabels')
OPERATOR = re.compile(r'\+(in|notin)\+\(')


class Renamer:
    def __init__(self, scenario, prefix, kinds):
        self.prefix, self.kinds = prefix, kinds
        self.tokens = set()
        for step in scenario['steps']:
            request = step['request']
            if 'path' in request:
                self.collect_path(request['path'])
            self.walk(request.get('body'), (), self.collect)

    def collect(self, token):
        if token and not PLACEHOLDER.fullmatch(token) and 'kubernetes.io' not in token:
            self.tokens.add(token)
        return token

    def collect_path(self, path):
        place, _, query = path.partition('?')
        for at, part in named_segments(place):
            self.collect(part)
        for manager in re.findall(r'fieldManager=([^&]*)', query):
            self.collect(manager)

    def new(self, token):
        if token in self.tokens:
            return self.prefix + token
        for known in self.tokens:  # a generated name is recorded as "gen-<5>"
            if known.endswith('-') and re.fullmatch(re.escape(known) + r'<\d+>', token):
                return self.prefix + token
        return token

    # Calls `change` for each string at the position of a name or a value.
    def walk(self, value, path, change):
        if isinstance(value, dict):
            return {self.key(k, path, change): self.walk(v, path + (k,), change) for k, v in value.items()}
        if isinstance(value, list):
            return [self.walk(v, path + (at,), change) for at, v in enumerate(value)]
        if isinstance(value, str) and self.is_renamed(path):
            return change(value)
        return value

    def is_renamed(self, path):
        if not path:
            return False
        names = [part for part in path if isinstance(part, str)]
        last, before = names[-1], names[-2] if len(names) > 1 else ''
        if last in ('name', 'generateName') and before in NAMED:
            return True
        if last in ('manager', 'tags') or before in MAPS:
            return True
        # A cell of a Table: the first one is the name.
        return len(path) > 3 and path[-2] == 'cells' and path[-1] == 0

    def key(self, key, path, change):
        names = [part for part in path if isinstance(part, str)]
        if names and names[-1] in MAPS:
            return change(key)
        if names and names[-1] in ('f:data', 'f:labels', 'f:matchLabels') and key.startswith('f:'):
            return 'f:' + change(key[2:])
        if names and names[-1] in ('f:parts', 'f:tags') and key[:2] in ('k:', 'v:'):
            found = json.loads(key[2:])
            found = change(found) if isinstance(found, str) else {k: change(v) for k, v in found.items()}
            return key[:2] + json.dumps(found, separators=(',', ':'))
        return key

    # The paths of a JSON patch are pointers.
    def operation(self, step):
        place = step.get('path', '')
        for root in ('/data/', '/metadata/labels/'):
            if place.startswith(root):
                self.collect(place[len(root):])
                renamed = dict(step, path=root + self.new(place[len(root):]))
                if isinstance(step.get('value'), str):
                    self.collect(step['value'])
                    renamed['value'] = self.new(step['value'])
                return renamed
        return step

    def message(self, text):
        text = re.sub(r'"([^"\\]*)"', lambda m: '"' + self.new(m.group(1)) + '"', text)
        text = re.sub(r'\(([^() ]+)\)', lambda m: '(' + self.new(m.group(1)) + ')', text)
        text = re.sub(r'\b([A-Z]\w+/)([\w-]+)', lambda m: m.group(1) + self.new(m.group(2)), text)
        text = re.sub(r'(\{ns\}/)([^,/ ]+),', lambda m: m.group(1) + self.new(m.group(2)) + ',', text)
        return re.sub(r'\bdata\.([\w-]+)', lambda m: 'data.' + self.new(m.group(1)), text)

    def texts(self, value, key=None):
        if isinstance(value, dict):
            return {k: self.texts(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self.texts(v, key) for v in value]
        if isinstance(value, str) and key in ('message', 'warning', 'field'):
            return self.message(value)
        return value

    def path(self, path):
        place, mark, query = path.partition('?')
        parts = place.split('/')
        for at, part in named_segments(place):
            parts[at] = self.new(part)
        pairs = []
        for pair in query.split('&') if mark else []:
            name, equals, value = pair.partition('=')
            if name in ('fieldManager', 'labelSelector', 'fieldSelector'):
                operators = {match.start(1) for match in OPERATOR.finditer(value)}
                value = WORD.sub(lambda m: m.group(0) if m.start() in operators else self.word(m.group(0)), value)
            pairs.append(name + equals + value)
        return '/'.join(parts) + mark + '&'.join(pairs)

    def word(self, word):
        if word.startswith('data.'):
            return 'data.' + self.new(word[5:])
        return self.new(word)

    def request(self, request):
        renamed = dict(request)
        if 'path' in request:
            renamed['path'] = self.path(request['path'])
        body = request.get('body')
        if isinstance(body, str):
            renamed['body'] = self.message(body)
        elif isinstance(body, list):
            renamed['body'] = [self.operation(step) if isinstance(step, dict) else step for step in body]
        elif body is not None:
            renamed['body'] = self.walk(body, (), self.new)
        return renamed

    def answer(self, answer):
        return self.texts(self.walk(answer, (), self.new))

    def steps(self, scenario):
        requests = [self.request(step['request']) for step in scenario['steps']]
        return [{'request': request, 'answer': self.answer(step['answer'])}
                for request, step in zip(requests, scenario['steps'])]


def named_segments(place):
    """Returns the parts of a path that name an object or a namespace, with their index."""
    parts = place.split('/')
    at = {'api': 3, 'apis': 4}.get(parts[1] if len(parts) > 1 else '', len(parts))
    found = []
    if parts[at:at + 1] == ['namespaces'] and len(parts) > at + 2:
        found.append((at + 1, parts[at + 1]))
        at += 2
    if len(parts) > at + 1:
        found.append((at + 1, parts[at + 1]))
    return [(index, part) for index, part in found if not PLACEHOLDER.fullmatch(part)]


def rename_kinds(document, kinds):
    """Renames group and kinds by their spelling, which occurs nowhere else."""
    text = json.dumps(document)
    for old, new in kinds:
        text = text.replace(old, new)
    return json.loads(text)


def choose(random):
    """Returns a prefix, and new spellings of the group and the kinds."""
    letters = 'bcdfghjklmnpqrstvwxz'
    word = lambda size: ''.join(random.choice(letters) for _ in range(size))
    kind, other = word(6), word(6)
    return word(3), [(GROUP, word(5) + '.example.org'), ('Widget', kind.capitalize()), ('widget', kind),
                     ('Global', other.capitalize()), ('global', other), ('"wid"', '"' + kind[:4] + '"'),
                     ('"glo"', '"' + other[:4] + '"')]


def renamed(scenario, prefix, kinds):
    renamer = Renamer(scenario, prefix, kinds)
    steps = renamer.steps(scenario)
    return recomputed(rename_kinds(dict(scenario, steps=steps), kinds))


def recomputed(value, group=''):
    """Discovery contains a hash of group, version and kind, and is sorted by text for comparison."""
    if isinstance(value, list):
        return [recomputed(v, group) for v in value]
    if not isinstance(value, dict):
        return value
    group = value.get('groupVersion', group)
    done = {k: recomputed(v, group) for k, v in value.items()}
    if 'storageVersionHash' in done:
        digest = hashlib.sha256(('%s/%s' % (group, done['kind'])).encode()).digest()
        done['storageVersionHash'] = base64.b64encode(digest[:8]).decode()
    if isinstance(done.get('resources'), list):
        done['resources'].sort(key=lambda entry: json.dumps(entry, sort_keys=True))
    return done
