# SPDX-License-Identifier: Apache-2.0
"""Tables of built-in kinds: their columns, and the cells of an object that somebody wrote but nobody acted on."""
from scenario import scenario

CONTAINERS = {'containers': [{'name': 'c', 'image': 'i:1'}, {'name': 'd', 'image': 'j:2'}]}
TEMPLATE = {'metadata': {'labels': {'app': 'a'}}, 'spec': CONTAINERS}
SELECTOR = {'matchLabels': {'app': 'a'}, 'matchExpressions': [{'key': 'x', 'operator': 'DoesNotExist'}]}


def table(s, path):
    s.get(path + ('&' if '?' in path else '?') + 'includeObject=None', undescribed=True,
          headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})


def rows(s, *objects):
    """Each created unseen, then shown."""
    for path, members in objects:
        s.create(path, hidden=True, **members)
        table(s, path)


@scenario
def workloads(s):
    """What runs pods."""
    rows(s, ('deployments/a', {'spec': {'replicas': 2, 'selector': SELECTOR, 'template': TEMPLATE}}),
         ('replicasets/a', {'spec': {'replicas': 2, 'selector': SELECTOR, 'template': TEMPLATE}}),
         ('statefulsets/a', {'spec': {'serviceName': 's', 'selector': SELECTOR, 'template': TEMPLATE}}),
         ('daemonsets/a', {'spec': {'selector': SELECTOR, 'template': dict(TEMPLATE, spec=dict(
             CONTAINERS, nodeSelector={'disk': 'ssd'}))}}),
         ('replicationcontrollers/a', {'spec': {'replicas': 2, 'selector': {'app': 'a'}, 'template': TEMPLATE}}))


@scenario
def jobs(s):
    """What runs once, or now and then."""
    pods = {'spec': dict(CONTAINERS, restartPolicy='Never')}
    rows(s, ('jobs/a', {'spec': {'completions': 3, 'parallelism': 2, 'template': pods}}),
         ('cronjobs/a', {'spec': {'schedule': '*/5 * * * *', 'suspend': True, 'timeZone': 'Etc/UTC',
                                  'jobTemplate': {'spec': {'template': pods}}}}))


@scenario
def pods(s):
    """Pods that wait, run, crash and end."""
    for name, status in (('waits', {}),
                         ('runs', {'phase': 'Running', 'podIP': '10.1.2.3', 'containerStatuses': [
                             {'name': 'c', 'ready': True, 'restartCount': 2, 'image': 'i', 'imageID': '',
                              'state': {'running': {}}},
                             {'name': 'd', 'ready': False, 'restartCount': 1, 'image': 'j', 'imageID': '',
                              'state': {'waiting': {'reason': 'CrashLoopBackOff'}}}]}),
                         ('ended', {'phase': 'Succeeded', 'containerStatuses': [
                             {'name': 'c', 'ready': False, 'restartCount': 0, 'image': 'i', 'imageID': '',
                              'state': {'terminated': {'exitCode': 0, 'reason': 'Completed'}}}]}),
                         ('failed', {'phase': 'Failed', 'reason': 'Evicted'})):
        s.create('pods/' + name, spec=CONTAINERS, hidden=True)
        s.patch('pods/%s/status' % name, {'status': status}, hidden=True)
        table(s, 'pods/' + name)


@scenario
def configuration(s):
    """What pods are given."""
    rows(s, ('configmaps/a', {'data': {'k': 'v', 'l': 'w'}}),
         ('secrets/a', {'type': 'Opaque', 'data': {'k': 'dg=='}}),
         ('serviceaccounts/a', {}),
         ('resourcequotas/a', {'spec': {'hard': {'pods': '5', 'requests.cpu': '2'}}}),
         ('limitranges/a', {'spec': {'limits': [{'type': 'Container', 'default': {'cpu': '1'}}]}}))


@scenario
def network(s):
    """What pods are reached by."""
    backend = {'service': {'name': 's', 'port': {'number': 80}}}
    rows(s, ('services/a', {'spec': {'clusterIP': 'None', 'selector': {'app': 'a'}, 'ports': [
             {'port': 80, 'name': 'x'}, {'port': 53, 'protocol': 'UDP', 'name': 'y'}]}}),
         ('services/b', {'spec': {'type': 'ExternalName', 'externalName': 'example.com'}}),
         ('ingresses/a', {'spec': {'ingressClassName': 'c', 'tls': [{'hosts': ['h']}], 'rules': [
             {'host': 'h', 'http': {'paths': [{'path': '/', 'pathType': 'Prefix', 'backend': backend}]}}]}}),
         ('ingressclasses/{ns}', {'spec': {'controller': 'example.com/c'}}),
         ('networkpolicies/a', {'spec': {'podSelector': {'matchLabels': {'app': 'a'}}}}),
         ('endpointslices/a', {'addressType': 'IPv4', 'ports': [{'port': 80}], 'endpoints': [
             {'addresses': ['10.0.0.9']}, {'addresses': ['10.0.0.8']}]}))


@scenario
def storage(s):
    """What pods keep."""
    rows(s, ('persistentvolumeclaims/a', {'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'c',
                                                   'resources': {'requests': {'storage': '1Gi'}}}}),
         ('persistentvolumes/{ns}', {'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteMany', 'ReadOnlyMany'],
                                              'hostPath': {'path': '/x'}, 'storageClassName': 'c'}}),
         ('storageclasses/{ns}', {'provisioner': 'example.com/p'}))


@scenario
def permissions(s):
    """Who may do what."""
    role = {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'Role', 'name': 'a'}
    subjects = [{'kind': 'ServiceAccount', 'name': 'a', 'namespace': '{ns}'},
                {'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}]
    rules = [{'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']}]
    rows(s, ('roles/a', {'rules': rules}), ('clusterroles/{ns}', {'rules': rules}),
         ('rolebindings/a', {'roleRef': role, 'subjects': subjects}),
         ('clusterrolebindings/{ns}', {'roleRef': dict(role, kind='ClusterRole'), 'subjects': subjects}))


@scenario
def policies(s):
    """Budgets, scalers, priorities, leases."""
    rows(s, ('poddisruptionbudgets/a', {'spec': {'minAvailable': 1, 'selector': {'matchLabels': {'app': 'a'}}}}),
         ('poddisruptionbudgets/b', {'spec': {'maxUnavailable': '50%', 'selector': {'matchLabels': {'app': 'a'}}}}),
         ('horizontalpodautoscalers/a', {'spec': {
             'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'a'}, 'maxReplicas': 3,
             'metrics': [{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {
                 'type': 'Utilization', 'averageUtilization': 50}}}]}}),
         ('priorityclasses/{ns}', {'value': 7}),
         ('leases/a', {'spec': {'holderIdentity': 'me', 'leaseDurationSeconds': 15}}))


@scenario
def cluster(s):
    """Namespaces, nodes, kinds."""
    table(s, 'namespaces/{ns}')
    rows(s, ('nodes/{ns}', {'labels': {'node-role.kubernetes.io/worker': ''}}))
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    table(s, 'customresourcedefinitions/things.{ns}.example.com')


@scenario
def lists(s):
    """Of no objects, and in pages."""
    for plural in ('deployments', 'configmaps', 'pods', 'services'):
        table(s, plural)
    for name in 'abc':
        s.create('configmaps/' + name, hidden=True)
    table(s, 'configmaps?limit=2')
