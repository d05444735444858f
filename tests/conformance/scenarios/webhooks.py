# SPDX-License-Identifier: Apache-2.0
"""Admission by webhooks: what they are asked, and what comes of their answers."""
from scenario import scenario

ADD = {'op': 'add', 'path': '/data/added', 'value': '1'}


@scenario
def defaults(s):
    """A mutating webhook changes an object; the fields have no owner of their own."""
    s.webhook('m', 'mutating', {'allowed': True, 'patch': [ADD, {'op': 'add', 'path': '/metadata/labels', 'value': {'a': 'b'}}]})
    s.create('configmaps/a', data={'k': 'v'})
    s.get('configmaps/a')
    s.patch('configmaps/a', {'data': {'added': '2'}})
    s.apply('configmaps/b', data={'k': 'v'})


@scenario
def reviews_of_writes(s):
    """A webhook is asked about each write with the object, the old one, and the options."""
    s.create('configmaps/old', data={'k': 'v'})
    s.webhook('v')
    s.create('configmaps/a?fieldManager=me', data={'k': 'v'}, labels={'x': 'y'})
    s.reviews('v')
    s.create('configmaps', generate_name='generated-', data={'k': 'v'})
    s.reviews('v')
    s.replace('configmaps/a', data={'k': 'w'})
    s.reviews('v')
    s.patch('configmaps/a', {'data': {'k': 'x'}})
    s.reviews('v')
    s.apply('configmaps/a', data={'l': 'm'})
    s.reviews('v')
    s.apply('configmaps/applied', data={'l': 'm'})
    s.reviews('v')
    s.delete('configmaps/a')
    s.reviews('v')
    s.delete('configmaps/applied', {'propagationPolicy': 'Background', 'gracePeriodSeconds': 0})
    s.reviews('v')
    s.delete('configmaps/old?dryRun=All')
    s.reviews('v')
    s.patch('configmaps/none', {'data': {'k': 'x'}})
    s.delete('configmaps/none')
    s.reviews('v')


@scenario
def reviews_of_mutation(s):
    """A mutating webhook sees a new object without uid, times and generated name."""
    s.webhook('m', 'mutating')
    s.create('configmaps/a', data={'k': 'v'})
    s.reviews('m')
    s.create('configmaps', generate_name='generated-', data={'k': 'v'})
    s.reviews('m')
    s.patch('configmaps/a', {'data': {'k': 'x'}})
    s.reviews('m')
    s.delete('configmaps/a')
    s.reviews('m')


@scenario
def denials(s):
    """A denial has the status of the webhook, with at least 400."""
    s.webhook('v')
    for status in ({'message': 'no'}, {'reason': 'Because'}, {}, {'code': 403, 'reason': 'Forbidden', 'message': 'no'},
                   {'code': 200, 'message': 'no'}, {'code': 422, 'reason': 'Invalid', 'message': 'm', 'details': {
                       'name': 'n', 'kind': 'k', 'causes': [{'reason': 'FieldValueInvalid', 'message': 'x', 'field': 'data'}]}}):
        s.answer('v', {'allowed': False, 'status': status})
        s.create('configmaps/a', data={'k': 'v'})
    s.answer('v', {'allowed': False})
    s.create('configmaps/a', data={'k': 'v'})


@scenario
def answers_that_are_none(s):
    """An answer that is not one fails the call."""
    s.webhook('v')
    start = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"'
    for raw in (start + '}', '{"apiVersion":"v1","kind":"Pod"}', start + ',"response":{"uid":"x","allowed":true}}',
                start + ',"response":{"uid":"UID","allowed":true,"patch":"W10=","patchType":"JSONPatch"}}',
                start + ',"response":{"uid":"UID","allowed":true,"patchType":"JSONPatch"}}', 'no JSON'):
        s.answer('v', {'raw': raw})
        s.create('configmaps/a', data={'k': 'v'})
    s.answer('v', {'raw': 'out of order', 'code': 500})
    s.create('configmaps/a', data={'k': 'v'})


@scenario
def patches_that_fail(s):
    """A patch that cannot be applied is an error of the server; its result is validated."""
    s.webhook('m', 'mutating')
    for patch in ([{'op': 'remove', 'path': '/data/nix'}], [{'op': 'replace', 'path': '/data/k', 'value': {'a': 1}}],
                  [{'op': 'replace', 'path': '/metadata/labels', 'value': {'-': 'bad'}}],
                  [{'op': 'add', 'path': '/metadata/name', 'value': 'other'}]):
        s.answer('m', {'allowed': True, 'patch': patch})
        s.create('configmaps/a', data={'k': 'v'})


@scenario
def ignored_failures(s):
    """A webhook that cannot be reached fails the write, or is ignored."""
    nowhere = {'url': 'https://127.0.0.1:1/x'}
    s.webhook('i', clientConfig=nowhere, failurePolicy='Ignore', probe=None,
              rules={'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps'], 'operations': ['*']})
    s.create('configmaps/a', data={'k': 'v'})
    s.webhook('f', clientConfig=nowhere, probe=None,
              rules={'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps'], 'operations': ['CREATE']})
    s.create('configmaps/b?dryRun=All', data={'k': 'v'}, until=500)
    s.patch('configmaps/a', {'data': {'k': 'w'}})


@scenario
def timeouts(s):
    """A webhook that is too slow fails the write, or is ignored."""
    s.webhook('v', timeoutSeconds=1)
    s.answer('v', {'allowed': True, 'delay': 3})
    s.create('configmaps/a', data={'k': 'v'})
    s.webhook('i', 'mutating', timeoutSeconds=1, failurePolicy='Ignore')
    s.answer('v', {'allowed': True})
    s.answer('i', {'allowed': True, 'patch': [ADD], 'delay': 3})
    s.create('configmaps/b', data={'k': 'v'})


@scenario
def second_pass(s):
    """A change in the second pass is shown to those that come after it."""
    add = lambda value: {'allowed': True, 'patch': [{'op': 'add', 'path': '/data/x', 'value': value}]}
    s.webhook('a', 'mutating', add('a'), reinvocationPolicy='IfNeeded',
              matchConditions=[{'name': 'x', 'expression': 'object.metadata.name.startsWith("probe") || has(object.data.x)'}])
    s.webhook('b', 'mutating', add('b'), reinvocationPolicy='IfNeeded')
    s.webhook('c', 'mutating', reinvocationPolicy='IfNeeded')
    s.webhook('d', 'mutating')
    s.create('configmaps/one', data={'k': 'v'})
    for name in 'abcd':
        s.reviews(name)


@scenario
def admission_again(s):
    """What webhooks make of a Pod is admitted again."""
    s.webhook('m', 'mutating', rules={'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['pods', 'configmaps'], 'operations': ['CREATE']})
    s.answer('m', {'allowed': True, 'patch': [{'op': 'remove', 'path': '/spec/tolerations'}]})
    s.create('pods/a', spec={'containers': [{'name': 'c', 'image': 'nginx'}]})
    s.answer('m', {'allowed': True, 'patch': [{'op': 'replace', 'path': '/spec/priorityClassName', 'value': 'system-node-critical'}]})
    s.create('pods/b', spec={'containers': [{'name': 'c', 'image': 'nginx'}]})


@scenario
def order(s):
    """Webhooks are called by the names of their configurations, and again after changes if they want that."""
    append = lambda name: {'allowed': True, 'patch': [{'op': 'add', 'path': '/data/' + name, 'value': '1'}]}
    s.webhook('b', 'mutating', append('b'), reinvocationPolicy='IfNeeded')
    s.webhook('a', 'mutating', append('a'), reinvocationPolicy='IfNeeded')
    s.webhook('c', 'mutating', append('c'))
    s.webhook('z')
    s.create('configmaps/one', data={'k': 'v'})
    for name in 'abcz':
        s.reviews(name)


@scenario
def warnings(s):
    """Warnings of webhooks reach the client, also with a denial."""
    s.webhook('m', 'mutating', {'allowed': True, 'warnings': ['one', 'two']})
    s.webhook('v', response={'allowed': True, 'warnings': ['three']})
    s.create('configmaps/a', data={'k': 'v'})
    s.answer('v', {'allowed': False, 'warnings': ['four']})
    s.create('configmaps/b', data={'k': 'v'})


@scenario
def dry_run(s):
    """A webhook is told that a run is dry."""
    s.webhook('v')
    s.create('configmaps/a?dryRun=All', data={'k': 'v'})
    s.reviews('v')
    s.get('configmaps/a')


@scenario
def selections(s):
    """A webhook is asked about what its rules, selectors and conditions select."""
    s.webhook('o', objectSelector={'matchLabels': {'app': 'web'}}, probe=None,
              rules={'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps'], 'operations': ['CREATE', 'UPDATE']})
    s.webhook('c', matchConditions=[{'name': 'data', 'expression': 'request.operation == "DELETE" || has(object.data)'},
                                    {'name': 'user', 'expression': 'request.userInfo.username != "nobody"'}])
    s.webhook('n', rules={'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps'], 'operations': ['CREATE']})
    s.create('configmaps/a', data={'k': 'v'})
    s.create('configmaps/b', labels={'app': 'web'})
    s.patch('configmaps/b', {'metadata': {'labels': None}})
    s.delete('configmaps/b')
    s.create('secrets/a')
    for name in 'ocn':
        s.reviews(name)


@scenario
def conditions_that_fail(s):
    """A condition that cannot be evaluated refuses the write, or skips the webhook."""
    s.webhook('f', matchConditions=[{'name': 'x', 'expression': 'object.metadata.name.startsWith("probe") || object.data.nix == "v"'}])
    s.create('configmaps/a', data={'k': 'v'})
    s.webhook('i', failurePolicy='Ignore', matchConditions=[{'name': 'x', 'expression': 'object.data.nix == "v"'}], probe=None)
    s.webhook('g', matchConditions=[{'name': 'x', 'expression': 'object.metadata.name.startsWith("probe") || object.data.nix == "v"'},
                                    {'name': 'y', 'expression': 'object.metadata.name != "b"'}])
    s.create('configmaps/b', labels={'a': 'b'})


@scenario
def custom_resources(s):
    """Webhooks see custom resources, their status and scale; defaults are set again after a patch."""
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}, 'color': {'type': 'string', 'default': 'red'}}},
            'status': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}},
           version={'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.size', 'statusReplicasPath': '.status.size'}}})
    s.webhook('m', 'mutating', {'allowed': True, 'patch': [{'op': 'add', 'path': '/spec', 'value': {'size': 3}}]}, probe='things')
    s.webhook('v', rules={'apiGroups': ['{ns}.example.com'], 'apiVersions': ['*'], 'resources': ['things', 'things/*'],
                          'operations': ['*']}, probe='things')
    s.create('things/a')
    s.reviews('v')
    s.patch('things/a/status', {'status': {'size': 1}})
    s.reviews('v')
    s.patch('things/a/scale', {'spec': {'replicas': 4}})
    s.reviews('v')
    s.get('things/a')


@scenario
def versions(s):
    """A rule for another version matches, unless the policy is Exact."""
    loose = {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}
    s.kind({}, versions=[{'name': 'v1', 'served': True, 'storage': True, 'schema': loose},
                         {'name': 'v2', 'served': True, 'storage': False, 'schema': loose}])
    rules = {'apiGroups': ['{ns}.example.com'], 'apiVersions': ['v2'], 'resources': ['things'], 'operations': ['*']}
    s.webhook('x', matchPolicy='Exact', rules=rules, probe=None)
    s.webhook('e', 'mutating', {'allowed': True, 'patch': [{'op': 'add', 'path': '/x', 'value': 1}]}, rules=rules, probe='things')
    s.create('things/a')
    s.reviews('e')
    s.reviews('x')


@scenario
def collections(s):
    """The deletion of a collection asks about each object."""
    s.create('configmaps/a', data={'k': 'v'})
    s.create('configmaps/b', data={'k': 'v'})
    s.webhook('v')
    s.delete('configmaps?fieldSelector=metadata.name%3Da')
    s.reviews('v')
    s.answer('v', {'allowed': False, 'status': {'message': 'keep it'}})
    s.delete('configmaps?fieldSelector=metadata.name%3Db')
    s.get('configmaps/b')
