# SPDX-License-Identifier: Apache-2.0
"""Role-based access control: refusals, bindings, escalation, impersonation, reviews. Users are impersonated."""
from scenario import scenario

REVIEWS = '/apis/authorization.k8s.io/v1/'
AUTHENTICATION = '/apis/authentication.k8s.io/v1/'
RBAC = 'rbac.authorization.k8s.io'
ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles'
BINDINGS = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings'
CLUSTER_ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
ALICE = {'Impersonate-User': 'alice'}
BOB = {'Impersonate-User': 'bob'}


def rule(group, resources, verbs, names=()):
    return dict({'apiGroups': [group], 'resources': resources.split(), 'verbs': verbs.split()},
                **({'resourceNames': list(names)} if names else {}))


def role(name, *rules):
    return {'metadata': {'name': name}, 'rules': list(rules)}


def binding(name, role, user='alice', kind='Role'):
    return {'metadata': {'name': name}, 'roleRef': {'apiGroup': RBAC, 'kind': kind, 'name': role},
            'subjects': [{'apiGroup': RBAC, 'kind': 'User', 'name': user}]}


def give(s, *rules, name='given'):
    s.post(ROLES, role(name, *rules), hidden=True)
    s.post(BINDINGS, binding(name, name), hidden=True)
    s.post(REVIEWS + 'subjectaccessreviews', asked('alice', rules[0]['verbs'][0], rules[0]['resources'][0],
                                                   group=rules[0]['apiGroups'][0], name=rules[0].get('resourceNames', [''])[0]),
           until={'status/allowed': True}, hidden=True)


def asked(user, verb, resource, **more):
    return {'spec': {'user': user, 'resourceAttributes': dict({'verb': verb, 'resource': resource, 'namespace': '{ns}'}, **more)}}


@scenario
def forbidden(s):
    """What no binding allows is refused: with verb, resource, subresource, group and scope, before anything else is looked at."""
    s.get('pods', headers=ALICE)
    s.get('pods/x', headers=ALICE)
    s.get('pods/x/status', headers=ALICE)
    s.get('/api/v1/pods', headers=ALICE)
    s.get('deployments?watch=1', headers=ALICE)
    s.get('/apis/apps/v1/watch/namespaces/{ns}/deployments', headers=ALICE)
    s.get('/api/v1/nodes/x', headers=ALICE)
    s.get('/api/v1/namespaces/{ns}', headers=ALICE)
    s.get('/api/v1/namespaces', headers=ALICE)
    s.get('/apis/nope/v1/things', headers=ALICE)
    s.post('configmaps', 'no JSON', headers=ALICE)
    s.patch('configmaps/a', {}, headers=ALICE)
    s.delete('configmaps', headers=ALICE)
    s.delete('configmaps/a', headers=ALICE)
    s.put('configmaps/a', {}, headers=ALICE)
    s.get('/metrics', headers=ALICE)
    s.get('/nope', headers=ALICE)
    s.post('/api', {}, headers=ALICE)
    s.get('/api', headers={'Impersonate-User': 'system:anonymous'})


@scenario
def allowed_by_rules(s):
    """Rules by verb, group, name and subresource; a field selector counts as a name."""
    give(s, rule('', 'configmaps', 'get list', ['a']), rule('apps', '*/scale', '*'), rule('', 'secrets', 'list'))
    s.get('configmaps/a', headers=ALICE)
    s.get('configmaps/b', headers=ALICE)
    s.get('configmaps', headers=ALICE)
    s.get('configmaps?fieldSelector=metadata.name%3Da', headers=ALICE)
    s.get('deployments/d/scale', headers=ALICE)
    s.get('deployments/d', headers=ALICE)
    s.get('secrets', headers=ALICE)
    s.get('secrets?watch=1', headers=ALICE)


@scenario
def escalation(s):
    """Nobody creates a role with rights that they do not hold."""
    give(s, rule('', 'pods', 'get list', ['a']), rule(RBAC, 'roles', 'create update patch get'))
    s.post(ROLES, role('wide', rule('', 'pods', 'get list')), headers=ALICE)
    s.post(ROLES, role('several', rule('', 'secrets pods', 'get list'), rule('', 'pods', 'get', ['b'])), headers=ALICE)
    s.post(ROLES, role('star', rule('*', '*', '*')), headers=ALICE)
    s.post(ROLES, role('held', rule('', 'pods', 'get', ['a'])), headers=ALICE)
    s.patch(ROLES + '/held', {'metadata': {'labels': {'a': 'b'}}}, headers=ALICE)
    s.patch(ROLES + '/held', {'rules': [rule('', 'pods', 'delete')]}, headers=ALICE)
    s.post(ROLES, role('bad', {'verbs': ['get'], 'resources': ['pods']}), headers=ALICE)


@scenario
def escalation_of_bindings(s):
    """Nobody binds a role with rights that they do not hold; a role that does not exist is a 404."""
    give(s, rule(RBAC, 'rolebindings', 'create update patch'), rule(RBAC, 'clusterroles', 'bind', ['view']))
    s.post(BINDINGS, binding('e', 'system:basic-user', 'bob', 'ClusterRole'), headers=ALICE)
    s.post(BINDINGS, binding('f', 'system:node-proxier', 'bob', 'ClusterRole'), headers=ALICE)
    s.post(BINDINGS, binding('g', 'nix', 'bob'), headers=ALICE)
    s.post(BINDINGS, binding('h', 'view', 'bob', 'ClusterRole'), headers=ALICE)
    s.patch(BINDINGS + '/given', {'subjects': []}, headers=ALICE)


@scenario
def escalate(s):
    """The verb escalate allows roles with rights that their author does not hold."""
    give(s, rule(RBAC, 'roles', 'create escalate'))
    s.post(ROLES, role('e', rule('*', '*', '*')), headers=ALICE)


@scenario
def aggregation_needs_everything(s):
    """An aggregation rule needs all rights."""
    s.post(CLUSTER_ROLES, {'metadata': {'name': 'agg-{ns}'}, 'aggregationRule': {'clusterRoleSelectors': [{'matchLabels': {'a': '{ns}'}}]}},
           headers={'Impersonate-User': 'alice', 'Impersonate-Group': 'g'})


@scenario
def bindings_without_a_role(s):
    """A binding whose role is gone is named in the refusal."""
    s.post(BINDINGS, binding('gone', 'nix', 'bob-{ns}'), hidden=True)
    s.post(REVIEWS + 'subjectaccessreviews', asked('bob-{ns}', 'get', 'pods'),
           until={'status/reason': 'RBAC: role.rbac.authorization.k8s.io "nix" not found'})
    s.get('pods', headers={'Impersonate-User': 'bob-{ns}'})


@scenario
def access_reviews(s):
    """Reviews name the binding that allows; the own rights are reviewed without rights."""
    give(s, rule('', 'pods', 'get', ['a']), rule('', 'secrets', 'list'))
    s.post(REVIEWS + 'subjectaccessreviews', asked('alice', 'get', 'pods', name='a'))
    s.post(REVIEWS + 'subjectaccessreviews', asked('alice', 'get', 'pods'))
    s.post(REVIEWS + 'subjectaccessreviews', asked('bob', 'get', 'pods', name='a'))
    s.post(REVIEWS + 'subjectaccessreviews', {'spec': {'user': 'x', 'groups': ['system:authenticated'],
                                                       'nonResourceAttributes': {'verb': 'get', 'path': '/api/v1'}}})
    s.post(REVIEWS + 'namespaces/{ns}/localsubjectaccessreviews', asked('alice', 'list', 'secrets'))
    s.post(REVIEWS + 'selfsubjectaccessreviews', {'spec': {
        'resourceAttributes': {'verb': 'list', 'resource': 'secrets', 'namespace': '{ns}'}}}, headers=ALICE)
    s.post(REVIEWS + 'selfsubjectaccessreviews', {'spec': {'resourceAttributes': {
        'verb': 'list', 'resource': 'pods', 'namespace': '{ns}'}}}, headers=ALICE)
    s.post(REVIEWS + 'subjectaccessreviews', asked('bob', 'get', 'pods'), headers=ALICE)


@scenario
def service_accounts(s):
    """A service account is the subject of a binding, and belongs to the groups of service accounts."""
    s.post(ROLES, role('r', rule('', 'configmaps', 'list')), hidden=True)
    s.post(BINDINGS, {'metadata': {'name': 'r'}, 'roleRef': {'apiGroup': RBAC, 'kind': 'Role', 'name': 'r'},
                      'subjects': [{'kind': 'ServiceAccount', 'name': 'op', 'namespace': '{ns}'}]}, hidden=True)
    user = 'system:serviceaccount:{ns}:op'
    s.post(REVIEWS + 'subjectaccessreviews', asked(user, 'list', 'configmaps'), until={'status/allowed': True})
    s.get('secrets', headers={'Impersonate-User': user})
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers={'Impersonate-User': user})


@scenario
def impersonation(s):
    """Headers name another user, with groups and attributes; without the right it is refused."""
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers=ALICE)
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers={'Impersonate-User': 'zoe', 'Impersonate-Group': 'g1',
                                                               'Impersonate-Extra-scopes': 'view', 'Impersonate-Uid': '7'})
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers={'Impersonate-Group': 'g'})
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers={'Impersonate-User': 'system:anonymous'})


@scenario
def token_reviews(s):
    """Tokens of service accounts are known, for their audiences, until the account is deleted."""
    s.create('serviceaccounts/op', hidden=True)
    s.post('serviceaccounts/op/token', {}, capture={'token': 'status/token'}, hidden=True)
    s.post(AUTHENTICATION + 'tokenreviews', {'spec': {'token': '{token}', 'audiences': ['other']}}, capture={'e': 'status/error'}, hidden=True)
    s.post(AUTHENTICATION + 'tokenreviews', {'spec': {'token': 'unknown'}})
    s.post(AUTHENTICATION + 'selfsubjectreviews', {}, headers={'Authorization': 'Bearer unknown'})


@scenario
def roles_of_every_cluster(s):
    """The roles that every cluster has, without those that a controller aggregates."""
    for name in ('cluster-admin', 'system:discovery', 'system:basic-user', 'system:public-info-viewer', 'system:aggregate-to-view',
                 'system:auth-delegator', 'system:kube-scheduler'):
        s.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/' + name)
    for name in ('cluster-admin', 'system:discovery', 'system:basic-user'):
        s.get('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/' + name)
    s.get('/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader')
