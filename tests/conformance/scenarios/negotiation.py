# SPDX-License-Identifier: Apache-2.0
"""In which form answers come and bodies are taken: JSON, YAML, Tables, metadata only."""
from scenario import scenario

TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
PARTIALS = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
PROTOBUF = 'application/vnd.kubernetes.protobuf'


def get(s, path, *accepts):
    for accept in accepts:
        s.get(path, headers={'Accept': accept})


def post(s, path, body, type, accept=None):
    s.post(path, body, headers=dict({'Content-Type': type}, **({'Accept': accept} if accept else {})))


def config_map(name, **members):
    return dict({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}}, **members)


def some(s):
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}})
    s.create('configmaps/a', data={'k': 'v'})
    s.create('things/a', spec={'size': 1})


@scenario
def accepted(s):
    """Headers that end in JSON."""
    some(s)
    for path in ('configmaps/a', 'things/a'):
        get(s, path, '*/*', 'application/json;q=0.5,*/*;q=0.1', 'text/html, application/json',
            'application/json;charset=utf-8', 'application/xml;q=0.9, application/json', '', 'application/json;q=0',
            'application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'application/json;pretty=1',
            'application/json;foo=bar')
    get(s, 'things/a', 'application/*')


@scenario
def protobuf_or_json(s):
    """What a Go client sends that prefers protobuf: custom resources come as JSON."""
    some(s)
    get(s, 'things/a', PROTOBUF + ',application/json')
    get(s, 'things', PROTOBUF + ',application/json', PROTOBUF + ';as=Table;v=v1;g=meta.k8s.io,' + TABLE + ',application/json')


@scenario
def not_acceptable(s):
    """Headers that nothing can satisfy, by the router for built-in kinds."""
    some(s)
    for path in ('configmaps/a', 'things/a'):
        get(s, path, 'text/html', 'APPLICATION/JSON', 'garbage', 'a/b/c', '*/json', ',',
            'application/json;as=Bogus;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v9;g=meta.k8s.io',
            'application/json;as=Table;v=v1;g=other', 'application/json;as=Table')
    get(s, 'configmaps/a', 'application/*')


@scenario
def only_protobuf(s):
    """Who takes nothing but protobuf."""
    some(s)
    get(s, 'things/a', PROTOBUF)
    get(s, 'configmaps/none', PROTOBUF)


@scenario
def cbor(s):
    """CBOR is taken only if it is switched on."""
    some(s)
    for path in ('configmaps/a', 'things/a'):
        get(s, path, 'application/cbor,application/json')
    post(s, 'configmaps', config_map('x'), 'application/cbor')


@scenario
def tables(s):
    """Objects and lists as Tables, with and without the objects."""
    some(s)
    for path in ('configmaps/a', 'things/a', 'configmaps', 'things', 'configmaps?limit=1', 'configmaps/a?includeObject=None',
                 'configmaps?includeObject=Object', 'configmaps?includeObject=Metadata', 'configmaps?includeObject=bad'):
        get(s, path, TABLE)
    get(s, 'configmaps', TABLE.replace('v1;', 'v1beta1;'))
    get(s, 'configmaps/none', TABLE)


@scenario
def metadata_only(s):
    """Metadata of objects and of lists; not the one for the other."""
    some(s)
    for path in ('configmaps/a', 'things/a', 'configmaps', 'things'):
        get(s, path, PARTIAL, PARTIALS)
    get(s, 'configmaps/a', PARTIAL.replace('v1;', 'v1beta1;'))
    get(s, 'configmaps/none', PARTIAL)


@scenario
def forms_of_writes(s):
    """Writes answer in the form that was asked for; deletions of one object do not."""
    some(s)
    for name, accept in (('b', TABLE), ('c', PARTIAL)):
        post(s, 'configmaps', config_map(name), 'application/json', accept)
        s.patch('configmaps/a', {'data': {name: '1'}}, headers={'Accept': accept})
        s.delete('configmaps/' + name, headers={'Accept': accept})
    s.delete('configmaps?labelSelector=a%3Db', headers={'Accept': TABLE})
    s.delete('things', headers={'Accept': PARTIALS})


@scenario
def yaml_answers(s):
    """Objects, refusals and writes as YAML."""
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}, 'texts': {
        'type': 'array', 'items': {'type': 'string'}}}}})
    s.create('configmaps/a', data={'yes': 'yes', 'number': '5', 'empty': '', 'lines': 'a\nb\n', 'colon': 'a: b',
                                   'quote': 'it\'s "x"', 'dash': '- a', 'time': '2020-01-01', 'k10': 'x', 'k9': 'y'})
    s.create('things/a', spec={'size': 1, 'texts': ['a', 'true', '1.5', ' x', '#', '{}', 'a\nb']})
    get(s, 'configmaps/a', 'application/yaml', 'application/yaml,application/json', 'application/json,application/yaml')
    get(s, 'configmaps/none', 'application/yaml')
    get(s, 'things/a', 'application/yaml')
    get(s, 'configmaps/a', 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io')


@scenario
def yaml_bodies(s):
    """Creates, updates and deletions in YAML."""
    s.kind({'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}})
    post(s, 'configmaps', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: "1"\n', 'application/yaml')
    post(s, 'configmaps', '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: q}\n', 'application/yaml; charset=utf-8')
    post(s, 'configmaps', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n}\ndata: {k: 1}\n', 'application/yaml')
    post(s, 'configmaps', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n', 'application/yaml')
    post(s, 'configmaps', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: u}\nunknown: 1\n', 'application/yaml')
    post(s, 'configmaps?fieldValidation=Strict', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\nunknown: 1\n',
         'application/yaml')
    post(s, 'configmaps', '', 'application/yaml')
    post(s, 'things', 'apiVersion: {ns}.example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 3, size: 4}\n',
         'application/yaml')
    s.delete('configmaps/c', 'apiVersion: v1\nkind: DeleteOptions\n', headers={'Content-Type': 'application/yaml'})


@scenario
def broken_yaml_bodies(s):
    """What no YAML parser takes; each words it in its own way."""
    for body in ('a: b: c', '{'):
        post(s, 'configmaps', body, 'application/yaml')


@scenario
def other_bodies(s):
    """Bodies of other types, and types that are none."""
    some(s)
    for type in ('text/plain', 'garbage', 'a/b/c', PROTOBUF, 'application/json; charset=utf-8', ''):
        post(s, 'configmaps', config_map('x'), type)
    post(s, 'things', {}, 'text/plain')
    s.put('configmaps/a', config_map('a'), headers={'Content-Type': 'text/plain'})
    s.delete('configmaps/a', {'kind': 'DeleteOptions', 'apiVersion': 'v1'}, headers={'Content-Type': 'text/plain'})


@scenario
def pretty(s):
    """pretty changes only blanks."""
    s.create('configmaps/a', data={'k': 'v'})
    for value in ('1', 'true', '0', 'bad'):
        s.get('configmaps/a?pretty=' + value)
