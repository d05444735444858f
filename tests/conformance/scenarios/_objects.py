# SPDX-License-Identifier: Apache-2.0
"""Objects that several areas ask about, as short to write as they can be.

Plains, Widgets and Globals are the kinds of recorded/base/_setup.json, which every server of the suite has.
"""
GROUP = '/apis/conformance.example.com/v1'
CUSTOM = 'conformance.example.com/v1'


def obj(version, kind, name, _members=None, **members):
    """An object with these members."""
    return dict({'apiVersion': version, 'kind': kind, 'metadata': {'name': name}}, **dict(_members or {}, **members))


def named(version, kind, name, labels=None, **metadata):
    """An object of which only the metadata matters."""
    metadata = dict({'name': name}, **metadata)
    if labels:
        metadata['labels'] = labels
    return {'apiVersion': version, 'kind': kind, 'metadata': metadata}


def cm(name, labels=None, **metadata):
    """A ConfigMap with one key."""
    return dict(named('v1', 'ConfigMap', name, labels, **metadata), data={'k': 'v'})


def plain(name, labels=None, **metadata):
    """A custom object without a schema."""
    return named(CUSTOM, 'Plain', name, labels, **metadata)


def widget(name, **metadata):
    """A custom object with a schema, status and scale."""
    return dict(named(CUSTOM, 'Widget', name, **metadata), spec={'size': 5})


def opts(**members):
    """DeleteOptions."""
    return dict({'apiVersion': 'v1', 'kind': 'DeleteOptions'}, **members)


def owner(kind, name, uid, version='v1', **members):
    """An entry of ownerReferences."""
    return dict({'apiVersion': version, 'kind': kind, 'name': name, 'uid': uid}, **members)


def three(s, path='plains', make=plain):
    """a and c of app x, b of app y; tiers 1, 2 and none."""
    s.post(path, make('a', {'app': 'x', 'tier': '1'}))
    s.post(path, make('b', {'app': 'y', 'tier': '2'}))
    s.post(path, make('c', {'app': 'x'}))
