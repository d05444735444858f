# SPDX-License-Identifier: Apache-2.0
"""Lists: versions, pages, selectors, forms."""
from urllib.parse import quote

from scenario import scenario
from scenarios._objects import cm, obj, plain, three


def labelled(s, path, selector):
    s.get(path + '?labelSelector=' + quote(selector))


def chosen(s, path, selector):
    s.get(path + '?fieldSelector=' + quote(selector))


@scenario
def version_forms(s):
    """A list from nothing, from 0, from a version, not older than it and exactly it."""
    three(s)
    s.get('plains', capture={'rv': 'metadata/resourceVersion'})
    s.post('plains', plain('d'))
    s.get('plains?resourceVersion=')
    s.get('plains?resourceVersion=0')
    s.get('plains?resourceVersion={rv}')
    s.get('plains?resourceVersion={rv}&resourceVersionMatch=NotOlderThan')
    s.get('plains?resourceVersion={rv}&resourceVersionMatch=Exact')
    s.get('plains?resourceVersion={rv}&limit=2')
    s.get('plains?resourceVersion=0&limit=2')
    s.get('plains?resourceVersion={rv}&resourceVersionMatch=NotOlderThan&limit=2')
    s.get('plains?resourceVersion={rv}&resourceVersionMatch=Exact&limit=2')
    s.get('plains?resourceVersion=0&resourceVersionMatch=NotOlderThan')


@scenario
def version_errors(s):
    """ResourceVersion and resourceVersionMatch where they do not go together."""
    s.get('plains?resourceVersionMatch=NotOlderThan')
    s.get('plains?resourceVersionMatch=Sometimes&resourceVersion=1')
    s.get('plains?resourceVersionMatch=Sometimes')
    s.get('plains?resourceVersion=-1')
    s.get('plains?resourceVersion=1.5')
    s.get('plains?resourceVersion=99999999999999999999999')
    s.get('plains?resourceVersion=0&resourceVersionMatch=Exact&limit=1')
    s.get('configmaps?resourceVersion=abc')
    s.get('configmaps?resourceVersionMatch=Exact')
    s.get('plains?sendInitialEvents=true')
    s.get('plains?sendInitialEvents=false')
    s.get('plains?sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
    s.get('plains?resourceVersion=1&resourceVersionMatch=exact')
    s.get('plains?limit=-1')
    s.get('plains?limit=abc')
    s.get('plains?timeoutSeconds=abc')
    s.get('plains?limit=1.5')


@scenario
def version_future(s):
    """A list at a version that is still to come."""
    s.get('plains?resourceVersion=999999999', within=10)
    s.get('plains?resourceVersion=999999999&resourceVersionMatch=NotOlderThan')
    s.get('plains?resourceVersion=999999999&resourceVersionMatch=Exact')
    s.get('configmaps/a?resourceVersion=999999999')


@scenario
def version_old(s):
    """A list at a version that is long gone."""
    s.post('plains', plain('a'))
    s.get('plains?resourceVersion=1', until={'items/#': 1})
    s.get('plains?resourceVersion=1&resourceVersionMatch=NotOlderThan')


@scenario
def pages(s):
    """Pages of a custom resource to the end, in the order of names."""
    for n in ('e', 'b', 'd', 'a', 'c'):
        s.post('plains', plain(n))
    s.get('plains?limit=2', capture={'c': 'metadata/continue'})
    s.get('plains?limit=2&continue={c}', capture={'c': 'metadata/continue'})
    s.get('plains?limit=2&continue={c}')
    s.get('plains?limit=5')
    s.get('plains?limit=6')
    s.get('plains?limit=0')
    s.get('plains?limit=4', capture={'c': 'metadata/continue'})
    s.get('plains?continue={c}')


@scenario
def pages_builtin(s):
    """Pages of a built-in kind."""
    for n in ('e', 'b', 'd', 'a'):
        s.post('configmaps', cm(n))
    s.get('configmaps?limit=2', capture={'c': 'metadata/continue'})
    s.get('configmaps?limit=1&continue={c}', capture={'c': 'metadata/continue'})
    s.get('configmaps?limit=2&continue={c}')
    s.get('configmaps?limit=4')
    s.get('configmaps?limit=0')


@scenario
def pages_changing(s):
    """Pages stay as the list was when the first was read."""
    for n in ('a', 'b', 'c', 'd'):
        s.post('plains', plain(n))
    s.get('plains?limit=2', capture={'c': 'metadata/continue'})
    s.post('plains', plain('bb'))
    s.delete('plains/c')
    s.patch('plains/d', {'spec': {'x': 1}})
    s.get('plains?limit=2&continue={c}')
    s.get('plains?limit=2&continue={c}&resourceVersion=0')
    s.get('plains?limit=2&continue={c}&resourceVersion=5')
    s.get('plains?limit=2&continue={c}&resourceVersionMatch=Exact')
    s.get('plains?limit=2&continue={c}&resourceVersion=5&resourceVersionMatch=NotOlderThan')


@scenario
def pages_selected(s):
    """Pages of what selectors choose: no remainingItemCount."""
    for i, n in enumerate('abcdef'):
        s.post('plains', plain(n, {'even': str(i % 2)}))
    s.get('plains?limit=2&labelSelector=even%3D0', capture={'c': 'metadata/continue'})
    s.get('plains?limit=2&labelSelector=even%3D0&continue={c}')
    s.get('plains?limit=2&labelSelector=even%3D9')
    s.get('plains?limit=1&fieldSelector=metadata.name%3Dc')


@scenario
def continue_bad(s):
    """Continue tokens that nobody gave out."""
    s.post('plains', plain('a'))
    s.get('plains?continue=abc')
    s.get('plains?continue=%21%21')
    s.get('plains?continue=e30')
    s.get('plains?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjIiLCJydiI6MSwic3RhcnQiOiJhIn0')
    s.get('plains?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0')
    s.get('plains?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ')
    s.get('plains?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi9hIn0')
    s.get('configmaps?continue=abcd')
    s.get('plains?continue=YWJj')
    s.get('plains?continue=a')


@scenario
def continue_inconsistent(s):
    """A token without a version goes on with what there is now."""
    for n in ('a', 'b', 'c'):
        s.post('plains', plain(n))
    s.get('plains?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYlx1MDAwMCJ9')
    s.get('plains?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9')


@scenario
def empty(s):
    """Empty lists of built-in and custom kinds, in every form."""
    s.get('plains')
    s.get('configmaps')
    s.get('plains?limit=5')
    s.get('plains?resourceVersion=0')
    s.get('configmaps?labelSelector=a')
    s.get('plains', headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.get('plains', headers={'Accept': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'})
    s.get('/apis/conformance.example.com/v1/namespaces/no-such-namespace/plains')
    s.get('/api/v1/namespaces/no-such-namespace/configmaps')


@scenario
def label_selectors(s):
    """What label selectors choose."""
    three(s)
    for each in ('app=x', 'app==x', 'app!=x', 'app', '!app', 'app in (x,y)', 'app notin (x)', 'tier>1', 'tier<2',
                 'app=x,tier', 'app=x,!tier', 'tier in (1,2),app=y', 'app=', 'app in (x,)', 'app in ()', ' app = x ',
                 'app in ( x , y )', 'tier>0,tier<2', 'app in (,)', 'a.b/c=d', '!tier,app', 'notin', 'in',
                 'in in (in)'):
        labelled(s, 'plains', each)


@scenario
def label_selector_errors(s):
    """Label selectors that do not parse."""
    for each in ('app==', '=x', 'app=x,', 'app=x,,tier', ',', 'app in x', 'app in (x', 'app in x)', 'app in ((x))',
                 'app>x', 'app<', 'app=x y', 'app x', '(app)', 'app=x=y', 'app===x', '!', '!!a', '! app', 'a/b/c=d',
                 'app in (x y)', '_a=b', 'a=-b', 'a=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
                 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=b', 'app>1.5', 'app=>x', 'app!x',
                 'app<>x', 'app notin', 'app in', 'a=b)', '@=b', 'a=@', '/a=b', 'a/=b', 'A.B/c=d', 'app!=x,tier in',
                 'a in (b))', 'a=(b)', 'a==b,c==', 'app gt 1', 'a>', 'a=b c=d', 'ä=b', 'a!', 'a=!b', 'a in (!b)',
                 'a;b', 'a&b'):
        labelled(s, 'plains', each)


@scenario
def field_selectors(s):
    """Field selectors of built-in and custom kinds."""
    three(s)
    three(s, 'configmaps', cm)
    for each in ('metadata.name=a', 'metadata.name!=a', 'metadata.name==a', 'metadata.name=nope',
                 'metadata.namespace={ns}', 'metadata.namespace=other', 'metadata.name=a,metadata.name=b',
                 'metadata.name=a,metadata.namespace={ns}', 'metadata.name=', ''):
        chosen(s, 'plains', each)
    for each in ('metadata.name=a', 'metadata.name!=a', 'metadata.namespace!={ns}',
                 'metadata.name=a,metadata.name!=b'):
        chosen(s, 'configmaps', each)


@scenario
def field_selector_errors(s):
    """Field selectors that do not parse, and fields that cannot be selected."""
    for p in ('plains', 'configmaps'):
        for each in ('spec.x=1', 'metadata.labels=x', 'metadata.uid=x', 'a', '=a', 'a=b=c', 'metadata.name',
                     'metadata.name>a', 'metadata.name in (a)', ',', 'metadata.name=a,', '!metadata.name',
                     'metadata.name=a\\', 'metadata.name=a\\,b', 'metadata.name=a\\x', 'metadata.name=a\\=b',
                     'data.k=v', 'metadata.name=a,spec.y=2', 'metadata.name!a'):
            chosen(s, p, each)


@scenario
def field_selectors_pods(s):
    """The fields that pods can be selected by."""
    s.post('pods', obj('v1', 'Pod', 'p', spec={'containers': [{'name': 'c', 'image': 'i'}], 'nodeName': 'n1'}))
    s.post('pods', obj('v1', 'Pod', 'q', spec={'containers': [{'name': 'c', 'image': 'i'}], 'restartPolicy': 'Never',
           'serviceAccountName': 'sa'}))
    for each in ('spec.nodeName=n1', 'spec.nodeName=', 'spec.nodeName!=n1', 'status.phase=Pending',
                 'status.phase!=Pending', 'spec.restartPolicy=Never', 'spec.schedulerName=default-scheduler',
                 'spec.serviceAccountName=sa', 'status.podIP=', 'status.podIPs=', 'status.nominatedNodeName=',
                 'spec.hostNetwork=false', 'spec.hostNetwork=true'):
        s.get('pods?fieldSelector=' + quote(each),
              headers={'Accept': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'})
    for each in ('spec.containers=x', 'status.reason=x', 'spec.priority=1'):
        chosen(s, 'pods', each)


@scenario
def field_selectors_kinds(s):
    """Fields of other built-in kinds."""
    s.post('secrets', obj('v1', 'Secret', 's', type='x/y'))
    s.post('secrets', obj('v1', 'Secret', 't'))
    chosen(s, 'secrets', 'type=Opaque')
    chosen(s, 'secrets', 'type!=Opaque')
    chosen(s, 'secrets', 'metadata.uid=x')
    chosen(s, '/api/v1/namespaces', 'status.phase=Active,metadata.name={ns}')
    chosen(s, '/api/v1/namespaces', 'metadata.name={ns}')
    chosen(s, '/api/v1/namespaces', 'spec.x=y')
    chosen(s, 'services', 'spec.type=ClusterIP')
    chosen(s, 'services', 'spec.ports=x')
    chosen(s, '/api/v1/nodes', 'spec.unschedulable=true')
    chosen(s, '/api/v1/nodes', 'spec.taints=x')
    chosen(s, 'deployments', 'spec.replicas=1')
    chosen(s, 'deployments', 'metadata.name=x')
    chosen(s, 'replicasets', 'status.replicas=0')
    chosen(s, 'jobs', 'status.successful=0')
    chosen(s, 'jobs', 'status.failed=0')
    chosen(s, 'events', 'involvedObject.kind=Pod')
    chosen(s, 'events', 'reason=x')
    chosen(s, 'events', 'message=x')
    chosen(s, '/apis/events.k8s.io/v1/namespaces/{ns}/events', 'regarding.kind=Pod')
    chosen(s, 'leases', 'spec.holderIdentity=a')
    chosen(s, '/apis/certificates.k8s.io/v1/certificatesigningrequests', 'spec.signerName=a')
    chosen(s, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'metadata.name=nope')
    chosen(s, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'spec.group=x')
    chosen(s, 'ingresses', 'spec.x=y')
    chosen(s, 'globals', 'metadata.name=nope')
    chosen(s, 'globals', 'metadata.namespace=x')
    chosen(s, 'persistentvolumeclaims', 'spec.x=y')
    chosen(s, 'serviceaccounts', 'x=y')
    chosen(s, 'roles', 'x=y')


@scenario
def selectors_together(s):
    """Label and field selectors together, and with pages."""
    three(s)
    s.get('plains?labelSelector=app%3Dx&fieldSelector=metadata.name%3Dc')
    s.get('plains?labelSelector=app%3Dx&fieldSelector=metadata.name%3Db')
    s.get('plains?labelSelector=app%3Dx&fieldSelector=metadata.name%21%3Dc&limit=1')
    s.get('plains?labelSelector=app%3D%3D&fieldSelector=nope%3Dc')


@scenario(alone=True)
def all_namespaces(s):
    """A list over all namespaces with a selector, of namespaced kinds."""
    s.post('plains', plain('a', {'in': '{ns}'}))
    s.post('configmaps', cm('a', {'in': '{ns}'}))
    s.get('/apis/conformance.example.com/v1/plains?labelSelector=in%3D{ns}')
    s.get('/api/v1/configmaps?labelSelector=in%3D{ns}')
    s.get('/api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns},metadata.name%3Da')
    s.get('/apis/conformance.example.com/v1/plains?fieldSelector=metadata.namespace%3D{ns}')
    s.get('/api/v1/configmaps/a')
    s.post('/apis/conformance.example.com/v1/plains', plain('b'))
    s.post('/api/v1/configmaps', cm('b'))
    s.delete('/api/v1/configmaps?labelSelector=in%3D{ns}')
    s.delete('/apis/conformance.example.com/v1/plains?labelSelector=in%3D{ns}')


@scenario(alone=True)
def all_namespaces_pages(s):
    """Pages over all namespaces."""
    s.post('/api/v1/namespaces', obj('v1', 'Namespace', '{ns}-b'))
    s.post('configmaps', cm('a', {'of': '{ns}'}))
    s.post('configmaps', cm('b', {'of': '{ns}'}))
    s.post('/api/v1/namespaces/{ns}-b/configmaps', cm('a', {'of': '{ns}'}))
    s.get('/api/v1/configmaps?labelSelector=of%3D{ns}&limit=2', capture={'c': 'metadata/continue'})
    s.get('/api/v1/configmaps?labelSelector=of%3D{ns}&limit=2&continue={c}')
    s.delete('/api/v1/namespaces/{ns}-b')


@scenario
def get_versions(s):
    """GET of one object with a resourceVersion."""
    s.post('configmaps', cm('a'), capture={'rv': 'metadata/resourceVersion'})
    s.get('configmaps/a?resourceVersion=0', until=200)
    s.get('configmaps/a?resourceVersion={rv}')
    s.get('configmaps/a?resourceVersion=1')
    s.get('configmaps/a?resourceVersion=abc')
    s.get('configmaps/a?resourceVersion=-1')
    s.get('configmaps/a?resourceVersionMatch=Exact')
    s.get('configmaps/a?labelSelector=a%3D%3D')
    s.get('configmaps/nope?resourceVersion=0')


@scenario
def table_pages(s):
    """Pages and remaining counts of Tables."""
    for n in ('a', 'b', 'c'):
        s.post('plains', plain(n))
    s.get('plains?limit=2', headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'},
          capture={'c': 'metadata/continue'})
    s.get('plains?limit=2&continue={c}', headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    s.get('plains?limit=2', headers={'Accept': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'})
