# SPDX-License-Identifier: Apache-2.0
"""Manifests: client-side and server-side apply, diff, prune and kustomize."""
from parts_objects import CONFIG_MAP
from parts_workloads import DEPLOYMENT, SETS


def apply(k):
    k('apply -f -', stdin=CONFIG_MAP % ('a', 'one'))
    k('apply -f -', stdin=CONFIG_MAP % ('a', 'one'))
    k('apply -f -', stdin=CONFIG_MAP % ('a', 'two, l: m'))
    k('get cm a -o jsonpath={.data}')
    k('apply -f -', stdin=CONFIG_MAP % ('a', 'three'))
    k('get cm a -o yaml')
    k('apply view-last-applied cm a')
    k('apply -f - --dry-run=client', stdin=CONFIG_MAP % ('dry', 'x'))
    k('apply -f - --dry-run=server', stdin=CONFIG_MAP % ('dry', 'x'))
    k('get cm dry')
    k('create -f -', stdin=CONFIG_MAP % ('made', 'x'))
    k('apply -f -', stdin=CONFIG_MAP % ('made', 'y'))
    k('apply -f -', stdin=CONFIG_MAP % ('bad', 'x') + 'colour: red\n')
    k('apply -f - --validate=false', stdin=CONFIG_MAP % ('bad', 'x') + 'colour: red\n')
    k('apply -f -', stdin=CONFIG_MAP % ('worse', '[x]'))
    k('apply -f -', stdin='apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n')
    k('apply -f -', stdin='apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n'
                          '- {apiVersion: v1, kind: ConfigMap, metadata: {name: l2}}\n')
    k('apply -f -', stdin=DEPLOYMENT.replace('replicas: 1', 'replicas: 0'))
    k('apply -f -', stdin=DEPLOYMENT.replace('replicas: 1', 'replicas: 0'))
    k('apply -f -', stdin=DEPLOYMENT.replace('replicas: 1', 'replicas: 0').replace('nginx:1', 'nginx:3'))
    k('apply -f -', stdin=DEPLOYMENT.replace('{app: web}}\n  t', '{app: other}}\n  t'))
    k('apply edit-last-applied cm a', edit='s/three/four/')
    k('apply -f - --prune -l prune=me', stdin=(CONFIG_MAP % ('p1', 'x')).replace('}\n', ', labels: {prune: me}}\n', 1))
    k('apply -f - --prune -l prune=me --prune-whitelist=core/v1/ConfigMap' if k.program.minor == '1.20' else
      'apply -f - --prune -l prune=me --prune-allowlist=core/v1/ConfigMap',
      stdin=(CONFIG_MAP % ('p2', 'x')).replace('}\n', ', labels: {prune: me}}\n', 1))


def apply_server_side(k):
    k('apply --server-side -f -', stdin=CONFIG_MAP % ('s', 'one'))
    k('apply --server-side -f -', stdin=CONFIG_MAP % ('s', 'two'))
    k('apply --server-side --field-manager=other -f -', stdin=CONFIG_MAP % ('s', 'three'))
    k('apply --server-side --field-manager=other --force-conflicts -f -', stdin=CONFIG_MAP % ('s', 'three'))
    k('get cm s -o yaml --show-managed-fields')
    k('apply --server-side --field-manager=other -f -', stdin='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\n')
    k('get cm s -o jsonpath={.data}')
    k('apply --server-side --dry-run=server -f -', stdin=CONFIG_MAP % ('dry', 'x'))
    k('apply --server-side -f -', stdin=CONFIG_MAP % ('bad', 'x') + 'colour: red\n')
    k('apply --server-side --validate=false -f -', stdin=CONFIG_MAP % ('bad', 'x') + 'colour: red\n')
    k('apply --server-side -f -', stdin=SETS % 'StatefulSet')
    k('get statefulset set -o yaml --show-managed-fields')
    k('apply -f -', stdin=CONFIG_MAP % ('migrated', 'one, l: m'))
    k('apply --server-side -f -', stdin=CONFIG_MAP % ('migrated', 'two'))
    k('get cm migrated -o yaml --show-managed-fields')
    k('scale statefulset set --replicas=2 --dry-run=server')
    k('scale statefulset set --replicas=2')
    k('get statefulset set -o yaml --show-managed-fields')
    k('label cm s --field-manager=labeller by=me')
    k('apply --server-side -f -', stdin=(CONFIG_MAP % ('s', 'two')).replace('}\n', ', labels: {by: you}}\n', 1))


def diff(k):
    k('diff -f -', stdin=CONFIG_MAP % ('d', 'one'))
    k('apply -f -', stdin=CONFIG_MAP % ('d', 'one'))
    k('diff -f -', stdin=CONFIG_MAP % ('d', 'one'))
    k('diff -f -', stdin=CONFIG_MAP % ('d', 'two'))
    k('diff --server-side -f -', stdin=CONFIG_MAP % ('d', 'two'))
    k('diff --server-side --force-conflicts -f -', stdin=CONFIG_MAP % ('d', 'two'))
    k('diff -f -', stdin=CONFIG_MAP % ('Not_A_Name', 'two'))


def kustomize(k):
    k.write('app/kustomization.yaml', 'resources: [map.yaml]\nnamePrefix: k-\ncommonLabels: {app: kustomized}\n'
                                      'configMapGenerator:\n- {name: generated, literals: [a=b]}\n')
    k.write('app/map.yaml', CONFIG_MAP % ('base', 'x'))
    k('kustomize app')
    k('apply -k app')
    k('apply -k app')
    k('diff -k app')
    k('get -k app')
    k('delete -k app')
    k.write('many/one.yaml', CONFIG_MAP % ('one', 'x'))
    k.write('many/two.json', '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}}')
    k('apply -f many')
    k('get -f many -o name')
    k('delete -f many')


PARTS = [apply, apply_server_side, diff, kustomize]
