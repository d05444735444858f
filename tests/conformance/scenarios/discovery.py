# SPDX-License-Identifier: Apache-2.0
"""What is served, in all forms that say so, and paths at which nothing is."""
from scenario import scenario

AGGREGATED = 'application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList'
OLDER = AGGREGATED.replace('v2', 'v2beta1')


def get(s, *paths, **how):
    for path in paths:
        s.get(path, **how)


def ask(s, path, *accepts):
    for accept in accepts:
        s.get(path, headers={'Accept': accept})


@scenario
def core(s):
    """The core group."""
    get(s, '/api', '/api/v1')
    ask(s, '/api', AGGREGATED + ',application/json', AGGREGATED, 'application/json,' + AGGREGATED)


@scenario
def groups(s):
    """Groups with their kinds, one by one."""
    get(s, '/apis/apps', '/apis/apps/v1', '/apis/batch/v1', '/apis/autoscaling', '/apis/autoscaling/v1', '/apis/autoscaling/v2',
        '/apis/policy/v1', '/apis/coordination.k8s.io/v1', '/apis/discovery.k8s.io/v1', '/apis/events.k8s.io/v1')
    get(s, '/apis/networking.k8s.io/v1', '/apis/rbac.authorization.k8s.io/v1', '/apis/scheduling.k8s.io/v1',
        '/apis/storage.k8s.io/v1', '/apis/admissionregistration.k8s.io/v1', '/apis/apiextensions.k8s.io/v1',
        '/apis/authentication.k8s.io/v1', '/apis/authorization.k8s.io/v1')


@scenario(alone=True)
def all_groups(s):
    """The list of all groups."""
    s.get('/apis')


@scenario
def custom_group(s):
    """The group of a custom kind, with its subresources, short names and categories."""
    s.kind({'spec': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}},
            'status': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}}}, status=True)
    get(s, '/apis/{ns}.example.com', '/apis/{ns}.example.com/v1', '/apis/{ns}.example.com/v2')


@scenario
def aggregated_is_for_roots(s):
    """The aggregated form is only for /api and /apis, and only in version v2."""
    ask(s, '/apis/apps', AGGREGATED, AGGREGATED + ',application/json')
    ask(s, '/apis/apps/v1', AGGREGATED)
    ask(s, '/api', OLDER, OLDER + ',application/json', AGGREGATED + ',' + OLDER + ',application/json',
        AGGREGATED.replace('v2', 'v9') + ',application/json')


@scenario
def other_forms(s):
    """Discovery as YAML, and in no form at all."""
    ask(s, '/apis/apps', 'application/yaml', 'text/html', '*/*')
    ask(s, '/api/v1/none', 'application/yaml', 'text/html')


@scenario
def unknown_paths(s):
    """Paths at which nothing is: a plain 404 outside of known groups, a Status within."""
    get(s, '/none', '/apis/none', '/apis/none/v1', '/apis/apps/v9', '/api/v2', '/apis/apps/v1/none', '/api/v1/none',
        '/api/v1/namespaces/{ns}/none', '/api/v1/namespaces/{ns}/none/a', '/apis/none.example.com/v1/things', '/api/v1/pods/a',
        '/api/v1/namespaces/{ns}/configmaps/a/none', '/api/v1/namespaces/{ns}/configmaps/a/status',
        '/api/v1/namespaces/{ns}/pods/a/none', '/api/v1/nodes/a/b/c', '/apis/apps/v1/namespaces/{ns}/deployments/a/scale/x')


@scenario
def trailing_slashes(s):
    """A slash at the end."""
    get(s, '/api/', '/api/v1/', '/apis/apps/', '/apis/apps/v1/', '/api/v1/namespaces/{ns}/configmaps/', '/healthz/')


@scenario
def unknown_custom_paths(s):
    """Paths within the group of a custom kind."""
    s.kind({'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}}}})
    group = '/apis/{ns}.example.com/'
    get(s, group + 'v9', group + 'v9/things', group + 'v1/none', group + 'v1/namespaces/{ns}/none',
        group + 'v1/namespaces/{ns}/things/a/none', group + 'v1/namespaces/{ns}/things/a')
    s.patch(group + 'v1/namespaces/{ns}/none/a', {})
    s.post(group + 'v1/none', {})
    s.post(group + 'v1/things', {'apiVersion': '{ns}.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'a'}})
    s.delete(group + 'v1/things')
    s.delete(group + 'v1/namespaces/{ns}/things/a/none')


@scenario
def writes_to_unknown_paths(s):
    """Other methods than GET where nothing is."""
    s.post('/none', {})
    s.delete('/apis/none/v1/x')
    s.put('/api/v1/namespaces/{ns}/none/a', {})
    s.post('/apis/apps/v1/deployments', {'apiVersion': 'apps/v1', 'kind': 'Deployment'})
    s.delete('/api/v1/configmaps')
    s.put('/api/v1/configmaps/a', {})


@scenario
def only_get(s):
    """Documents take no other methods."""
    s.post('/api', {})
    s.delete('/version')
    s.post('/version', {})
    s.put('/apis/apps/v1', {})


@scenario
def health(s):
    """Health checks, all and one by one."""
    get(s, '/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/ping', '/readyz/ping', '/readyz/etcd', '/healthz/none',
        '/readyz?exclude=etcd', '/readyz?exclude=none')
    ask(s, '/healthz', 'text/html')
    s.post('/healthz', '')


@scenario
def version_forms(s):
    """/version is JSON or nothing."""
    ask(s, '/version', 'text/html', 'application/yaml')


@scenario
def openapi_paths(s):
    """Paths of OpenAPI at which nothing is."""
    get(s, '/openapi', '/openapi/v1', '/openapi/v3/none', '/openapi/v3/apis/none', '/openapi/v3/apis/apps/v9', '/openapi/v2/x')
