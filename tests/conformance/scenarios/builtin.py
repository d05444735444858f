# SPDX-License-Identifier: Apache-2.0
"""Built-in kinds: what a minimal object becomes, what is refused, what may change."""
from scenario import scenario
from scenarios._objects import obj

CONTAINER = {'name': 'c', 'image': 'nginx'}


def pod(name, **spec):
    return obj('v1', 'Pod', name, spec=dict({'containers': [CONTAINER]}, **spec))


def tmpl(labels={'a': 'b'}, **spec):
    return {'metadata': {'labels': labels}, 'spec': dict({'containers': [CONTAINER]}, **spec)}


def wl(kind, name, **spec):
    return obj('apps/v1', kind, name, spec=dict({'selector': {'matchLabels': {'a': 'b'}}, 'template': tmpl()}, **spec))


def job(name, **spec):
    template = {'spec': {'containers': [CONTAINER], 'restartPolicy': 'Never'}}
    return obj('batch/v1', 'Job', name, spec=dict({'template': template}, **spec))


def cj(name, **spec):
    return obj('batch/v1', 'CronJob', name,
               spec=dict({'schedule': '* * * * *', 'jobTemplate': {'spec': job('x')['spec']}}, **spec))


def svc(name, **spec):
    return obj('v1', 'Service', name, spec=dict({'ports': [{'port': 80}]}, **spec))


def ir(**path):
    """A rule of an Ingress."""
    backend = {'service': {'name': 's', 'port': {'number': 80}}}
    return {'http': {'paths': [dict({'path': '/', 'pathType': 'Prefix', 'backend': backend}, **path)]}}


def pvc(name, **spec):
    return obj('v1', 'PersistentVolumeClaim', name, spec=dict(
        {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}, **spec))


def pv(name, **spec):
    return obj('v1', 'PersistentVolume', name, spec=dict(
        {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/x'}}, **spec))


def hpa(name, **spec):
    target = {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'}
    return obj('autoscaling/v2', 'HorizontalPodAutoscaler', name,
               spec=dict({'scaleTargetRef': target, 'maxReplicas': 3}, **spec))


def pdb(name, **spec):
    return obj('policy/v1', 'PodDisruptionBudget', name, spec=spec)


def lease_of(name, **spec):
    return obj('coordination.k8s.io/v1', 'Lease', name, spec=spec)


def core_event(name, **members):
    about = {'kind': 'Pod', 'namespace': '{ns}', 'name': 'p'}
    return obj('v1', 'Event', name,
               **dict({'involvedObject': about, 'reason': 'R', 'message': 'm', 'type': 'Normal'}, **members))


def new_event(name, **members):
    return obj('events.k8s.io/v1', 'Event', name, **dict({
        'regarding': {'kind': 'Pod', 'namespace': '{ns}', 'name': 'p'}, 'reason': 'R', 'note': 'm', 'type': 'Normal',
        'eventTime': '2026-01-02T03:04:05.000001Z', 'reportingController': 'x.io/c', 'reportingInstance': 'i',
        'action': 'A'}, **members))


RULE = {'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']}


@scenario
def pod_minimal(s):
    """The defaults of a minimal pod, of images, probes, ports and resources."""
    s.post('pods', pod('a'))
    s.post('pods', obj('v1', 'Pod', 'b', spec={'containers': [{'name': 'c', 'image': 'nginx:1.2',
           'ports': [{'containerPort': 80}], 'livenessProbe': {'httpGet': {'port': 80}},
           'readinessProbe': {'tcpSocket': {'port': 'web'}}, 'resources': {'limits': {'cpu': '1', 'memory': '1Gi'},
           'requests': {'cpu': '0.5'}}, 'env': [{'name': 'N',
           'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}}]}], 'initContainers': [{'name': 'i',
           'image': 'x/y@sha256:0000000000000000000000000000000000000000000000000000000000000000'}],
           'volumes': [{'name': 'e'}, {'name': 's', 'secret': {'secretName': 'x'}}, {'name': 'm',
           'configMap': {'name': 'x'}}, {'name': 'h', 'hostPath': {'path': '/x'}}, {'name': 'p',
           'projected': {'sources': [{'serviceAccountToken': {'path': 't'}}]}}]}))


@scenario
def pod_bad(s):
    """Pods that are refused."""
    for x in (obj('v1', 'Pod', 'a'), obj('v1', 'Pod', 'a', spec={}), obj('v1', 'Pod', 'a', spec={'containers': []}),
              pod('a', containers=[{'name': 'c'}]), pod('a', containers=[{'image': 'i'}]), pod('a',
              containers=[{'name': 'C_', 'image': 'i'}]), pod('a', containers=[CONTAINER, CONTAINER]), pod('a',
              restartPolicy='Sometimes'), pod('a', dnsPolicy='X'), pod('a', containers=[dict(CONTAINER,
              ports=[{'containerPort': 0}])]), pod('a', containers=[dict(CONTAINER, ports=[{'containerPort': 70000}])]),
              pod('a', containers=[dict(CONTAINER, ports=[{'containerPort': 80, 'protocol': 'X'}])]), pod('a',
              containers=[dict(CONTAINER, ports=[{'containerPort': 80, 'name': 'TOO_bad'}])]), pod('a', containers=[dict(CONTAINER,
              env=[{'value': 'x'}])]), pod('a', containers=[dict(CONTAINER, env=[{'name': 'a=b'}])]), pod('a',
              containers=[dict(CONTAINER, env=[{'name': 'X', 'value': 'v',
              'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}}])]), pod('a', containers=[dict(CONTAINER,
              volumeMounts=[{'name': 'v', 'mountPath': '/x'}])]), pod('a', containers=[dict(CONTAINER,
              volumeMounts=[{'name': 'v'}])], volumes=[{'name': 'v'}]), pod('a', volumes=[{'name': 'v'},
              {'name': 'v'}]), pod('a', volumes=[{'name': 'v', 'secret': {}}]), pod('a', volumes=[{'name': 'v',
              'emptyDir': {}, 'secret': {'secretName': 'x'}}]), pod('a', containers=[dict(CONTAINER, imagePullPolicy='X')]),
              pod('a', containers=[dict(CONTAINER, resources={'requests': {'cpu': '2'}, 'limits': {'cpu': '1'}})]), pod('a',
              containers=[dict(CONTAINER, resources={'limits': {'cpu': '-1'}})]), pod('a', containers=[dict(CONTAINER,
              resources={'limits': {'cpu': 'x'}})]), pod('a', containers=[dict(CONTAINER,
              resources={'limits': {'nope': '1'}})]), pod('a', activeDeadlineSeconds=0), pod('a',
              terminationGracePeriodSeconds=-1), pod('a', nodeName='Bad_Name'), pod('a',
              serviceAccountName='Bad_Name'), pod('a', hostname='Bad_Name'), pod('a', priorityClassName='nope'),
              pod('a', priority=5), pod('a', containers=[dict(CONTAINER, livenessProbe={})]), pod('a', containers=[dict(CONTAINER,
              livenessProbe={'httpGet': {'port': 0}})]), pod('a', containers=[dict(CONTAINER,
              livenessProbe={'exec': {'command': ['x']}, 'periodSeconds': -1})]), pod('a', containers=[dict(CONTAINER,
              livenessProbe={'exec': {'command': ['x']}, 'successThreshold': 2})]), pod('a',
              tolerations=[{'operator': 'X'}]), pod('a', tolerations=[{'key': 'a', 'operator': 'Exists',
              'value': 'b'}]), pod('a', nodeSelector={'a b': 'c'}), pod('a', imagePullSecrets=[{}]), pod('a',
              initContainers=[{'name': 'c', 'image': 'x'}]), pod('Bad_Name'),
              pod('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')):
        s.post('pods', x)


@scenario
def pod_immutable(s):
    """What of a pod may change and what not."""
    s.post('pods', pod('a'))
    s.patch('pods/a', {'spec': {'containers': [{'name': 'c', 'image': 'nginx:2'}]}})
    s.patch('pods/a', {'spec': {'containers': [{'name': 'd', 'image': 'nginx:2'}]}})
    s.patch('pods/a', {'spec': {'restartPolicy': 'Never'}})
    s.patch('pods/a', {'spec': {'nodeName': 'n'}})
    s.patch('pods/a', {'spec': {'activeDeadlineSeconds': 100}})
    s.patch('pods/a', {'spec': {'activeDeadlineSeconds': 200}})
    s.patch('pods/a', {'spec': {'activeDeadlineSeconds': None}})
    s.patch('pods/a', {'spec': {'tolerations': [{'key': 'x', 'operator': 'Exists'}]}})
    s.patch('pods/a', {'spec': {'terminationGracePeriodSeconds': 1}})
    s.patch('pods/a', {'metadata': {'labels': {'x': 'y'}}})
    s.patch('pods/a/status', {'status': {'phase': 'Running', 'podIP': '10.1.1.1'}})
    s.patch('pods/a/status', {'spec': {'nodeName': 'n'}, 'status': {'phase': 'Failed'}})
    s.patch('pods/a', {'status': {'phase': 'Pending'}})


@scenario
def pod_binding(s):
    """Binding a pod to a node."""
    s.post('pods', pod('a'))
    s.post('pods/a/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'a'},
           'target': {'kind': 'Node', 'name': 'n1'}})
    s.get('pods/a')
    s.post('pods/a/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'a'},
           'target': {'kind': 'Node', 'name': 'n2'}})
    s.post('pods/nope/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'nope'},
           'target': {'kind': 'Node', 'name': 'n2'}})
    s.post('pods', pod('b'), hidden=True)
    s.post('pods/b/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'b'},
           'target': {'kind': 'Node'}})
    s.post('pods/b/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'b'},
           'target': {'kind': 'Pod', 'name': 'x'}})


@scenario
def pod_eviction(s):
    """Evicting a pod."""
    s.post('pods', pod('a'), hidden=True)
    s.post('pods/a/eviction', {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'a'}})
    s.post('pods/a/eviction', {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'a'}})


@scenario
def deployment_minimal(s):
    """The defaults of a minimal Deployment."""
    s.post('deployments?dryRun=All', wl('Deployment', 'a'))
    s.post('deployments?dryRun=All', wl('Deployment', 'b', **{'replicas': 0}))


@scenario
def deployment_bad(s):
    """Deployments that are refused."""
    for x in (obj('apps/v1', 'Deployment', 'a'), obj('apps/v1', 'Deployment', 'a', spec={}), wl('Deployment', 'a',
              replicas=-1), wl('Deployment', 'a', selector={}), wl('Deployment', 'a',
              selector={'matchLabels': {'x': 'y'}}), wl('Deployment', 'a', template={'spec': {'containers': [CONTAINER]}}),
              wl('Deployment', 'a', template={'metadata': {'labels': {'a': 'b'}}}), wl('Deployment', 'a',
              template=tmpl(restartPolicy='Never')), wl('Deployment', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'Foo'}]}), wl('Deployment', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'In'}]}), wl('Deployment', 'a', selector={'matchLabels': {'a': 'b', 'A B': 'c'}}),
              wl('Deployment', 'a', minReadySeconds=-1), wl('Deployment', 'a', revisionHistoryLimit=-1),
              wl('Deployment', 'a', replicas='x'), wl('Deployment', 'a', template=tmpl(activeDeadlineSeconds=5)),
              wl('Deployment', 'a', template=tmpl({'a': 'b', 'x y': 'z'}))):
        s.post('/apis/apps/v1/namespaces/{ns}/deployments', x)


@scenario
def deployment_update(s):
    """Generation, status and what may not change of a Deployment."""
    s.post('/apis/apps/v1/namespaces/{ns}/deployments', wl('Deployment', 'a', **{'replicas': 0}), hidden=True)
    for b in ({'spec': {'selector': {'matchLabels': {'a': 'c'}}}}, {'spec': {'selector': {'matchLabels': {'x': 'y'}},
              'template': {'metadata': {'labels': {'x': 'y'}}}}}, {'spec': {'minReadySeconds': 5}},
              {'metadata': {'annotations': {'x': 'y'}}}, {'metadata': {'labels': {'x': 'y'}}},
              {'status': {'replicas': 5}}):
        s.patch('deployments/a?dryRun=All', b)
    s.patch('deployments/a/status?dryRun=All', {'status': {'observedGeneration': -1}})
    s.patch('deployments/a/status?dryRun=All', {'spec': {'minReadySeconds': 9}, 'status': {}})


@scenario
def replicaset_minimal(s):
    """The defaults of a minimal ReplicaSet."""
    s.post('replicasets?dryRun=All', wl('ReplicaSet', 'a'))
    s.post('replicasets?dryRun=All', wl('ReplicaSet', 'b', **{'replicas': 0}))


@scenario
def replicaset_bad(s):
    """ReplicaSets that are refused."""
    for x in (obj('apps/v1', 'ReplicaSet', 'a'), obj('apps/v1', 'ReplicaSet', 'a', spec={}), wl('ReplicaSet', 'a',
              replicas=-1), wl('ReplicaSet', 'a', selector={}), wl('ReplicaSet', 'a',
              selector={'matchLabels': {'x': 'y'}}), wl('ReplicaSet', 'a', template={'spec': {'containers': [CONTAINER]}}),
              wl('ReplicaSet', 'a', template={'metadata': {'labels': {'a': 'b'}}}), wl('ReplicaSet', 'a',
              template=tmpl(restartPolicy='Never')), wl('ReplicaSet', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'Foo'}]}), wl('ReplicaSet', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'In'}]}), wl('ReplicaSet', 'a', selector={'matchLabels': {'a': 'b', 'A B': 'c'}}),
              wl('ReplicaSet', 'a', minReadySeconds=-1), wl('ReplicaSet', 'a', revisionHistoryLimit=-1),
              wl('ReplicaSet', 'a', replicas='x'), wl('ReplicaSet', 'a', template=tmpl(activeDeadlineSeconds=5)),
              wl('ReplicaSet', 'a', template=tmpl({'a': 'b', 'x y': 'z'}))):
        s.post('/apis/apps/v1/namespaces/{ns}/replicasets', x)


@scenario
def replicaset_update(s):
    """Generation, status and what may not change of a ReplicaSet."""
    s.post('/apis/apps/v1/namespaces/{ns}/replicasets', wl('ReplicaSet', 'a', **{'replicas': 0}), hidden=True)
    for b in ({'spec': {'selector': {'matchLabels': {'a': 'c'}}}}, {'spec': {'selector': {'matchLabels': {'x': 'y'}},
              'template': {'metadata': {'labels': {'x': 'y'}}}}}, {'spec': {'minReadySeconds': 5}},
              {'metadata': {'annotations': {'x': 'y'}}}, {'metadata': {'labels': {'x': 'y'}}},
              {'status': {'replicas': 5}}):
        s.patch('replicasets/a?dryRun=All', b)
    s.patch('replicasets/a/status?dryRun=All', {'status': {'observedGeneration': -1}})
    s.patch('replicasets/a/status?dryRun=All', {'spec': {'minReadySeconds': 9}, 'status': {}})


@scenario
def statefulset_minimal(s):
    """The defaults of a minimal StatefulSet."""
    s.post('statefulsets?dryRun=All', wl('StatefulSet', 'a'))
    s.post('statefulsets?dryRun=All', wl('StatefulSet', 'b', **{'replicas': 0}))


@scenario
def statefulset_bad(s):
    """StatefulSets that are refused."""
    for x in (obj('apps/v1', 'StatefulSet', 'a'), obj('apps/v1', 'StatefulSet', 'a', spec={}), wl('StatefulSet', 'a',
              replicas=-1), wl('StatefulSet', 'a', selector={}), wl('StatefulSet', 'a',
              selector={'matchLabels': {'x': 'y'}}), wl('StatefulSet', 'a', template={'spec': {'containers': [CONTAINER]}}),
              wl('StatefulSet', 'a', template={'metadata': {'labels': {'a': 'b'}}}), wl('StatefulSet', 'a',
              template=tmpl(restartPolicy='Never')), wl('StatefulSet', 'a',
              selector={'matchExpressions': [{'key': 'a', 'operator': 'Foo'}]}), wl('StatefulSet', 'a',
              selector={'matchExpressions': [{'key': 'a', 'operator': 'In'}]}), wl('StatefulSet', 'a',
              selector={'matchLabels': {'a': 'b', 'A B': 'c'}}), wl('StatefulSet', 'a', minReadySeconds=-1),
              wl('StatefulSet', 'a', revisionHistoryLimit=-1), wl('StatefulSet', 'a', replicas='x'), wl('StatefulSet',
              'a', template=tmpl(activeDeadlineSeconds=5)), wl('StatefulSet', 'a', template=tmpl({'a': 'b',
              'x y': 'z'}))):
        s.post('/apis/apps/v1/namespaces/{ns}/statefulsets', x)


@scenario
def statefulset_update(s):
    """Generation, status and what may not change of a StatefulSet."""
    s.post('/apis/apps/v1/namespaces/{ns}/statefulsets', wl('StatefulSet', 'a', **{'replicas': 0}), hidden=True)
    for b in ({'spec': {'selector': {'matchLabels': {'a': 'c'}}}}, {'spec': {'selector': {'matchLabels': {'x': 'y'}},
              'template': {'metadata': {'labels': {'x': 'y'}}}}}, {'spec': {'minReadySeconds': 5}},
              {'metadata': {'annotations': {'x': 'y'}}}, {'metadata': {'labels': {'x': 'y'}}},
              {'status': {'replicas': 5}}):
        s.patch('statefulsets/a?dryRun=All', b)
    s.patch('statefulsets/a/status?dryRun=All', {'status': {'observedGeneration': -1}})
    s.patch('statefulsets/a/status?dryRun=All', {'spec': {'minReadySeconds': 9}, 'status': {}})


@scenario
def daemonset_minimal(s):
    """The defaults of a minimal DaemonSet."""
    s.post('daemonsets?dryRun=All', wl('DaemonSet', 'a'))
    s.post('daemonsets?dryRun=All', wl('DaemonSet', 'b', **{}))


@scenario
def daemonset_bad(s):
    """DaemonSets that are refused."""
    for x in (obj('apps/v1', 'DaemonSet', 'a'), obj('apps/v1', 'DaemonSet', 'a', spec={}), wl('DaemonSet', 'a',
              replicas=-1), wl('DaemonSet', 'a', selector={}), wl('DaemonSet', 'a',
              selector={'matchLabels': {'x': 'y'}}), wl('DaemonSet', 'a', template={'spec': {'containers': [CONTAINER]}}),
              wl('DaemonSet', 'a', template={'metadata': {'labels': {'a': 'b'}}}), wl('DaemonSet', 'a',
              template=tmpl(restartPolicy='Never')), wl('DaemonSet', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'Foo'}]}), wl('DaemonSet', 'a', selector={'matchExpressions': [{'key': 'a',
              'operator': 'In'}]}), wl('DaemonSet', 'a', selector={'matchLabels': {'a': 'b', 'A B': 'c'}}),
              wl('DaemonSet', 'a', minReadySeconds=-1), wl('DaemonSet', 'a', revisionHistoryLimit=-1), wl('DaemonSet',
              'a', replicas='x'), wl('DaemonSet', 'a', template=tmpl(activeDeadlineSeconds=5)), wl('DaemonSet', 'a',
              template=tmpl({'a': 'b', 'x y': 'z'}))):
        s.post('/apis/apps/v1/namespaces/{ns}/daemonsets', x)


@scenario
def daemonset_update(s):
    """Generation, status and what may not change of a DaemonSet."""
    s.post('/apis/apps/v1/namespaces/{ns}/daemonsets', wl('DaemonSet', 'a', **{}), hidden=True)
    for b in ({'spec': {'selector': {'matchLabels': {'a': 'c'}}}}, {'spec': {'selector': {'matchLabels': {'x': 'y'}},
              'template': {'metadata': {'labels': {'x': 'y'}}}}}, {'spec': {'minReadySeconds': 5}},
              {'metadata': {'annotations': {'x': 'y'}}}, {'metadata': {'labels': {'x': 'y'}}},
              {'status': {'replicas': 5}}):
        s.patch('daemonsets/a?dryRun=All', b)
    s.patch('daemonsets/a/status?dryRun=All', {'status': {'observedGeneration': -1}})
    s.patch('daemonsets/a/status?dryRun=All', {'spec': {'minReadySeconds': 9}, 'status': {}})


@scenario
def deployment_strategies(s):
    """Strategies of Deployments."""
    for each in ({'type': 'Recreate'}, {'type': 'RollingUpdate'}, {'type': 'RollingUpdate',
                 'rollingUpdate': {'maxSurge': 0, 'maxUnavailable': 0}}, {'type': 'RollingUpdate',
                 'rollingUpdate': {'maxSurge': 'x'}}, {'type': 'RollingUpdate',
                 'rollingUpdate': {'maxUnavailable': '110%'}}, {'type': 'RollingUpdate',
                 'rollingUpdate': {'maxSurge': '50%', 'maxUnavailable': 2}}, {'type': 'Recreate',
                 'rollingUpdate': {'maxSurge': 1}}, {'type': 'Nope'}):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', strategy=each))
    s.post('deployments?dryRun=All', wl('Deployment', 'a', progressDeadlineSeconds=0))
    s.post('deployments?dryRun=All', wl('Deployment', 'a', progressDeadlineSeconds=10, minReadySeconds=20))


@scenario
def statefulset_more(s):
    """Claims, policies and immutable fields of StatefulSets."""
    s.post('statefulsets', wl('StatefulSet', 'a', replicas=0, serviceName='x',
           volumeClaimTemplates=[{'metadata': {'name': 'd'}, 'spec': {'accessModes': ['ReadWriteOnce'],
           'resources': {'requests': {'storage': '1Gi'}}}}]))
    for each in ({'serviceName': 'y'}, {'podManagementPolicy': 'Parallel'}, {'volumeClaimTemplates': []},
                 {'replicas': 3}, {'updateStrategy': {'type': 'OnDelete'}}, {'updateStrategy': {'type': 'Nope'}},
                 {'persistentVolumeClaimRetentionPolicy': {'whenDeleted': 'Delete'}}, {'ordinals': {'start': -1}}):
        s.patch('statefulsets/a?dryRun=All', {'spec': each})
    s.post('statefulsets?dryRun=All', wl('StatefulSet', 'b', podManagementPolicy='Nope'))
    s.post('statefulsets?dryRun=All', wl('StatefulSet', 'b', updateStrategy={'type': 'OnDelete'}))


@scenario
def daemonset_more(s):
    """Strategies of DaemonSets."""
    for each in ({'type': 'OnDelete'}, {'type': 'Nope'}, {'rollingUpdate': {'maxUnavailable': 0}},
                 {'rollingUpdate': {'maxUnavailable': 0, 'maxSurge': 1}}, {'rollingUpdate': {'maxUnavailable': 1,
                 'maxSurge': 1}}):
        s.post('daemonsets?dryRun=All', wl('DaemonSet', 'a', updateStrategy=each))


@scenario
def job_minimal(s):
    """The defaults of Jobs."""
    s.post('jobs', job('a'))
    s.post('jobs', job('b', parallelism=3))
    s.post('jobs', job('c', completions=2, parallelism=1, completionMode='Indexed'))
    s.post('jobs?dryRun=All', job('d', manualSelector=True, selector={'matchLabels': {'a': 'b'}},
           template={'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [CONTAINER], 'restartPolicy': 'OnFailure'}}))


@scenario
def job_bad(s):
    """Jobs that are refused."""
    for x in (obj('batch/v1', 'Job', 'a'), obj('batch/v1', 'Job', 'a',
              spec={'template': {'spec': {'containers': [CONTAINER]}}}), job('a', parallelism=-1), job('a', completions=-1),
              job('a', backoffLimit=-1), job('a', completionMode='X'), job('a', completionMode='Indexed'), job('a',
              selector={'matchLabels': {'a': 'b'}}), job('a', manualSelector=True), job('a',
              ttlSecondsAfterFinished=-1), job('a', activeDeadlineSeconds=-1), job('a',
              template={'spec': {'containers': [CONTAINER], 'restartPolicy': 'Always'}}), job('a', podReplacementPolicy='X'),
              job('a', backoffLimitPerIndex=1),
              job('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')):
        s.post('jobs', x)


@scenario
def job_update(s):
    """What of a Job may change."""
    s.post('jobs', job('a'), hidden=True)
    for each in ({'completions': 5}, {'selector': {'matchLabels': {'a': 'b'}}},
                 {'template': {'spec': {'restartPolicy': 'OnFailure'}}}, {'completionMode': 'Indexed'}):
        s.patch('jobs/a?dryRun=All', {'spec': each}, hidden=False)
    s.patch('jobs/a', {'spec': {'parallelism': 2}}, hidden=True)
    s.patch('jobs/a/status', {'status': {'active': 1}}, hidden=True)


@scenario
def cronjob(s):
    """CronJobs: defaults, mistakes, updates."""
    s.post('cronjobs', cj('a'))
    for x in (obj('batch/v1', 'CronJob', 'b'), cj('b', schedule=''), cj('b', schedule='every day'), cj('b',
              schedule='@daily'), cj('c', schedule='61 * * * *'), cj('c', schedule='TZ=UTC * * * * *'), cj('c',
              concurrencyPolicy='X'), cj('c', startingDeadlineSeconds=-1), cj('c', successfulJobsHistoryLimit=-1),
              cj('c', timeZone='Nowhere/Nope'), cj('c', timeZone='Etc/UTC'),
              cj('ddddddddddddddddddddddddddddddddddddddddddddddddddddd'), cj('d',
              jobTemplate={'spec': {'template': {'spec': {'containers': [CONTAINER]}}}})):
        s.post('cronjobs', x)
    s.patch('cronjobs/a', {'spec': {'suspend': True}})
    s.patch('cronjobs/a/status', {'status': {'lastScheduleTime': '2020-01-01T00:00:00Z'}})


@scenario
def service_headless(s):
    """Services whose address is not chosen by chance."""
    s.post('services', svc('a', clusterIP='None'))
    s.post('services', obj('v1', 'Service', 'e', spec={'type': 'ExternalName', 'externalName': 'x.example.com'}))
    s.post('services', obj('v1', 'Service', 'h', spec={'clusterIP': 'None'}))
    s.post('services', svc('m', clusterIP='None', ports=[{'port': 80, 'name': 'a', 'targetPort': 'web'}, {'port': 81,
           'name': 'b', 'protocol': 'UDP'}], selector={'a': 'b'}, publishNotReadyAddresses=True))
    s.get('services')
    s.patch('services/a', {'spec': {'selector': {'x': 'y'}}})
    s.patch('services/a/status', {'status': {'loadBalancer': {'ingress': [{'ip': '1.2.3.4'}]}}})
    s.patch('services/a/status', {'status': {'conditions': [{'type': 'X', 'status': 'True', 'reason': 'R',
            'message': '', 'lastTransitionTime': '2020-01-01T00:00:00Z'}]}})
    s.delete('services/a')


@scenario
def service_allocated(s):
    """Services whose address the server chooses."""
    s.post('services', svc('a'))
    s.post('services', svc('n', type='NodePort'))
    s.post('services', svc('l', type='LoadBalancer'))
    s.get('services/a')
    s.patch('services/a', {'spec': {'ports': [{'port': 81}]}})
    s.patch('services/a', {'spec': {'clusterIP': '10.0.0.250'}})
    s.patch('services/a', {'spec': {'clusterIP': None}})
    s.patch('services/a', {'spec': {'type': 'NodePort'}})
    s.patch('services/a', {'spec': {'type': 'ClusterIP'}})
    s.patch('services/a', {'spec': {'type': 'ExternalName', 'externalName': 'x.y'}})
    s.put('services/n', svc('n', type='NodePort'))


@scenario
def service_bad(s):
    """Services that are refused."""
    for x in (obj('v1', 'Service', 'b'), svc('b', ports=[]), svc('b', ports=[{'port': 0}]), svc('b',
              ports=[{'port': 70000}]), svc('b', ports=[{'port': 80}, {'port': 81}]), svc('b', ports=[{'port': 80,
              'name': 'a'}, {'port': 80, 'name': 'b'}]), svc('b', ports=[{'port': 80, 'name': 'a'}, {'port': 81,
              'name': 'a'}]), svc('b', ports=[{'port': 80, 'protocol': 'X'}]), svc('b', ports=[{'port': 80,
              'targetPort': 'Bad_'}]), svc('b', ports=[{'port': 80, 'targetPort': 70000}]), svc('b', type='X'),
              svc('b', sessionAffinity='X'), svc('b', clusterIP='nope'), svc('b', clusterIP='192.168.1.1'), svc('b',
              selector={'a b': 'c'}), svc('B'), svc('1a'), svc('a.b'), obj('v1', 'Service', 'b',
              spec={'type': 'ExternalName'}), svc('b', type='NodePort', clusterIP='None'), svc('b',
              externalIPs=['x']), svc('b', ports=[{'port': 80, 'name': 'A'}]), svc('b', type='NodePort',
              ports=[{'port': 80, 'nodePort': 5}]), svc('b', ports=[{'port': 80, 'nodePort': 30000}]), svc('b',
              externalTrafficPolicy='Local'), svc('b', ipFamilyPolicy='X')):
        s.post('services', x)


@scenario
def configmap(s):
    """ConfigMaps: keys, binary data, immutable."""
    for x in (obj('v1', 'ConfigMap', 'a', data={'k': 'v'}, immutable=True), obj('v1', 'ConfigMap', 'b',
              data={'a b': 'v'}), obj('v1', 'ConfigMap', 'b', data={'..': 'v'}), obj('v1', 'ConfigMap', 'b',
              data={'.': 'v'}), obj('v1', 'ConfigMap', 'b', data={'..a': 'v'}), obj('v1', 'ConfigMap', 'b',
              data={'k': 'v'}, binaryData={'k': 'AAAA'}), obj('v1', 'ConfigMap', 'b', binaryData={'k': '!!'}),
              obj('v1', 'ConfigMap', 'b', data={'k': 5}), obj('v1', 'ConfigMap', 'c', binaryData={'k': 'AAAA'}),
              obj('v1', 'ConfigMap', 'd'), obj('v1', 'ConfigMap', 'e',
              data={'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk': 'v'})):
        s.post('configmaps', x)
    s.patch('configmaps/a', {'data': {'k': 'w'}})
    s.patch('configmaps/a', {'immutable': False})
    s.patch('configmaps/a', {'immutable': None})
    s.patch('configmaps/a', {'binaryData': {'z': 'AAAA'}})
    s.patch('configmaps/a', {'metadata': {'labels': {'x': 'y'}}})
    s.patch('configmaps/c', {'immutable': True})
    s.patch('configmaps/c', {'data': {'x': 'y'}})
    s.delete('configmaps/a')


@scenario
def secret(s):
    """Secrets: types and what they must hold, stringData, immutable."""
    for x in (obj('v1', 'Secret', 'a', stringData={'k': 'v'}), obj('v1', 'Secret', 'b', data={'k': 'djE='},
              stringData={'k': 'v2'}), obj('v1', 'Secret', 'c', type='kubernetes.io/tls'), obj('v1', 'Secret', 'c',
              type='kubernetes.io/tls', data={'tls.crt': '', 'tls.key': ''}), obj('v1', 'Secret', 'd',
              type='kubernetes.io/dockerconfigjson'), obj('v1', 'Secret', 'd', type='kubernetes.io/dockerconfigjson',
              stringData={'.dockerconfigjson': '{}'}), obj('v1', 'Secret', 'e', type='kubernetes.io/dockerconfigjson',
              stringData={'.dockerconfigjson': 'x'}), obj('v1', 'Secret', 'e', type='kubernetes.io/dockercfg'),
              obj('v1', 'Secret', 'e', type='kubernetes.io/basic-auth'), obj('v1', 'Secret', 'e',
              type='kubernetes.io/basic-auth', stringData={'username': 'u'}), obj('v1', 'Secret', 'f',
              type='kubernetes.io/ssh-auth'), obj('v1', 'Secret', 'f', type='kubernetes.io/ssh-auth',
              stringData={'ssh-privatekey': ''}), obj('v1', 'Secret', 'g',
              type='kubernetes.io/service-account-token'), obj('v1', 'Secret', 'h', type='my/type', data={'a': '!!'}),
              obj('v1', 'Secret', 'h', data={'a b': ''}), obj('v1', 'Secret', 'i', data={'a': ''}, immutable=True),
              obj('v1', 'Secret', 'j', data={'x': None})):
        s.post('secrets', x)
    s.patch('secrets/a', {'type': 'x/y'})
    s.patch('secrets/a', {'stringData': {'z': '1'}})
    s.patch('secrets/i', {'data': {'a': 'djE='}})
    s.patch('secrets/i', {'immutable': None})
    s.patch('secrets/i', {'type': 'x'})
    s.patch('secrets/i', {'stringData': {'z': '1'}})


@scenario
def serviceaccount(s):
    """ServiceAccounts."""
    s.post('serviceaccounts', obj('v1', 'ServiceAccount', 'a'))
    s.post('serviceaccounts', obj('v1', 'ServiceAccount', 'b', secrets=[{'name': 'x'}],
           imagePullSecrets=[{'name': 'y'}], automountServiceAccountToken=False))
    s.patch('serviceaccounts/b', {'secrets': None})
    s.post('serviceaccounts', obj('v1', 'ServiceAccount', 'Bad_'))
    s.get('serviceaccounts/a')
    s.put('serviceaccounts/a', obj('v1', 'ServiceAccount', 'a'))


@scenario
def endpoints(s):
    """Endpoints and EndpointSlices."""
    s.post('endpoints', obj('v1', 'Endpoints', 'a', subsets=[{'addresses': [{'ip': '10.1.1.1'}],
           'ports': [{'port': 80}]}]))
    s.post('endpoints', obj('v1', 'Endpoints', 'b'))
    s.post('endpoints', obj('v1', 'Endpoints', 'c', subsets=[{'addresses': [{'ip': 'x'}], 'ports': [{'port': 80}]}]))
    s.post('endpoints', obj('v1', 'Endpoints', 'c', subsets=[{}]))
    s.post('endpoints', obj('v1', 'Endpoints', 'c', subsets=[{'addresses': [{'ip': '127.0.0.1'}],
           'ports': [{'port': 0}]}]))
    s.post('endpointslices', obj('discovery.k8s.io/v1', 'EndpointSlice', 'a', addressType='IPv4',
           endpoints=[{'addresses': ['10.1.1.1']}], ports=[{'port': 80}]))
    s.post('endpointslices', obj('discovery.k8s.io/v1', 'EndpointSlice', 'b'))
    s.post('endpointslices', obj('discovery.k8s.io/v1', 'EndpointSlice', 'b', addressType='X', endpoints=[]))
    s.post('endpointslices', obj('discovery.k8s.io/v1', 'EndpointSlice', 'b', addressType='IPv4',
           endpoints=[{'addresses': ['x']}]))
    s.post('endpointslices', obj('discovery.k8s.io/v1', 'EndpointSlice', 'b', addressType='IPv4',
           endpoints=[{'addresses': []}]))
    s.patch('endpointslices/a', {'addressType': 'IPv6', 'endpoints': []})
    s.patch('endpointslices/a', {'endpoints': []})
    s.patch('endpointslices/a', {'metadata': {'labels': {'x': 'y'}}})


@scenario
def ingress(s):
    """Ingresses."""
    s.post('ingresses', obj('networking.k8s.io/v1', 'Ingress', 'a', spec={'rules': [ir()]}))
    s.post('ingresses', obj('networking.k8s.io/v1', 'Ingress', 'b', spec={'defaultBackend': {'service': {'name': 's',
           'port': {'name': 'web'}}}, 'ingressClassName': 'x', 'tls': [{'hosts': ['a.example.com'],
           'secretName': 't'}]}))
    for each in ({}, {'rules': [ir(pathType=None)]}, {'rules': [ir(path='x')]}, {'rules': [ir(pathType='X')]},
                 {'rules': [ir(backend={})]}, {'rules': [ir(backend={'service': {'name': 's'}})]},
                 {'rules': [ir(backend={'service': {'port': {'number': 80}}})]}, {'rules': [dict(ir(), host='Bad_')]},
                 {'rules': [dict(ir(), host='1.2.3.4')]}, {'rules': [{'http': {'paths': []}}]},
                 {'rules': [ir(backend={'service': {'name': 's', 'port': {'number': 80, 'name': 'x'}}})]},
                 {'rules': [ir(backend={'service': {'name': 's', 'port': {'number': 70000}}})]}):
        s.post('ingresses', obj('networking.k8s.io/v1', 'Ingress', 'c', spec=each))
    s.patch('ingresses/a', {'spec': {'ingressClassName': 'y'}})
    s.patch('ingresses/a/status', {'status': {'loadBalancer': {'ingress': [{'ip': '1.1.1.1'}]}}})


@scenario
def networkpolicy(s):
    """NetworkPolicies."""
    for i, each in enumerate(({'podSelector': {}}, {'podSelector': {}, 'egress': [{}]}, {'podSelector': {},
                    'ingress': [{'ports': [{'port': 80}], 'from': [{'podSelector': {}}]}]}, {}, {'podSelector': {},
                    'policyTypes': ['X']}, {'podSelector': {}, 'ingress': [{'from': [{}]}]}, {'podSelector': {},
                    'ingress': [{'from': [{'ipBlock': {'cidr': 'x'}}]}]}, {'podSelector': {},
                    'ingress': [{'ports': [{'port': 70000}]}]}, {'podSelector': {'matchExpressions': [{'key': 'a',
                    'operator': 'X'}]}}, {'podSelector': {}, 'policyTypes': ['Egress']}, {'podSelector': {},
                    'ingress': [{'ports': [{'protocol': 'X'}]}]})):
        s.post('networkpolicies', obj('networking.k8s.io/v1', 'NetworkPolicy', 'a%d' % i, spec=each))
    s.patch('networkpolicies/a0', {'spec': {'podSelector': {'matchLabels': {'a': 'b'}}}})


@scenario
def persistentvolumeclaim(s):
    """PersistentVolumeClaims."""
    s.post('persistentvolumeclaims', pvc('a'))
    s.post('persistentvolumeclaims', pvc('s', storageClassName='x'))
    for x in (obj('v1', 'PersistentVolumeClaim', 'b'), obj('v1', 'PersistentVolumeClaim', 'b', spec={}), pvc('b',
              accessModes=['X']), pvc('b', resources={}), pvc('b', resources={'requests': {'storage': '0'}}), pvc('b',
              resources={'requests': {'storage': '-1'}}), pvc('b', volumeMode='X'), pvc('b', storageClassName='Bad_'),
              pvc('b', accessModes=['ReadWriteOncePod', 'ReadWriteOnce'])):
        s.post('persistentvolumeclaims', x)
    s.patch('persistentvolumeclaims/a', {'spec': {'accessModes': ['ReadWriteMany']}})
    s.patch('persistentvolumeclaims/a', {'spec': {'resources': {'requests': {'storage': '2Gi'}}}})
    s.patch('persistentvolumeclaims/a', {'spec': {'storageClassName': 'y'}})
    s.patch('persistentvolumeclaims/a/status', {'status': {'phase': 'Bound', 'capacity': {'storage': '1Gi'}}})
    s.delete('persistentvolumeclaims/a')
    s.get('persistentvolumeclaims/a')
    s.patch('persistentvolumeclaims/a', {'metadata': {'finalizers': None}})


@scenario
def persistentvolume(s):
    """PersistentVolumes."""
    s.post('persistentvolumes', pv('{ns}-a'))
    for x in (obj('v1', 'PersistentVolume', '{ns}-b', spec={}), pv('{ns}-b', capacity={}), pv('{ns}-b',
              accessModes=[]), pv('{ns}-b', accessModes=['X']), obj('v1', 'PersistentVolume', '{ns}-b',
              spec={'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce']}), pv('{ns}-b',
              persistentVolumeReclaimPolicy='X'), pv('{ns}-b', nfs={'server': 's', 'path': '/'}), pv('{ns}-b',
              hostPath={'path': '../x'})):
        s.post('persistentvolumes', x)
    s.patch('persistentvolumes/{ns}-a', {'spec': {'hostPath': {'path': '/y'}}})
    s.patch('persistentvolumes/{ns}-a', {'spec': {'persistentVolumeReclaimPolicy': 'Delete'}})
    s.delete('persistentvolumes/{ns}-a')
    s.patch('persistentvolumes/{ns}-a', {'metadata': {'finalizers': None}})


@scenario
def horizontalpodautoscaler(s):
    """HorizontalPodAutoscalers."""
    s.post('horizontalpodautoscalers', hpa('a'))
    s.post('horizontalpodautoscalers', hpa('m', metrics=[{'type': 'Resource', 'resource': {'name': 'memory',
           'target': {'type': 'Utilization', 'averageUtilization': 50}}}],
           behavior={'scaleDown': {'stabilizationWindowSeconds': 10}}))
    for x in (obj('autoscaling/v2', 'HorizontalPodAutoscaler', 'b', spec={}), hpa('b', maxReplicas=0), hpa('b',
              minReplicas=5), hpa('b', minReplicas=0), hpa('b', scaleTargetRef={'kind': 'Deployment'}), hpa('b',
              scaleTargetRef={'name': 'x'}), hpa('b', metrics=[{'type': 'X'}]), hpa('b',
              metrics=[{'type': 'Resource'}])):
        s.post('horizontalpodautoscalers', x)
    s.patch('horizontalpodautoscalers/a', {'spec': {'maxReplicas': 5}})
    s.patch('horizontalpodautoscalers/a/status', {'status': {'desiredReplicas': 2, 'currentReplicas': 1}})
    s.get('/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers/a')
    s.post('/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers', obj('autoscaling/v1',
           'HorizontalPodAutoscaler', 'v1', spec={'scaleTargetRef': {'kind': 'Deployment', 'name': 'd'},
           'maxReplicas': 3, 'targetCPUUtilizationPercentage': 70}))
    s.get('horizontalpodautoscalers/v1')


@scenario
def poddisruptionbudget(s):
    """PodDisruptionBudgets."""
    for x in (pdb('a', minAvailable=1, selector={'matchLabels': {'a': 'b'}}), pdb('b'), pdb('c', minAvailable='50%'),
              pdb('d', minAvailable=1, maxUnavailable=1), pdb('d', minAvailable=-1), pdb('d', minAvailable='x'),
              pdb('d', maxUnavailable='150%'), pdb('d', selector={'matchExpressions': [{'key': 'a',
              'operator': 'X'}]}), pdb('d', minAvailable=1, unhealthyPodEvictionPolicy='X')):
        s.post('poddisruptionbudgets', x)
    s.patch('poddisruptionbudgets/a', {'spec': {'minAvailable': 2}})
    s.patch('poddisruptionbudgets/a/status', {'status': {'currentHealthy': 1, 'desiredHealthy': 1,
            'disruptionsAllowed': 0, 'expectedPods': 1}})


@scenario
def rbac(s):
    """Roles and bindings."""
    s.post('roles', obj('rbac.authorization.k8s.io/v1', 'Role', 'a', rules=[RULE]))
    s.post('roles', obj('rbac.authorization.k8s.io/v1', 'Role', 'with:colon'))
    for r in ({}, {'verbs': ['get']}, {'verbs': ['get'], 'resources': ['pods']}, {'verbs': ['get'],
              'nonResourceURLs': ['/x']}, {'apiGroups': [''], 'resources': ['pods']}):
        s.post('roles', obj('rbac.authorization.k8s.io/v1', 'Role', 'b', rules=[r]))
    s.post('clusterroles', obj('rbac.authorization.k8s.io/v1', 'ClusterRole', '{ns}-a', rules=[RULE, {'verbs': ['get'],
           'nonResourceURLs': ['/x']}]))
    s.post('clusterroles', obj('rbac.authorization.k8s.io/v1', 'ClusterRole', '{ns}-g',
           aggregationRule={'clusterRoleSelectors': [{'matchLabels': {'x': 'y'}}]}))
    s.post('clusterroles', obj('rbac.authorization.k8s.io/v1', 'ClusterRole', '{ns}-b', aggregationRule={}))
    s.post('rolebindings', obj('rbac.authorization.k8s.io/v1', 'RoleBinding', 'a', roleRef={'kind': 'Role',
           'name': 'a', 'apiGroup': 'rbac.authorization.k8s.io'}, subjects=[{'kind': 'User', 'name': 'u'},
           {'kind': 'ServiceAccount', 'name': 's'}, {'kind': 'Group', 'name': 'g'}]))
    s.post('rolebindings', obj('rbac.authorization.k8s.io/v1', 'RoleBinding', 'b', roleRef={'kind': 'Role',
           'name': 'a'}, subjects=[{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'x'}]))
    for f in ({}, {'roleRef': {'kind': 'X', 'name': 'a'}}, {'roleRef': {'kind': 'Role'}}, {'roleRef': {'kind': 'Role',
              'name': 'a', 'apiGroup': 'x'}}, {'roleRef': {'kind': 'Role', 'name': 'a'}, 'subjects': [{'kind': 'X',
              'name': 'u'}]}, {'roleRef': {'kind': 'Role', 'name': 'a'}, 'subjects': [{'kind': 'User'}]},
              {'roleRef': {'kind': 'Role', 'name': 'a'}, 'subjects': [{'kind': 'ServiceAccount', 'name': 'Bad_',
              'namespace': 'x'}]}):
        s.post('rolebindings', obj('rbac.authorization.k8s.io/v1', 'RoleBinding', 'c', **f))
    s.patch('rolebindings/b', {'roleRef': {'name': 'z'}})
    s.patch('rolebindings/b', {'subjects': None})
    s.put('roles/made', obj('rbac.authorization.k8s.io/v1', 'Role', 'made'))
    s.post('clusterrolebindings', obj('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', '{ns}-a',
           roleRef={'kind': 'ClusterRole', 'name': 'a'}, subjects=[{'kind': 'ServiceAccount', 'name': 's'}]))
    s.post('clusterrolebindings', obj('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', '{ns}-b',
           roleRef={'kind': 'Role', 'name': 'a'}))


@scenario
def lease_rules(s):
    """Leases: times, numbers, updates."""
    for x in (lease_of('a', holderIdentity='h', leaseDurationSeconds=15, acquireTime='2026-01-02T03:04:05.123456Z',
              renewTime='2026-01-02T03:04:05.000000Z', leaseTransitions=0), lease_of('b'), obj('coordination.k8s.io/v1',
              'Lease', 'c'), lease_of('d', leaseDurationSeconds=0), lease_of('d', leaseDurationSeconds=-1), lease_of('d',
              leaseTransitions=-1), lease_of('d', renewTime='2026-01-02T03:04:05Z'), lease_of('e', renewTime='yesterday'), lease_of('e',
              renewTime='2026-01-02'), lease_of('e', leaseDurationSeconds='x'), lease_of('e', holderIdentity=''), lease_of('f',
              strategy='OldestEmulationVersion'), lease_of('g', preferredHolder='x'), lease_of('h',
              renewTime='2026-01-02T03:04:05.1+02:00')):
        s.post('leases', x)
    s.patch('leases/a', {'spec': {'renewTime': '2026-01-02T03:04:06.5Z'}})
    s.put('leases/made', lease_of('made'))
    s.put('leases/b', lease_of('b'))
    s.patch('leases/a', {'spec': None})


@scenario
def events_old(s):
    """Events of the core group."""
    for x in (core_event('a'), core_event('b', involvedObject={}), core_event('c', involvedObject={'kind': 'Pod', 'namespace': 'other',
              'name': 'p'}), core_event('d', type='X'), core_event('e', reason=''), core_event('f', firstTimestamp='2026-01-02T03:04:05Z',
              lastTimestamp='2026-01-02T03:04:05Z', count=3, source={'component': 'c', 'host': 'h'}), core_event('g',
              eventTime='2026-01-02T03:04:05.000001Z'), core_event('h', eventTime='2026-01-02T03:04:05.000001Z',
              reportingComponent='x.io/c', reportingInstance='i', action='A')):
        s.post('events', x)
    s.patch('events/a', {'count': 2})
    s.patch('events/h', {'reason': 'Other'})
    s.get('/apis/events.k8s.io/v1/namespaces/{ns}/events/a')
    s.get('/apis/events.k8s.io/v1/namespaces/{ns}/events/h')


@scenario
def events_new(s):
    """Events of events.k8s.io."""
    for x in (new_event('a'), new_event('b', eventTime=None), new_event('b', reportingController=''), new_event('b',
              reportingController='Bad Name'), new_event('b', reportingInstance=''), new_event('b', action=''), new_event('b', reason=''),
              new_event('b',
              reason='xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
              new_event('b', type='X'), new_event('b',
              note='xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
              new_event('b', series={'count': 1, 'lastObservedTime': '2026-01-02T03:04:05.000001Z'}), new_event('c',
              series={'count': 2, 'lastObservedTime': '2026-01-02T03:04:05.000001Z'}), new_event('b',
              regarding={'kind': 'Pod', 'namespace': 'other', 'name': 'p'})):
        s.post('/apis/events.k8s.io/v1/namespaces/{ns}/events', x)
    s.patch('/apis/events.k8s.io/v1/namespaces/{ns}/events/a', {'series': {'count': 3,
            'lastObservedTime': '2026-01-02T03:04:06.000001Z'}})
    s.patch('/apis/events.k8s.io/v1/namespaces/{ns}/events/a', {'note': 'other'})
    s.patch('/apis/events.k8s.io/v1/namespaces/{ns}/events/a', {'reason': 'other'})
    s.get('events/a')
    s.get('events/c')


@scenario
def node(s):
    """Nodes."""
    s.post('nodes', obj('v1', 'Node', '{ns}-a'))
    s.post('nodes', obj('v1', 'Node', '{ns}-b', spec={'unschedulable': True, 'podCIDR': '10.9.0.0/24',
           'taints': [{'key': 'a', 'effect': 'NoSchedule'}]}, status={'capacity': {'cpu': '4'}}))
    s.post('nodes', obj('v1', 'Node', '{ns}-c', spec={'taints': [{'key': 'a', 'effect': 'X'}]}))
    s.post('nodes', obj('v1', 'Node', '{ns}-c', spec={'podCIDR': 'x'}))
    s.post('nodes', obj('v1', 'Node', 'Bad_'))
    s.patch('nodes/{ns}-b', {'spec': {'podCIDR': '10.8.0.0/24'}})
    s.patch('nodes/{ns}-a', {'spec': {'unschedulable': True}})
    s.patch('nodes/{ns}-a', {'spec': {'taints': None}})
    s.patch('nodes/{ns}-a/status', {'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}})
    s.delete('nodes/{ns}-a')
    s.delete('nodes/{ns}-b')


@scenario
def priorityclass(s):
    """PriorityClasses and the pods that name them."""
    s.post('priorityclasses', obj('scheduling.k8s.io/v1', 'PriorityClass', '{ns}-p', value=1000))
    s.post('priorityclasses', obj('scheduling.k8s.io/v1', 'PriorityClass', '{ns}-n', value=10,
           preemptionPolicy='Never', description='d'))
    s.post('pods', pod('a', priorityClassName='{ns}-p'))
    s.post('pods', pod('b', priorityClassName='{ns}-n'))
    s.post('pods', pod('c', priorityClassName='system-node-critical'))
    s.post('pods', pod('d', priorityClassName='{ns}-p', priority=1))
    for x in (obj('scheduling.k8s.io/v1', 'PriorityClass', '{ns}-q'), obj('scheduling.k8s.io/v1', 'PriorityClass',
              '{ns}-r', value=2000000000), obj('scheduling.k8s.io/v1', 'PriorityClass', '{ns}-s', value=1,
              preemptionPolicy='X'), obj('scheduling.k8s.io/v1', 'PriorityClass', 'system-{ns}', value=1)):
        s.post('priorityclasses', x)
    s.patch('priorityclasses/{ns}-p', {'value': 5})
    s.patch('priorityclasses/{ns}-p', {'description': 'x'})
    s.patch('priorityclasses/{ns}-p', {'preemptionPolicy': 'Never'})
    for x in 'pnq':
        s.delete('priorityclasses/{ns}-' + x)


@scenario
def storageclass(s):
    """StorageClasses."""
    s.post('storageclasses', obj('storage.k8s.io/v1', 'StorageClass', '{ns}-a', provisioner='x.io/p'))
    for x in (obj('storage.k8s.io/v1', 'StorageClass', '{ns}-b'), obj('storage.k8s.io/v1', 'StorageClass', '{ns}-b',
              provisioner='x.io/p', reclaimPolicy='X'), obj('storage.k8s.io/v1', 'StorageClass', '{ns}-b',
              provisioner='x.io/p', volumeBindingMode='X'), obj('storage.k8s.io/v1', 'StorageClass', '{ns}-b',
              provisioner='Bad Name')):
        s.post('storageclasses', x)
    s.patch('storageclasses/{ns}-a', {'provisioner': 'y'})
    s.patch('storageclasses/{ns}-a', {'parameters': {'a': 'b'}})
    s.patch('storageclasses/{ns}-a', {'reclaimPolicy': 'Retain'})
    s.patch('storageclasses/{ns}-a', {'allowVolumeExpansion': True})
    s.delete('storageclasses/{ns}-a')


@scenario
def quota_and_limits(s):
    """ResourceQuotas and LimitRanges as objects."""
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'a', spec={'hard': {'pods': '10', 'requests.cpu': '2'}}))
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'b'))
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'c', spec={'hard': {'pods': '-1'}}))
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'c', spec={'hard': {'nope nope': '1'}}))
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'c', spec={'scopes': ['X']}))
    s.post('resourcequotas', obj('v1', 'ResourceQuota', 'c', spec={'hard': {'pods': 'x'}}))
    s.patch('resourcequotas/a', {'spec': {'hard': {'pods': '12'}}})
    s.patch('resourcequotas/a/status', {'status': {'used': {'pods': '1'}}})
    s.post('limitranges', obj('v1', 'LimitRange', 'a', spec={'limits': [{'type': 'Pod', 'max': {'cpu': '2'}}]}))
    s.post('limitranges', obj('v1', 'LimitRange', 'b', spec={'limits': [{'type': 'X'}]}))
    s.post('limitranges', obj('v1', 'LimitRange', 'b', spec={'limits': [{'type': 'Container', 'max': {'cpu': '1'},
           'min': {'cpu': '2'}}]}))
    s.post('limitranges', obj('v1', 'LimitRange', 'b', spec={}))
    s.delete('limitranges/a')


@scenario
def replicationcontroller(s):
    """ReplicationControllers take their selector from the template."""
    s.post('replicationcontrollers?dryRun=All', obj('v1', 'ReplicationController', 'a', spec={'template': tmpl()}))
    s.post('replicationcontrollers', obj('v1', 'ReplicationController', 'a', spec={}))
    s.post('replicationcontrollers?dryRun=All', obj('v1', 'ReplicationController', 'a', spec={'replicas': 0,
           'selector': {'x': 'y'}, 'template': tmpl()}))


def claim(**spec):
    """A template of a claim that StatefulSets can have."""
    return {'metadata': {'name': 'data'}, 'spec': dict({'accessModes': ['ReadWriteOnce'],
            'resources': {'requests': {'storage': '1Gi'}}}, **spec)}


def mounting(*names):
    """A template of pods that mount these volumes."""
    mounts = [{'name': name, 'mountPath': '/' + name} for name in names]
    return {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [dict(CONTAINER, volumeMounts=mounts)]}}


@scenario
def statefulset_claim_templates(s):
    """StatefulSets that mount their claim templates, and what is refused of both."""
    s.post('statefulsets', wl('StatefulSet', 'a', serviceName='s', template=mounting('data'),
           volumeClaimTemplates=[claim()]))
    s.get('statefulsets/a')
    s.patch('statefulsets/a', {'spec': {'template': {'metadata': {'annotations': {'x': 'y'}}}}})
    s.patch('statefulsets/a?dryRun=All', {'spec': {'volumeClaimTemplates': []}})
    s.apply('statefulsets/b', spec=wl('StatefulSet', 'b', template=mounting('data'), volumeClaimTemplates=[claim()])['spec'])
    hidden = mounting('data')
    hidden['spec'].update(volumes=[{'name': 'data', 'secret': {}}], hostname='Not_One', subdomain='Not_One')
    for x in (dict(template=mounting('data', 'logs')), dict(template=hidden),
              dict(template=mounting('data'), serviceName='Not_One'),
              dict(template=mounting('data'), persistentVolumeClaimRetentionPolicy={'whenDeleted': 'Nope'}),
              dict(template=mounting('data'), updateStrategy={'type': 'RollingUpdate'})):
        s.post('statefulsets?dryRun=All', wl('StatefulSet', 'c', **dict({'volumeClaimTemplates': [claim()]}, **x)))
    for x in (claim(accessModes=[]), claim(resources={}), claim(storageClassName='Not_One'),
              claim(selector={'matchExpressions': [{'key': 'a', 'operator': 'Nope'}]})):
        s.post('statefulsets?dryRun=All', wl('StatefulSet', 'c', template=mounting('data'), volumeClaimTemplates=[x]))


@scenario
def amounts(s):
    """Amounts of resources are stored in their canonical form, wherever they stand."""
    odd = {'cpu': '1000m', 'memory': '2048Mi', 'ephemeral-storage': '0.5Gi'}
    many = [dict(CONTAINER, resources={'limits': dict(odd, cpu=0.1), 'requests': {'cpu': '.05', 'memory': 1}})]
    s.post('pods', pod('a', containers=many))
    s.post('pods?dryRun=All', pod('b', containers=[dict(CONTAINER, resources={'limits': odd})]))
    s.post('pods?dryRun=All', pod('b', containers=[dict(CONTAINER, resources={'requests': {'cpu': None}})]))
    s.post('pods?dryRun=All', pod('b', volumes=[{'name': 'v', 'emptyDir': {'sizeLimit': '1024Mi'}}]))
    s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=many)))
    s.post('resourcequotas?dryRun=All', obj('v1', 'ResourceQuota', 'a', spec={'hard': {'cpu': 2, 'pods': '1000', 'memory': '1024Ki'}}))
    s.post('limitranges?dryRun=All', obj('v1', 'LimitRange', 'a', spec={'limits': [{'type': 'Container', 'max': {'cpu': '2000m'}}]}))
    s.post('persistentvolumeclaims?dryRun=All', obj('v1', 'PersistentVolumeClaim', 'a', spec=claim(
           resources={'requests': {'storage': '1024Mi'}})['spec']))
    s.apply('deployments/ssa', spec=wl('Deployment', 'ssa', template=tmpl(containers=many))['spec'])


@scenario
def unset_values(s):
    """Values that Go does not write, and those that it does."""
    mount = dict(CONTAINER, volumeMounts=[{'name': 'v', 'mountPath': '/v', 'readOnly': False}], args=['a', None])
    for volume in ({'emptyDir': None}, {'nfs': {'server': 's', 'path': '/', 'readOnly': False}},
                   {'persistentVolumeClaim': {'claimName': 'c', 'readOnly': False}}, {'csi': {'driver': 'd', 'readOnly': False}},
                   {'iscsi': {'targetPortal': 't', 'iqn': 'iqn.2001-04.com.example:s', 'lun': 0, 'readOnly': False,
                              'chapAuthSession': False}}):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=[mount], volumes=[dict({'name': 'v'}, **volume)])))
    s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=[dict(
           CONTAINER, readinessProbe={'grpc': {'port': 1}})])))
    s.post('/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All', obj('scheduling.k8s.io/v1', 'PriorityClass', '{ns}', value=1, globalDefault=False))
    for image in ('ko://example.com/x', 'Upper', 'a/b:latest', 'host:5000/a', '$(X)', 'a:1'):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=[{'name': 'c', 'image': image}])))


@scenario
def empty_rules(s):
    """An empty list that is required is stored as null."""
    s.post('clusterroles?dryRun=All', obj('rbac.authorization.k8s.io/v1', 'ClusterRole', '{ns}', rules=[]))


@scenario
def node_network(s):
    """Ports of pods in the network of their node; those of templates stay as they are."""
    ports = [{'name': 'c', 'image': 'nginx', 'ports': [{'containerPort': 80}]}]
    s.post('pods?dryRun=All', pod('a', hostNetwork=True, containers=ports))
    for kind in ('Deployment', 'DaemonSet', 'StatefulSet'):
        s.post(kind.lower() + 's?dryRun=All', wl(kind, 'a', template=tmpl(hostNetwork=True, containers=ports)))
    ports[0]['ports'][0]['hostPort'] = 81
    s.post('pods?dryRun=All', pod('a', hostNetwork=True, containers=ports))


@scenario
def containers_bad(s):
    """What is refused in containers."""
    for x in (dict(env=[{'name': 'A', 'valueFrom': {}}]), dict(env=[{'name': 'A', 'valueFrom': {'configMapKeyRef': {'name': 'Bad_', 'key': ''}}}]),
              dict(env=[{'name': 'A', 'valueFrom': {'secretKeyRef': {'name': 'a', 'key': 'b c'}}}]),
              dict(env=[{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.labels'}}}]),
              dict(env=[{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'spec.nope'}}}]),
              dict(env=[{'name': 'A', 'valueFrom': {'resourceFieldRef': {'resource': 'cpu'}}}]),
              dict(envFrom=[{}]), dict(envFrom=[{'configMapRef': {}}]), dict(envFrom=[{'secretRef': {'name': 'Bad_'}, 'prefix': 'a='}]),
              dict(livenessProbe={'exec': {}}), dict(readinessProbe={'grpc': {}}),
              dict(livenessProbe={'httpGet': {'port': 80, 'httpHeaders': [{'name': 'a b', 'value': 'c'}]}}),
              dict(livenessProbe={'exec': {'command': ['a']}, 'tcpSocket': {'port': 1}}),
              dict(lifecycle={'preStop': {}}), dict(lifecycle={'postStart': {'exec': {}}}),
              dict(lifecycle={'preStop': {'httpGet': {'path': '/'}}}),
              dict(volumeMounts=[{'name': 'v', 'mountPath': '/a'}, {'name': 'v', 'mountPath': '/a'}]),
              dict(volumeMounts=[{'name': 'v', 'mountPath': '/a', 'subPath': '../x'}]),
              dict(volumeDevices=[{'name': 'v', 'devicePath': '/a'}]),
              dict(resources={'limits': {'nope': '1'}}), dict(resources={'requests': {'cpu': '-1'}}),
              dict(resources={'requests': {'cpu': 2}, 'limits': {'cpu': '1500m'}}),
              dict(resources={'limits': {'example.com/gpu': '500m'}}),
              dict(securityContext={'runAsUser': -1}), dict(securityContext={'seccompProfile': {}}),
              dict(securityContext={'seccompProfile': {'type': 'Localhost'}}),
              dict(ports=[{'containerPort': 1, 'name': 'a'}, {'containerPort': 2, 'name': 'a'}])):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=[dict(CONTAINER, **x)], volumes=[{'name': 'v', 'emptyDir': {}}])))
    for x in (dict(livenessProbe={'exec': {'command': ['a']}}), dict(lifecycle={'preStop': {'exec': {'command': ['a']}}}),
              dict(name='c')):
        s.post('pods?dryRun=All', pod('a', initContainers=[dict({'name': 'i', 'image': 'x'}, **x)]))


@scenario
def volumes_bad(s):
    """What is refused in volumes; a volume that is refused is not there for the containers."""
    for volume in ({'configMap': {}}, {'secret': {}}, {'hostPath': {}}, {'hostPath': {'path': '/a/../b'}}, {'nfs': {'path': 'a'}},
                   {'persistentVolumeClaim': {}}, {'configMap': {'name': 'a', 'items': [{}]}},
                   {'secret': {'secretName': 'a', 'items': [{'key': 'a', 'path': '/a'}]}},
                   {'secret': {'secretName': 'a', 'defaultMode': 512}}, {'emptyDir': {}, 'secret': {'secretName': 'a'}},
                   {'projected': {'sources': [{'configMap': {}}]}}, {'projected': {'sources': [{'serviceAccountToken': {}}]}},
                   {'projected': {'sources': [{'serviceAccountToken': {'path': 'a', 'expirationSeconds': 1}}]}},
                   {'projected': {'sources': [{'secret': {'name': 'a'}, 'configMap': {'name': 'a'}}]}},
                   {'downwardAPI': {'items': [{'path': 'a'}]}}, {'downwardAPI': {'items': [{'path': 'a', 'fieldRef': {'fieldPath': 'spec.nodeName'}}]}},
                   {'ephemeral': {'volumeClaimTemplate': {'spec': {}}}}):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(
               containers=[dict(CONTAINER, volumeMounts=[{'name': 'v', 'mountPath': '/v'}])], volumes=[dict({'name': 'v'}, **volume)])))


@scenario
def scheduling_bad(s):
    """What is refused in affinity, tolerations and spreading, in DNS and host names."""
    required, preferred = 'requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'
    term = {'topologyKey': '', 'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'Nope'}, {'key': 'b', 'operator': 'In'}]}}
    for x in (dict(affinity={'nodeAffinity': {required: {'nodeSelectorTerms': []}}}),
              dict(affinity={'nodeAffinity': {required: {'nodeSelectorTerms': [{'matchExpressions': [
                   {'key': '', 'operator': 'In'}, {'key': 'a', 'operator': 'Gt'}, {'key': 'a', 'operator': 'Exists', 'values': ['b']}]}]}}}),
              dict(affinity={'nodeAffinity': {preferred: [{'weight': 0, 'preference': {}}]}}),
              dict(affinity={'podAntiAffinity': {required: [term]}}),
              dict(affinity={'podAffinity': {preferred: [{'weight': 101, 'podAffinityTerm': term}]}}),
              dict(tolerations=[{'key': 'a b', 'operator': 'Exists'}]), dict(tolerations=[{'key': 'a', 'tolerationSeconds': 5}]),
              dict(tolerations=[{'key': 'a', 'value': 'b c'}]),
              dict(topologySpreadConstraints=[{'maxSkew': 0, 'topologyKey': '', 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {}}]),
              dict(dnsPolicy='None'), dict(dnsPolicy='None', dnsConfig={}), dict(dnsConfig={'nameservers': ['x'], 'options': [{}]}),
              dict(hostAliases=[{'ip': 'x', 'hostnames': ['Bad_']}]), dict(securityContext={'fsGroup': -1, 'supplementalGroups': [-1]}),
              dict(priorityClassName='Bad_')):
        s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(**x)))
    s.post('cronjobs?dryRun=All', cj('a', jobTemplate={'spec': {'ttlSecondsAfterFinished': -1, 'template': {
           'metadata': {'labels': {'a': 'b c'}}, 'spec': {'containers': [CONTAINER], 'restartPolicy': 'Never'}}}}))
    s.post('jobs?dryRun=All', job('a', template={'metadata': {'labels': {'a': 'b c'}},
           'spec': {'containers': [CONTAINER], 'restartPolicy': 'Never'}}))


@scenario
def claim_sources(s):
    """A claim names its source in an old and in a new way, of which each sets the other."""
    for x in ({'dataSource': {'kind': 'PersistentVolumeClaim', 'name': 'a'}},
              {'dataSource': {'apiGroup': 'snapshot.storage.k8s.io', 'kind': 'VolumeSnapshot', 'name': 'a'}},
              {'dataSourceRef': {'apiGroup': 'example.com', 'kind': 'Thing', 'name': 'a'}}):
        s.post('persistentvolumeclaims?dryRun=All', obj('v1', 'PersistentVolumeClaim', 'a', spec=claim(**x)['spec']))


@scenario
def quality_of_service(s):
    """Classes of pods, with init containers and with resources of the pod as a whole."""
    full = {'limits': {'cpu': '1', 'memory': '1Gi'}, 'requests': {'cpu': '1000m', 'memory': '1024Mi'}}
    one, bare = dict(CONTAINER, resources=full), {'name': 'd', 'image': 'x'}
    for x in (dict(containers=[one]), dict(containers=[one, bare]), dict(containers=[one], initContainers=[bare]),
              dict(resources={'requests': {'cpu': '1'}}), dict(resources=full)):
        s.post('pods?dryRun=All', pod('a', **x))


@scenario
def policies_admission(s):
    """Defaults of admission policies and of their bindings."""
    rule = {'apiGroups': ['apps'], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['deployments']}
    s.post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All', obj('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', '{ns}',
           spec={'matchConstraints': {'resourceRules': [rule]}, 'validations': [{'expression': 'true'}]}))
    s.post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings?dryRun=All', obj('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', '{ns}',
           spec={'policyName': 'a', 'validationActions': ['Deny'], 'matchResources': {'namespaceSelector': {'matchLabels': {'a': 'b'}}}}))


@scenario
def service_of_the_server(s):
    """The Service of the API server itself, which comes back when it is deleted."""
    path = '/api/v1/namespaces/default/services/kubernetes'
    there = {'metadata/labels/component': 'apiserver', 'metadata/labels/provider': 'kubernetes', 'spec/clusterIP': '10.0.0.1',
             'spec/ports/0/name': 'https', 'spec/ports/0/port': 443, 'spec/type': 'ClusterIP'}
    s.get(path, until=there, hidden=True)
    s.post('services', svc('a', clusterIP='10.0.0.1'))
    s.delete('/api/v1/namespaces/default?dryRun=All')


@scenario
def zeros_that_are_unset(s):
    """Numbers and maps whose zero value counts as absent."""
    probe = {'exec': {'command': ['a']}, 'timeoutSeconds': 0, 'periodSeconds': 0, 'successThreshold': 0, 'failureThreshold': 0}
    s.post('deployments?dryRun=All', wl('Deployment', 'a', template=tmpl(containers=[dict(CONTAINER, livenessProbe=probe)])))
    s.post('replicationcontrollers?dryRun=All', obj('v1', 'ReplicationController', 'a', spec={'selector': {}, 'template': tmpl()}))


def webhook(name='a.b.io', **members):
    service = {'name': 's', 'namespace': 'n'}
    return dict({'name': name, 'clientConfig': {'service': service}, 'sideEffects': 'None', 'admissionReviewVersions': ['v1'],
                 'rules': [{'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['pods']}]},
                **members)


@scenario
def webhooks_bad(s):
    """Webhook configurations that could never be called."""
    wrong = [{'name': ''}, {'name': 'a.b'}, {'name': '$(x).b.io'}, {'clientConfig': {}}, {'clientConfig': {'service': {}}}, {'clientConfig': {'service': {'name': 's'}}},
             {'clientConfig': {'service': {'namespace': 'n'}}},
             {'clientConfig': {'url': 'http://a/'}}, {'clientConfig': {'url': 'https://a/', 'service': {'name': 's', 'namespace': 'n'}}},
             {'clientConfig': {'service': {'name': 's', 'namespace': 'n', 'port': 70000, 'path': 'x'}}}, {'sideEffects': None},
             {'sideEffects': 'Some'}, {'timeoutSeconds': 31}, {'admissionReviewVersions': None}, {'admissionReviewVersions': ['v2']},
             {'admissionReviewVersions': ['v1', 'v1']}, {'rules': [{}]}, {'failurePolicy': 'x'},
             {'rules': [{'apiGroups': ['*', ''], 'apiVersions': ['v1', ''], 'operations': ['*', 'CREATE'], 'resources': ['']}]},
             {'objectSelector': {'matchExpressions': [{'key': '', 'operator': 'x'}]}}]
    for kind, plural in (('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
                         ('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations')):
        path = '/apis/admissionregistration.k8s.io/v1/%s?dryRun=All' % plural
        for members in wrong:
            s.post(path, obj('admissionregistration.k8s.io/v1', kind, '{ns}', webhooks=[webhook(**members)]))
        s.post(path, obj('admissionregistration.k8s.io/v1', kind, '{ns}', webhooks=[webhook(), webhook()]))


@scenario
def ingress_hosts(s):
    """Names of hosts and Secrets, and paths, in an Ingress."""
    for host in ('A_b', '*.a.b', 'a.*.b', '*'):
        s.post('ingresses?dryRun=All', obj('networking.k8s.io/v1', 'Ingress', 'a', spec={
            'rules': [dict(ir(), host=host)], 'tls': [{'hosts': [host], 'secretName': host}]}))
    for path in ({'pathType': None, 'backend': {}}, {'path': '/a/../b'}, {'path': '/a//b'}, {'path': '/a/.'}, {'path': 'a'},
                 {'path': 'a', 'pathType': 'ImplementationSpecific'}):
        s.post('ingresses?dryRun=All', obj('networking.k8s.io/v1', 'Ingress', 'a', spec={'rules': [ir(**path)]}))


@scenario
def job_selectors(s):
    """Labels and selectors that a Job brings along, and those that the server writes."""
    labels = {'controller-uid': 'x', 'job-name': 'y'}
    pod_of = {'metadata': {'labels': labels}, 'spec': {'containers': [CONTAINER], 'restartPolicy': 'Never'}}
    s.post('jobs?dryRun=All', job('a', template=pod_of))
    s.post('jobs?dryRun=All', job('a', selector={'matchLabels': {'controller-uid': 'x'}}))
    s.post('jobs?dryRun=All', job('a', template=pod_of, selector={'matchLabels': {'controller-uid': 'x'}}))
    s.post('jobs?dryRun=All', job('a', manualSelector=True))
    s.post('jobs?dryRun=All', job('a', manualSelector=True, template=pod_of, selector={'matchLabels': {'job-name': 'z'}}))
    s.post('jobs?dryRun=All', job('a', manualSelector=True, template=pod_of, selector={'matchLabels': {'job-name': 'y'}}))


@scenario
def claims_stay(s):
    """Claims, volumes and drivers, of which little may change."""
    s.create('persistentvolumeclaims/a', **{'spec': pvc('a')['spec']})
    for spec in ({'volumeMode': 'Block'}, {'selector': {'matchLabels': {'a': 'b'}}}, {'resources': {'requests': {'storage': '1'}}},
                 {'volumeName': 'v'}):
        s.patch('persistentvolumeclaims/a?dryRun=All', {'spec': spec})
    path = '/api/v1/persistentvolumes'
    for source in ({'hostPath': None}, {'hostPath': None, 'nfs': {}}, {'hostPath': None, 'local': {'path': '/a'}},
                   {'nfs': {'server': 'a', 'path': '/a'}}, {'hostPath': None, 'csi': {'driver': 'A b'}}, {'nodeAffinity': {}},
                   {'capacity': {'cpu': '1'}}, {'storageClassName': 'A'}):
        s.post(path + '?dryRun=All', pv('{ns}', **source))
    path = '/apis/storage.k8s.io/v1/csidrivers'
    for spec in ({'fsGroupPolicy': 'x'}, {'volumeLifecycleModes': ['x']}):
        s.post(path + '?dryRun=All', obj('storage.k8s.io/v1', 'CSIDriver', '{ns}', spec=spec))
    s.post(path, obj('storage.k8s.io/v1', 'CSIDriver', '{ns}', spec={'attachRequired': False}))
    s.patch(path + '/{ns}?dryRun=All', {'spec': {'attachRequired': True, 'volumeLifecycleModes': ['Ephemeral']}})
    s.delete(path + '/{ns}')


@scenario
def nodes_bad(s):
    """Ranges and taints of nodes."""
    for spec in ({'podCIDR': '10.0.0.1/24'}, {'podCIDR': 'fd00::1/64'}, {'podCIDR': '10.0.0.0/24', 'podCIDRs': ['10.0.1.0/24']},
                 {'taints': [{'key': 'a'}]}, {'taints': [{'key': '', 'effect': 'x', 'value': 'b c'}]}):
        s.post('/api/v1/nodes?dryRun=All', obj('v1', 'Node', '{ns}', spec=spec))


@scenario
def kept_of_older_versions(s):
    """Counts and annotations of older versions that objects bring along; pods that wait."""
    s.post('daemonsets?dryRun=All', dict(wl('DaemonSet', 'a'), metadata={
        'name': 'a', 'annotations': {'deprecated.daemonset.template.generation': '3'}}))
    condition = '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}]'
    target = {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'}
    s.post('/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers?dryRun=All',
           obj('autoscaling/v1', 'HorizontalPodAutoscaler', 'a', spec={'scaleTargetRef': target, 'maxReplicas': 3})
           | {'metadata': {'name': 'a', 'annotations': {'autoscaling.alpha.kubernetes.io/conditions': condition}}})
    s.post('pods?dryRun=All', pod('a', schedulingGates=[{'name': 'a.io/b'}]))
    for profile in ('localhost/x', 'runtime/default', 'unconfined', 'y'):
        s.post('pods?dryRun=All', dict(pod('a'), metadata={
            'name': 'a', 'annotations': {'container.apparmor.security.beta.kubernetes.io/c': profile}}))
    old = {'pod.beta.kubernetes.io/init-containers': '[]'}
    s.post('pods?dryRun=All', dict(pod('a'), metadata={'name': 'a', 'annotations': old}))
    template = tmpl()
    template['metadata']['annotations'] = dict(old, a='b')
    s.post('deployments?dryRun=All', wl('Deployment', 'a', template=template))


@scenario
def warnings_of_kinds(s):
    """Valid objects that a server warns of."""
    term = {'topologyKey': 'a'}
    twice = dict(CONTAINER, env=[{'name': 'a', 'value': '1'}, {'name': 'a', 'value': '2'}],
                 ports=[{'containerPort': 80}, {'containerPort': 80}, {'containerPort': 80, 'hostPort': 8080}])
    spec = {'containers': [dict(twice, name='d', ports=[{'name': 'p', 'containerPort': 90}]), dict(
        twice, ports=twice['ports'] + [{'name': 'p', 'containerPort': 91}])],
        'imagePullSecrets': [{'name': 'a'}, {'name': 'b'}, {'name': ''}], 'terminationGracePeriodSeconds': -1,
        'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [term]}, 'podAntiAffinity': {
            'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 1, 'podAffinityTerm': term}]}},
        'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'a', 'whenUnsatisfiable': 'DoNotSchedule'}],
        'volumes': [{'name': 'a', 'glusterfs': {'endpoints': 'a', 'path': 'a'}}, {'name': 'b', 'projected': {'sources': [{}]}}]}
    s.post('pods?dryRun=All', pod('a', **spec))
    s.post('pods?dryRun=All', pod('a.' + 'b' * 70))
    annotation = {'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default'}
    template = tmpl(**spec)
    template['metadata']['annotations'] = annotation
    s.create('deployments/a', spec=wl('Deployment', 'a', template=template)['spec'])
    s.patch('deployments/a', {'metadata': {'labels': {'a': 'b'}}})
    s.patch('deployments/a', {'spec': {'replicas': 0}})
    s.post('cronjobs?dryRun=All', cj('a', jobTemplate={'spec': {'template': {'spec': dict(spec, restartPolicy='Never')}}}))
    s.post('podtemplates?dryRun=All', obj('v1', 'PodTemplate', 'a', template=template))
    s.post('services?dryRun=All', svc('a', externalIPs=['1.2.3.4']))
    beta = {'name': 'a', 'annotations': {'volume.beta.kubernetes.io/storage-class': 'a'}}
    s.post('persistentvolumeclaims?dryRun=All', dict(pvc('a'), metadata=beta))
    s.post('/api/v1/persistentvolumes?dryRun=All', dict(
        pv('a', persistentVolumeReclaimPolicy='Recycle'), metadata=dict(beta, name='{ns}')))


@scenario
def apply_that_does_not_decode(s):
    """Documents that fit the schema, but are no values of their Go types."""
    s.apply('secrets/a', data={'a': '!'})
    s.apply('resourcequotas/a', spec={'hard': {'cpu': 'x'}})
