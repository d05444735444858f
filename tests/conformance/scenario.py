# SPDX-License-Identifier: Apache-2.0
"""The form of scenarios: a function with @scenario, whose argument collects the steps. README.md explains them.

A scenario contains only requests and never sees a response. Responses are in recorded/; a step refers to values from
the response of another one by name: capture={'rv': 'metadata/resourceVersion'} in one step, '{rv}' in a later one.
"""
import copy
import importlib
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = []

# Plural: group and version, kind, namespaced. The first three are those of recorded/base/_setup.json.
KNOWN = {
    'plains': ('conformance.example.com/v1', 'Plain', True),
    'widgets': ('conformance.example.com/v1', 'Widget', True),
    'globals': ('conformance.example.com/v1', 'Global', False),
    'configmaps': ('v1', 'ConfigMap', True),
    'endpoints': ('v1', 'Endpoints', True),
    'events': ('v1', 'Event', True),
    'limitranges': ('v1', 'LimitRange', True),
    'namespaces': ('v1', 'Namespace', False),
    'nodes': ('v1', 'Node', False),
    'persistentvolumeclaims': ('v1', 'PersistentVolumeClaim', True),
    'persistentvolumes': ('v1', 'PersistentVolume', False),
    'pods': ('v1', 'Pod', True),
    'podtemplates': ('v1', 'PodTemplate', True),
    'replicationcontrollers': ('v1', 'ReplicationController', True),
    'resourcequotas': ('v1', 'ResourceQuota', True),
    'secrets': ('v1', 'Secret', True),
    'serviceaccounts': ('v1', 'ServiceAccount', True),
    'services': ('v1', 'Service', True),
    'controllerrevisions': ('apps/v1', 'ControllerRevision', True),
    'daemonsets': ('apps/v1', 'DaemonSet', True),
    'deployments': ('apps/v1', 'Deployment', True),
    'replicasets': ('apps/v1', 'ReplicaSet', True),
    'statefulsets': ('apps/v1', 'StatefulSet', True),
    'cronjobs': ('batch/v1', 'CronJob', True),
    'jobs': ('batch/v1', 'Job', True),
    'horizontalpodautoscalers': ('autoscaling/v2', 'HorizontalPodAutoscaler', True),
    'leases': ('coordination.k8s.io/v1', 'Lease', True),
    'endpointslices': ('discovery.k8s.io/v1', 'EndpointSlice', True),
    'ingressclasses': ('networking.k8s.io/v1', 'IngressClass', False),
    'ingresses': ('networking.k8s.io/v1', 'Ingress', True),
    'networkpolicies': ('networking.k8s.io/v1', 'NetworkPolicy', True),
    'poddisruptionbudgets': ('policy/v1', 'PodDisruptionBudget', True),
    'clusterrolebindings': ('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', False),
    'clusterroles': ('rbac.authorization.k8s.io/v1', 'ClusterRole', False),
    'rolebindings': ('rbac.authorization.k8s.io/v1', 'RoleBinding', True),
    'roles': ('rbac.authorization.k8s.io/v1', 'Role', True),
    'priorityclasses': ('scheduling.k8s.io/v1', 'PriorityClass', False),
    'storageclasses': ('storage.k8s.io/v1', 'StorageClass', False),
    'customresourcedefinitions': ('apiextensions.k8s.io/v1', 'CustomResourceDefinition', False),
}

PATCHES = {
    'merge': 'application/merge-patch+json',
    'json': 'application/json-patch+json',
    'strategic': 'application/strategic-merge-patch+json',
    'apply': 'application/apply-patch+yaml',
}

METADATA = {'labels': 'labels', 'annotations': 'annotations', 'finalizers': 'finalizers',
            'owners': 'ownerReferences', 'version': 'resourceVersion', 'generate_name': 'generateName'}


def scenario(function=None, *, alone=False):
    """Registers a scenario; alone: no other scenario runs concurrently (for scenarios that look beyond their namespace)."""
    def register(function):
        assert function.__doc__, '%s has no docstring' % function.__name__
        steps = Steps()
        function(steps)
        SCENARIOS.append({'area': function.__module__.rpartition('.')[2],
                          'name': function.__name__.strip('_').replace('_', '-'),
                          'about': ' '.join(function.__doc__.split()), 'alone': alone, 'steps': steps.steps})
        return function
    return register(function) if function else register


def load():
    """Returns all scenarios of scenarios/*.py."""
    if not SCENARIOS:
        for file in sorted(os.listdir(os.path.join(HERE, 'scenarios'))):
            if file.endswith('.py') and not file.startswith('_'):
                importlib.import_module('scenarios.' + file[:-3])
    names = [(entry['area'], entry['name']) for entry in SCENARIOS]
    assert len(set(names)) == len(names), 'two scenarios of one name'
    return SCENARIOS


class Steps:
    """Collects the steps of one scenario. A path is `plural/name/subresource?query`, or starts with a slash.

    Keywords of every step: headers, capture, until, within, hidden (README.md). In create, replace and apply the
    other keywords are members of the object; those named in METADATA go to its metadata.
    """

    def __init__(self):
        self.steps = []
        self.known = dict(KNOWN)

    def get(self, path, **how):
        self.request('GET', path, None, how)

    def post(self, path, body, **how):
        self.request('POST', path, body, how)

    def put(self, path, body, **how):
        self.request('PUT', path, body, how)

    def patch(self, path, body, type='merge', **how):
        self.request('PATCH', path, body, dict(how, type=PATCHES.get(type, type)))

    def delete(self, path, body=None, **how):
        self.request('DELETE', path, body, how)

    def create(self, path, **members):
        """POST of an object; a path without a name makes one without a name."""
        how = take_how(members)
        self.request('POST', self.collection(path), self.object(path, **members), how)

    def replace(self, path, **members):
        """PUT of an object."""
        how = take_how(members)
        self.request('PUT', path, self.object(path, **members), how)

    def apply(self, path, manager='tester', force=False, **members):
        """Server-side apply of an object."""
        how = take_how(members)
        query = 'fieldManager=%s%s' % (manager, '&force=true' if force else '')
        self.request('PATCH', path + ('&' if '?' in path else '?') + query, self.object(path, **members),
                     dict(how, type=PATCHES['apply']))

    def watch(self, name, path, headers=None):
        """Starts a watch."""
        self.steps.append(tidy({'watch': name, 'path': self.path(path), 'headers': headers}))

    def collect(self, name, n=1, **how):
        """Waits for n more events of a watch, then a moment for those that should not arrive."""
        self.steps.append(dict({'collect': name, 'n': n}, **how))

    def answer(self, hook, response):
        """Sets what a webhook answers: members of its response (a patch may be a list), or {'raw': text, 'code': 200}; 'delay' in seconds."""
        self.steps.append({'hook': hook, 'response': copy.deepcopy(response)})

    def reviews(self, hook):
        """Compares what a webhook was asked since the last time."""
        self.steps.append({'reviews': hook})

    def webhook(self, hook, kind='validating', response=None, rules=None, probe='configmaps', **members):
        """Installs a webhook for the namespace of the scenario and waits until it is asked about `probe`."""
        self.answer(hook, response or {'allowed': True})
        entry = dict({'name': hook + '.example.com', 'sideEffects': 'None', 'admissionReviewVersions': ['v1'],
                      'clientConfig': {'url': '{webhooks}/' + hook, 'caBundle': '{webhook_bundle}'},
                      'namespaceSelector': {'matchLabels': {'kubernetes.io/metadata.name': '{ns}'}},
                      'rules': [rules or {'apiGroups': ['*'], 'apiVersions': ['*'], 'resources': [probe or 'configmaps'], 'operations': ['*']}]},
                     **members)
        self.post('/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations' % kind,
                  {'metadata': {'name': hook + '-{ns}'}, 'webhooks': [entry]}, hidden=True)
        if probe:
            self.create('%s/probe-%s?dryRun=All' % (probe, hook), data={'k': 'v'}, until={'message': 'admission webhook "%s.example.com" denied the request: ready' % hook})

    def kind(self, properties, plural='things', kind='Thing', wait=True, path='customresourcedefinitions', **how):
        """Installs a CRD for this scenario (see crd()) and waits until it is served."""
        document = crd(properties, plural=plural, kind=kind, **how)
        self.post(path, document, hidden=True)
        spec = document['spec']
        self.known[plural] = ('%s/%s' % (spec['group'], spec['versions'][0]['name']), kind,
                              spec['scope'] == 'Namespaced')
        if wait:
            self.served(plural)

    def served(self, plural='things'):
        self.get(plural, until=200, within=30, hidden=True)

    def request(self, method, path, body, how):
        step = tidy(dict({'method': method, 'path': self.path(path), 'body': body}, **how))
        self.steps.append(copy.deepcopy(step))  # scenarios may modify their arguments afterwards

    def path(self, path):
        if path.startswith('/'):
            return path
        place, mark, query = path.partition('?')
        plural, slash, rest = place.partition('/')
        version, _, namespaced = self.known[plural]
        return '%s/%s%s%s%s' % ('/api/v1' if version == 'v1' else '/apis/' + version,
                                'namespaces/{ns}/' if namespaced else '', plural, slash + rest, mark + query)

    @staticmethod
    def collection(path):
        place, mark, query = path.partition('?')
        parts = place.split('/')
        return '/'.join(parts[:1] + parts[2:]) + mark + query

    def object(self, path, **members):
        """Returns the object of a path: apiVersion, kind, name, and the members given."""
        plural, _, rest = path.partition('?')[0].partition('/')
        version, kind, _ = self.known[plural]
        metadata = dict(members.pop('metadata', {}))
        if rest:
            metadata['name'] = rest.partition('/')[0]
        for keyword, member in METADATA.items():
            if keyword in members:
                metadata[member] = members.pop(keyword)
        return dict({'apiVersion': version, 'kind': kind, 'metadata': metadata}, **members)


def take_how(members):
    return {key: members.pop(key) for key in ('headers', 'capture', 'until', 'within', 'hidden', 'undescribed') if key in members}


def tidy(step):
    return {key: value for key, value in step.items() if value is not None}


def crd(properties, plural='things', kind='Thing', group='{ns}.example.com', scope='Namespaced', status=False,
        version=None, versions=None, names=None, schema=None, **spec):
    """Returns a CRD with one version v1 whose schema has these properties.

    status: with the status subresource; version: more members of the version (additionalPrinterColumns, ...);
    schema: more members of the schema (required, x-kubernetes-validations, ...); versions: all of them, instead;
    names and other keywords: more members of spec.names and of spec.
    """
    one = dict({'name': 'v1', 'served': True, 'storage': True,
                'schema': {'openAPIV3Schema': dict({'type': 'object', 'properties': properties}, **(schema or {}))}},
               **(version or {}))
    if status:
        one.setdefault('subresources', {}).setdefault('status', {})
    return copy.deepcopy({
        'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
        'metadata': {'name': '%s.%s' % (plural, group)},
        'spec': dict({'group': group, 'scope': scope,
                      'names': dict({'plural': plural, 'singular': kind.lower(), 'kind': kind,
                                     'listKind': kind + 'List'}, **(names or {})),
                      'versions': versions or [one]}, **spec)})
