# SPDX-License-Identifier: Apache-2.0
"""Custom resources as they live: subresources, generation, versions, columns, selectable fields, metadata."""
from scenario import scenario

TEXT, NUMBER = {'type': 'string'}, {'type': 'integer'}
SPEC = {'spec': {'type': 'object', 'properties': {'text': TEXT, 'n': NUMBER}},
        'status': {'type': 'object', 'properties': {'phase': TEXT, 'n': NUMBER, 'selector': TEXT}}}
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'}


def version(name, properties=SPEC, storage=False, **more):
    return dict({'name': name, 'served': True, 'storage': storage,
                 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': properties}}}, **more)


@scenario
def generation_counts_the_spec(s):
    """Generation grows with what is neither metadata nor status, if there is a status subresource."""
    s.kind(dict(SPEC, extra=TEXT), status=True)
    s.create('things/a', spec={'n': 1})
    s.patch('things/a', {'metadata': {'labels': {'a': 'b'}}})
    s.patch('things/a', {'spec': {'n': 2}})
    s.patch('things/a', {'extra': 'x'})
    s.patch('things/a', {'status': {'phase': 'x'}})
    s.patch('things/a/status', {'status': {'phase': 'x'}})
    s.patch('things/a', {'metadata': {'generation': 77}})
    s.patch('things/a', {'spec': {'n': 2}})


@scenario
def generation_without_subresource(s):
    """Without a status subresource the status counts too, and can be written with the rest."""
    s.kind(SPEC)
    s.create('things/a', spec={'n': 1}, status={'phase': 'x'})
    s.patch('things/a', {'status': {'phase': 'y'}})
    s.patch('things/a', {'metadata': {'annotations': {'a': 'b'}}})
    s.get('things/a/status')
    s.patch('things/a/status', {'status': {'phase': 'z'}})


@scenario
def status_subresource(s):
    """The status changes through its subresource only, and nothing else changes there."""
    s.kind(SPEC, status=True)
    s.create('things/a', spec={'n': 1}, status={'phase': 'x'})
    s.patch('things/a/status', {'spec': {'n': 9}, 'status': {'phase': 'y'}, 'metadata': {
        'labels': {'l': 'm'}, 'annotations': {'o': 'p'}, 'finalizers': ['example.com/f']}})
    s.get('things/a/status')
    s.replace('things/a/status', status={'phase': 'z', 'gone': 1})
    s.replace('things/a/status')
    s.replace('things/a/status', version='1', status={'phase': 'w'})
    s.replace('things/b/status', status={'phase': 'w'})
    s.apply('things/a/status', status={'n': 5}, manager='controller')
    s.apply('things/b/status', status={'n': 5}, manager='controller')
    s.post('things/a/status', {})
    s.delete('things/a/status')


@scenario
def status_validated(s):
    """A status that does not fit is refused; the spec is not looked at."""
    s.kind(SPEC, status=True)
    s.create('things/a', spec={'n': 1}, hidden=True)
    s.patch('things/a/status', {'status': {'n': 'x'}})
    s.patch('things/a/status', {'status': 'x'})
    s.patch('things/a/status', {'spec': {'n': 'x'}, 'status': {'n': 1}})


@scenario
def scale(s):
    """The scale subresource maps its members to the paths that the CRD names."""
    s.kind(SPEC, version={'subresources': {'status': {}, 'scale': {
        'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n', 'labelSelectorPath': '.status.selector'}}})
    s.create('things/a', spec={'n': 3})
    s.patch('things/a/status', {'status': {'n': 2, 'selector': 'a=b'}}, hidden=True)
    s.get('things/a/scale')
    s.patch('things/a/scale', {'spec': {'replicas': 5}})
    s.get('things/a')
    s.patch('things/a/scale', {'spec': {'replicas': -1}})
    s.put('things/a/scale', {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': 'a', 'namespace': '{ns}'},
                             'spec': {'replicas': 6}})
    s.put('things/a/scale', {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': 'b'}, 'spec': {'replicas': 6}})
    s.put('things/a/scale', {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {
        'name': 'a', 'namespace': '{ns}', 'resourceVersion': '1'}, 'spec': {'replicas': 6}})
    s.get('things/b/scale')
    s.create('things/c', spec={})
    s.get('things/c/scale')
    s.patch('things/c/scale', {'spec': {'replicas': 1}})


@scenario
def scale_of_a_wrong_type(s):
    """Replicas that are no number."""
    s.kind(SPEC, version={'subresources': {'scale': {'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n'}}})
    s.create('things/a', spec={'n': 3}, hidden=True)
    s.patch('things/a/scale', {'spec': {'replicas': 'x'}})


@scenario
def scale_absent(s):
    """A kind without the subresources answers 404 for them."""
    s.kind(SPEC)
    s.create('things/a', spec={}, hidden=True)
    s.get('things/a/scale')
    s.get('things/a/other')
    s.patch('things/a/scale', {'spec': {'replicas': 5}})


@scenario
def versions(s):
    """What is written in one version is read in another; each prunes and defaults by its own schema."""
    old = {'spec': {'type': 'object', 'properties': {'text': TEXT, 'old': dict(TEXT, default='o')}}}
    new = {'spec': {'type': 'object', 'properties': {'text': TEXT, 'new': dict(TEXT, default='n')}}}
    s.kind({}, versions=[version('v1', old, storage=True), version('v2', new)])
    v2 = '/apis/{ns}.example.com/v2/namespaces/{ns}/things'
    s.create('things/a', spec={'text': 'x'})
    s.get(v2 + '/a')
    s.post(v2, {'apiVersion': '{ns}.example.com/v2', 'kind': 'Thing', 'metadata': {'name': 'b'}, 'spec': {'text': 'y'}})
    s.get('things/b')
    s.get('things')
    s.get(v2)
    s.post(v2, {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'c'}})
    s.patch(v2 + '/b', {'spec': {'text': 'z'}})
    s.get('things/b')


@scenario
def versions_owned(s):
    """An object that was written in a version whose fields another one does not have, and is changed in that one."""
    old = {'spec': {'type': 'object', 'properties': {'text': TEXT, 'old': dict(TEXT, default='o')}}}
    new = {'spec': {'type': 'object', 'properties': {'text': TEXT, 'new': dict(TEXT, default='n')}}}
    s.kind({}, versions=[version('v1', old, storage=True), version('v2', new)])
    v2 = '/apis/{ns}.example.com/v2/namespaces/{ns}/things'
    s.create('things/a', spec={'text': 'x'})
    s.patch(v2 + '/a', {'spec': {'text': 'z'}})
    s.patch(v2 + '/a?fieldManager=m', {'apiVersion': '{ns}.example.com/v2', 'kind': 'Thing', 'metadata': {'name': 'a'},
                                      'spec': {'new': 'm'}}, type='apply')


@scenario
def versions_alike(s):
    """Versions that differ in their name only: fields keep their owners, in the version in which they were written."""
    s.kind({}, versions=[version('v1', storage=True), version('v2')])
    v2 = '/apis/{ns}.example.com/v2/namespaces/{ns}/things'
    s.create('things/a', spec={'text': 'x', 'n': 1})
    s.patch(v2 + '/a', {'spec': {'text': 'z'}})
    s.patch(v2 + '/a?fieldManager=m', {'apiVersion': '{ns}.example.com/v2', 'kind': 'Thing', 'metadata': {'name': 'a'},
                                      'spec': {'n': 2}}, type='apply')
    s.patch(v2 + '/a?fieldManager=m&force=true', {
        'apiVersion': '{ns}.example.com/v2', 'kind': 'Thing', 'metadata': {'name': 'a'}, 'spec': {'n': 2}}, type='apply')
    s.get('things/a')


@scenario
def versions_watched(s):
    """A watch gives every object in the version that it asked for."""
    s.kind({}, versions=[version('v1', storage=True), version('v2')])
    s.create('things/a', spec={'text': 'x'})
    s.watch('w', '/apis/{ns}.example.com/v2/namespaces/{ns}/things?watch=1&resourceVersion=0')
    s.collect('w')
    s.patch('things/a', {'spec': {'text': 'y'}})
    s.delete('things/a')
    s.collect('w', 2)


@scenario
def deprecated_versions(s):
    """Whoever uses a deprecated version is warned, in every answer."""
    s.kind({}, versions=[
        version('v1', storage=True), version('v1beta1', deprecated=True),
        version('v1alpha1', deprecated=True, deprecationWarning='v1alpha1 is going, "really"')])
    for name in ('v1', 'v1beta1', 'v1alpha1'):
        path = '/apis/{ns}.example.com/%s/namespaces/{ns}/things' % name
        s.post(path, {'apiVersion': '{ns}.example.com/' + name, 'kind': 'Thing', 'metadata': {'name': name}, 'spec': {'no': 1}})
        s.get(path)
        s.delete(path + '/' + name)


@scenario
def columns(s):
    """Columns of a Table: types, priorities, absent values, lists."""
    s.kind({'spec': {'type': 'object', 'properties': {
        'text': TEXT, 'n': NUMBER, 'f': {'type': 'number'}, 'yes': {'type': 'boolean'},
        'list': {'type': 'array', 'items': TEXT}, 'parts': {'type': 'array', 'items': {'type': 'object', 'properties': {
            'name': TEXT, 'v': TEXT}}}, 'map': {'type': 'object', 'additionalProperties': TEXT}}}}, version={
        'additionalPrinterColumns': [
            {'name': 'Text', 'type': 'string', 'jsonPath': '.spec.text', 'description': 'What it says.'},
            {'name': 'N', 'type': 'integer', 'jsonPath': '.spec.n', 'format': 'int32'},
            {'name': 'F', 'type': 'number', 'jsonPath': '.spec.f', 'priority': 1},
            {'name': 'Yes', 'type': 'boolean', 'jsonPath': '.spec.yes'},
            {'name': 'First', 'type': 'string', 'jsonPath': '.spec.list[0]'},
            {'name': 'All', 'type': 'string', 'jsonPath': '.spec.list'},
            {'name': 'Names', 'type': 'string', 'jsonPath': '.spec.parts[*].name'},
            {'name': 'Found', 'type': 'string', 'jsonPath': '.spec.parts[?(@.name=="b")].v'},
            {'name': 'Map', 'type': 'string', 'jsonPath': '.spec.map.a\\.b'},
            {'name': 'Whole', 'type': 'string', 'jsonPath': '.spec.map'},
            {'name': 'Created', 'type': 'date', 'jsonPath': '.metadata.creationTimestamp'}]})
    s.create('things/a', spec={
        'text': 'x', 'n': 5, 'f': 1.5, 'yes': True, 'list': ['p', 'q'], 'map': {'a.b': 'c', 'd': 'e'},
        'parts': [{'name': 'a', 'v': '1'}, {'name': 'b', 'v': '2'}]}, hidden=True)
    s.create('things/b', spec={'n': 0, 'yes': False, 'list': []}, hidden=True)
    s.get('things', headers=TABLE)
    s.get('things/a?includeObject=Object', headers=TABLE)
    s.get('things?includeObject=None', headers=TABLE)
    s.get('things/c', headers=TABLE)


@scenario
def columns_default(s):
    """Without columns of its own a kind has its name and its age."""
    s.kind(SPEC)
    s.create('things/a', spec={}, labels={'l': 'm'}, hidden=True)
    s.get('things', headers=TABLE)
    s.watch('w', 'things?watch=1&resourceVersion=0', headers=TABLE)
    s.collect('w')


@scenario
def selectable_fields(s):
    """Lists, watches and collections can be selected by the fields that the CRD names."""
    s.kind({'spec': {'type': 'object', 'properties': {'text': TEXT, 'n': NUMBER, 'yes': {'type': 'boolean'}}}}, version={
        'selectableFields': [{'jsonPath': '.spec.text'}, {'jsonPath': '.spec.n'}, {'jsonPath': '.spec.yes'}]})
    s.create('things/a', spec={'text': 'x', 'n': 1, 'yes': True})
    s.create('things/b', spec={'text': 'y', 'n': 2})
    s.create('things/c', spec={'n': 1})
    for selector in ('spec.text=x', 'spec.text!=x', 'spec.n=1', 'spec.yes=true', 'spec.text=', 'spec.text=x,spec.n=1',
                     'metadata.name=b', 'spec.other=1', 'spec.n=1,metadata.namespace={ns}'):
        s.get('things?fieldSelector=' + selector)
    s.watch('w', 'things?watch=1&resourceVersion=0&fieldSelector=spec.text%3Dx')
    s.collect('w')
    s.patch('things/b', {'spec': {'text': 'x'}})
    s.patch('things/a', {'spec': {'text': 'z'}})
    s.collect('w', 2)
    s.delete('things?fieldSelector=spec.text=x')
    s.get('things')


@scenario
def generate_name(s):
    """generateName gives a name; a name wins over it; too long ones are cut."""
    s.kind(SPEC)
    s.create('things', generate_name='gen-', spec={})
    s.create('things/own', generate_name='gen-', spec={})
    s.create('things', generate_name='Gen-', spec={})
    s.create('things', generate_name='x' * 300, spec={})
    s.create('things', spec={})


@scenario
def names(s):
    """Names of custom resources are DNS subdomains."""
    s.kind(SPEC)
    for name in ('a.b-c', 'Upper', 'under_score', '-a', 'a-', 'a..b', 'x' * 253, 'x' * 254):
        s.create('things/' + name, spec={})
    s.post('things', {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'a/b'}, 'spec': {}})


@scenario
def labels_and_annotations(s):
    """Keys and values of labels, keys of annotations, and their size."""
    s.kind(SPEC)
    for labels in ({'a b': 'c'}, {'a': 'b c'}, {'x' * 64: 'y'}, {'a': 'y' * 64}, {'Ex.com/a': 'b'}, {'a/b/c': 'd'}, {'': 'x'}):
        s.create('things/a', labels=labels, spec={})
    for annotations in ({'a b': 'c'}, {'UPPER.example.com/a': 'b'}, {'a': 'any thing / at all'}, {'big': 'x' * 262145}):
        s.create('things/b?dryRun=All' if 'big' not in annotations else 'things/b', annotations=annotations, spec={})


@scenario
def finalizers(s):
    """Names of finalizers, and objects that are being deleted."""
    s.kind(SPEC)
    s.create('things/bad', finalizers=['no slash'], spec={})
    s.create('things/plain', finalizers=['plain'], spec={})
    s.create('things/a', finalizers=['example.com/one', 'example.com/two'], spec={})
    s.delete('things/a')
    s.patch('things/a', {'metadata': {'finalizers': ['example.com/one', 'example.com/three']}})
    s.patch('things/a', {'metadata': {'finalizers': ['example.com/one']}})
    s.patch('things/a', {'spec': {'n': 3}})
    s.patch('things/a', {'metadata': {'deletionTimestamp': None}})
    s.delete('things/a')
    s.patch('things/a', {'metadata': {'finalizers': []}})
    s.get('things/a')


@scenario
def owner_references(s):
    """Owner references need all their members, and one controller at most."""
    s.kind(SPEC)
    owner = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'o', 'uid': '11111111-2222-3333-4444-555555555555'}
    for owners in ([dict(owner, uid='')], [dict(owner, name='')], [dict(owner, kind='')], [dict(owner, apiVersion='')],
                   [dict(owner, apiVersion='a/b/c')], [dict(owner, apiVersion='v1', kind='Event')],
                   [dict(owner, controller=True), dict(owner, name='p', controller=True)]):
        s.create('things/a?dryRun=All', owners=owners, spec={})
    s.create('things/b?dryRun=All', owners=[dict(owner, controller=True, blockOwnerDeletion=True), dict(owner, name='p')], spec={})


@scenario
def identity(s):
    """What an update may not change: uid, name, namespace, creation; what it may leave out."""
    s.kind(SPEC)
    s.create('things/a', spec={'n': 1})
    s.replace('things/a', metadata={'uid': 'other'}, spec={})
    s.replace('things/a', metadata={'namespace': 'other'}, spec={})
    s.replace('things/a', metadata={'creationTimestamp': '2001-02-03T04:05:06Z'}, spec={'n': 2})
    s.put('things/a', {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'b'}})
    s.put('things/a', {'apiVersion': '{ns}.example.com/v1', 'kind': 'Other', 'metadata': {'name': 'a'}})
    s.put('things/a', {'apiVersion': 'v1', 'kind': 'Thing', 'metadata': {'name': 'a'}})
    s.put('things/a', {'kind': 'Thing', 'metadata': {'name': 'a'}})
    s.put('things/a', {'metadata': {'name': 'a'}})
    s.put('things/a', [1])
    s.patch('things/a', {'kind': 'Other'})
    s.patch('things/a', {'apiVersion': 'other/v1'})
    s.patch('things/a', {'metadata': {'name': 'b'}})
    s.patch('things/a', {'metadata': {'uid': None, 'creationTimestamp': None}})


@scenario
def versions_of_objects(s):
    """Creating with a resourceVersion, updating with an old, a wrong and none, and updating what is not there."""
    s.kind(SPEC)
    s.create('things/a', version='1', spec={})
    s.create('things/a', spec={'n': 1}, capture={'rv': 'metadata/resourceVersion'})
    s.create('things/a', spec={'n': 1})
    s.replace('things/a', spec={'n': 2})
    s.replace('things/a', version='{rv}', spec={'n': 3})
    s.replace('things/a', version='nonsense', spec={'n': 3})
    s.replace('things/a', version='0', spec={'n': 3})
    s.patch('things/a', {'metadata': {'resourceVersion': '{rv}'}, 'spec': {'n': 4}})
    s.replace('things/b', spec={})
    s.replace('things/b', version='{rv}', spec={})
    s.patch('things/b', {'spec': {}})


@scenario
def strategic_patch(s):
    """Custom resources have no strategic merge patch."""
    s.kind(SPEC)
    s.create('things/a', spec={}, hidden=True)
    s.patch('things/a', {'spec': {'n': 1}}, type='strategic')
    s.patch('things/a', {'spec': {'n': 1}}, type='application/json')


@scenario
def applied(s):
    """Server-side apply creates, owns, gives up and is refused by what another owns."""
    s.kind({'spec': {'type': 'object', 'properties': {'n': NUMBER, 'text': dict(TEXT, default='d'), 'parts': {
        'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], 'items': {
            'type': 'object', 'required': ['name'], 'properties': {'name': TEXT, 'v': NUMBER}}},
        'set': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': TEXT},
        'atom': {'type': 'object', 'x-kubernetes-map-type': 'atomic', 'additionalProperties': TEXT}}}}, status=True)
    s.apply('things/a', spec={'n': 1, 'parts': [{'name': 'p', 'v': 1}], 'set': ['x'], 'atom': {'k': 'v'}}, manager='one')
    s.apply('things/a', spec={'parts': [{'name': 'q', 'v': 1}], 'set': ['y']}, manager='two')
    s.apply('things/a', spec={'n': 2}, manager='two')
    s.apply('things/a', spec={'parts': [{'name': 'p', 'v': 2}], 'atom': {'l': 'w'}}, manager='two')
    s.apply('things/a', spec={'n': 2}, manager='two', force=True)
    s.apply('things/a', spec={'parts': []}, manager='one')
    s.apply('things/a', spec={'parts': [{'v': 2}]}, manager='one')
    s.apply('things/a', spec={'parts': [{'name': 'r'}, {'name': 'r'}]}, manager='one')
    s.apply('things/a', spec={'n': 'x'}, manager='one', force=True)
    s.patch('things/a', {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing'}, type='apply')


@scenario
def deleted(s):
    """What deleting answers, with preconditions and options."""
    s.kind(SPEC)
    s.create('things/a', spec={}, capture={'rv': 'metadata/resourceVersion', 'uid': 'metadata/uid'})
    s.delete('things/a', {'preconditions': {'uid': 'other'}})
    s.delete('things/a', {'preconditions': {'resourceVersion': '1'}})
    s.delete('things/a', {'propagationPolicy': 'Sideways'})
    s.delete('things/a', {'gracePeriodSeconds': 30, 'preconditions': {'uid': '{uid}', 'resourceVersion': '{rv}'}})
    s.delete('things/a')


@scenario
def partial_metadata(s):
    """Custom resources as metadata only."""
    s.kind(SPEC)
    s.create('things/a', spec={'n': 1}, labels={'l': 'm'}, hidden=True)
    accept = {'Accept': 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'}
    s.get('things/a', headers=accept)
    s.get('things', headers={'Accept': accept['Accept'].replace('Metadata;', 'MetadataList;')})
    s.patch('things/a', {'metadata': {'labels': {'l': 'n'}}}, headers=accept)


@scenario
def watched(s):
    """A watch of a custom resource, and what it says when the CRD is deleted."""
    s.kind(SPEC)
    s.create('things/a', spec={'n': 1})
    s.watch('w', 'things?watch=1&resourceVersion=0')
    s.collect('w')
    s.patch('things/a', {'spec': {'n': 2}})
    s.delete('things/a')
    s.collect('w', 2)


@scenario
def yaml_bodies(s):
    """Bodies in YAML are read, and answered as Accept says."""
    s.kind(SPEC)
    s.post('things', 'apiVersion: "{ns}.example.com/v1"\nkind: Thing\nmetadata: {name: a}\nspec: {text: "yes"}\n',
           headers={'Content-Type': 'application/yaml'})
    s.get('things/a', headers={'Accept': 'application/yaml'})
    s.post('things', 'apiVersion: [', headers={'Content-Type': 'application/yaml'})
    s.post('things', '{')


@scenario
def protobuf_refused(s):
    """Custom resources have no protobuf."""
    s.kind(SPEC)
    s.create('things/a', spec={}, hidden=True)
    s.get('things/a', headers={'Accept': 'application/vnd.kubernetes.protobuf'})
    s.get('things/a', headers={'Accept': 'application/vnd.kubernetes.protobuf,application/json'})
