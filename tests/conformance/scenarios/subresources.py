# SPDX-License-Identifier: Apache-2.0
"""Verbs and subresources of built-in kinds: status, scale, binding, eviction, tokens, reviews; and methods they refuse."""
from scenario import scenario

REVIEWS = '/apis/authorization.k8s.io/v1/'


def pod(s, name='a', **spec):
    s.create('pods/' + name, spec=dict({'containers': [{'name': 'c', 'image': 'i:1'}]}, **spec), hidden=True)


def binding(name='a', node='node-1', **metadata):
    return {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': dict({'name': name}, **metadata),
            'target': {'kind': 'Node', 'name': node}}


def eviction(name='a', **options):
    return dict({'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': name}},
                **({'deleteOptions': options} if options else {}))


def scale(replicas, **metadata):
    return {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': dict({'name': 'a', 'namespace': '{ns}'}, **metadata),
            'spec': {'replicas': replicas}}


def stateful_set(s):
    s.create('statefulsets/a', spec={
        'serviceName': 's', 'replicas': 1, 'selector': {'matchLabels': {'app': 'a'}},
        'template': {'metadata': {'labels': {'app': 'a'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i:1'}]}}})


@scenario
def status_of_a_workload(s):
    """The status of a StatefulSet: updated and patched alone."""
    stateful_set(s)
    s.get('statefulsets/a/status')
    s.patch('statefulsets/a/status', {'status': {'replicas': 1, 'readyReplicas': 1}})
    s.patch('statefulsets/a/status', {'status': {'conditions': [{'type': 'A', 'status': 'True'}]}}, type='strategic')
    s.patch('statefulsets/a/status', {'status': {'conditions': [{'type': 'B', 'status': 'True'}]}}, type='strategic')
    s.patch('statefulsets/a/status', {'spec': {'replicas': 7}, 'metadata': {'labels': {'x': '1'}}})
    s.patch('statefulsets/a', {'status': {'replicas': 9}})
    s.post('statefulsets/a/status', {})
    s.delete('statefulsets/a/status')
    s.get('statefulsets/none/status')
    s.patch('statefulsets/none/status', {'status': {}})
    s.get('statefulsets/a')


@scenario
def scale_of_a_workload(s):
    """The scale of a StatefulSet by all verbs."""
    stateful_set(s)
    s.get('statefulsets/a/scale')
    s.put('statefulsets/a/scale', scale(3))
    s.patch('statefulsets/a/scale', {'spec': {'replicas': 4}})
    s.patch('statefulsets/a/scale', {'spec': {'replicas': 5}}, type='strategic')
    s.patch('statefulsets/a/scale', [{'op': 'replace', 'path': '/spec/replicas', 'value': 6}], type='json')
    s.patch('statefulsets/a/scale?dryRun=All', {'spec': {'replicas': 9}})
    s.get('statefulsets/a')
    s.patch('statefulsets/a/status', {'status': {'replicas': 2}}, hidden=True)
    s.get('statefulsets/a/scale')


@scenario
def refused_scales(s):
    """Scales that are none, of another object, negative, or too late."""
    stateful_set(s)
    for body in (scale(-1), scale('x'), scale(3, name='b'), scale(3, resourceVersion='1'), dict(scale(3), kind='Foo'), {}):
        s.put('statefulsets/a/scale', body)
    s.put('statefulsets/none/scale', scale(3, name='none'))
    s.get('statefulsets/none/scale')
    s.post('statefulsets/a/scale', scale(1))
    s.delete('statefulsets/a/scale')


@scenario
def applied_scale(s):
    """An apply of the scale conflicts with whoever scaled before."""
    stateful_set(s)
    s.patch('statefulsets/a/scale', {'spec': {'replicas': 6}}, hidden=True)
    body = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': 'a'}, 'spec': {'replicas': 2}}
    s.patch('statefulsets/a/scale?fieldManager=m2', body, type='apply')
    s.patch('statefulsets/a/scale?fieldManager=m2&force=true', body, type='apply')
    s.get('statefulsets/a')


@scenario
def bindings(s):
    """A pod is bound once, by its subresource or by a Binding."""
    pod(s)
    s.post('pods/a/binding?dryRun=All', binding())
    s.post('pods/a/binding', binding(annotations={'x': 'y'}))
    s.get('pods/a?pretty=0', headers={'Accept': 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'})
    s.post('pods/a/binding', binding())
    s.post('/api/v1/namespaces/{ns}/bindings', binding())
    s.delete('pods/a?gracePeriodSeconds=0', hidden=True)


@scenario
def refused_bindings(s):
    """Bindings of another pod, of none, and to no node."""
    pod(s)
    s.post('pods/a/binding', binding(node=''))
    s.post('pods/a/binding', binding('b'))
    s.post('pods/a/binding', {})
    s.post('pods/none/binding', binding('none'))
    s.get('pods/a/binding')


@scenario
def evictions(s):
    """An eviction deletes a pod; a dry run does not."""
    pod(s)
    s.post('pods/a/eviction?dryRun=All', eviction())
    s.post('pods/a/eviction', eviction())
    s.get('pods/a')


@scenario
def refused_evictions(s):
    """Evictions of another pod, of none, and with preconditions that fail."""
    pod(s)
    s.post('pods/a/eviction', eviction('b'))
    s.post('pods/a/eviction', {})
    s.post('pods/none/eviction', eviction('none'))
    s.post('pods/a/eviction', eviction(preconditions={'uid': 'x'}))
    s.get('pods/a/eviction')


@scenario
def disruption_budgets(s):
    """Evictions wait for a budget that nobody has counted yet, and are refused by one that is used up."""
    pod(s)
    s.patch('pods/a', {'metadata': {'labels': {'app': 'a'}}}, hidden=True)
    s.patch('pods/a/status', {'status': {'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]}}, hidden=True)
    s.create('poddisruptionbudgets/b', spec={'minAvailable': 1, 'selector': {'matchLabels': {'app': 'a'}}}, hidden=True)
    s.post('pods/a/eviction', eviction())
    s.patch('poddisruptionbudgets/b/status', {'status': {
        'observedGeneration': 1, 'disruptionsAllowed': 0, 'currentHealthy': 1, 'desiredHealthy': 1, 'expectedPods': 1}},
        hidden=True)
    s.post('pods/a/eviction', eviction())
    s.patch('poddisruptionbudgets/b/status', {'status': {'disruptionsAllowed': 1}}, hidden=True)
    s.post('pods/a/eviction', eviction())


@scenario
def unready_pods(s):
    """A pod that is not ready does not count while the budget has its pods."""
    pod(s)
    s.patch('pods/a', {'metadata': {'labels': {'app': 'a'}}}, hidden=True)
    s.patch('pods/a/status', {'status': {'phase': 'Running'}}, hidden=True)
    s.create('poddisruptionbudgets/b', spec={'minAvailable': 1, 'selector': {'matchLabels': {'app': 'a'}}}, hidden=True)
    s.patch('poddisruptionbudgets/b/status', {'status': {
        'observedGeneration': 1, 'disruptionsAllowed': 0, 'currentHealthy': 1, 'desiredHealthy': 1, 'expectedPods': 1}},
        hidden=True)
    s.post('pods/a/eviction', eviction())


@scenario
def tokens(s):
    """Tokens of service accounts: refusals."""
    s.create('serviceaccounts/a', hidden=True)
    request = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest'}
    s.post('serviceaccounts/none/token', dict(request, spec={}))
    s.post('serviceaccounts/a/token', dict(request, spec={'expirationSeconds': 5}))
    s.get('serviceaccounts/a/token')


@scenario
def access_reviews(s):
    """Who may do what, for somebody who may do everything."""
    resource = {'resourceAttributes': {'verb': 'get', 'resource': 'pods', 'namespace': '{ns}'}}
    kind = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview'}
    s.post(REVIEWS + 'selfsubjectaccessreviews', dict(kind, spec=resource))
    s.post(REVIEWS + 'selfsubjectaccessreviews', dict(kind, spec={'nonResourceAttributes': {'verb': 'get', 'path': '/x'}}))
    s.post(REVIEWS + 'selfsubjectaccessreviews', dict(kind, spec={}))
    admins = {'user': 'u', 'groups': ['system:masters']}
    s.post(REVIEWS + 'subjectaccessreviews', dict(kind, kind='SubjectAccessReview', spec=dict(resource, **admins)))
    s.post(REVIEWS + 'subjectaccessreviews', dict(kind, kind='SubjectAccessReview', spec=resource))
    s.get(REVIEWS + 'selfsubjectaccessreviews')
    s.delete(REVIEWS + 'selfsubjectaccessreviews')
    local = dict(kind, kind='LocalSubjectAccessReview', metadata={'namespace': '{ns}'})
    s.post(REVIEWS + 'namespaces/{ns}/localsubjectaccessreviews', dict(local, spec=dict(resource, **admins)))
    s.post(REVIEWS + 'namespaces/{ns}/localsubjectaccessreviews',
           dict(local, spec=dict(admins, resourceAttributes={'verb': 'get', 'resource': 'pods', 'namespace': 'other'})))


@scenario
def token_reviews(s):
    """Tokens that nobody knows, and none."""
    kind = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview'}
    for spec in ({'token': 'nope'}, {}):
        s.post('/apis/authentication.k8s.io/v1/tokenreviews', dict(kind, spec=spec))
    s.post(REVIEWS + 'selfsubjectrulesreviews',
           {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectRulesReview', 'spec': {}})


@scenario
def refused_methods(s):
    """Methods that kinds and collections do not have."""
    s.create('configmaps/a', hidden=True)
    s.post('configmaps/a', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}})
    s.put('configmaps', {})
    s.patch('configmaps', {})
    s.delete('/api/v1/namespaces')
    s.post('/api/v1/componentstatuses', {})
    s.delete('/api/v1/componentstatuses/x')
    s.put('/apis/authentication.k8s.io/v1/tokenreviews', {})
    s.get('/api/v1/namespaces/{ns}/bindings')
    s.delete('services/a/status')
    s.put('pods/a/log', {})
    s.request('OPTIONS', 'configmaps/a', None, {})
    s.request('FROB', 'configmaps/a', None, {})


@scenario
def refused_custom_methods(s):
    """The same of custom kinds."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}}, status=True)
    s.create('things/a', hidden=True)
    thing = {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'a'}}
    s.post('things/a', thing)
    s.put('things', thing)
    s.patch('things', {})
    s.delete('things/a/status')
    s.post('things/a/status', {})


@scenario
def logs(s):
    """Logs and commands of pods that are nowhere."""
    pod(s)
    s.get('pods/none/log')
    s.get('pods/none/exec')
    s.get('pods/a/log')
    s.delete('pods/a', hidden=True)
