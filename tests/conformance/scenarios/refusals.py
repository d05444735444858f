# SPDX-License-Identifier: Apache-2.0
"""Status bodies of every class of error: queries, bodies and sizes that are refused."""
from scenario import scenario

CONFIG_MAP = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}}


def create_with(s, *queries):
    for at, query in enumerate(queries):
        s.post('configmaps?' + query, dict(CONFIG_MAP, metadata={'name': 'a%d' % at}))


def get(s, *paths):
    for path in paths:
        s.get(path)


@scenario
def options_of_creates(s):
    """Options that are refused, and some that only look wrong."""
    create_with(s, 'dryRun=bad', 'dryRun=All&dryRun=bad', 'fieldManager=' + 'x' * 129, 'fieldManager=a%0Ab', 'fieldManager=',
                'fieldValidation=strict', 'pretty=bad', 'unknown=1', 'timeoutSeconds=x', 'dryRun=All', 'dryRun',
                'fieldManager=%C3%A9')


@scenario
def timeouts(s):
    """How long a request may take."""
    create_with(s, 'timeout=x', 'timeout=5', 'timeout=5x', 'timeout=1s', 'timeout=1h30m', 'timeout=-1s')
    get(s, 'configmaps/none?timeout=bad', 'configmaps/none?timeout=1s')


@scenario
def options_of_lists(s):
    """Numbers that are none."""
    get(s, 'configmaps?timeoutSeconds=x', 'configmaps?limit=x', 'configmaps?limit=-1', 'configmaps?limit=99999999999999999999',
        'configmaps?unknown=1', 'configmaps?resourceVersion=x')


@scenario
def options_of_gets(s):
    """Versions that are none, and one that is to come."""
    s.create('configmaps/a', hidden=True)
    get(s, 'configmaps/a?resourceVersion=x', 'configmaps/a?resourceVersion=0', 'configmaps/a?resourceVersion=1',
        'configmaps/a?resourceVersion=-5', 'configmaps/a?unknown=1')


@scenario
def bodies_of_deletions(s):
    """Options of a deletion that cannot be decoded."""
    s.create('configmaps/a', hidden=True)
    options = {'kind': 'DeleteOptions', 'apiVersion': 'v1'}
    for body in (dict(options, gracePeriodSeconds='x'), dict(options, propagationPolicy='bad'), '[]', '{', 'x',
                 dict(options, dryRun=['bad']), dict(options, preconditions={'uid': 'no'})):
        s.delete('configmaps/a', body)
    s.delete('configmaps/a?gracePeriodSeconds=x')
    s.delete('configmaps/a?propagationPolicy=Foreground&orphanDependents=true')


@scenario
def bodies_of_creates(s):
    """JSON that is no object, or not the kind's."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    for body in ('[]', '1', 'null', '"x"', '{}', {'metadata': 'x'}, {'apiVersion': 5},
                 {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'q', 'creationTimestamp': 'bad'}},
                 '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"e"}} extra', '\x00'):
        s.post('configmaps', body)
    thing = {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing'}
    for body in ('[]', 'null', '{}', dict(thing, metadata='x'), dict(thing, metadata={'name': 5}),
                 dict(thing, metadata={'labels': {'a': 5}}), {'apiVersion': 5, 'kind': 'Thing'}):
        s.post('things', body)


@scenario
def unicode_names_and_values(s):
    """Text beyond ASCII: in values, not in keys."""
    s.create('configmaps/a', data={'k': '\u00e9 \U0001f600'})
    s.create('configmaps/b', data={'\u00e9': '1'})


@scenario
def absent_objects(s):
    """Verbs on what is not there."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    for plural in ('configmaps', 'things', 'deployments'):
        get(s, plural + '/none')
        s.delete(plural + '/none')
        s.patch(plural + '/none', {})
    s.replace('configmaps/none')
    s.replace('things/none')


@scenario
def sizes(s):
    """Annotations, data and objects that are too large."""
    s.create('configmaps/annotated', annotations={'a': '{x*262145}'})
    s.create('configmaps/large', data={'k': '{x*1048577}'})
    s.create('secrets/large', stringData={'k': '{x*1048577}'})
    s.post('configmaps', '{"x":"{y*3200000}"}')
    s.create('configmaps/' + 'n' * 254)
    s.create('configmaps/a', labels={'a': 'x' * 64})


@scenario
def objects_too_large_for_storage(s):
    """Custom resources have no limit but that of the storage."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    s.create('things/a', spec={'a': '{x*1600000}'})


@scenario
def immutable_metadata(s):
    """What an update may not change."""
    s.create('configmaps/a', data={'k': 'v'})
    for metadata in ({'uid': 'x'}, {'namespace': 'other'}, {'resourceVersion': 'x'}):
        s.put('configmaps/a', dict(CONFIG_MAP, metadata=dict(metadata, name='a')))
    s.put('configmaps/a', dict(CONFIG_MAP, metadata={'name': 'b'}))
    s.put('configmaps/a', dict(CONFIG_MAP, metadata={}))
    s.put('configmaps/a', dict(CONFIG_MAP, kind='Secret'))
