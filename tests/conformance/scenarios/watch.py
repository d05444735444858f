# SPDX-License-Identifier: Apache-2.0
"""Watches: where they start, what they tell, in which form, and how they end."""
from scenario import scenario
from scenarios._objects import CUSTOM, cm, obj, plain, widget

INITIAL = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
NO_INITIAL = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'


@scenario
def from_zero(s):
    """A watch from version 0 begins with what there is."""
    s.post('plains', plain('a'))
    s.post('plains', plain('b'))
    s.watch('w', 'plains?watch=1&resourceVersion=0')
    s.collect('w', 2)
    s.post('plains', plain('c'))
    s.collect('w', 1)


@scenario
def from_version(s):
    """A watch from a version tells all that came after."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.post('plains', plain('a'))
    s.patch('plains/a', {'spec': {'x': 1}})
    s.delete('plains/a')
    s.watch('w', 'plains?watch=1&resourceVersion={rv}')
    s.collect('w', 3)


@scenario
def from_own_version(s):
    """A watch from the version of an object starts after it."""
    s.post('plains', plain('a'), capture={'rv': 'metadata/resourceVersion'})
    s.post('plains', plain('b'))
    s.watch('w', 'plains?watch=1&resourceVersion={rv}')
    s.collect('w', 1)


@scenario
def future(s):
    """A watch from a version that is still to come."""
    s.watch('w', 'plains?watch=1&resourceVersion=999999999&timeoutSeconds=5')
    s.collect('w', 1, within=8, until_end=True)


@scenario
def versions_bad(s):
    """ResourceVersions that a watch cannot start from."""
    for i, q in enumerate(('resourceVersion=abc', 'resourceVersion=-5', 'resourceVersion=1.5',
                    'resourceVersion=99999999999999999999999', 'resourceVersionMatch=Exact',
                    'resourceVersionMatch=NotOlderThan', 'resourceVersion=1&resourceVersionMatch=NotOlderThan',
                    'resourceVersion=0&resourceVersionMatch=Exact', 'timeoutSeconds=abc',
                    'allowWatchBookmarks=maybe&timeoutSeconds=1', 'limit=abc', 'labelSelector=a%3D%3D%3D',
                    'fieldSelector=spec.x%3D1', 'sendInitialEvents=maybe&timeoutSeconds=1')):
        s.watch('w%d' % i, 'plains?watch=1&' + q)


@scenario
def initial_events_bad(s):
    """SendInitialEvents where it cannot be."""
    for i, q in enumerate(('sendInitialEvents=true', 'sendInitialEvents=false',
                    'sendInitialEvents=true&resourceVersionMatch=Exact',
                    'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
                    'sendInitialEvents=true&resourceVersionMatch=Foo',
                    'sendInitialEvents=false&resourceVersionMatch=Exact',
                    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc',
                    'resourceVersionMatch=NotOlderThan&continue=abc',
                    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=abc')):
        s.watch('w%d' % i, 'plains?watch=1&timeoutSeconds=1&' + q)


@scenario
def initial_events(s):
    """SendInitialEvents: what there is, then a bookmark that says so."""
    s.post('plains', plain('a'))
    s.post('plains', plain('b'))
    s.watch('w', 'plains?' + INITIAL)
    s.collect('w', 3)
    s.post('plains', plain('c'))
    s.collect('w', 1)
    s.watch('n', 'plains?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1')
    s.collect('n', 4, until_end=True)
    s.watch('z',
            'plains?' + INITIAL + '&resourceVersion=0')
    s.collect('z', 4)


@scenario
def initial_events_selected(s):
    """SendInitialEvents with selectors, and where nothing is."""
    s.post('plains', plain('a', {'x': '1'}))
    s.post('plains', plain('b'))
    s.watch('w',
            'plains?' + INITIAL + '&labelSelector=x')
    s.collect('w', 2)
    s.watch('e',
            'plains?' + INITIAL + '&labelSelector=nope')
    s.collect('e', 1)
    s.watch('f',
            'plains?' + INITIAL + '&fieldSelector=metadata.name%3Db')
    s.collect('f', 2)


@scenario
def no_initial_events(s):
    """SendInitialEvents=false starts with what comes."""
    s.post('plains', plain('a'))
    s.watch('w', 'plains?' + NO_INITIAL)
    s.post('plains', plain('b'))
    s.collect('w', 1)
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('v',
            'plains?' + NO_INITIAL + '&resourceVersion={rv}&allowWatchBookmarks=true')
    s.post('plains', plain('c'))
    s.collect('v', 1)


@scenario
def initial_events_forms(s):
    """The bookmark of the initial events as Table, partial metadata and of a built-in kind."""
    s.post('plains', plain('a'))
    s.post('configmaps', cm('a'))
    table, partial = ('application/json;as=%s;v=v1;g=meta.k8s.io' % form for form in ('Table', 'PartialObjectMetadata'))
    for i, (path, accept) in enumerate((('plains', table), ('plains', partial), ('configmaps', 'application/json'),
                                        ('configmaps', table), ('configmaps', partial))):
        s.watch('w%d' % i, path + '?' + INITIAL, headers={'Accept': accept})
        s.collect('w%d' % i, 2)


@scenario
def selected_fields(s):
    """Objects that move in and out of a field selector."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.post('widgets', widget('a'))
    s.get('widgets', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'pods?watch=1&fieldSelector=spec.nodeName%3Dn1')
    s.post('pods', obj('v1', 'Pod', 'p', spec={'containers': [{'name': 'c', 'image': 'i'}]}), hidden=True)
    s.post('pods/p/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'p'},
           'target': {'kind': 'Node', 'name': 'n1'}})
    s.collect('w', 1)
    s.delete('pods/p?gracePeriodSeconds=0')
    s.collect('w', 1)


@scenario
def selected_delete(s):
    """DELETED of an object that no longer matched is not told."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'plains?watch=1&resourceVersion={rv}&labelSelector=a')
    s.post('plains', plain('p', {'a': '1'}))
    s.patch('plains/p', {'metadata': {'labels': {'a': None}}})
    s.delete('plains/p')
    s.post('plains', plain('q', {'a': '1'}))
    s.delete('plains/q')
    s.collect('w', 4)


@scenario
def name(s):
    """A watch of one name, created, deleted and created again."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'plains?watch=1&resourceVersion={rv}&fieldSelector=metadata.name%3Da')
    s.post('plains', plain('b'))
    s.post('plains', plain('a'))
    s.delete('plains/a')
    s.post('plains', plain('a'))
    s.collect('w', 3)


@scenario
def name_path(s):
    """GET of one object with watch=1."""
    s.post('plains', plain('a'), capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'plains/a?watch=1&resourceVersion={rv}&timeoutSeconds=2')
    s.patch('plains/a', {'spec': {'x': 1}})
    s.post('plains', plain('b'))
    s.collect('w', 2, until_end=True)


@scenario
def legacy(s):
    """/watch/ paths of built-in kinds and custom ones."""
    s.post('configmaps', cm('a'))
    s.get('configmaps', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', '/api/v1/watch/namespaces/{ns}/configmaps?resourceVersion={rv}')
    s.watch('n', '/api/v1/watch/namespaces/{ns}/configmaps/a?resourceVersion={rv}')
    s.patch('configmaps/a', {'data': {'x': '1'}})
    s.post('configmaps', cm('b'))
    s.collect('w', 2)
    s.collect('n', 1)
    s.watch('c', '/apis/conformance.example.com/v1/watch/namespaces/{ns}/plains?resourceVersion=0&timeoutSeconds=1')
    s.collect('c', 1, until_end=True)
    s.watch('a', '/api/v1/watch/configmaps?resourceVersion=0&labelSelector=in%3D{ns}&timeoutSeconds=1')
    s.collect('a', 1, until_end=True, within=3)
    s.watch('x', '/api/v1/watch/namespaces/{ns}/nothing')
    s.get('/api/v1/watch/namespaces/{ns}/configmaps/zz?resourceVersion={rv}&timeoutSeconds=1')


@scenario
def table(s):
    """Events of a watch as Tables: columns only at first."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'plains?watch=1&resourceVersion={rv}',
            headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.watch('o', 'plains?watch=1&resourceVersion={rv}&includeObject=Object',
            headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.watch('x', 'plains?watch=1&resourceVersion={rv}&includeObject=None',
            headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.post('plains', plain('a'))
    s.patch('plains/a', {'spec': {'x': 1}})
    s.delete('plains/a')
    s.collect('w', 3)
    s.collect('o', 3)
    s.collect('x', 3)


@scenario
def table_builtin(s):
    """Events of built-in kinds as Tables and partial metadata."""
    s.get('configmaps', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'configmaps?watch=1&resourceVersion={rv}',
            headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.watch('p', 'configmaps?watch=1&resourceVersion={rv}',
            headers={'Accept': 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'})
    s.post('configmaps', cm('a'))
    s.patch('configmaps/a', {'data': {'x': '1'}})
    s.delete('configmaps/a')
    s.collect('w', 3)
    s.collect('p', 3)


@scenario
def partial(s):
    """Events of a custom resource as partial metadata."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('p', 'plains?watch=1&resourceVersion={rv}',
            headers={'Accept': 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'})
    s.post('plains', plain('a'))
    s.patch('plains/a', {'metadata': {'labels': {'a': 'b'}}})
    s.delete('plains/a')
    s.collect('p', 3)


@scenario
def limit(s):
    """Limit means nothing to a watch."""
    s.post('plains', plain('a'))
    s.post('plains', plain('b'))
    s.post('plains', plain('c'))
    s.watch('w', 'plains?watch=1&resourceVersion=0&limit=1')
    s.collect('w', 3)


@scenario(alone=True)
def all_namespaces(s):
    """A watch over all namespaces."""
    s.get('/api/v1/configmaps?limit=1', hidden=True, capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', '/api/v1/configmaps?watch=1&labelSelector=in%3D{ns}')
    s.post('configmaps', cm('a', {'in': '{ns}'}))
    s.collect('w', 1)


@scenario
def cluster(s):
    """A watch of a cluster-scoped kind."""
    s.watch('w', 'globals?watch=1&labelSelector=in%3D{ns}')
    s.post('globals', obj(CUSTOM, 'Global', 'g-{ns}', metadata={'name': 'g-{ns}',
           'labels': {'in': '{ns}'}}))
    s.delete('globals/g-{ns}')
    s.collect('w', 2)


@scenario
def crd_deleted(s):
    """A watch of a kind whose CRD is deleted."""
    s.kind({})
    s.create('things/a')
    s.get('things', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'things?watch=1&resourceVersion={rv}')
    s.delete('customresourcedefinitions/things.{ns}.example.com', hidden=True)
    s.collect('w', 2, until_end=True, within=15)
    s.get('things', until=404, within=15)


@scenario
def crd_changed(s):
    """A watch of a kind whose CRD is changed."""
    s.kind({})
    s.create('things/a')
    s.get('things', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'things?watch=1&resourceVersion={rv}')
    s.patch('customresourcedefinitions/things.{ns}.example.com', {'spec': {'names': {'shortNames': ['th']}}},
            hidden=True)
    s.collect('w', 1, until_end=True, within=5)


@scenario
def no_events(s):
    """A watch that times out with nothing to say ends cleanly."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.get('plains?watch=1&resourceVersion={rv}&timeoutSeconds=1')
    s.get('configmaps?watch=true&resourceVersion={rv}&timeoutSeconds=1')
    s.get('plains?watch=0&resourceVersion=0')
    s.get('plains?watch=false')
    s.get('plains?watch=yes&timeoutSeconds=1')
    s.get('plains?watch&timeoutSeconds=1')


@scenario(alone=True)
def namespace_deleted(s):
    """A watch of what goes with its namespace."""
    s.post('configmaps', cm('a'))
    s.get('configmaps', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'configmaps?watch=1&resourceVersion={rv}&fieldSelector=metadata.name%3Da')
    s.watch('n', '/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3D{ns}')
    s.collect('n', 1)
    s.delete('/api/v1/namespaces/{ns}')
    s.collect('w', 1, within=60)
    s.collect('n', 3, within=60)


@scenario
def finalizer_steps(s):
    """What a watch tells of an object with finalizers that is deleted."""
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.watch('w', 'plains?watch=1&resourceVersion={rv}')
    s.post('plains', plain('a', finalizers=['x.io/a', 'x.io/b']))
    s.delete('plains/a')
    s.delete('plains/a')
    s.patch('plains/a', {'metadata': {'finalizers': ['x.io/b']}})
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.collect('w', 4)
