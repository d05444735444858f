# SPDX-License-Identifier: Apache-2.0
"""What a custom resource becomes when it is stored: defaults, pruning, embedded resources."""
from scenario import scenario

TEXT, NUMBER = {'type': 'string'}, {'type': 'integer'}


def thing(properties, **more):
    return {'spec': dict({'type': 'object', 'properties': properties}, **more)}


@scenario
def nested(s):
    """A default inside of an object applies only where the object is; an object with a default is made."""
    s.kind(thing({'absent': {'type': 'object', 'properties': {'a': dict(TEXT, default='x')}},
                  'made': {'type': 'object', 'default': {}, 'properties': {
                      'a': dict(TEXT, default='x'), 'deep': {'type': 'object', 'default': {'b': 'given'}, 'properties': {
                          'b': TEXT, 'c': dict(NUMBER, default=3)}}}}}))
    s.create('things/a', spec={})
    s.create('things/b', spec={'absent': {}, 'made': {'a': 'own', 'deep': {'c': 4}}})
    s.create('things/c')


@scenario
def in_arrays(s):
    """Defaults apply in each item of an array, and arrays have defaults themselves."""
    item = {'type': 'object', 'properties': {'n': dict(NUMBER, default=7), 'list': {
        'type': 'array', 'default': ['p', 'q'], 'items': TEXT}}}
    s.kind(thing({'items': {'type': 'array', 'items': item},
                  'filled': {'type': 'array', 'items': item, 'default': [{'n': 1}, {}]}}))
    s.create('things/a', spec={'items': [{}, {'n': 8}, {'list': []}]})


@scenario
def in_maps(s):
    """Defaults apply in each value of additionalProperties."""
    s.kind(thing({'map': {'type': 'object', 'additionalProperties': {
        'type': 'object', 'properties': {'n': dict(NUMBER, default=7), 'text': TEXT}}}}))
    s.create('things/a', spec={'map': {'one': {}, 'two': {'n': 1, 'text': 'x', 'gone': 1}}})


@scenario
def null(s):
    """null where it is not allowed is replaced by the default, or pruned; where it is, it stays."""
    s.kind(thing({'plain': TEXT, 'defaulted': dict(TEXT, default='x'), 'nullable': dict(TEXT, nullable=True),
                  'both': dict(TEXT, nullable=True, default='x'),
                  'list': {'type': 'array', 'items': dict(TEXT, nullable=True)},
                  'map': {'type': 'object', 'additionalProperties': dict(TEXT, nullable=True)}}))
    s.create('things/a', spec={'defaulted': None, 'nullable': None, 'both': None, 'list': [None, 'x'],
                               'map': {'a': None}})
    s.create('things/b', spec={'plain': None})
    s.create('things/c', spec=None)


@scenario
def of_every_type(s):
    """Defaults of all types."""
    s.kind(thing({'text': dict(TEXT, default=''), 'int': dict(NUMBER, default=0),
                  'number': {'type': 'number', 'default': 1.5}, 'whole': {'type': 'number', 'default': 2},
                  'bool': {'type': 'boolean', 'default': False}, 'empty': {'type': 'array', 'items': TEXT, 'default': []},
                  'port': {'x-kubernetes-int-or-string': True, 'default': '80%'}}))
    s.create('things/a', spec={})


@scenario
def on_update_and_read(s):
    """Defaults are applied when an object is changed and when it is read, and never stored over a value."""
    s.kind(thing({'a': dict(TEXT, default='x'), 'b': TEXT}))
    s.create('things/a', spec={'b': '1'})
    s.patch('things/a', [{'op': 'remove', 'path': '/spec/a'}], type='json')
    s.patch('things/a', {'spec': {'a': None, 'b': '2'}})
    s.replace('things/a', spec={'a': 'own'})
    s.apply('things/a', spec={'b': '3'}, manager='other')


@scenario
def of_status(s):
    """Defaults of the status appear once the status is written."""
    s.kind({'spec': {'type': 'object'}, 'status': {'type': 'object', 'properties': {
        'phase': dict(TEXT, default='New'), 'n': NUMBER}}}, status=True)
    s.create('things/a', spec={}, status={'phase': 'Ignored'})
    s.patch('things/a/status', {'status': {'n': 1}})


@scenario
def pruned(s):
    """What the schema does not name is dropped, at every depth."""
    s.kind(thing({'text': TEXT, 'list': {'type': 'array', 'items': {'type': 'object', 'properties': {'a': TEXT}}}}))
    s.create('things/a', spec={'text': 'x', 'extra': 1, 'list': [{'a': 'y', 'b': 'z'}]}, other={'a': 1})
    s.patch('things/a', {'spec': {'more': 2}, 'top': 1})
    s.patch('things/a', [{'op': 'add', 'path': '/spec/added', 'value': 1}], type='json')


@scenario
def unknown_fields_preserved(s):
    """x-kubernetes-preserve-unknown-fields keeps all, but what is named inside of it is pruned as usual."""
    s.kind(thing({'free': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True, 'properties': {
        'strict': {'type': 'object', 'properties': {'a': TEXT}}}}, 'any': {'x-kubernetes-preserve-unknown-fields': True}}))
    s.create('things/a', spec={'free': {'x': {'y': [1, {'z': None}]}, 'strict': {'a': 'b', 'c': 'd'}}, 'any': [1, 'x'],
                               'gone': 1})
    s.create('things/b', spec={'any': 'text', 'free': {'strict': {'a': 5}}})


@scenario
def all_preserved(s):
    """A schema that preserves everything at its root."""
    s.kind({}, schema={'x-kubernetes-preserve-unknown-fields': True})
    s.create('things/a', spec={'x': {'y': 1}}, other=[1, 2], status={'n': 1})
    s.replace('things/a', more='text')


@scenario
def embedded_resource(s):
    """An embedded resource keeps apiVersion, kind and metadata, which have to be right."""
    s.kind(thing({'template': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'properties': {
        'spec': {'type': 'object', 'properties': {'a': TEXT}}}}}))
    good = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p', 'labels': {'a': 'b'}, 'strange': 1},
            'spec': {'a': 'x', 'b': 'y'}, 'more': 1}
    s.create('things/a', spec={'template': good})
    s.create('things/b', spec={'template': {'spec': {'a': 'x'}}})
    s.create('things/c', spec={'template': dict(good, metadata={'name': 'Bad Name', 'labels': {'a b': 'c'}})})
    s.create('things/e', spec={'template': dict(good, kind='no kind')})


@scenario
def embedded_metadata_of_wrong_types(s):
    """Labels of an embedded resource that are no texts."""
    s.kind(thing({'template': {'type': 'object', 'x-kubernetes-embedded-resource': True,
                               'x-kubernetes-preserve-unknown-fields': True}}))
    s.create('things/a', spec={'template': {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'labels': {'a': 1}}}})


@scenario
def metadata_is_coerced(s):
    """Unknown members of metadata are dropped, wrong types refused."""
    s.kind(thing({'text': TEXT}))
    s.create('things/a', metadata={'strange': 1, 'labels': {'a': 'b'}, 'annotations': None}, spec={})
    s.create('things/b', metadata={'labels': {'a': 1}}, spec={})
    s.create('things/c', metadata={'labels': 'a'}, spec={})
    s.create('things/d', metadata={'creationTimestamp': 'yesterday'}, spec={})


@scenario
def read_only_metadata(s):
    """What a client says of uid, creationTimestamp, generation and the like when it creates."""
    s.kind(thing({'text': TEXT}))
    s.create('things/a', spec={}, metadata={
        'uid': 'my-own', 'creationTimestamp': '2001-02-03T04:05:06Z', 'generation': 7, 'selfLink': '/x',
        'deletionTimestamp': '2001-02-03T04:05:06Z', 'deletionGracePeriodSeconds': 5})
