# SPDX-License-Identifier: Apache-2.0
"""Custom resources."""

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: demos.%(group)s
spec:
  group: %(group)s
  scope: Namespaced
  names: {plural: demos, singular: demo, kind: Demo, listKind: DemoList, shortNames: [%(short)s], categories: [%(short)sall]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: What the tests keep.
        type: object
        required: [spec]
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [replicas]
            properties:
              replicas: {type: integer, minimum: 0, maximum: 9, description: How many.}
              color: {type: string, default: red, enum: [red, green, blue]}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    port: {type: integer}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas, description: How many.}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
"""

DEMO = """\
apiVersion: %s/v1
kind: Demo
metadata: {name: %s}
spec: {replicas: %s}
"""


def install(k, group, short):
    k('create -f -', stdin=CRD % {'group': group, 'short': short})
    k('wait --for=condition=Established crd/demos.%s --timeout=20s' % group)
    # The condition Established is set before the kind is served and in the discovery documents.
    k.wait_until('it is in discovery', 'api-resources --api-group=%s -o name' % group, 'demos.' + group)


def custom_resources(k):
    group, demo = 'example.com', 'demos.example.com'
    install(k, group, 'dm')
    k('api-resources --api-group=example.com')
    k('api-resources --api-group=example.com -o wide')
    k('get crd demos.example.com')
    k('get demos')
    k('apply -f -', stdin=DEMO % (group, 'one', 2))
    k('apply -f -', stdin=DEMO % (group, 'one', 2))
    k('apply -f -', stdin=DEMO % (group, 'one', 3))
    k('get ' + demo)
    k('get dm one -o wide')
    k('get dmall')
    k('get demo one -o yaml')
    k('scale demo one --replicas=5')
    k('scale demo one --replicas=6 --current-replicas=1')
    k('scale demo one --replicas=10')
    k('get demo one -o jsonpath={.spec.replicas},{.metadata.generation}')
    patch = ['patch', 'demo', 'one', '--type=merge', '-p']
    k(patch + ['{"spec":{"color":"blue","ports":[{"name":"a","port":1}]}}'])
    k(patch + ['{"spec":{"color":"pink"}}'])
    k(patch + ['{"status":{"phase":"ignored"}}'])
    k(['patch', 'demo', 'one', '-p', '{"spec":{"color":"red"}}'])
    if k.program.minor != '1.20':  # since 1.24
        k(patch + ['{"status":{"phase":"Ready","conditions":[{"type":"Ready","status":"True"}]}}', '--subresource=status'])
        k('get demo one --subresource=status')
        k('get demo one --subresource=scale -o jsonpath={.spec.replicas}')
        k('wait demo/one --for=condition=Ready --timeout=5s')
        k('wait demo/one --for=jsonpath={.status.phase}=Ready --timeout=5s')
    k('label demo one tier=a')
    k('get demos -l tier=a')
    k('edit demo one', edit='s/replicas: 5/replicas: 6/')
    k('edit demo one', edit='s/replicas: 6$/replicas: 60/')
    k('describe demo one')
    k('apply --server-side -f -', stdin=DEMO % (group, 'two', 1))
    k('apply --server-side --field-manager=other -f -', stdin=DEMO % (group, 'two', 2))
    k('apply -f -', stdin=DEMO % (group, 'three', 10))
    k('apply -f -', stdin=DEMO % (group, 'three', 'many'))
    k('apply -f -', stdin=(DEMO % (group, 'three', '1, colour: red')))
    k('apply -f - --validate=false', stdin=(DEMO % (group, 'three', '1, colour: red')))
    k('apply -f -', stdin=(DEMO % (group, 'four', 1)).replace('spec:', 'speck:'))
    k('get demos -o name')
    k('get demos --sort-by=.spec.replicas -o custom-columns=N:.metadata.name,R:.spec.replicas,C:.spec.color')
    k.raw('get --raw /apis/example.com/v1/namespaces/%s/demos/two/scale' % k.namespace)
    k('delete demo two')
    k('delete demos --all')


def custom_watch(k):
    group = 'watched.example.com'
    install(k, group, 'wdm')
    k('apply -f -', stdin=DEMO % (group, 'one', 6))
    watch = k.watch('get wdm -w')
    watch.wait_for(2)
    k('apply -f -', stdin=DEMO % (group, 'watched', 1))
    watch.wait_for(3)
    k('scale wdm watched --replicas=2')
    watch.wait_for(4)
    k('delete wdm watched')
    watch.wait_for(5)
    watch.end()
    k('explain wdm')
    k('explain wdm.spec')
    k('explain wdm.spec.ports --recursive')
    k('explain wdm.spec.nonsense')
    k('delete crd demos.' + group)
    k('get demos.' + group)


def definitions(k):
    k('create -f -', stdin=CRD.replace('minimum: 0', 'minimum: none') % {'group': 'bad.example.com', 'short': 'bd'})
    k('create -f -', stdin=CRD.replace('type: integer, minimum: 0', 'type: nonsense') % {'group': 'bad.example.com', 'short': 'bd'})
    k('create -f -', stdin=CRD.replace('name: demos', 'name: other') % {'group': 'bad.example.com', 'short': 'bd'})
    k('apply -f -', stdin=CRD % {'group': 'good.example.com', 'short': 'gd'})
    k('wait --for=condition=Established crd/demos.good.example.com --timeout=20s')
    k('apply -f -', stdin=CRD % {'group': 'good.example.com', 'short': 'gd'})
    k('apply -f -', stdin=CRD.replace('maximum: 9', 'maximum: 99') % {'group': 'good.example.com', 'short': 'gd'})
    k('get crd demos.good.example.com -o yaml')
    k('describe crd demos.good.example.com')
    k('delete crd demos.good.example.com')
    k('get crd demos.good.example.com')


PARTS = [custom_resources, custom_watch, definitions]
