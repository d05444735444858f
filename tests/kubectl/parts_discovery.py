# SPDX-License-Identifier: Apache-2.0
"""Information about the server: discovery, schemas, versions, access."""


def discovery(k):
    k('api-versions')
    k('api-resources')
    k('api-resources --namespaced=false -o name')
    k('api-resources --verbs=deletecollection -o name')
    k('api-resources --api-group=apps -o wide')
    k('api-resources --api-group=nonsense')
    k('cluster-info')
    k('version')


def explain(k):
    for path in ('configmap', 'deployment.spec.strategy', 'pod.spec.containers.resources', 'service.spec.ports',
                 'customresourcedefinition.spec.names', 'pod.spec.nonsense', 'nonsense', 'lease --recursive',
                 'deployment --api-version=apps/v2', 'cm --api-version=v1'):
        k.outline('explain ' + path)


def raw(k):
    for path in ('/healthz', '/readyz', '/livez', '/api', '/apis', '/api/v1/namespaces/default/configmaps/nope', '/nonsense',
                 '/apis/apps', '/apis/apps/v1', '/apis/nonsense', '/api/v1/nonsense', '/api/v1/namespaces/default',
                 '/apis/coordination.k8s.io/v1', '/api/v1/namespaces/%s/configmaps' % k.namespace):
        k.raw('get --raw ' + path)
    k.raw('create --raw /api/v1/namespaces/%s/configmaps -f -' % k.namespace,
          stdin='{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"raw"}}')
    k.raw('delete --raw /api/v1/namespaces/%s/configmaps/raw' % k.namespace)


def access(k):
    k('auth can-i create pods')
    k('auth can-i get pods/log')
    k('auth can-i * *')
    k('auth can-i get nonsense')
    k('auth can-i get /healthz')
    k('auth can-i --list')
    k('auth can-i create pods --as=somebody')
    k('get cm --as=somebody')
    if k.program.minor != '1.20':
        k('auth whoami')


def roles(k):
    """What roles and bindings allow, for users and service accounts."""
    robot = '--as=system:serviceaccount:%s:robot' % k.namespace
    k('create role reader --verb=get,list --resource=configmaps')
    k('create rolebinding reader --role=reader --user=somebody')
    k('create serviceaccount robot')
    k('create rolebinding robot --clusterrole=view --serviceaccount=%s:robot' % k.namespace)
    k.wait_until('the first binding is known', 'auth can-i list configmaps --as=somebody', 'yes')
    k.wait_until('the second binding is known', 'auth can-i list pods ' + robot, 'yes')
    k('auth can-i list configmaps --as=somebody')
    k('auth can-i delete configmaps --as=somebody')
    k('auth can-i list configmaps --as=somebody --namespace=default')
    k('auth can-i list configmaps --as=somebody --all-namespaces')
    k('auth can-i list pods --subresource=log ' + robot)
    k('auth can-i list secrets ' + robot)
    k('auth can-i --list --as=somebody')
    k('get cm reader --as=somebody')
    k('delete cm reader --as=somebody')
    k('create role more --verb=delete --resource=configmaps --as=somebody')
    k('create role writer --verb=create --resource=roles.rbac.authorization.k8s.io')
    k('create rolebinding writer --role=writer --user=somebody')
    k.wait_until('the third binding is known', 'auth can-i create roles.rbac.authorization.k8s.io --as=somebody', 'yes')
    k('create role more --verb=delete --resource=configmaps --as=somebody')
    k('create role same --verb=list --resource=configmaps --as=somebody')
    k('create rolebinding admin --clusterrole=admin --user=somebody --as=somebody')
    k('delete rolebinding reader')
    k.wait_until('the first binding is gone', 'auth can-i list configmaps --as=somebody', 'no')
    k('get cm --as=somebody')


PARTS = [discovery, explain, raw, access, roles]
