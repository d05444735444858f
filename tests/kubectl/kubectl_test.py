#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives a kubectl against evenkeel-apiserver and compares what it prints.

  kubectl_test.py PROGRAM KUBECTL [--keep-going]

What changes from run to run (ages, uids, versions, times) is replaced before the comparison; where versions of
kubectl print differently, the expectation says from which minor version on. KUBECTL runs with a home, a cache
and a kubeconfig of its own. Every wait has an end and says what it waited for.
"""
import argparse
import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

START_SECONDS, STOP_SECONDS, COMMAND_SECONDS, WATCH_SECONDS = 20, 5, 60, 20

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: demos.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: demos, singular: demo, kind: Demo, listKind: DemoList, shortNames: [dm]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [replicas]
            properties:
              replicas: {type: integer, minimum: 0, maximum: 9, description: How many.}
              color: {type: string, default: red}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
"""

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: %s}
data: {k: %s}
"""

DEMO = """\
apiVersion: example.com/v1
kind: Demo
metadata: {name: %s}
spec: {replicas: %s}
"""

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


class Failure(Exception):
    pass


def without_managed_fields(text):
    """Removes the member from YAML: kubectl hides it from 1.21 on."""
    kept, depth = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and (indent > depth or (indent == depth and line.lstrip().startswith('- '))):
            continue
        depth = None
        if line.strip() == 'managedFields:':
            depth = indent
            continue
        kept.append(line)
    return '\n'.join(kept)


def normalised(text):
    text = without_managed_fields(text)
    text = re.sub(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<uid>', text)
    text = re.sub(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', '<time>', text)
    text = re.sub(r'(resourceVersion: )"\d+"', r'\1<version>', text)
    text = re.sub(r'(Resource Version: +)\d+', r'\1<version>', text)
    text = re.sub(r'(?m)\b\d+(ms|s|m)\d*s?$', '<age>', text)
    text = re.sub(r'(?m)(?<= )\d+(ms|s|m)(\d+s)?(?= )', '<age>', text)
    text = re.sub(r'(?<=\S) {2,}', '   ', text)  # columns are as wide as the ages in them
    return re.sub(r'[ \t]+$', '', text, flags=re.M).strip('\n')


class Server:
    def __init__(self, program, kubeconfig, *credentials):
        self.process = subprocess.Popen([program, '--tls', *credentials, '--write-kubeconfig', kubeconfig],
                                        stdout=subprocess.PIPE)
        ready = select.select([self.process.stdout], [], [], START_SECONDS)[0]
        line = self.process.stdout.readline().decode() if ready else ''
        if ' is ready at https://' not in line:
            raise Failure('waited %d s for the server to be ready; it said %r' % (START_SECONDS, line))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure('waited %d s for the server to end after SIGTERM' % STOP_SECONDS)


class Watch:
    """A kubectl that runs on, and the lines that it printed."""

    def __init__(self, name, process):
        self.name, self.process, self.lines = name, process, []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip('\n'))
                self.changed.notify_all()

    def wait_for(self, count):
        end = time.monotonic() + WATCH_SECONDS
        with self.changed:
            while len(self.lines) < count:
                if not self.changed.wait(end - time.monotonic()) and time.monotonic() > end:
                    raise Failure('waited %d s for %d lines of %s; got %s'
                                  % (WATCH_SECONDS, count, self.name, self.lines))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


class Kubectl:
    def __init__(self, path, folder, keep_going):
        self.path, self.folder, self.keep_going = path, folder, keep_going
        self.checks, self.failures = 0, 0
        self.environment = {'HOME': folder, 'KUBECONFIG': os.path.join(folder, 'kubeconfig'), 'NO_PROXY': '*',
                            'PATH': os.environ['PATH'], 'KUBECACHEDIR': os.path.join(folder, 'cache'), 'LC_ALL': 'C'}
        version = json.loads(self.run('version', '--client', '-o', 'json').stdout)['clientVersion']
        self.minor = int(re.match(r'\d+', version['minor']).group(0))
        self.version = version['gitVersion']

    def command(self, arguments):
        return [self.path, '--cache-dir', os.path.join(self.folder, 'cache'), *arguments]

    def run(self, *arguments, stdin=None, environment=None):
        try:
            return subprocess.run(self.command(arguments), input=stdin, env={**self.environment, **(environment or {})},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure('waited %d s for: kubectl %s' % (COMMAND_SECONDS, ' '.join(arguments)))

    def watch(self, *arguments):
        process = subprocess.Popen(self.command(arguments), env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        return Watch('kubectl ' + ' '.join(arguments), process)

    def since(self, *expectations):
        """The text of the last (minor, text) whose minor is not newer than this kubectl."""
        return [text for minor, text in expectations if minor <= self.minor][-1]

    def expect(self, arguments, wanted, stdin=None, environment=None, code=0):
        """Compares what a command prints, both streams, with `wanted` (ignoring what normalised() replaces)."""
        self.checks += 1
        done = self.run(*arguments.split(), stdin=stdin, environment=environment) if isinstance(arguments, str) \
            else self.run(*arguments, stdin=stdin, environment=environment)
        got = normalised(done.stdout + done.stderr)
        if got == normalised(wanted) and done.returncode == code:
            return
        self.fail('kubectl %s\n--- wanted (exit %d)\n%s\n--- printed (exit %d)\n%s'
                  % (arguments if isinstance(arguments, str) else ' '.join(arguments), code, wanted,
                     done.returncode, got))

    def fail(self, what):
        self.failures += 1
        print('FAILED ' + what + '\n')
        if not self.keep_going:
            raise Failure('see above; --keep-going shows all')


def editor(folder, expression):
    """A KUBE_EDITOR that changes the file with sed."""
    path = os.path.join(folder, 'editor')
    with open(path, 'w') as file:
        file.write('#!/bin/sh\nexec sed -i "%s" "$1"\n' % expression)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return {'KUBE_EDITOR': path}


def create_and_get(k):
    k.expect('get configmaps', 'No resources found in default namespace.')
    k.expect('create -f -', 'configmap/c created', stdin=CONFIG_MAP % ('c', 'v, l: w'))
    k.expect('create -f -', 'Error from server (AlreadyExists): error when creating "STDIN": configmaps "c" already '
             'exists', stdin=CONFIG_MAP % ('c', 'v'), code=1)
    k.expect('get configmaps', 'NAME   DATA   AGE\nc      2      1s')
    k.expect('get cm c -o wide', 'NAME   DATA   AGE\nc      2      1s')
    k.expect('get cm -A', 'NAMESPACE   NAME   DATA   AGE\ndefault     c      2      1s')
    k.expect('get cm c -o name', 'configmap/c')
    k.expect('get cm c -o jsonpath={.data.k}', 'v')
    k.expect('get cm c -o custom-columns=NAME:.metadata.name,K:.data.k', 'NAME   K\nc      v')
    k.expect('get cm c -o yaml', '''\
apiVersion: v1
data:
  k: v
  l: w
kind: ConfigMap
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  name: c
  namespace: default
  resourceVersion: "1"
  uid: 00000000-0000-0000-0000-000000000000
''')
    done = json.loads(k.run('get', 'cm', '-o', 'json').stdout)
    if done['kind'] != 'List' or [item['data'] for item in done['items']] != [{'k': 'v', 'l': 'w'}]:
        k.fail('get cm -o json: %s' % done)
    k.expect('get cm nope', 'Error from server (NotFound): configmaps "nope" not found', code=1)
    k.expect('get nonsense', 'error: the server doesn\'t have a resource type "nonsense"', code=1)
    k.expect('get ns default -o jsonpath={.status.phase}', 'Active')


def create_by_command(k):
    # From about 1.30 on these send protobuf.
    k.expect('create configmap made --from-literal=k=v', 'configmap/made created')
    k.expect('create configmap made', k.since(
        (0, 'Error from server (AlreadyExists): configmaps "made" already exists'),
        (21, 'error: failed to create configmap: configmaps "made" already exists')), code=1)
    k.expect('get cm made -o jsonpath={.data.k}', 'v')
    k.expect('create secret generic made --from-literal=k=v', 'secret/made created')
    k.expect('get secret made -o jsonpath={.type}/{.data.k}', 'Opaque/dg==')
    k.expect('create deployment made --image=nginx:1 --replicas=2', 'deployment.apps/made created')
    k.expect('get deploy made -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[0].image}', '2/nginx:1')
    k.expect('create namespace made', 'namespace/made created')
    k.expect('create serviceaccount made -n made', 'serviceaccount/made created')
    k.expect('create service clusterip made --tcp=80:8080', 'service/made created')
    k.expect('get svc made -o jsonpath={.spec.ports[0].port}/{.spec.ports[0].targetPort}', '80/8080')
    end = k.since((0, ''), (34, ' from default namespace'))
    k.expect('delete cm/made secret/made deploy/made svc/made', '\n'.join(
        '%s "made" deleted%s' % (kind, end) for kind in ('configmap', 'secret', 'deployment.apps', 'service')))
    k.expect('delete namespace made', 'namespace "made" deleted')


def label_and_select(k):
    k.expect('label cm c app=web', 'configmap/c labeled')
    k.expect('label cm c app=db', k.since(
        (0, "error: 'app' already has a value (web), and --overwrite is false"),
        (30, "error: 'app' already has a value (web), and --overwrite is false")), code=1)
    k.expect('label cm c app=db --overwrite', k.since((0, 'configmap/c labeled'), (30, 'configmap/c labeled')))
    k.expect('annotate cm c note=x', 'configmap/c annotated')
    k.expect('create -f -', 'configmap/other created', stdin=CONFIG_MAP % ('other', 'x'))
    k.expect('get cm -l app=db -o name', 'configmap/c')
    k.expect('get cm -l app!=db -o name', 'configmap/other')
    k.expect(['get', 'cm', '-l', 'app in (db,web)', '-o', 'name'], 'configmap/c')
    k.expect('get cm -l !app -o name', 'configmap/other')
    k.expect('get cm --field-selector metadata.name=other -o name', 'configmap/other')
    k.expect('get cm -L app', 'NAME    DATA   AGE   APP\nc       2      1s    db\nother   1      1s')
    k.expect('get cm c --show-labels', 'NAME   DATA   AGE   LABELS\nc      2      1s    app=db')
    k.expect('label cm c app-', k.since((0, 'configmap/c labeled'), (22, 'configmap/c unlabeled')))
    k.expect('get cm c -o jsonpath={.metadata.labels}{.metadata.annotations.note}', 'x')
    k.expect('delete cm other', k.since((0, 'configmap "other" deleted'),
                                        (34, 'configmap "other" deleted from default namespace')))


def patch_and_edit(k):
    k.expect(['patch', 'cm', 'c', '--type=merge', '-p', '{"data":{"l":null,"m":"n"}}'], 'configmap/c patched')
    k.expect('get cm c -o jsonpath={.data.k}{.data.l}{.data.m}', 'vn')
    k.expect(['patch', 'cm', 'c', '--type=merge', '-p', '{"data":{"m":"n"}}'], 'configmap/c patched (no change)')
    k.expect(['patch', 'cm', 'c', '--type=json', '-p', '[{"op":"replace","path":"/data/k","value":"x"}]'],
             'configmap/c patched')
    k.expect(['patch', 'cm', 'c', '--type=json', '-p', '[{"op":"test","path":"/data/k","value":"y"}]'],
             k.since((0, 'The request is invalid'),
                     (21, 'The request is invalid: the server rejected our request due to an error in our request')),
             code=1)
    k.expect('get cm c -o jsonpath={.data.k}', 'x')
    k.expect('edit cm c', 'configmap/c edited', environment=editor(k.folder, 's/  k: x/  k: edited/'))
    k.expect('get cm c -o jsonpath={.data.k}', 'edited')
    k.expect('edit cm c', k.since((0, 'Edit cancelled, no changes made.')), environment=editor(k.folder, 's/zzz/z/'))
    k.expect('replace -f -', 'configmap/c replaced', stdin=CONFIG_MAP % ('c', 'replaced'))
    k.expect('get cm c -o jsonpath={.data.k}{.data.m}', 'replaced')


def apply(k):
    k.expect('apply -f -', 'configmap/a created', stdin=CONFIG_MAP % ('a', 'one'))
    k.expect('apply -f -', 'configmap/a unchanged', stdin=CONFIG_MAP % ('a', 'one'))
    k.expect('apply -f -', 'configmap/a configured', stdin=CONFIG_MAP % ('a', 'two'))
    k.expect('get cm a -o jsonpath={.data.k}', 'two')
    k.expect('apply -f - --dry-run=server', 'configmap/dry created (server dry run)', stdin=CONFIG_MAP % ('dry', 'x'))
    k.expect('get cm dry', 'Error from server (NotFound): configmaps "dry" not found', code=1)
    unknown = CONFIG_MAP % ('bad', 'x') + 'colour: red\n'
    k.expect('apply -f -', k.since(
        (0, 'error: error validating "STDIN": error validating data: ValidationError(ConfigMap): unknown field '
            '"colour" in io.k8s.api.core.v1.ConfigMap; if you choose to ignore these errors, turn validation off '
            'with --validate=false'),
        (25, 'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be '
             'handled as a ConfigMap: strict decoding error: unknown field "colour"')), stdin=unknown, code=1)


def apply_server_side(k):
    k.expect('apply --server-side -f -', 'configmap/s serverside-applied', stdin=CONFIG_MAP % ('s', 'one'))
    k.expect('apply --server-side -f -', 'configmap/s serverside-applied', stdin=CONFIG_MAP % ('s', 'two'))
    k.expect('apply --server-side --field-manager=other -f -', k.since(
        (0, '''\
error: Apply failed with 1 conflict: conflict with "kubectl": .data.k
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See http://k8s.io/docs/reference/using-api/api-concepts/#conflicts'''),
        (26, '''\
error: Apply failed with 1 conflict: conflict with "kubectl": .data.k
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts''')),
             stdin=CONFIG_MAP % ('s', 'three'), code=1)
    k.expect('apply --server-side --field-manager=other --force-conflicts -f -', 'configmap/s serverside-applied',
             stdin=CONFIG_MAP % ('s', 'three'))
    k.expect('get cm s -o jsonpath={.data.k}', 'three')


def deployments(k):
    k.expect('apply -f -', 'deployment.apps/web created', stdin=DEPLOYMENT)
    k.expect('get deployments', 'NAME   READY   UP-TO-DATE   AVAILABLE   AGE\nweb    0/1     0            0           1s')
    k.expect('get deploy web -o wide', '''\
NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES    SELECTOR
web    0/1     0            0           1s    main         nginx:1   app=web''')
    k.expect('scale deployment web --replicas=3', 'deployment.apps/web scaled')
    k.expect('get deploy web -o jsonpath={.spec.replicas}', '3')
    k.expect(['patch', 'deploy', 'web', '-p', json.dumps({'spec': {'template': {'spec': {'containers': [
        {'name': 'main', 'env': [{'name': 'A', 'value': '1'}]}, {'name': 'side', 'image': 'busybox'}]}}}})],
             'deployment.apps/web patched')
    k.expect('get deploy web -o jsonpath={.spec.template.spec.containers[*].name}', 'main side')
    k.expect(['get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[?(@.name=="main")].image}'],
             'nginx:1')
    k.expect('set image deployment/web main=nginx:2', 'deployment.apps/web image updated')
    k.expect(['get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[?(@.name=="main")].image}'],
             'nginx:2')
    k.expect('apply -f -', 'deployment.apps/web configured', stdin=DEPLOYMENT.replace('nginx:1', 'nginx:3'))
    k.expect('delete deployment web', k.since((0, 'deployment.apps "web" deleted'),
                                              (34, 'deployment.apps "web" deleted from default namespace')))


def custom_resources(k):
    k.expect('create -f -', 'customresourcedefinition.apiextensions.k8s.io/demos.example.com created', stdin=CRD)
    k.expect('wait --for=condition=Established crd/demos.example.com --timeout=20s',
             'customresourcedefinition.apiextensions.k8s.io/demos.example.com condition met')
    k.expect('get demos', 'No resources found in default namespace.')
    k.expect('apply -f -', 'demo.example.com/one created', stdin=DEMO % ('one', 2))
    k.expect('apply -f -', 'demo.example.com/one configured', stdin=DEMO % ('one', 3))
    k.expect('get dm', 'NAME   REPLICAS   AGE\none    3          1s')
    k.expect('get demo one -o wide', 'NAME   REPLICAS   COLOR   AGE\none    3          red     1s')
    k.expect('scale demo one --replicas=5', 'demo.example.com/one scaled')
    k.expect('get demo one -o jsonpath={.spec.replicas},{.metadata.generation}', '5,3')
    k.expect(['patch', 'demo', 'one', '--type=merge', '-p', '{"spec":{"color":"blue"}}'], 'demo.example.com/one patched')
    k.expect('label demo one tier=a', 'demo.example.com/one labeled')
    k.expect('get demos -l tier=a', 'NAME   REPLICAS   AGE\none    5          1s')
    k.expect('edit demo one', 'demo.example.com/one edited', environment=editor(k.folder, 's/replicas: 5/replicas: 6/'))
    k.expect('get demo one -o jsonpath={.spec.replicas}', '6')
    k.expect('apply --server-side -f -', 'demo.example.com/two serverside-applied', stdin=DEMO % ('two', 1))
    k.expect('apply -f -', 'The Demo "three" is invalid: spec.replicas: Invalid value: %s' % k.since(
        (0, '10: spec.replicas in body should be less than or equal to 9')), stdin=DEMO % ('three', 10), code=1)
    k.expect('get demos -o name', 'demo.example.com/one\ndemo.example.com/two')
    k.expect('delete demo two', k.since((0, 'demo.example.com "two" deleted'),
                                        (34, 'demo.example.com "two" deleted from default namespace')))
    k.expect('api-resources --api-group=example.com', k.since(
        (0, 'NAME    SHORTNAMES   APIVERSION       NAMESPACED   KIND\ndemos   dm           example.com/v1   true         Demo')))


def describe(k):
    k.expect('describe cm a', k.since((0, '''\
Name:         a
Namespace:    default
Labels:       <none>
Annotations:  <none>

Data
====
k:
----
two
Events:  <none>'''), (23, '''\
Name:         a
Namespace:    default
Labels:       <none>
Annotations:  <none>

Data
====
k:
----
two


BinaryData
====

Events:  <none>''')))
    text = k.run('describe', 'demo', 'one').stdout
    for part in ('Name:         one', 'Kind:         Demo', 'API Version:  example.com/v1', 'Color:     blue',
                 'Replicas:  6', 'Generation:          5', 'Events:'):
        if part not in text:
            k.fail('describe demo one: no "%s" in\n%s' % (part, text))


def explain(k):
    text = k.run('explain', 'demo.spec').stdout
    for part in ('What is wanted.', 'replicas', 'How many.'):
        if part not in text:
            k.fail('explain demo.spec: no "%s" in\n%s' % (part, text))


def watch(k):
    watch = k.watch('get', 'demos', '-w')
    try:
        watch.wait_for(2)  # heading and "one"
        k.expect('apply -f -', 'demo.example.com/watched created', stdin=DEMO % ('watched', 1))
        watch.wait_for(3)
        k.expect('scale demo watched --replicas=2', 'demo.example.com/watched scaled')
        watch.wait_for(4)
        k.run('delete', 'demo', 'watched')
        watch.wait_for(5)
    finally:
        watch.stop()
    got = [line.split()[:2] for line in watch.lines]
    wanted = [['NAME', 'REPLICAS'], ['one', '6'], ['watched', '1'], ['watched', '2'], ['watched', '2']]
    if got != wanted:
        k.fail('get demos -w: wanted %s, got %s' % (wanted, watch.lines))


def finalizers(k):
    held = DEMO.replace('{name: %s}', '{name: %s, finalizers: [example.com/hold]}') % ('held', 1)
    k.expect('apply -f -', 'demo.example.com/held created', stdin=held)
    k.expect('delete demo held --wait=false', k.since((0, 'demo.example.com "held" deleted'),
                                                     (34, 'demo.example.com "held" deleted from default namespace')))
    k.expect('get demo held -o jsonpath={.metadata.deletionTimestamp}', '2026-01-01T00:00:00Z')
    k.expect('get demo held -o jsonpath={.metadata.finalizers[0]}', 'example.com/hold')
    waiting = k.watch('delete', 'demo', 'held')
    waiting.wait_for(1)
    k.expect(['patch', 'demo', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'],
             'demo.example.com/held patched')
    try:
        waiting.process.wait(WATCH_SECONDS)
    except subprocess.TimeoutExpired:
        k.fail('waited %d s for kubectl delete to see the object go' % WATCH_SECONDS)
    waiting.stop()
    k.expect('get demo held', 'Error from server (NotFound): demos.example.com "held" not found', code=1)


def namespaces(k):
    k.expect('create -f -', 'namespace/extra created',
             stdin='apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n')
    k.expect('-n extra apply -f -', 'configmap/inside created', stdin=CONFIG_MAP % ('inside', 'x'))
    k.expect('delete namespace extra', 'namespace "extra" deleted')
    k.expect('get namespace extra', 'Error from server (NotFound): namespaces "extra" not found', code=1)
    k.expect('-n extra get cm inside', 'Error from server (NotFound): namespaces "extra" not found', code=1)


def delete(k):
    k.expect('label cm a s -l !nothing x=y', 'error: name cannot be provided when a selector is specified', code=1)
    k.expect('label cm a s x=y', 'configmap/a labeled\nconfigmap/s labeled')
    end = k.since((0, ''), (34, ' from default namespace'))
    k.expect('delete cm -l x=y', 'configmap "a" deleted%s\nconfigmap "s" deleted%s' % (end, end))
    k.expect('delete cm nope', 'Error from server (NotFound): configmaps "nope" not found', code=1)
    k.expect('delete cm nope --ignore-not-found', '')
    k.expect('delete crd demos.example.com',
             'customresourcedefinition.apiextensions.k8s.io "demos.example.com" deleted')
    k.expect('get demos', k.since(
        (0, 'Error from server (NotFound): Unable to list "example.com/v1, Resource=demos": the server could not '
            'find the requested resource (get demos.example.com)')), code=1)


PARTS = [create_and_get, create_by_command, label_and_select, patch_and_edit, apply, apply_server_side, deployments, custom_resources,
         describe, explain, watch, finalizers, namespaces, delete]


def open_server(k, program):
    """One that asks for no credentials; kubectl must not ask the terminal for any either."""
    kubeconfig = os.path.join(k.folder, 'open-kubeconfig')
    server = Server(program, kubeconfig)
    try:
        k.expect('get configmaps', 'No resources found in default namespace.', environment={'KUBECONFIG': kubeconfig})
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('kubectl')
    parser.add_argument('--keep-going', action='store_true')
    options = parser.parse_args()
    kubectl = shutil.which(options.kubectl)
    if kubectl is None:
        print('no kubectl at %s' % options.kubectl)
        return 1
    folder = tempfile.mkdtemp(prefix='evenkeel-kubectl-')
    server = None
    try:
        server = Server(options.program, os.path.join(folder, 'kubeconfig'), '--token', 'kubectl-test')
        k = Kubectl(os.path.abspath(kubectl), folder, options.keep_going)
        for part in PARTS:
            start = time.monotonic()
            part(k)
            print('%-18s %5.1f s' % (part.__name__, time.monotonic() - start))
        open_server(k, options.program)
        code = server.stop()
        if code != 0:
            k.fail('the server ended with %d after SIGTERM' % code)
        print('kubectl %s: %d commands, %d failures' % (k.version, k.checks, k.failures))
        return 1 if k.failures else 0
    except Failure as failure:
        print('FAILED %s' % failure)
        return 1
    finally:
        if server and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
