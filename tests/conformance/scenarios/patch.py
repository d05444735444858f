# SPDX-License-Identifier: Apache-2.0
"""JSON patch, merge patch, strategic merge patch: what they do, and how they are refused."""
from scenario import scenario

CM, SS = 'configmaps/a', 'statefulsets/a'


def operations(s, path, *lists, **how):
    for operation in lists:
        s.patch(path, operation if isinstance(operation, (list, str)) else [operation], type='json', **how)


def op(name, path=None, value=None, **more):
    out = dict({'op': name}, **more)
    if path is not None:
        out['path'] = path
    if value is not None:
        out['value'] = value
    return out


def stateful_set(s, containers=None, **spec):
    """A workload that nobody acts on in tests, with lists that have keys."""
    pods = {'metadata': {'labels': {'app': 'a'}},
            'spec': {'containers': containers or [{'name': 'c', 'image': 'i:1'}, {'name': 'd', 'image': 'i:2'}]}}
    s.create(SS, spec=dict({'serviceName': 's', 'replicas': 0, 'selector': {'matchLabels': {'app': 'a'}},
                            'template': pods}, **spec))


def pod_spec(spec):
    return {'spec': {'template': {'spec': spec}}}


def strategic(s, *patches, path=SS):
    for patch in patches:
        s.patch(path, patch, type='strategic')


@scenario
def json_operations(s):
    """Each operation of JSON patch once, and a patch that does nothing."""
    s.create(CM, data={'k': 'v', 'b': 'c'}, labels={'x': '1'})
    operations(s, CM, op('add', '/data/n', '1'), op('remove', '/data/n'), op('replace', '/data/k', 'w'),
               op('copy', '/data/k2', **{'from': '/data/k'}), op('move', '/data/k3', **{'from': '/data/k2'}),
               op('test', '/data/k', 'w'),
               [op('add', '/metadata/annotations', {}), op('add', '/metadata/annotations/a~1b', 'c')],
               op('remove', '/metadata/labels'), [])


@scenario
def json_lenient(s):
    """JSON patch is laxer than RFC 6902 where members are missing."""
    s.create(CM, data={'k': 'v'})
    operations(s, CM, op('replace', '/data/none', '1'), op('move', '/data/x', **{'from': '/data/none'}),
               op('copy', '/data/y', **{'from': '/data/none'}), op('add', 'data/z', '1'), op('add', '/data/x'), 'null',
               '[{"op":"test","path":"/data/none","value":null}]', op('add', '/data/x', '1', more='2'),
               '[{"op":"add","op":"add","path":"/data/q","value":"1"}]')
    s.get(CM)


@scenario
def json_refused(s):
    """Operations that do not apply: one answer for all of them."""
    s.create(CM, data={'k': 'v'})
    operations(s, CM, op('test', '/data/k', 'no'), op('remove', '/data/none'), op('add', '/none/x', '1'),
               op('move', '/data/x', **{'from': '/data/none'}), op('frob', '/data/x', '1'), op('add', value='1'),
               op('replace', '', '5'), op('test', '', '5'), op('add', '', {}),
               [op('add', '/data/n', '1'), op('test', '/data/n', '2')])
    s.get(CM)


@scenario
def json_undecodable(s):
    """Documents that are no JSON patch."""
    s.create(CM)
    operations(s, CM, '{"op":"add"}', 'nojson', '[1]', '"x"', '', '[{"op":5,"path":"/x"}]', '[{"op":"add","path":5}]')


@scenario
def json_metadata(s):
    """What a JSON patch cannot change."""
    s.create(CM, data={'k': 'v'})
    operations(s, CM, op('replace', '/metadata/name', 'b'), op('replace', '/metadata/uid', 'b'), op('remove', '/metadata'))
    operations(s, 'configmaps/none', op('add', '/data/x', '1'))


@scenario
def json_lists(s):
    """Indexes: in the middle, at the end, negative, with zeros, beyond."""
    s.kind({'spec': {'type': 'object', 'properties': {'tags': {'type': 'array', 'items': {'type': 'string'}}}}})
    s.create('things/a', spec={'tags': ['a', 'b', 'c']})
    operations(s, 'things/a', op('add', '/spec/tags/1', 'x'), op('add', '/spec/tags/-', 'z'), op('remove', '/spec/tags/0'),
               op('replace', '/spec/tags/-1', 'q'), op('add', '/spec/tags/01', 'y'), op('add', '/spec/tags/9', 'y'),
               op('remove', '/spec/tags/9'), op('remove', '/spec/tags/-'), op('add', '/spec/tags/x', 'q'),
               op('test', '/spec/tags', ['x', 'y', 'b', 'c', 'q']), op('test', '/spec', {}),
               op('move', '/spec/tags/2', **{'from': '/spec/tags/0'}), op('move', '/spec/tags', **{'from': '/spec'}),
               op('replace', '/spec/tags', 'text'), op('add', '/spec/unknown', 1))
    s.get('things/a')


@scenario
def json_too_many(s):
    """At most 10,000 operations, whatever they are."""
    s.create(CM)
    s.patch(CM, '[{null,*10000}null]', type='json')


@scenario
def merge_nulls(s):
    """Nulls take members away; lists are replaced as a whole."""
    s.create(CM, data={'k': 'v', 'b': 'c'}, labels={'x': '1', 'y': '2'})
    for patch in ({'data': {'k': None}}, {'data': {'none': None}}, {'metadata': {'labels': None}}, {'data': None},
                  {'metadata': {'finalizers': ['a.b/c']}}, {'metadata': {'finalizers': ['a.b/d']}},
                  {'metadata': {'finalizers': None}}, {}, {'kind': None}, {'metadata': None}, {'metadata': {'name': None}}):
        s.patch(CM, patch)
    s.get(CM)


@scenario
def merge_refused(s):
    """Merge patches that cannot be read, and what they cannot change."""
    s.create(CM, data={'k': 'v'})
    for patch in ([], 'x', 'null', '"s"', '1', '', '{"data":', {'metadata': {'resourceVersion': '1'}},
                  {'metadata': {'uid': '1'}}, {'metadata': {'namespace': 'other'}}):
        s.patch(CM, patch)
    s.patch(CM + '?force=true', {'data': {}})
    s.patch('configmaps', {'data': {}})
    s.patch('configmaps/none', {'data': {}})


@scenario
def merge_unknown_fields(s):
    """Unknown and doubled fields: warned about, refused, ignored."""
    s.create(CM, data={'k': 'v'})
    s.patch(CM, '{"data":{"a":"1","a":"2"},"unknown":1}')
    s.patch(CM + '?fieldValidation=Ignore', {'unknown': 1})
    s.patch(CM + '?fieldValidation=Bad', {'unknown': 1})


@scenario
def merge_quoted(s):
    """A refusal quotes what the patch made."""
    s.create(CM, data={'k': 'v'})
    for patch in ({'data': {'k': 1}}, {'data': ['a']}, {'kind': 'Foo'}, {'kind': 'Pod'}, {'apiVersion': 'v2'}):
        s.patch(CM, patch)
    s.patch(CM + '?fieldValidation=Strict', {'unknown': 1})


@scenario
def merge_immutable(s):
    """An immutable ConfigMap."""
    s.create(CM, data={'k': 'v'})
    for patch in ({'immutable': True}, {'data': {'k': 'w'}}, {'immutable': False}, {'metadata': {'labels': {'a': 'b'}}}):
        s.patch(CM, patch)


@scenario
def merge_custom(s):
    """Custom resources: defaults come back, nothing that the schema does not know stays."""
    s.kind({'spec': {'type': 'object', 'required': ['size'], 'properties': {
        'size': {'type': 'integer'}, 'color': {'type': 'string', 'default': 'red'},
        'note': {'type': 'string', 'nullable': True},
        'free': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True},
        'parts': {'type': 'array', 'items': {'type': 'object', 'properties': {'name': {'type': 'string'}}}}}}})
    s.create('things/a', spec={'size': 1, 'note': 'n', 'free': {'x': {'y': 1}}, 'parts': [{'name': 'p'}]})
    for patch in ({'spec': {'parts': [{'name': 'q'}]}}, {'spec': {'free': {'x': {'z': 2}}}}, {'spec': {'note': None}},
                  {'spec': {'color': None}}, {'spec': {'size': None}}, {'spec': None}, {'spec': {'unknown': 1}},
                  '{"spec":{"size":2,"size":3}}', {'metadata': {'labels': {'a': 1}}}, {'metadata': 'x'}, {'kind': 'Other'},
                  [], '{'):
        s.patch('things/a', patch)
    s.patch('things/a?fieldValidation=Strict', {'spec': {'unknown': 1}})
    s.get('things/a')


@scenario
def strategic_containers(s):
    """Lists with keys: merged by key, deleted, ordered, replaced."""
    stateful_set(s)
    strategic(s, pod_spec({'containers': [{'name': 'c', 'image': 'j'}]}),
              pod_spec({'containers': [{'name': 'e', 'image': 'k'}]}),
              pod_spec({'containers': [{'name': 'd', '$patch': 'delete'}]}),
              pod_spec({'$setElementOrder/containers': [{'name': 'e'}, {'name': 'c'}],
                        'containers': [{'name': 'c', 'image': 'z'}]}),
              pod_spec({'containers': [{'name': 'c', 'env': [{'name': 'A', 'value': '1'}, {'name': 'B', 'value': '2'}],
                                        'ports': [{'containerPort': 80}]}]}),
              pod_spec({'containers': [{'name': 'c', 'env': [{'name': 'A', '$patch': 'delete'}],
                                        'ports': [{'containerPort': 81}]}]}),
              pod_spec({'containers': [{'$patch': 'replace'}, {'name': 'only', 'image': 'x'}]}))


@scenario
def strategic_atomic(s):
    """Lists without keys are replaced; nulls take them away."""
    stateful_set(s)
    strategic(s, pod_spec({'containers': [{'name': 'c', 'command': ['a', 'b']}]}),
              pod_spec({'containers': [{'name': 'c', 'command': ['c']}]}),
              pod_spec({'containers': [{'name': 'c', 'command': None}]}),
              pod_spec({'tolerations': [{'key': 'a', 'operator': 'Exists'}]}),
              pod_spec({'tolerations': [{'key': 'b', 'operator': 'Exists'}]}))


@scenario
def strategic_retain_keys(s):
    """$retainKeys makes room for one of several alternatives; $patch replaces and deletes maps."""
    stateful_set(s)
    strategic(s, pod_spec({'volumes': [{'name': 'v', 'emptyDir': {}}]}),
              pod_spec({'volumes': [{'name': 'v', '$retainKeys': ['name', 'configMap'], 'configMap': {'name': 'x'}}]}),
              pod_spec({'volumes': [{'name': 'none', '$patch': 'delete'}]}),
              {'spec': {'updateStrategy': {'$retainKeys': ['type'], 'type': 'OnDelete'}}},
              {'spec': {'$retainKeys': 'x'}},
              {'spec': {'updateStrategy': {'$retainKeys': ['rollingUpdate'], 'type': 'OnDelete'}}},
              {'metadata': {'labels': {'$patch': 'replace', 'z': '1'}}}, {'metadata': {'labels': {'$patch': 'delete'}}})


@scenario
def strategic_primitive_lists(s):
    """Finalizers are merged, deleted by name, and put in order."""
    s.create(CM, finalizers=['a.b/1', 'a.b/2'])
    strategic(s, {'metadata': {'finalizers': ['a.b/3']}}, {'metadata': {'$deleteFromPrimitiveList/finalizers': ['a.b/1']}},
              {'metadata': {'$setElementOrder/finalizers': ['a.b/3', 'a.b/2']}},
              {'metadata': {'$setElementOrder/finalizers': ['a.b/4', 'a.b/2', 'a.b/3'], 'finalizers': ['a.b/4']}},
              {'metadata': {'$deleteFromPrimitiveList/finalizers': ['none']}},
              {'metadata': {'$deleteFromPrimitiveList/finalizers': 'text'}}, {'metadata': {'finalizers': None}}, path=CM)


@scenario
def strategic_owners(s):
    """Owner references go by their uid."""
    s.create(CM)
    owner = {'apiVersion': 'none.example.com/v1', 'kind': 'None', 'name': 'x', 'uid': 'u1'}
    strategic(s, {'metadata': {'ownerReferences': [owner]}},
              {'metadata': {'ownerReferences': [dict(owner, name='y')]}},
              {'metadata': {'ownerReferences': [{'uid': 'u1', '$patch': 'delete'}]}}, path=CM)


@scenario
def strategic_refused(s):
    """Directives and items that cannot be followed."""
    stateful_set(s)
    strategic(s, pod_spec({'containers': [{'image': 'x'}]}), pod_spec({'containers': [{'name': 'c', '$patch': 'frob'}]}),
              {'$patch': 'frob'}, [], 'x', 'null', {'kind': 'Pod'}, {'metadata': {'name': 'b'}},
              {'metadata': {'$setElementOrder/finalizers': 'x'}},
              pod_spec({'$setElementOrder/containers': [{'name': 'c'}], 'containers': [{'name': 'd', 'image': 'x'}]}),
              pod_spec({'containers': [{'name': 'c', 'image': None}]}))


@scenario
def strategic_wrong_types(s):
    """Values of other types than the kind has: the patch is quoted."""
    stateful_set(s)
    strategic(s, pod_spec({'containers': {'a': 1}}), pod_spec({'containers': 'x'}), {'spec': 'x'},
              {'spec': {'replicas': 'many'}}, {'spec': {'replicas': True}}, {'metadata': {'labels': 'x'}},
              {'metadata': {'labels': {'a': 1}}}, {'metadata': {'finalizers': [1]}}, {'unknown': 1})
    s.patch(SS + '?fieldValidation=Strict', {'unknown': {'a': 1}}, type='strategic')


@scenario
def strategic_custom(s):
    """Custom resources take no strategic merge patches."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    s.create('things/a', spec={'a': 'x'})
    s.patch('things/a', {'spec': {'a': 'y'}}, type='strategic')
    s.patch('things/a/status', {'status': {}}, type='strategic')


@scenario
def media_types(s):
    """The Content-Type decides which patch it is; its case matters."""
    s.create(CM)
    for type in ('application/json', 'application/strategic-merge-patch+json; charset=utf-8',
                 'application/merge-patch+json;charset=UTF-8', 'text/plain', 'application/apply-patch+json',
                 'application/merge-patch+yaml', 'APPLICATION/MERGE-PATCH+JSON'):
        s.patch(CM, '{}', type=type)


@scenario
def dry_runs(s):
    """No form of patch changes anything in a dry run."""
    s.create(CM, data={'k': 'v'})
    s.patch(CM + '?dryRun=All', {'data': {'k': 'w'}})
    operations(s, CM + '?dryRun=All', op('add', '/data/z', '1'))
    s.patch(CM + '?dryRun=All', {'data': {'k': 'w'}}, type='strategic')
    s.apply(CM + '?dryRun=All', data={'z': '1'})
    s.get(CM)
    s.patch(CM + '?dryRun=bad', {'data': {}})


@scenario
def through_status(s):
    """A patch of the status changes only that, a patch of the object all but that."""
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}},
            'status': {'type': 'object', 'properties': {'ready': {'type': 'integer'}}}}, status=True)
    s.create('things/a', spec={'size': 1})
    operations(s, 'things/a/status', op('add', '/status', {'ready': 1}), op('replace', '/spec/size', 9))
    operations(s, 'things/a', op('add', '/status/ready', 2))
    s.patch('things/a/status', {'status': {'ready': 3}, 'spec': {'size': 9}, 'metadata': {'labels': {'a': 'b'}}})
    s.get('things/a')


@scenario
def with_version(s):
    """A patch that names a version is refused if the object moved on."""
    s.create(CM, data={'k': 'v'}, capture={'rv': 'metadata/resourceVersion'})
    s.patch(CM, {'metadata': {'resourceVersion': '{rv}'}, 'data': {'k': 'w'}})
    s.patch(CM, {'metadata': {'resourceVersion': '{rv}'}, 'data': {'k': 'x'}})
    s.patch(CM, {'metadata': {'resourceVersion': '{rv}'}, 'data': {'k': 'x'}}, type='strategic')
    operations(s, CM, op('replace', '/metadata/resourceVersion', '{rv}'))
