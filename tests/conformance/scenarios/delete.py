# SPDX-License-Identifier: Apache-2.0
"""Deletion: options, finalizers, grace, many at once."""
from scenario import scenario
from scenarios._objects import cm, obj, opts, plain, widget

FIN = ['x.io/hold']


def four(s):
    """Two objects of each value of label g."""
    for i, name in enumerate('abcd'):
        s.post('plains', plain(name, {'g': str(i % 2)}))


@scenario
def preconditions_all(s):
    """Uid and resourceVersion in preconditions, in the body."""
    s.post('plains', plain('a'), capture={'uid': 'metadata/uid', 'rv': 'metadata/resourceVersion'})
    s.delete('plains/a', opts(preconditions={'uid': 'nope'}))
    s.delete('plains/a', opts(preconditions={'resourceVersion': '1'}))
    s.delete('plains/a', opts(preconditions={'uid': '{uid}', 'resourceVersion': '1'}))
    s.delete('plains/a', opts(preconditions={'uid': 'nope', 'resourceVersion': '1'}))
    s.delete('plains/a', opts(preconditions={'uid': ''}))
    s.delete('plains/a', opts(preconditions={'resourceVersion': ''}))
    s.delete('plains/a', opts(preconditions={}))
    s.delete('plains/a', opts(preconditions={'uid': '{uid}', 'resourceVersion': '{rv}'}))


@scenario
def preconditions_held(s):
    """Preconditions of an object that a finalizer holds."""
    s.post('plains', plain('a', finalizers=FIN), capture={'uid': 'metadata/uid', 'rv': 'metadata/resourceVersion'})
    s.delete('plains/a', opts(preconditions={'resourceVersion': '{rv}'}))
    s.delete('plains/a', opts(preconditions={'resourceVersion': '{rv}'}))
    s.delete('plains/a', opts(preconditions={'uid': '{uid}'}))
    s.patch('plains/a', {'metadata': {'finalizers': []}})


@scenario
def held_background(s):
    """What Background propagation makes of an object with a finalizer, custom and built-in."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a', opts(propagationPolicy='Background'))
    s.post('configmaps', cm('a', finalizers=FIN))
    s.delete('configmaps/a?propagationPolicy=Background')
    s.get('plains/a', until={'metadata/finalizers': FIN}, within=20)
    s.get('configmaps/a', until={'metadata/finalizers': FIN}, within=20)
    s.delete('configmaps/a?propagationPolicy=Background')
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.patch('configmaps/a', {'metadata': {'finalizers': None}})
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def free_background(s):
    """What Background propagation answers for an object that nothing holds."""
    s.post('plains', plain('a'))
    s.delete('plains/a', opts(propagationPolicy='Background'))
    s.post('configmaps', cm('a'))
    s.delete('configmaps/a?propagationPolicy=Background')
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def held_foreground(s):
    """What Foreground propagation makes of an object with a finalizer, custom and built-in."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a', opts(propagationPolicy='Foreground'))
    s.post('configmaps', cm('a', finalizers=FIN))
    s.delete('configmaps/a?propagationPolicy=Foreground')
    s.get('plains/a', until={'metadata/finalizers': FIN}, within=20)
    s.get('configmaps/a', until={'metadata/finalizers': FIN}, within=20)
    s.delete('configmaps/a?propagationPolicy=Background')
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.patch('configmaps/a', {'metadata': {'finalizers': None}})
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def free_foreground(s):
    """What Foreground propagation answers for an object that nothing holds."""
    s.post('plains', plain('a'))
    s.delete('plains/a', opts(propagationPolicy='Foreground'))
    s.post('configmaps', cm('a'))
    s.delete('configmaps/a?propagationPolicy=Foreground')
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def held_orphan(s):
    """What Orphan propagation makes of an object with a finalizer, custom and built-in."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a', opts(propagationPolicy='Orphan'))
    s.post('configmaps', cm('a', finalizers=FIN))
    s.delete('configmaps/a?propagationPolicy=Orphan')
    s.get('plains/a', until={'metadata/finalizers': FIN}, within=20)
    s.get('configmaps/a', until={'metadata/finalizers': FIN}, within=20)
    s.delete('configmaps/a?propagationPolicy=Background')
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.patch('configmaps/a', {'metadata': {'finalizers': None}})
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def free_orphan(s):
    """What Orphan propagation answers for an object that nothing holds."""
    s.post('plains', plain('a'))
    s.delete('plains/a', opts(propagationPolicy='Orphan'))
    s.post('configmaps', cm('a'))
    s.delete('configmaps/a?propagationPolicy=Orphan')
    s.get('plains/a', until=404, within=10)
    s.get('configmaps/a', until=404, within=10)


@scenario
def options_bad(s):
    """DeleteOptions that are refused."""
    s.post('plains', plain('a'))
    s.delete('plains/a', opts(propagationPolicy='Sideways'))
    s.delete('plains/a?propagationPolicy=Sideways')
    s.delete('plains/a', opts(propagationPolicy='Orphan', orphanDependents=True))
    s.delete('plains/a?orphanDependents=true&propagationPolicy=Orphan')
    s.delete('plains/a', opts(dryRun=['Some']))
    s.delete('plains/a?dryRun=Some')
    s.delete('plains/a', opts(dryRun=['All', 'All']))
    s.delete('plains/a', opts(gracePeriodSeconds=-5))
    s.post('plains', plain('a'), until=201, within=1)
    s.delete('plains/a', {'apiVersion': 'v1', 'kind': 'Status'})
    s.delete('plains/a', {'apiVersion': 'v2', 'kind': 'DeleteOptions'})
    s.delete('plains/a', 'not json')
    s.delete('plains/a', '[]')
    s.delete('plains/a', opts(gracePeriodSeconds='x'))
    s.delete('plains/a?gracePeriodSeconds=abc')
    s.delete('plains/a?orphanDependents=maybe&dryRun=All')
    s.delete('plains/a', opts(unknown=1, dryRun=['All']))
    s.delete('plains/a', {'dryRun': ['All']})
    s.delete('plains/a', {'propagationPolicy': 'Background', 'dryRun': ['All']})
    s.delete('plains/a', '{}', type='text/plain')
    s.delete('plains/a', '{}')


@scenario
def body_or_query(s):
    """A body hides what the query says."""
    s.post('plains', plain('a'))
    s.delete('plains/a?dryRun=All', opts())
    s.get('plains/a')
    s.delete('plains/a?propagationPolicy=Foreground', opts(propagationPolicy='Background', dryRun=['All']))
    s.delete('plains/a?propagationPolicy=Foreground&dryRun=All')
    s.delete('plains/a?dryRun=All&dryRun=All')
    s.get('plains/a')


@scenario
def dry_run_held(s):
    """A dry run of a deletion that a finalizer would hold."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a?dryRun=All')
    s.get('plains/a')
    s.delete('plains/a?dryRun=All&propagationPolicy=Foreground')
    s.delete('plains/nope?dryRun=All')
    s.patch('plains/a', {'metadata': {'finalizers': None}})


@scenario
def orphan_dependents(s):
    """OrphanDependents, the old way to say it."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a', opts(orphanDependents=True))
    s.get('plains/a', until={'metadata/finalizers': FIN}, within=20)
    s.post('plains', plain('b', finalizers=FIN))
    s.delete('plains/b?orphanDependents=false')
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.patch('plains/b', {'metadata': {'finalizers': None}})


@scenario
def twice(s):
    """Deleting again what is being deleted."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains/a')
    s.delete('plains/a')
    s.delete('plains/a', opts(propagationPolicy='Foreground'))
    s.get('plains/a', until={'metadata/finalizers': FIN}, within=20)
    s.delete('plains/a', opts(gracePeriodSeconds=0))
    s.post('plains', plain('a'))
    s.patch('plains/a', {'metadata': {'finalizers': None}})
    s.delete('plains/a')


@scenario
def update_while_deleted(s):
    """What may change on an object that is being deleted."""
    s.post('widgets', widget('a', finalizers=FIN))
    s.delete('widgets/a')
    s.patch('widgets/a', {'spec': {'size': 7}})
    s.patch('widgets/a/status', {'status': {'phase': 'x'}})
    s.patch('widgets/a', {'metadata': {'labels': {'a': 'b'}}})
    s.patch('widgets/a', {'metadata': {'finalizers': ['x.io/hold', 'x.io/more']}})
    s.patch('widgets/a', {'metadata': {'finalizers': ['x.io/more']}})
    s.patch('widgets/a', {'metadata': {'deletionTimestamp': None}})
    s.patch('widgets/a', {'metadata': {'deletionTimestamp': '2020-01-01T00:00:00Z'}})
    s.patch('widgets/a', {'metadata': {'deletionGracePeriodSeconds': 7}})
    s.patch('widgets/a', {'metadata': {'generation': 99}})
    s.patch('widgets/a?dryRun=All', {'metadata': {'finalizers': None}})
    s.get('widgets/a')
    s.patch('widgets/a/status', {'metadata': {'finalizers': None}})
    s.patch('widgets/a', {'metadata': {'finalizers': None}, 'spec': {'size': 8}})
    s.get('widgets/a')


@scenario
def update_while_deleted_put(s):
    """Removing the last finalizer by PUT."""
    s.post('configmaps', cm('a', finalizers=FIN))
    s.delete('configmaps/a')
    s.put('configmaps/a', cm('a', finalizers=FIN + ['x.io/new']))
    s.put('configmaps/a', dict(cm('a'), data={'z': 'z'}))
    s.get('configmaps/a')
    s.put('configmaps/a', cm('a'))


@scenario
def finalizer_names(s):
    """Names of finalizers, good and bad."""
    for p, make in (('plains', plain), ('configmaps', cm)):
        for i, f in enumerate(('x', 'x.io/y', '', '/', 'x/', 'a/b/c', 'UP.io/x', 'foregroundDeletion', 'orphan',
                        'kubernetes', 'x_y', 'a b',
                        'x.io/' + 'y' * 64)):
            s.post(p, make('a%d' % i, finalizers=[f]))
    s.post('plains', plain('dup', finalizers=['x.io/a', 'x.io/a']))
    s.post('plains', plain('both', finalizers=['orphan', 'foregroundDeletion']))
    s.post('configmaps', cm('both', finalizers=['orphan', 'foregroundDeletion']))
    for p in ('plains', 'configmaps'):
        for n in ('a0', 'a1', 'a7', 'a8', 'a9'):
            s.patch(p + '/' + n, {'metadata': {'finalizers': None}})


@scenario
def finalizer_orphan_preset(s):
    """Finalizers orphan and foregroundDeletion that are there before the deletion."""
    s.post('plains', plain('a', finalizers=['foregroundDeletion']))
    s.delete('plains/a')
    s.get('plains/a', until=404, within=10)
    s.post('plains', plain('b', finalizers=['orphan']))
    s.delete('plains/b')
    s.get('plains/b', until=404, within=10)
    s.post('plains', plain('c', finalizers=['orphan', 'x.io/hold']))
    s.delete('plains/c', opts(propagationPolicy='Background'))
    s.patch('plains/c', {'metadata': {'finalizers': None}})


@scenario
def answers(s):
    """What kinds answer when they are gone."""
    for p, b in (('configmaps', cm('a')), ('secrets', obj('v1', 'Secret', 'a')), ('serviceaccounts', obj('v1',
                 'ServiceAccount', 'a')), ('leases', obj('coordination.k8s.io/v1', 'Lease', 'a')), ('roles',
                 obj('rbac.authorization.k8s.io/v1', 'Role', 'a')), ('resourcequotas', obj('v1', 'ResourceQuota',
                 'a')), ('limitranges', obj('v1', 'LimitRange', 'a')), ('networkpolicies', obj('networking.k8s.io/v1',
                 'NetworkPolicy', 'a', spec={'podSelector': {}})), ('plains', plain('a'))):
        s.post(p, b, hidden=True)
        s.delete(p + '/a')
        s.delete(p + '/a')


@scenario
def pod_grace(s):
    """Grace periods of a pod that runs on a node."""
    s.post('pods', obj('v1', 'Pod', 'p', spec={'nodeName': 'no-such-node', 'containers': [{'name': 'c',
           'image': 'i'}]}))
    s.delete('pods/p?dryRun=All')
    s.delete('pods/p')
    s.delete('pods/p?gracePeriodSeconds=40')
    s.delete('pods/p?gracePeriodSeconds=10')
    s.get('pods/p')
    s.patch('pods/p', {'metadata': {'labels': {'a': 'b'}}})
    s.delete('pods/p', opts(gracePeriodSeconds=0))
    s.get('pods/p')


@scenario
def pod_grace_forms(s):
    """Grace periods from spec, zero, one and negative; finalizers too."""
    s.post('pods', obj('v1', 'Pod', 'p', spec={'nodeName': 'no-such-node', 'terminationGracePeriodSeconds': 5,
           'containers': [{'name': 'c', 'image': 'i'}]}), hidden=True)
    s.delete('pods/p')
    s.delete('pods/p?gracePeriodSeconds=0')
    s.post('pods', obj('v1', 'Pod', 'q', spec={'nodeName': 'no-such-node', 'terminationGracePeriodSeconds': 0,
           'containers': [{'name': 'c', 'image': 'i'}]}), hidden=True)
    s.delete('pods/q')
    s.post('pods', dict(obj('v1', 'Pod', 'r', spec={'nodeName': 'no-such-node', 'containers': [{'name': 'c',
           'image': 'i'}]}), metadata={'name': 'r', 'finalizers': FIN}), hidden=True)
    s.delete('pods/r?gracePeriodSeconds=0')
    s.get('pods/r')
    s.patch('pods/r', {'metadata': {'finalizers': None}})
    s.get('pods/r')
    s.post('pods', obj('v1', 'Pod', 's', spec={'containers': [{'name': 'c', 'image': 'i'}]}), hidden=True)
    s.delete('pods/s?gracePeriodSeconds=60')
    s.get('pods/s')
    s.post('pods', obj('v1', 'Pod', 't', spec={'nodeName': 'n', 'containers': [{'name': 'c', 'image': 'i'}]}),
           hidden=True)
    s.delete('pods/t?gracePeriodSeconds=-1')
    s.get('pods/t')
    s.delete('pods/t?gracePeriodSeconds=0', hidden=True)


@scenario
def deletecollection_selected(s):
    """Deletecollection with label and field selectors."""
    four(s)
    s.delete('plains?labelSelector=g%3D0')
    s.get('plains')
    s.delete('plains?fieldSelector=metadata.name%3Db')
    s.get('plains')
    s.delete('plains?labelSelector=nope')
    s.delete('plains')
    s.get('plains')
    s.delete('plains')


@scenario
def deletecollection_builtin(s):
    """Deletecollection of a built-in kind, held and free."""
    s.post('configmaps', cm('a', {'z': '1'}))
    s.post('configmaps', cm('b', {'z': '1'}, finalizers=FIN))
    s.delete('configmaps?labelSelector=z')
    s.get('configmaps?labelSelector=z')
    s.patch('configmaps/b', {'metadata': {'finalizers': None}})
    s.get('configmaps?labelSelector=z')


@scenario
def deletecollection_dry_run(s):
    """Deletecollection that only pretends."""
    four(s)
    s.delete('plains?dryRun=All')
    s.get('plains')
    s.delete('plains', opts(dryRun=['All']))
    s.get('plains')


@scenario
def deletecollection_limit(s):
    """Deletecollection with limit and continue."""
    four(s)
    s.delete('plains?limit=2')
    s.get('plains')
    s.delete('plains?limit=0')


@scenario
def deletecollection_options(s):
    """Deletecollection with propagation, preconditions and mistakes."""
    s.post('plains', plain('a', finalizers=FIN))
    s.delete('plains', opts(propagationPolicy='Foreground'))
    s.delete('plains?propagationPolicy=Nope')
    s.delete('plains', opts(preconditions={'uid': 'nope'}))
    s.delete('plains?labelSelector=a%3D%3D%3D')
    s.delete('plains?fieldSelector=spec.x%3D1')
    s.delete('plains?resourceVersion=abc')
    s.delete('plains?resourceVersionMatch=Exact')
    s.delete('plains?limit=abc')
    s.delete('/api/v1/namespaces?labelSelector=nope')
    s.delete('services?labelSelector=nope')
    s.patch('plains/a', {'metadata': {'finalizers': None}})


@scenario
def generation_deletion(s):
    """Generation of custom and built-in objects when they are marked."""
    s.post('widgets', widget('a', finalizers=FIN))
    s.delete('widgets/a')
    s.post('configmaps', cm('a', finalizers=FIN))
    s.delete('configmaps/a')
    s.post('secrets', dict(obj('v1', 'Secret', 'a'), metadata={'name': 'a', 'finalizers': FIN}))
    s.delete('secrets/a')
    s.post('deployments', dict(obj('apps/v1', 'Deployment', 'd', spec={'replicas': 0,
           'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata': {'labels': {'a': 'b'}},
           'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}), metadata={'name': 'd', 'finalizers': FIN}),
           hidden=True)
    s.delete('deployments/d', hidden=True)
    for p, n in (('widgets', 'a'), ('configmaps', 'a'), ('secrets', 'a')):
        s.patch(p + '/' + n, {'metadata': {'finalizers': None}})
    s.patch('deployments/d', {'metadata': {'finalizers': None}}, hidden=True)
