# SPDX-License-Identifier: Apache-2.0
"""Objects: create, read, select, change, watch, wait for and delete them."""
import json

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: %s}
data: {k: %s}
"""


def create_and_get(k):
    k('get configmaps')
    k('create -f -', stdin=CONFIG_MAP % ('c', 'v, l: w'))
    k('create -f -', stdin=CONFIG_MAP % ('c', 'v'))
    k('create -f -', stdin=CONFIG_MAP % ('Not_A_Name', 'v'))
    k('create -f -', stdin='apiVersion: v1\nkind: Nonsense\nmetadata: {name: x}\n')
    k('create -f - --dry-run=client -o yaml', stdin=CONFIG_MAP % ('dry', 'v'))
    k('create -f - --dry-run=server -o yaml', stdin=CONFIG_MAP % ('dry', 'v'))
    k('create -f - -o name', stdin='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: empty}\n')
    k('get configmaps')
    for output in ('wide', 'name', 'yaml', 'json', 'jsonpath={.data.k}', 'jsonpath-as-json={.data}',
                   'custom-columns=NAME:.metadata.name,K:.data.k', 'go-template={{.metadata.name}}={{.data.l}}'):
        k('get cm c -o ' + output)
    k('get cm c -o yaml --show-managed-fields')
    k('get cm c empty')
    k('get cm,secret')
    k('get cm c nope')
    k('get cm nope')
    k('get cm nope --ignore-not-found')
    k('get cm nope -o yaml')
    k('get nonsense')
    k('get cm -o json')
    k('get cm --no-headers')
    k('get cm --show-kind')
    k('get cm/c cm/empty -o name')
    k('get ns default -o jsonpath={.status.phase}')
    k('get cm -A --field-selector metadata.namespace=%s,metadata.name=c' % k.namespace)
    k('get -f -', stdin=CONFIG_MAP % ('c', 'v'))


def list_in_chunks(k):
    k('create -f -', stdin='---\n'.join(CONFIG_MAP % ('c%d' % n, 'abcdefg'[6 - n]) for n in range(7)))
    k('get cm --chunk-size=2')
    k('get cm --chunk-size=3 -o name')
    k('get cm --chunk-size=0 -o name')
    k('get cm --sort-by=.data.k -o name')
    k('get cm --sort-by={.metadata.name} -o jsonpath={.items[*].metadata.name}')
    k(['get', 'cm', '-o', 'jsonpath={range .items[*]}{.metadata.name}={.data.k} {end}'])
    k('delete cm --all')
    k('get cm')


def label_and_select(k):
    k('create -f -', stdin=CONFIG_MAP % ('c', 'v'))
    k('label cm c app=web')
    k('label cm c app=db')
    k('label cm c app=db --overwrite')
    k('label cm c app=db --overwrite --resource-version=1')
    k(['label', 'cm', 'c', 'app=not a value', '--overwrite'])
    k('label cm c --list')
    k('label cm nope a=b')
    k('annotate cm c note=x')
    k('annotate cm c note=y')
    k('create -f -', stdin=CONFIG_MAP % ('other', 'x'))
    for selector in ('app=db', 'app!=db', 'app in (db,web)', 'app notin (db)', '!app', 'app', 'app==db,app'):
        k(['get', 'cm', '-l', selector, '-o', 'name'])
    k(['get', 'cm', '-l', 'app in db'])
    k('get cm --field-selector metadata.name=other -o name')
    k('get cm --field-selector metadata.name!=other -o name')
    k('get cm --field-selector data.k=v')
    k('get cm -L app')
    k('get cm c --show-labels')
    k('label cm c app-')
    k('annotate cm c note-')
    k('annotate cm c note-')
    k('get cm c -o jsonpath={.metadata.labels}{.metadata.annotations}')
    k('label cm --all x=y')
    k('label cm c other -l !nothing x=y')
    k('delete cm -l x=y')
    k('delete cm -l x=y')


def patch_and_edit(k):
    k('create -f -', stdin=CONFIG_MAP % ('c', 'v, l: w'))
    merge = ['patch', 'cm', 'c', '--type=merge', '-p']
    k(merge + ['{"data":{"l":null,"m":"n"}}'])
    k(merge + ['{"data":{"m":"n"}}'])
    k(merge + ['{"data":{"m":1}}'])
    k(merge + ['{"metadata":{"name":"d"}}'])
    k(merge + ['{"metadata":{"resourceVersion":"1"},"data":{"m":"o"}}'])
    k(merge + ['{"data":'])
    k(merge + ['{"data":{"dry":"run"}}', '--dry-run=server', '-o', 'jsonpath={.data}'])
    change = ['patch', 'cm', 'c', '--type=json', '-p']
    k(change + ['[{"op":"replace","path":"/data/k","value":"x"}]'])
    k(change + ['[{"op":"test","path":"/data/k","value":"y"}]'])
    k(change + ['[{"op":"remove","path":"/data/nope"}]'])
    k(change + ['{"op":"remove"}'])
    k(['patch', 'cm', 'c', '-p', '{"data":{"k":"strategic"}}'])
    k(['patch', 'cm', 'c', '--type=strategic', '-p', '{"data":{"$patch":"replace","only":"this"}}', '-o', 'yaml'])
    k(['patch', 'cm', 'nope', '-p', '{}'])
    k(['patch', 'cm', 'c', '--type=nonsense', '-p', '{}'])
    k('edit cm c', edit='s/only: this/only: edited/')
    k('get cm c -o jsonpath={.data}')
    k('edit cm c', edit='s/zzz/z/')
    k('replace -f -', stdin=CONFIG_MAP % ('c', 'replaced'))
    k('replace -f -', stdin=CONFIG_MAP % ('nope', 'replaced'))
    k('replace --force -f -', stdin=CONFIG_MAP % ('c', 'forced'))
    k('get cm c -o jsonpath={.data}')
    k('create cm fixed --from-literal=a=b --dry-run=client -o yaml')
    k(['patch', 'cm', 'c', '--type=merge', '-p', '{"immutable":true}'])
    k(merge + ['{"data":{"k":"x"}}'])
    k(merge + ['{"immutable":false}'])


def watches(k):
    """Watches one kind at a time, so that the order of the lines is that of the changes."""
    k('create -f -', stdin=CONFIG_MAP % ('one', 'a'))
    for arguments in ('get cm -w', 'get cm -w -o name', 'get cm -w -o jsonpath={.metadata.name}={.data.k}{"\\n"}',
                      'get cm -w --output-watch-events', 'get cm -w -o wide --show-labels'):
        watch = k.watch(arguments)
        begun = 1 if '-o name' in arguments or 'jsonpath' in arguments else 2
        watch.wait_for(begun)
        k('create -f -', stdin=CONFIG_MAP % ('two', 'a'))
        watch.wait_for(begun + 1)
        k(['patch', 'cm', 'two', '--type=merge', '-p', '{"data":{"l":"2"}}'])
        watch.wait_for(begun + 2)
        k('delete cm two')
        watch.wait_for(begun + 3)
        watch.end()
    watch = k.watch('get cm one -w')
    watch.wait_for(2)
    k('delete cm one')
    watch.wait_for(3)
    watch.end()


def wait(k):
    k('create -f -', stdin=CONFIG_MAP % ('c', 'v'))
    k('wait cm/c --for=delete --timeout=1s')
    k('wait cm/c --for=condition=Ready --timeout=1s')
    k('wait cm/c --for=jsonpath={.data.k}=v --timeout=1s')
    k('wait cm/c --for=jsonpath={.data.k}=w --timeout=1s')
    k('wait cm/c --for=jsonpath={.data.k} --timeout=1s')
    k('wait cm/nope --for=delete --timeout=1s')
    k('wait cm/nope --for=condition=Ready --timeout=1s')
    k(['wait', 'cm', '--all', '--for=jsonpath={.data.k}=v', '--timeout=5s'])
    waiting = k.watch('wait cm/c --for=delete --timeout=20s -v=6')
    waiting.wait_for_text('watch=true')
    k('delete cm c')
    waiting.end(by_itself=True, last=1)


def finalizers(k):
    held = (CONFIG_MAP % ('held', 'v')).replace('held}', 'held, finalizers: [example.com/hold]}')
    k('apply -f -', stdin=held)
    k('delete cm held --wait=false')
    k('get cm held -o jsonpath={.metadata.deletionTimestamp},{.metadata.finalizers[0]},{.metadata.deletionGracePeriodSeconds}')
    k('delete cm held --timeout=2s')
    k(['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'])
    k('describe cm held')
    waiting = k.watch('delete cm held')
    waiting.wait_for(1)
    k(['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
    waiting.end(by_itself=True)
    k('get cm held')


def namespaces(k):
    other = k.namespace + '-extra'
    k('create namespace ' + other)
    k('create namespace ' + other)
    k('get namespace ' + other)
    k('describe namespace ' + other)
    k('-n %s create -f -' % other, stdin=CONFIG_MAP % ('inside', 'x'))
    k('-n %s create -f -' % k.namespace, stdin=(CONFIG_MAP % ('outside', 'x')).replace('}\n', ', namespace: elsewhere}\n', 1))
    k('-n %s-nowhere create -f -' % k.namespace, stdin=CONFIG_MAP % ('inside', 'x'))
    k('-n %s-nowhere get cm' % k.namespace)
    k('delete namespace ' + other)
    k('get namespace ' + other)
    k('-n %s get cm inside' % other)
    k('delete namespace default')
    k('get namespace default kube-system kube-public kube-node-lease')


def delete(k):
    k('create -f -', stdin='---\n'.join(CONFIG_MAP % (name, 'v') for name in 'abcdefg'))
    k('delete cm a')
    k('delete cm a')
    k('delete cm a --ignore-not-found')
    k('delete cm/b cm/c')
    k('delete -f -', stdin=CONFIG_MAP % ('d', 'v'))
    k('delete cm e --dry-run=client')
    k('delete cm e --dry-run=server')
    k('delete cm e --now')
    k('delete cm f --grace-period=0 --force')
    k('delete cm g -o name')
    k('delete cm --field-selector metadata.name=nope')
    k('delete cm')
    k('delete nonsense x')
    k('get cm')


def owners(k):
    """The three propagation policies of deletion, with objects that have an owner."""
    for form in ('background', 'foreground', 'orphan'):
        k('create -f -', stdin=CONFIG_MAP % ('owner-' + form, 'v'))
        uid = k.run('get', 'cm', 'owner-' + form, '-o', 'jsonpath={.metadata.uid}').stdout
        reference = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'owner-' + form, 'uid': uid, 'blockOwnerDeletion': True}
        k('create -f -', stdin=json.dumps({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {
            'name': 'owned-' + form, 'ownerReferences': [reference]}}))
        k('delete cm owner-%s --cascade=%s' % (form, form))
        if form == 'orphan':
            k.wait_until('it has no owner', 'get cm owned-orphan -o jsonpath={.metadata.ownerReferences}', '')
            k('get cm owned-orphan')
        else:
            k.wait_until('it is collected', 'get cm owned-%s --ignore-not-found' % form, '')


PARTS = [owners, watches, patch_and_edit, label_and_select, wait, finalizers, namespaces, create_and_get, delete,
         list_in_chunks]
