# SPDX-License-Identifier: Apache-2.0
"""Built-in kinds: created by command and by manifest, printed in every form."""


def made_by_command(k):
    """Since about 1.30 kubectl sends protobuf here."""
    k.write('file.txt', 'text of a file\n')
    k('create configmap made --from-literal=k=v --from-file=file.txt')
    k('create configmap made')
    k('get cm made -o jsonpath={.data}')
    k('create secret generic made --from-literal=k=v')
    k('create secret docker-registry registry --docker-username=u --docker-password=p --docker-server=r.example.com')
    k('get secrets --field-selector type=Opaque')
    k('get secret made -o jsonpath={.type}/{.data.k}')
    k('describe secret made')
    k('create serviceaccount made')
    k('get sa made')
    k('create quota made --hard=cpu=1,pods=2')
    k('describe quota made')
    k('create poddisruptionbudget made --selector=app=x --min-available=1' if k.program.minor != '1.20' else
      'create quota other --hard=pods=1')
    k('create role made --verb=get,list --resource=pods,configmaps')
    k('describe role made')
    k('create rolebinding made --role=made --serviceaccount=%s:made' % k.namespace)
    k('get rolebinding made -o wide')
    k('describe rolebinding made')
    k('create clusterrole %s-made --verb=get --resource=pods' % k.namespace)
    k('create clusterrolebinding %s-made --clusterrole=%s-made --user=somebody' % (k.namespace, k.namespace))
    k('describe clusterrolebinding %s-made' % k.namespace)
    k('delete clusterrole,clusterrolebinding %s-made' % k.namespace)
    k('create role bad --verb=get --resource=nonsense')
    k('create namespace %s-made' % k.namespace)
    k('delete namespace %s-made' % k.namespace)
    k('create priorityclass %s-made --value=7' % k.namespace)
    k('get priorityclass %s-made' % k.namespace)
    k('delete priorityclass %s-made' % k.namespace)
    if k.program.minor != '1.20':
        k('create ingress made --rule=example.com/*=web:80 --class=other')
        k('get ingress made')
        k('describe ingress made')
    k('delete cm/made secret/made sa/made quota/made role/made rolebinding/made')


def services(k):
    k('create service clusterip made --tcp=80:8080')
    k('create service clusterip headless --clusterip=None --tcp=80')
    k('create service nodeport np --tcp=80')
    k('create service loadbalancer lb --tcp=80')
    k('create service externalname en --external-name=example.com')
    k('get svc')
    k('get svc made -o wide')
    k('get svc made -o yaml')
    k('describe svc made --show-events=false')  # the real server's may contain a repair
    k('get svc np -o jsonpath={.spec.type}/{.spec.externalTrafficPolicy}')
    k(['patch', 'svc', 'made', '-p', '{"spec":{"ports":[{"port":80,"targetPort":9090},{"name":"more","port":81}]}}'])
    k(['patch', 'svc', 'made', '-p', '{"spec":{"clusterIP":"10.0.0.7"}}'])
    k(['patch', 'svc', 'made', '-p', '{"spec":{"type":"Nonsense"}}'])
    k('set selector svc made app=web')
    k('get svc made -o jsonpath={.spec.selector}')
    k('delete svc --all')


MANIFESTS = {
    'ReplicaSet': '''\
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: it}
spec:
  replicas: 0
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
''',
    'ReplicationController': '''\
apiVersion: v1
kind: ReplicationController
metadata: {name: it}
spec:
  replicas: 0
  selector: {app: it}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
''',
    'NetworkPolicy': '''\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: it}
spec:
  podSelector: {matchLabels: {app: it}}
  ingress:
  - from: [{podSelector: {}}]
    ports: [{port: 80}]
''',
    'PersistentVolumeClaim': '''\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: it}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
''',
    'Endpoints': '''\
apiVersion: v1
kind: Endpoints
metadata: {name: it}
subsets:
- addresses: [{ip: 192.0.2.1}]
  ports: [{port: 80}]
''',
    'EndpointSlice': '''\
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: it, labels: {kubernetes.io/service-name: it}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [{addresses: [192.0.2.1]}]
''',
    'Lease': '''\
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: it}
spec: {holderIdentity: me, leaseDurationSeconds: 15, leaseTransitions: 1}
''',
    'LimitRange': '''\
apiVersion: v1
kind: LimitRange
metadata: {name: it}
spec: {limits: [{type: Container, max: {memory: 1Gi}}]}
''',
    'Event': '''\
apiVersion: v1
kind: Event
metadata: {name: it}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: it, namespace: %s}
type: Warning
reason: Tested
message: It was tested.
count: 3
source: {component: tests}
''',
    'PodTemplate': '''\
apiVersion: v1
kind: PodTemplate
metadata: {name: it}
template:
  metadata: {labels: {app: it}}
  spec: {containers: [{name: main, image: "nginx:1"}]}
''',
    'ControllerRevision': '''\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: it}
revision: 3
data: {a: b}
''',
    'ServiceAccount': '''\
apiVersion: v1
kind: ServiceAccount
metadata: {name: it}
automountServiceAccountToken: false
''',
    'Secret': '''\
apiVersion: v1
kind: Secret
metadata: {name: it}
stringData: {password: secret}
''',
}

CLUSTER_MANIFESTS = {
    'StorageClass': 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s}\nprovisioner: example.com/disk\n',
    'PersistentVolume': '''\
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /tmp}
''',
    'RuntimeClass': 'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: %s}\nhandler: runc\n',
    'IngressClass': 'apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: %s}\nspec: {controller: example.com/c}\n',
    'ValidatingWebhookConfiguration': '''\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: check.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://example.com/check"}
  rules: [{apiGroups: [nowhere.example.com], apiVersions: [v1], resources: [nothings], operations: [CREATE]}]
''',
    'CSIDriver': 'apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: %s}\n',
}


def kinds(k):
    for kind, manifest in MANIFESTS.items():
        k('create -f -', stdin=manifest % k.namespace if kind == 'Event' else manifest)
        # On the real server the ReplicaSet controller sets the status.
        if kind == 'ReplicaSet' and k.real:
            k.wait_until('its status is there', 'get rs it -o jsonpath={.status.observedGeneration}', '1')
        k('get %s it' % kind)
        k('get %s it -o wide' % kind)
        if kind != 'ReplicaSet':
            k('get %s it -o yaml' % kind)
        k('describe %s it' % kind)
        k('delete %s it --wait=false' % kind)


def cluster_kinds(k):
    for kind, manifest in CLUSTER_MANIFESTS.items():
        name = 'it-' + k.namespace
        k('create -f -', stdin=manifest % name)
        k('get %s %s' % (kind, name))
        k('get %s %s -o yaml' % (kind, name))
        k('describe %s %s' % (kind, name))
        k('delete %s %s --wait=false' % (kind, name))


def events(k):
    k('get events')
    k('create -f -', stdin=MANIFESTS['Event'] % 'elsewhere')
    k('create -f -', stdin=MANIFESTS['Event'] % k.namespace)
    k('get events')
    k('get events -o wide')
    k('get events --field-selector type=Warning,reason=Tested -o name')
    k('get events --field-selector type=Normal -o name')
    k('get events.events.k8s.io it -o jsonpath={.note}/{.regarding.name}/{.deprecatedCount}')
    if k.program.minor != '1.20':
        k('events')
        k('events --types=Warning')
        k('events --for=configmap/it')


def refused(k):
    """Objects that the rules of each kind reject."""
    for kind, wrong in {
            'ReplicaSet': ('matchLabels: {app: it}', 'matchLabels: {app: other}'), 'Lease': ('15', '-1'),
            'PersistentVolumeClaim': ('[ReadWriteOnce]', '[Sometimes]'), 'Secret': ('stringData: {password', 'stringData: {"pass word"'),
            'NetworkPolicy': ('port: 80', 'port: 0'), 'EndpointSlice': ('addressType: IPv4', 'addressType: IPv5'),
            'LimitRange': ('memory: 1Gi', 'memory: lots'), 'Endpoints': ('192.0.2.1', 'nowhere')}.items():
        k('create -f -', stdin=MANIFESTS[kind].replace(*wrong))


PARTS = [kinds, made_by_command, services, cluster_kinds, events, refused]
