# SPDX-License-Identifier: Apache-2.0
"""Namespaces: from their creation to their end."""
from scenario import scenario
from scenarios._objects import cm, obj, plain

FIN = ['x.io/hold']


def gone(s, path):
    s.get(path, until=404, within=30)


@scenario
def life(s):
    """A namespace from its creation to its end."""
    s.post('namespaces', obj('v1', 'Namespace', '{ns}-n'))
    s.get('namespaces/{ns}-n')
    s.post('namespaces/{ns}-n/configmaps', cm('a'))
    s.delete('namespaces/{ns}-n')
    gone(s, 'namespaces/{ns}-n')
    s.get('namespaces/{ns}-n/configmaps/a')
    s.post('namespaces/{ns}-n/configmaps', cm('a'))


@scenario
def held(s):
    """A namespace that its content holds."""
    s.post('namespaces', obj('v1', 'Namespace', '{ns}-n'))
    s.post('namespaces/{ns}-n/configmaps', cm('a', finalizers=FIN))
    s.delete('namespaces/{ns}-n')
    s.get('namespaces/{ns}-n', until={'status/conditions/4/status': 'True'}, within=30)
    s.post('namespaces/{ns}-n/configmaps', cm('b'))
    s.post('/apis/conformance.example.com/v1/namespaces/{ns}-n/plains', plain('b'))
    s.patch('namespaces/{ns}-n/configmaps/a', {'data': {'x': 'y'}})
    s.delete('namespaces/{ns}-n')
    s.patch('namespaces/{ns}-n/configmaps/new?fieldManager=me', cm('new'), type='apply')
    s.post('namespaces/{ns}-n/configmaps?dryRun=All', cm('b'))
    s.post('namespaces/{ns}-n/configmaps', {'apiVersion': 'v1', 'kind': 'ConfigMap',
           'metadata': {'generateName': 'g-'}})
    s.patch('namespaces/{ns}-n/configmaps/a', {'metadata': {'finalizers': None}})
    gone(s, 'namespaces/{ns}-n')


@scenario
def finalize(s):
    """Finalizers of a namespace, and the subresource that removes them."""
    s.post('namespaces', obj('v1', 'Namespace', '{ns}-n', spec={'finalizers': ['x.io/hold']}))
    s.patch('namespaces/{ns}-n', {'spec': {'finalizers': ['kubernetes']}})
    s.delete('namespaces/{ns}-n')
    s.get('namespaces/{ns}-n', until={'spec/finalizers': ['x.io/hold']}, within=30)
    s.put('namespaces/{ns}-n/finalize', obj('v1', 'Namespace', '{ns}-n', spec={'finalizers': []}))
    gone(s, 'namespaces/{ns}-n')


@scenario
def finalize_early(s):
    """Finalize on a namespace that nobody deletes."""
    s.post('namespaces', obj('v1', 'Namespace', '{ns}-n'))
    s.put('namespaces/{ns}-n/finalize', obj('v1', 'Namespace', '{ns}-n', spec={'finalizers': ['kubernetes',
          'y.io/more']}))
    s.put('namespaces/{ns}-n/finalize', obj('v1', 'Namespace', '{ns}-n', spec={'finalizers': ['bad']}))
    s.put('namespaces/nope/finalize', obj('v1', 'Namespace', 'nope'))
    s.put('namespaces/{ns}-n/finalize', obj('v1', 'Namespace', '{ns}-n', spec={}))
    s.get('namespaces/{ns}-n')
    s.delete('namespaces/{ns}-n')


@scenario
def metadata_finalizer(s):
    """A namespace with a finalizer in its metadata."""
    s.post('namespaces', dict(obj('v1', 'Namespace', 'x'), metadata={'name': '{ns}-n', 'finalizers': ['x.io/hold']}))
    s.delete('namespaces/{ns}-n')
    s.get('namespaces/{ns}-n', until={'spec/finalizers': None}, within=30)
    s.patch('namespaces/{ns}-n', {'metadata': {'finalizers': None}})
    gone(s, 'namespaces/{ns}-n')


@scenario
def bad(s):
    """Namespaces that are refused."""
    s.post('namespaces', obj('v1', 'Namespace', 'Bad_{ns}'))
    s.post('namespaces', obj('v1', 'Namespace', 'a.b'))
    s.post('namespaces', obj('v1', 'Namespace', '{ns}'))
    s.post('namespaces', obj('v1', 'Namespace', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'))
    s.delete('namespaces/default')
    s.delete('namespaces/kube-system')
    s.delete('namespaces/kube-public')
    s.delete('namespaces/nope-{ns}')
    s.patch('namespaces/{ns}', {'metadata': {'labels': {'kubernetes.io/metadata.name': 'other'}}})
    s.post('namespaces', obj('v1', 'Namespace', '{ns}-f', spec={'finalizers': ['nodomain']}))
    s.patch('namespaces/{ns}', {'status': {'phase': 'Terminating'}})
    s.patch('/api/v1/namespaces/{ns}/status', {'status': {'phase': 'Terminating'}})
    s.patch('/api/v1/namespaces/{ns}/status', {'status': {'conditions': [{'type': 'X', 'status': 'True'}]}})
