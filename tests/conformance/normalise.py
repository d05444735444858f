# SPDX-License-Identifier: Apache-2.0
"""Makes responses comparable: values that differ between runs are replaced by stable names.

Uids, times, the scenario's namespace, generated names, versions of lists and continue tokens are replaced.
resourceVersions keep their equality: the first one of a scenario becomes rv1, the next different one rv2, so that
"an update that changes nothing keeps the version" is compared while the numbers are not.
"""
import json
import re

UID = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')
TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)')
AGE = re.compile(r'^(<invalid>|\d+(ms|[smhd]))+$')
TOO_OLD = re.compile(r'(too old resource version: \d+) \(\d+\)')
TOO_LARGE = re.compile(r'(Too large resource version: \d+, current:) \d+')
SAID_VERSION = re.compile(r'((?:precondition|record) \(|\bresourceVersion[\\": ]+)([1-9]\d*)\b')
UNORDERED = ('managedFields', 'causes', 'resources')


def normalise(answers, env, steps):
    worker = Normaliser(env['ns'], prefixes(steps))
    out = [worker.answer(json.loads(json.dumps(answer))) for answer in answers]
    return [undescribed(answer) if step.get('undescribed') else answer for answer, step in zip(out, steps)]


def undescribed(answer):
    """Returns a Table without the descriptions of its columns, which are documentation for built-in kinds."""
    for column in answer['body'].get('columnDefinitions', []) if isinstance(answer.get('body'), dict) else []:
        column.pop('description', None)
    return answer


def prefixes(steps):
    """Returns the generateNames of requests. Generated names contain only the start of a long one."""
    bodies = [step['body'] for step in steps if isinstance(step.get('body'), dict)]
    metadata = [body.get('metadata') for body in bodies]
    named = [one.get('generateName') for one in metadata if isinstance(one, dict)]
    return [name[:58] for name in named if isinstance(name, str) and len(name) > 3]


class Normaliser:
    def __init__(self, namespace, prefixes):
        self.namespace = namespace
        self.generated_names = [re.compile(r'\b(%s)[a-z0-9]{5}\b' % re.escape(prefix)) for prefix in prefixes]
        self.versions, self.uids, self.generated = {}, {}, {}
        self.group = ''  # of the current discovery document

    def answer(self, answer):
        for event in answer.get('events', []):
            if event.get('type') == 'BOOKMARK':
                for told in [event['object']] + [row['object'] for row in event['object'].get('rows', [])]:
                    told.get('metadata', {})['resourceVersion'] = '<bookmark version>'
        return self.walk(answer)

    def walk(self, value, key=None, parent=None):
        if isinstance(value, dict):
            return self.members(value)
        if isinstance(value, list):
            out = [self.walk(entry, key, parent) for entry in value]
            return sorted(out, key=lambda e: json.dumps(e, sort_keys=True)) if key in UNORDERED else out
        return self.string(value, key, parent) if isinstance(value, str) else value

    def members(self, value):
        listed = 'items' in value or 'rows' in value
        self.group = value.get('groupVersion', self.group)
        out = {}
        for key, member in value.items():
            if key == 'serverAddressByClientCIDRs':
                continue
            if key == 'storageVersionHash' and self.namespace in self.group:
                out[key] = '<hash>'  # of a name that differs between runs
            elif key == 'message' and isinstance(member, str) and many_causes(value):
                out[key] = '<see causes>'  # a real server joins them in random order
            elif key == 'cells':
                out[key] = [AGE.sub('<age>', self.text(cell)) if isinstance(cell, str) else cell for cell in member]
            elif key == 'metadata' and listed and isinstance(member, dict):
                out[key] = dict(member)
                for name, short in (('resourceVersion', '<list version>'), ('continue', '<continue>')):
                    if member.get(name):
                        out[key][name] = short
            elif key == 'nodePort' and isinstance(member, int) and member >= 30000:
                out[key] = '<node port>'
            else:
                out[self.text(key)] = self.walk(member, key, value)
        return out

    def string(self, value, key, parent):
        if key == 'resourceVersion' and value.isdigit():
            return self.version(value)
        if key in ('clusterIP', 'clusterIPs') and value.startswith('10.0.'):
            return '<address>'
        prefix = parent.get('generateName') if key == 'name' and isinstance(parent, dict) else None
        if prefix and value.startswith(prefix):
            self.generated[value] = self.text(prefix) + '<%d>' % (len(value) - len(prefix))
            return self.generated[value]
        return SAID_VERSION.sub(lambda m: m.group(1) + self.version(m.group(2)), self.text(value))

    def version(self, number):
        return self.versions.setdefault(number, 'rv%d' % (len(self.versions) + 1))

    def text(self, text):
        for real, placeholder in self.generated.items():
            text = text.replace(real, placeholder)
        for pattern in self.generated_names:
            text = pattern.sub(r'\1<5>', text)
        text = text.replace(self.namespace, '{ns}')
        text = UID.sub(lambda m: self.uids.setdefault(m.group(0), 'uid%d' % (len(self.uids) + 1)), text)
        return TIME.sub('<time>', TOO_LARGE.sub(r'\1 <version>', TOO_OLD.sub(r'\1 (<version>)', text)))


def many_causes(status):
    return len((status.get('details') or {}).get('causes') or []) > 1


# The parts of messages that clients look into, so that their wording is compared. All others are for people
# (docs/conformance.md).
PARSED = re.compile('|'.join((
    r'field is immutable',                          # kubectl replace, and controllers that create again
    r'exceeded quota.*',                            # controllers that wait for quota
    r'the object has been modified',                # retries of clients that look at the text
    r'object is being deleted',                     # clients that wait, then create
    r'because it is being terminated',              # controllers that stop in such a namespace
    r'[Tt]oo (?:old|large) resource version.*', r'The provided continue parameter.*',  # lists and watches of clients
    r'^Apply failed with.*', r'^conflicts? with .*',  # kubectl apply --server-side
    r'User "[^"]*" cannot .*', r'is attempting to grant.*(?:\n.*)*', r'must have cluster-admin.*',  # people, and tests of rights
    r'admission webhook "[^"]*" denied the request.*',  # operators that tell users what to do
    r'failed calling webhook "[^"]*": (?:failed to call webhook|received invalid webhook response: .*)',
    r'context deadline exceeded',
    r'strict decoding error', r'(?:unknown|duplicate) field \\*"[^"\\]*',  # kubectl --validate
)))


def parsed(message):
    return PARSED.findall(message) if isinstance(message, str) else []


# The value that a message of a field quotes, if it is a number, a boolean or a short text and no document.
QUOTED = re.compile(r'^(?:Invalid value|Unsupported value|Duplicate value|Not found): '
                    r'("(?![{\[]|map\[)(?:[^"\\]|\\.){,64}"|-?[\d.]+|true|false)(?=$|:)')


def cause_of(cause):
    """What is compared of a cause of a Status: reason, field, the quoted value, and what clients look into."""
    message = cause.get('message') or ''
    quoted = QUOTED.match(message)
    return [cause.get('reason', ''), cause.get('field', ''), quoted.group(1) if quoted else '',
            parsed(message) or bool(message)]


def told(status):
    """What is compared of the message of a Status."""
    if (status.get('details') or {}).get('causes'):
        return bool(status['message'])  # it joins the messages of the causes
    name = (status.get('details') or {}).get('name')
    return {'parts that clients look into': parsed(status['message']), 'is there': bool(status['message']),
            'names the object': bool(name) and name in status['message']}


def without_prose(value):
    """An answer without the wording that no client looks into: of each Status. Objects stay as they are."""
    if isinstance(value, list):
        return [without_prose(v) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: without_prose(v) for k, v in value.items()}
    if value.get('kind') != 'Status':
        return out
    if isinstance(value.get('message'), str):
        out['message'] = told(value)
    causes = (value.get('details') or {}).get('causes')
    if causes:  # each once: a real server makes some checks twice
        unique = {json.dumps(cause, sort_keys=True): cause for cause in causes}
        out['details']['causes'] = sorted(json.dumps(cause_of(cause)) for cause in unique.values())
    return out


def differences(want, got, path=''):
    """Returns lines that describe the differences of two normalised values."""
    if type(want) is not type(got):
        yield '%s: wanted %s, got %s' % (path, short(want), short(got))
    elif isinstance(want, dict):
        for key in sorted(set(want) | set(got)):
            if key not in want:
                yield '%s/%s: not wanted, got %s' % (path, key, short(got[key]))
            elif key not in got:
                yield '%s/%s: wanted %s, missing' % (path, key, short(want[key]))
            else:
                yield from differences(want[key], got[key], path + '/' + key)
    elif isinstance(want, list):
        if len(want) != len(got):
            yield '%s: wanted %d entries, got %d' % (path, len(want), len(got))
        for at, (one, other) in enumerate(zip(want, got)):
            yield from differences(one, other, '%s/%d' % (path, at))
    elif want != got:
        yield '%s: wanted %s, got %s' % (path, short(want), short(got))


def short(value):
    text = json.dumps(value)
    return text if len(text) < 400 else text[:397] + '...'
