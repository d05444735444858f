# SPDX-License-Identifier: Apache-2.0
"""Garbage collection: which dependents go with their owners."""
from scenario import scenario
from scenarios._objects import CUSTOM, cm, obj, opts, owner, plain, widget

FIN = ['x.io/hold']


def own(uid, name, **members):
    return owner('ConfigMap', name, uid, **members)


def made(s, name, uid, **metadata):
    """A ConfigMap whose uid later steps can name."""
    s.post('configmaps', cm(name, **metadata), capture={uid: 'metadata/uid'})


def gone(s, path):
    s.get(path, until=404, within=30)


@scenario
def chain(s):
    """Garbage collection down a chain of owners."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a')])
    made(s, 'c', 'u3', ownerReferences=[own('{u2}', 'b')])
    s.delete('configmaps/a')
    gone(s, 'configmaps/b')
    gone(s, 'configmaps/c')


@scenario
def two_owners(s):
    """One of two owners goes: the reference goes; both: the dependent."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2')
    made(s, 'c', 'u3', ownerReferences=[own('{u1}', 'a'), own('{u2}', 'b')])
    s.delete('configmaps/a')
    s.get('configmaps/a')
    s.get('configmaps/c', until={'metadata/ownerReferences/0/name': 'b'}, within=30)
    s.get('configmaps/c')
    s.delete('configmaps/b')
    gone(s, 'configmaps/c')


@scenario
def wrong_uid(s):
    """An owner of another uid is no owner."""
    made(s, 'a', 'u1')
    made(s, 'c', 'u3', ownerReferences=[own('another', 'a')])
    gone(s, 'configmaps/c')
    s.get('configmaps/a')


@scenario
def absent_owner(s):
    """An owner that never was."""
    made(s, 'c', 'u3', ownerReferences=[own('another', 'nobody')])
    gone(s, 'configmaps/c')


@scenario
def orphan(s):
    """Orphan leaves the dependents without their owner."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a')])
    s.delete('configmaps/a', opts(propagationPolicy='Orphan'))
    gone(s, 'configmaps/a')
    s.get('configmaps/b')


@scenario
def foreground(s):
    """Foreground waits for dependents that block."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a', blockOwnerDeletion=True)], finalizers=FIN)
    made(s, 'c', 'u3', ownerReferences=[own('{u1}', 'a')], finalizers=FIN)
    s.delete('configmaps/a', opts(propagationPolicy='Foreground'))
    s.get('configmaps/b', until={'metadata/deletionGracePeriodSeconds': 0}, within=30)
    s.get('configmaps/a')
    s.patch('configmaps/b', {'metadata': {'finalizers': None}})
    gone(s, 'configmaps/a')
    s.get('configmaps/c', until={'metadata/deletionGracePeriodSeconds': 0}, within=30)
    s.patch('configmaps/c', {'metadata': {'finalizers': None}})
    gone(s, 'configmaps/c')


@scenario
def foreground_free(s):
    """Foreground does not wait for dependents that do not block."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a', blockOwnerDeletion=False)], finalizers=FIN)
    s.delete('configmaps/a', opts(propagationPolicy='Foreground'))
    gone(s, 'configmaps/a')
    s.get('configmaps/b', until={'metadata/deletionGracePeriodSeconds': 0}, within=30)
    s.patch('configmaps/b', {'metadata': {'finalizers': None}})
    gone(s, 'configmaps/b')


@scenario
def foreground_chain(s):
    """Foreground goes down a chain that blocks."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a', blockOwnerDeletion=True)])
    made(s, 'c', 'u3', ownerReferences=[own('{u2}', 'b', blockOwnerDeletion=True)], finalizers=FIN)
    s.delete('configmaps/a', opts(propagationPolicy='Foreground'))
    s.get('configmaps/c', until={'metadata/deletionGracePeriodSeconds': 0}, within=30)
    s.get('configmaps/b')
    s.get('configmaps/a')
    s.patch('configmaps/c', {'metadata': {'finalizers': None}})
    gone(s, 'configmaps/a')
    gone(s, 'configmaps/b')
    gone(s, 'configmaps/c')


@scenario
def cluster_owner(s):
    """A cluster-scoped owner of namespaced objects."""
    s.post('globals', obj(CUSTOM, 'Global', 'o-{ns}'), capture={'u': 'metadata/uid'})
    s.post('configmaps', cm('c', ownerReferences=[owner('Global', 'o-{ns}', '{u}', version=CUSTOM)]))
    s.delete('globals/o-{ns}')
    gone(s, 'configmaps/c')


@scenario
def custom(s):
    """Custom resources that own each other and built-in objects."""
    s.post('plains', plain('a'), capture={'u': 'metadata/uid'})
    s.post('widgets', widget('w', ownerReferences=[owner('Plain', 'a', '{u}', version=CUSTOM,
           controller=True)]), capture={'v': 'metadata/uid'})
    s.post('configmaps', cm('c', ownerReferences=[owner('Widget', 'w', '{v}', version=CUSTOM,
           controller=True, blockOwnerDeletion=True)]))
    s.delete('plains/a')
    gone(s, 'widgets/w')
    gone(s, 'configmaps/c')


@scenario
def other_namespace(s):
    """An owner in another namespace is no owner."""
    s.post('/api/v1/namespaces', obj('v1', 'Namespace', '{ns}-b'))
    s.post('/api/v1/namespaces/{ns}-b/configmaps', cm('a'), capture={'u': 'metadata/uid'})
    s.post('configmaps', cm('c', ownerReferences=[own('{u}', 'a')]))
    gone(s, 'configmaps/c')
    s.get('/api/v1/namespaces/{ns}-b/configmaps/a')
    s.delete('/api/v1/namespaces/{ns}-b')


@scenario
def owner_removed(s):
    """A reference taken away in time saves the dependent."""
    made(s, 'a', 'u1')
    made(s, 'b', 'u2', ownerReferences=[own('{u1}', 'a')])
    s.patch('configmaps/b', {'metadata': {'ownerReferences': None}})
    s.delete('configmaps/a')
    made(s, 'z', 'u9', ownerReferences=[own('{u1}', 'a')])
    gone(s, 'configmaps/z')
    s.get('configmaps/b')


@scenario
def owner_references_bad(s):
    """Owner references that are refused."""
    for p, m in (('configmaps', cm), ('plains', plain)):
        for r in ([{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'a'}], [{'kind': 'ConfigMap', 'name': 'a',
                  'uid': 'u'}], [{'apiVersion': 'v1', 'name': 'a', 'uid': 'u'}], [{'apiVersion': 'v1',
                  'kind': 'ConfigMap', 'uid': 'u'}], [own('u', 'a', controller=True), own('v', 'b', controller=True)],
                  [{'apiVersion': 'a/b/c', 'kind': 'ConfigMap', 'name': 'a', 'uid': 'u'}], [{'apiVersion': 'v1',
                  'kind': 'Event', 'name': 'a', 'uid': 'u'}], [{}]):
            s.post(p, m('x', ownerReferences=r))
    s.post('configmaps?dryRun=All', cm('dup', ownerReferences=[own('u', 'a'), own('u', 'a')]))
