# SPDX-License-Identifier: Apache-2.0
"""Server-side apply: who owns what, who conflicts with whom, and bodies that cannot be applied."""
from scenario import scenario

CM, SS = 'configmaps/a', 'statefulsets/a'
APPLY = 'application/apply-patch+yaml'


def template(containers, **spec):
    return {'template': {'metadata': {'labels': {'app': 'a'}}, 'spec': dict({'containers': containers}, **spec)}}


def stateful_set(containers=None, **spec):
    return dict(template(containers or [{'name': 'c', 'image': 'i:1'}], **spec), serviceName='s', replicas=0,
                selector={'matchLabels': {'app': 'a'}})


def raw(s, body, path=CM, query='fieldManager=m1'):
    """An apply whose body is sent as it is."""
    s.patch('%s?%s' % (path, query), body, type='apply')


def config_map(**metadata):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': dict({'name': 'a'}, **metadata)}


@scenario
def several_managers(s):
    """One apply conflicts with two appliers and an updater; force takes all; what is left out goes."""
    s.apply(CM, 'm1', data={'k': '1', 'l': '1'})
    s.apply(CM, 'm2', data={'z': '1'})
    s.patch(CM + '?fieldManager=updater', {'data': {'u': '1'}})
    s.apply(CM, 'm3', data={'k': '2', 'l': '2', 'z': '2', 'u': '2'})
    s.apply(CM, 'm3', data={'k': '1', 'u': '1'})
    s.apply(CM, 'm3', data={'k': '2'})
    s.apply(CM, 'm3', force=True, data={'k': '2'})
    s.apply(CM, 'm1', data={})
    s.apply(CM, 'm2')
    s.apply(CM, 'm3', data={'k': None})
    s.get(CM)


@scenario
def shared_fields(s):
    """A field with two owners goes when the last one leaves it out."""
    s.apply(CM, 'm1', data={'k': '1'})
    s.apply(CM, 'm2', data={'k': '1'})
    s.apply(CM, 'm1')
    s.apply(CM, 'm2')
    s.get(CM)


@scenario
def without_change(s):
    """The same apply again changes nothing; by another manager it adds an owner."""
    for manager in ('m1', 'm1', 'm2', 'm2'):
        s.apply(CM, manager, data={'k': '1'})
    s.apply(CM, 'm1', force=True, data={'k': '1'})


@scenario
def updates_by_several(s):
    """Creates, patches and updates own what they set; an apply of the same name is another manager."""
    s.create(CM + '?fieldManager=c', data={'k': 'v', 'b': 'c'}, hidden=True)
    s.get(CM)
    s.patch(CM + '?fieldManager=c', {'data': {'n': '1'}})
    s.patch(CM + '?fieldManager=d', {'data': {'n': '2'}})
    s.replace(CM + '?fieldManager=e', data={'k': 'x'})
    s.apply(CM, 'c', data={'k': 'y'})
    s.apply(CM, 'c', force=True, data={'k': 'y'})
    s.patch(CM + '?fieldManager=c', {'data': {'k': 'z'}})
    s.get(CM)


@scenario
def many_updaters(s):
    """More than ten updaters: the oldest become one entry."""
    s.post('configmaps?fieldManager=u00', dict(config_map(), data={'a': '0'}))
    for at in range(1, 13):
        s.patch('%s?fieldManager=u%02d' % (CM, at), {'data': {'k%d' % at: '1'}}, hidden=at < 11)
    s.get(CM)


@scenario
def reset_of_managed_fields(s):
    """An empty entry forgets all managers; the next apply finds what was there before."""
    s.create(CM, data={'k': '1'})
    s.patch(CM, {'metadata': {'managedFields': [{}]}})
    s.patch(CM, {'data': {'x': '1'}})
    s.apply(CM, 'm1', data={'k': '2'})
    s.apply(CM, 'm1', force=True, data={'k': '2'})
    s.replace(CM + '?fieldManager=p', data={'k': '3'})
    s.apply(CM, 'm1', data={'k': '2'})


@scenario
def empty_managed_fields(s):
    """So does an empty list."""
    s.apply(CM, 'm1', data={'k': '1'})
    s.patch(CM, {'metadata': {'managedFields': []}})
    s.get(CM)
    s.apply(CM, 'm2', data={'k': '2'})


@scenario
def edited_managed_fields(s):
    """Whoever may update may edit the entries; entries that are none leave them as they were."""
    entry = {'manager': 'x', 'operation': 'Apply', 'apiVersion': 'v1', 'fieldsType': 'FieldsV1',
             'fieldsV1': {'f:data': {'f:k': {}}}}
    s.apply(CM, 'm1', data={'k': '1'})
    for change in ({}, {'operation': 'Bad'}, {'fieldsType': 'Bad'}, {'apiVersion': None}, {'fieldsV1': {'bad': {}}}):
        s.patch(CM, {'metadata': {'managedFields': [dict(entry, **change)]}})
    s.patch(CM, {'metadata': {'managedFields': None}})
    s.patch(CM, [{'op': 'remove', 'path': '/metadata/managedFields'}], type='json')
    s.get(CM)


@scenario
def bodies_that_are_no_object(s):
    """YAML that says nothing, and YAML that is no map."""
    for body in ('null', '', '{}', '[]', '"x"', {'apiVersion': 'v1'}, {'kind': 'ConfigMap'}):
        raw(s, body)


@scenario
def bodies_of_another_object(s):
    """Another kind, version, name or namespace than the path's."""
    raw(s, {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'a'}})
    raw(s, {'apiVersion': 'v2', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}})
    raw(s, {'apiVersion': 'v1', 'kind': 'ConfigMap'})
    raw(s, {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {}})
    raw(s, config_map(name='b'))
    raw(s, config_map(namespace='other'))
    raw(s, config_map(), path='/api/v1/namespaces/none-such/configmaps/a')


@scenario
def broken_yaml(s):
    """What no YAML parser takes; each words it in its own way."""
    for body in ('{', 'a: b: c', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n'):
        raw(s, body)


@scenario
def options(s):
    """Managers that are missing or too long, and force that is no truth."""
    raw(s, config_map(), query='x=1')
    raw(s, config_map(), query='fieldManager=' + 'x' * 129)
    raw(s, config_map(), query='fieldManager=m1&force=bad')
    raw(s, config_map(), query='fieldManager=m1&dryRun=bad')


@scenario
def fields_of_wrong_types(s):
    """The schema refuses them before anything is merged."""
    for data in ({'k': 1}, ['k'], 'k', {'k': {'a': 'b'}}):
        raw(s, dict(config_map(), data=data))
    raw(s, dict(config_map(), unknown=1))
    raw(s, dict(config_map(), unknown=1), query='fieldManager=m1&fieldValidation=Strict')


@scenario
def metadata_of_the_server(s):
    """managedFields may not be applied; what the server sets is ignored or refused."""
    for metadata in ({'managedFields': []}, {'managedFields': [{}]}, {'managedFields': None}, {'uid': 'x'},
                     {'generateName': 'a-'}, {'creationTimestamp': None}, {'creationTimestamp': '2020-01-01T00:00:00Z'},
                     {'deletionTimestamp': '2020-01-01T00:00:00Z'}, {'generation': 7}, {'selfLink': 'x'}):
        raw(s, config_map(**metadata))
    s.get(CM)


@scenario
def labels_and_finalizers(s):
    """Maps by key, finalizers and owners as sets."""
    s.apply(CM, 'm1', labels={'a': '1'}, annotations={'b': '2'}, finalizers=['x.y/z'])
    s.apply(CM, 'm2', labels={'a': '2'})
    s.apply(CM, 'm2', labels={'c': '2'}, finalizers=['x.y/w'])
    s.apply(CM, 'm1', labels={})
    owner = {'apiVersion': 'none.example.com/v1', 'kind': 'None', 'name': 'o', 'uid': 'u-1'}
    s.apply(CM, 'm1', owners=[owner])
    s.apply(CM, 'm2', owners=[dict(owner, name='p')])
    s.apply(CM, 'm1', labels={'a': 1})
    s.get(CM)
    s.patch(CM, {'metadata': {'finalizers': None}}, hidden=True)


@scenario
def doubled_keys(s):
    """Keys given twice: the last one counts, with a warning, or it is refused."""
    body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v, k: w}\n'
    raw(s, body)
    raw(s, body, query='fieldManager=m1&fieldValidation=Strict')
    raw(s, body, query='fieldManager=m1&fieldValidation=Ignore')
    raw(s, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}')


@scenario
def yaml_bodies(s):
    """Blocks, flows, comments, literals, and scalars that are no strings."""
    raw(s, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "v"\n  m: |\n    one\n    two\n')
    raw(s, '# c\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n')
    raw(s, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 5}\n')
    raw(s, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: yes}\n')


@scenario
def with_version(s):
    """A resourceVersion in the body is a precondition, but not for an object that is not there."""
    s.apply(CM, 'm1', data={'k': '1'}, capture={'rv': 'metadata/resourceVersion'})
    s.apply(CM, 'm1', version='1', data={'k': '2'})
    s.apply(CM, 'm1', version='{rv}', data={'k': '2'})
    s.apply('configmaps/n', 'm1', version='5')


@scenario
def dry_run(s):
    """A dry run shows what would be, also conflicts, and changes nothing."""
    s.apply(CM + '?dryRun=All', 'm1', data={'k': '1'})
    s.get(CM)
    s.apply(CM, 'm1', data={'k': '1'})
    s.apply(CM + '?dryRun=All', 'm2', data={'k': '2'})
    s.apply(CM + '?dryRun=All', 'm2', force=True, data={'k': '2'})
    s.get(CM)


@scenario
def atomic_and_keyed_lists(s):
    """Commands are atomic, containers, environment and ports are keyed."""
    s.apply(SS, 'm1', spec=stateful_set())
    s.apply(SS, 'm2', spec=stateful_set())
    s.apply(SS, 'm1', spec=stateful_set([{'name': 'c', 'image': 'i:1', 'command': ['a']}], nodeSelector={'x': '1'}))
    s.apply(SS, 'm2', spec=template([], nodeSelector={'y': '1'}))
    s.apply(SS, 'm2', spec=template([{'name': 'c', 'command': ['b']}]))
    s.apply(SS, 'm2', force=True, spec=template([{'name': 'c', 'command': ['b']}]))
    s.apply(SS, 'm3', spec=template([{'name': 'c', 'env': [{'name': 'A', 'value': '1'}], 'ports': [{'containerPort': 80}]}]))
    s.apply(SS, 'm4', spec=template([{'name': 'c', 'env': [{'name': 'A', 'value': '2'}],
                                      'ports': [{'containerPort': 80, 'name': 'x'}]}]))
    s.apply(SS, 'm3')
    s.get(SS)


@scenario
def list_items_without_keys(s):
    """Items without their key, and two of one key."""
    s.apply(SS, 'm1', spec=stateful_set())
    s.apply(SS, 'm2', spec=template([{'image': 'x'}]))
    s.apply(SS, 'm2', spec=template([{'name': 'c', 'image': 'x'}, {'name': 'c', 'image': 'y'}]))
    s.apply(SS, 'm2', spec=template(['text']))


@scenario
def service_ports(s):
    """Ports have a key of two parts, of which one has a default."""
    s.apply('services/s', 'm1', spec={'clusterIP': 'None', 'selector': {'a': '1'},
                                      'ports': [{'port': 80, 'name': 'a'}, {'port': 81, 'name': 'b', 'protocol': 'TCP'}]})
    s.apply('services/s', 'm2', spec={'ports': [{'port': 80, 'name': 'x', 'protocol': 'TCP'}]})
    s.apply('services/s', 'm2', spec={'ports': [{'port': 82, 'name': 'c', 'protocol': 'TCP'}]})


@scenario
def custom_lists(s):
    """Sets, maps and nested values of a custom resource."""
    s.kind({'spec': {'type': 'object', 'properties': {
        'size': {'type': 'integer'},
        'tags': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': {'type': 'string'}},
        'parts': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'],
                  'items': {'type': 'object', 'required': ['name'],
                            'properties': {'name': {'type': 'string'}, 'count': {'type': 'integer', 'default': 1}}}},
        'whole': {'type': 'object', 'x-kubernetes-map-type': 'atomic', 'additionalProperties': {'type': 'string'}},
        'free': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}})
    for manager, spec in (('m1', {'size': 5, 'tags': ['a', 'b'], 'parts': [{'name': 'p', 'count': 2}]}),
                          ('m2', {'tags': ['c'], 'parts': [{'name': 'q'}]}),
                          ('m2', {'tags': ['a'], 'parts': [{'name': 'p', 'count': 3}]}),
                          ('m1', {'size': 5, 'tags': ['b'], 'parts': []}), ('m2', {'tags': ['c', 'c']}),
                          ('m2', {'parts': [{'count': 1}]}), ('m2', {'parts': [{'name': 'p'}, {'name': 'p'}]}),
                          ('m2', {'size': 'x'}), ('m2', {'size': 9}), ('m2', {'unknown': 9}),
                          ('m2', {'whole': {'a': '1'}}), ('m3', {'whole': {'b': '1'}}),
                          ('m2', {'free': {'a': {'b': 1}}}), ('m3', {'free': {'a': {'b': 2}}}),
                          ('m3', {'free': {'a': {'c': 2}}})):
        s.apply('things/a', manager, spec=spec)
    s.apply('things/a', 'm1')
    s.get('things/a')


@scenario
def status(s):
    """The status has owners of its own, and an apply of it changes nothing else."""
    condition = {'type': 'A', 'status': 'True'}
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}},
            'status': {'type': 'object', 'properties': {
                'ready': {'type': 'integer'},
                'conditions': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'],
                               'items': {'type': 'object', 'required': ['type'],
                                         'properties': {'type': {'type': 'string'}, 'status': {'type': 'string'}}}}}}},
           status=True)
    s.apply('things/a', 'm1', spec={'size': 5})
    s.apply('things/a/status', 'm1', status={'ready': 1, 'conditions': [condition]})
    s.apply('things/a/status', 'm2', status={'ready': 2})
    s.apply('things/a/status', 'm2', labels={'x': '1'}, spec={'size': 9}, status={'conditions': [dict(condition, type='B')]})
    s.apply('things/a/status', 'm1')
    s.apply('things/none/status', 'm1', status={})
    s.get('things/a')


@scenario
def builtin_status(s):
    """The status of a pod."""
    s.create('pods/a', spec={'nodeName': 'none', 'containers': [{'name': 'c', 'image': 'i:1'}]}, hidden=True)
    s.apply('pods/a/status', 'm1', status={'message': 'm', 'conditions': [{'type': 'Ready', 'status': 'True'}]})
    s.apply('pods/a/status', 'm2', status={'message': 'n'})
    s.delete('pods/a?gracePeriodSeconds=0', hidden=True)


@scenario
def client_side_to_server_side(s):
    """kubectl takes over what its client-side apply set; others conflict."""
    last = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"a"},"data":{"k":"1"}}\n'
    s.post('configmaps?fieldManager=kubectl-client-side-apply',
           dict(config_map(annotations={'kubectl.kubernetes.io/last-applied-configuration': last}), data={'k': '1'}))
    s.apply(CM, 'kubectl', data={'k': '2'})
    s.apply(CM, 'other', data={'k': '3'})


@scenario
def cluster_scoped(s):
    """A namespace, whose finalizers are not the applier's."""
    s.apply('namespaces/{ns}', 'm1', labels={'a': '1'})
    s.apply('namespaces/{ns}', 'm2', labels={'a': '2'})
    s.apply('namespaces/{ns}/status', 'm1', status={'phase': 'Active'})
