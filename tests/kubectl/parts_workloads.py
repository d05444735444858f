# SPDX-License-Identifier: Apache-2.0
"""Workloads and their commands. There is no node: Pods stay Pending on the real server, too."""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1"}
"""


def deployments(k):
    """Paused, so that the real server's controllers create no Pods, and both servers respond equally."""
    paused = DEPLOYMENT.replace('replicas: 1', 'replicas: 0\n  paused: true')
    k('apply -f -', stdin=paused)
    k('get deploy web -o jsonpath={.spec}')
    k('scale deployment web --replicas=3')
    k('scale deployment web --replicas=4 --current-replicas=2')
    k('scale deployment web --replicas=0 --current-replicas=3')
    k('scale deployment nope --replicas=3')
    k('get deploy web -o jsonpath={.spec.replicas}')
    k(['patch', 'deploy', 'web', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A",'
       '"value":"1"}]},{"name":"side","image":"busybox"}]}}}}'])
    k('get deploy web -o jsonpath={.spec.template.spec.containers}')
    k('set image deployment/web main=nginx:2')
    k('set image deployment/web nope=nginx:2')
    k('set env deployment/web B=2')
    k('set env deployment/web --list')
    k('set resources deployment web --limits=cpu=200m,memory=64Mi')
    k('set serviceaccount deployment web robot')
    k('get deploy web -o jsonpath={.spec.template.spec}')
    k(['patch', 'deploy', 'web', '-p', '{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"side"}]}}}}'])
    k('get deploy web -o jsonpath={.spec.template.spec.containers[*].name}')
    k(['patch', 'deploy', 'web', '-p', '{"spec":{"replicas":"many"}}'])
    k(['patch', 'deploy', 'web', '-p', '{"spec":{"replicas":-1}}'])
    k(['patch', 'deploy', 'web', '-p', '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'])
    k('rollout pause deployment/web')
    k('autoscale deployment web --min=1 --max=3 --cpu-percent=80')
    k('get hpa web -o jsonpath={.spec}')
    k('expose deployment web --port=80 --target-port=8080')
    k('get svc web -o jsonpath={.spec.ports}{.spec.selector}')
    k('expose deployment web --port=80')
    k('delete hpa,svc web')
    k('delete deployment web')


def rollouts(k):
    k('create deployment made --image=nginx:1 --replicas=2')
    k('create deployment made --image=nginx:1')
    if k.real:
        k.wait_until('it has its Pods', 'get deploy made -o jsonpath={.status.unavailableReplicas}', '2')
    k('get deploy made')
    k('get deploy made -o wide')
    k('describe deploy made')
    k('rollout status deployment/made --timeout=1s')
    k('rollout history deployment/made')
    k('rollout undo deployment/made')
    k('rollout restart deployment/made')
    k('rollout pause deployment/made')
    k('rollout resume deployment/made')
    k('rollout resume deployment/made')
    k('rollout status deployment/nope')
    k('delete deployment made --cascade=foreground')
    if k.real:
        k.wait_until('its Pods are gone', 'get pods -o name', '')
    k('get all')


SETS = """\
apiVersion: apps/v1
kind: %s
metadata: {name: set}
spec:
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec:
      containers:
      - {name: main, image: "nginx:1", ports: [{containerPort: 80, name: http}]}
"""


def sets(k):
    """The controllers of these two do not run on the real server either."""
    for kind in ('StatefulSet', 'DaemonSet'):
        k('create -f -', stdin=SETS % kind)
        k('get %s set' % kind)
        k('get %s set -o wide' % kind)
        k('describe %s set' % kind)
        k('get %s set -o yaml' % kind)
        k('rollout restart %s/set' % kind)
        k('rollout status %s/set --timeout=1s' % kind)
        k('rollout history %s/set' % kind)
        k('delete %s set' % kind)
    k('scale statefulset set --replicas=2')


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {run: %s}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: "nginx:1"
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m, memory: 64Mi}}
    env: [{name: A, value: "1"}]
    readinessProbe: {httpGet: {path: /, port: 80}}
"""


def pods(k):
    k('create -f -', stdin=POD % ('p', 'p'))
    k('get pods')
    k('get pod p -o wide')
    k('get pod p -o yaml')
    k('describe pod p')
    k('get pods --field-selector status.phase=Pending -o name')
    k('get pods --field-selector status.phase!=Pending -o name')
    k('get pods --field-selector spec.nodeName= -o name')
    k('get pods --field-selector spec.nonsense=x')
    k('logs p')
    k('logs p -c nope')
    k('logs nope')
    k('exec p -- true')
    k('attach p')
    k('port-forward p 0:80')
    k('top pod p')
    k('top node')
    k('run ran --image=nginx:1 --restart=Never --labels=a=b')
    k('get pod ran --show-labels')
    k('run ran --image=nginx:1 --restart=Never')
    k('set image pod/p main=nginx:2')
    k('get pod p -o jsonpath={.spec.containers[0].image}')
    k(['patch', 'pod', 'p', '-p', '{"spec":{"containers":[{"name":"main","command":["x"]}]}}'])
    k('wait pod/p --for=condition=Ready --timeout=1s')
    k('label pods --all x=y')
    k('create -f -', stdin=(POD % ('bad', 'bad')).replace('image: "nginx:1"', 'imagePullPolicy: Sometimes'))
    k('create -f -', stdin=(POD % ('bad', 'bad')).replace('containerPort: 80', 'containerPort: 80000'))
    k('delete pod p ran')
    k('get pods')


NODE = """\
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %s}}
"""


def nodes(k):
    name = 'node-' + k.namespace
    k('create -f -', stdin=NODE % (name, name))
    k('get nodes')
    k('get node %s -o wide' % name)
    k('cordon ' + name)
    k('get node %s -o jsonpath={.spec}' % name)
    k('taint node %s key=value:NoSchedule' % name)
    k('describe node ' + name)
    k('create -f -', stdin=(POD % ('placed', 'placed')).replace('spec:\n', 'spec:\n  nodeName: %s\n' % name))
    k('get pod placed -o wide')
    k('drain %s --dry-run=client' % name)
    k('drain %s --force --timeout=10s' % name)
    k('get pods')
    k('uncordon ' + name)
    k('delete node ' + name)


JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "* * * * *"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: busybox, command: ["true"]}]
"""


def jobs(k):
    k('create job once --image=busybox -- echo hello')
    k('get jobs')
    k('get job once -o wide')
    k('describe job once')
    k('get job once -o jsonpath={.spec.template.spec}')
    k('delete job once')
    if k.program.minor != '1.20':  # it supports only batch/v1beta1
        k('create -f -', stdin=JOB)
        k('get cronjobs')
        k('describe cronjob tick')
        k('create job --from=cronjob/tick now')
        k('get job now -o jsonpath={.metadata.ownerReferences[0].kind},{.spec.completions}')
        k('delete cronjob tick')
    k('create -f -', stdin=JOB.replace('"* * * * *"', '"now and then"'))


PARTS = [rollouts, pods, deployments, sets, nodes, jobs]
