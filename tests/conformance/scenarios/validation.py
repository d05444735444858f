# SPDX-License-Identifier: Apache-2.0
"""What a custom resource is refused for: keywords of its schema, lists, fields that are unknown or doubled."""
from scenario import scenario

TEXT, NUMBER = {'type': 'string'}, {'type': 'integer'}


def thing(properties, **more):
    return {'spec': dict({'type': 'object', 'properties': properties}, **more)}


def try_all(s, *specs):
    """Each alone, so that each message is compared."""
    for at, spec in enumerate(specs):
        s.create('things/t%d' % at, spec=spec)


@scenario
def types(s):
    """Values of other types than the schema says."""
    s.kind(thing({'text': TEXT, 'int': NUMBER, 'number': {'type': 'number'}, 'bool': {'type': 'boolean'},
                  'list': {'type': 'array', 'items': NUMBER}, 'map': {'type': 'object', 'additionalProperties': TEXT},
                  'object': {'type': 'object', 'properties': {'a': TEXT}}}))
    try_all(s, {'text': 1}, {'text': True}, {'text': {'a': 1}}, {'int': '1'}, {'int': 1.5}, {'int': 2.0}, {'number': 'x'},
            {'number': 1}, {'bool': 'true'}, {'bool': 0}, {'list': 'x'}, {'list': [1, 'x', None]}, {'list': {}},
            {'map': {'a': 1}}, {'map': []}, {'object': 'x'}, {'object': [1]}, {'text': None}, 'spec', 7, [])


@scenario
def numbers(s):
    """minimum, maximum, their exclusive forms, multipleOf."""
    s.kind(thing({'a': dict(NUMBER, minimum=2, maximum=9), 'b': dict(NUMBER, minimum=2, exclusiveMinimum=True),
                  'c': {'type': 'number', 'maximum': 1.5, 'exclusiveMaximum': True}, 'd': dict(NUMBER, multipleOf=3),
                  'e': {'type': 'number', 'multipleOf': 0.25, 'minimum': 0}}))
    try_all(s, {'a': 1}, {'a': 10}, {'a': 2}, {'b': 2}, {'b': 3}, {'c': 1.5}, {'c': 2}, {'c': 1.25}, {'d': 4}, {'d': 6},
            {'e': 0.3}, {'e': 0.75}, {'e': -0.5})


@scenario
def number_formats(s):
    """int32, int64, float and double."""
    s.kind(thing({'a': dict(NUMBER, format='int32'), 'b': dict(NUMBER, format='int64'),
                  'c': {'type': 'number', 'format': 'float'}, 'd': {'type': 'number', 'format': 'double'}}))
    try_all(s, {'a': 2147483648}, {'a': -2147483648}, {'b': 9223372036854775807}, {'c': 1e300}, {'d': 1e300}, {'c': 0.1})
    s.post('things', '{"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, '
                     '"spec": {"b": 9223372036854775808}}')


@scenario
def strings(s):
    """minLength, maxLength, pattern, enum; lengths are counted in characters."""
    s.kind(thing({'a': dict(TEXT, minLength=2, maxLength=4), 'b': dict(TEXT, pattern='^[a-z]+$'),
                  'c': dict(TEXT, enum=['One', 'Two', '']), 'd': dict(NUMBER, enum=[1, 2]),
                  'e': dict(TEXT, nullable=True, enum=['x', None])}))
    try_all(s, {'a': 'x'}, {'a': 'xxxxx'}, {'a': 'äöüß'}, {'a': ''}, {'b': 'A1'}, {'b': ''}, {'b': 'abc'}, {'c': 'Three'},
            {'c': ''}, {'d': 3}, {'d': 2}, {'e': None}, {'e': 'y'})


@scenario
def string_formats(s):
    """Formats that are checked, each with a value that fits and one that does not."""
    values = {'date': ('2024-02-29', '2023-02-29'), 'date-time': ('2024-01-02T03:04:05Z', '2024-01-02 03:04'),
              'duration': ('1h30m', 'soon'), 'email': ('a@example.com', 'nobody'), 'hostname': ('a.example.com', '-a'),
              'ipv4': ('10.0.0.1', '10.0.0.256'), 'ipv6': ('fe80::1', '10.0.0.1'), 'cidr': ('10.0.0.0/8', '10.0.0.0'),
              'mac': ('00:11:22:33:44:55', '00:11'), 'uuid': ('123e4567-e89b-12d3-a456-426614174000', '123'),
              'uuid4': ('123e4567-e89b-42d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'),
              'uri': ('https://example.com/x', 'no uri'), 'byte': ('aGVsbG8=', 'not base64!'),
              'hexcolor': ('#ffaa00', 'red'), 'creditcard': ('4111111111111111', '1234'), 'ssn': ('123-45-6789', '12'),
              'isbn': ('978-3-16-148410-0', '1'), 'password': ('anything', None), 'bsonobjectid':
              ('507f1f77bcf86cd799439011', 'x'), 'rgbcolor': ('rgb(1,2,3)', 'rgb(1)'), 'made-up': ('anything', None),
              'k8s-short-name': ('short-name', 'Long.Name'), 'k8s-long-name': ('long.name', 'No_Name')}
    s.kind(thing({'f-' + name: dict(TEXT, format=name) for name in values}))
    s.create('things/good', spec={'f-' + name: good for name, (good, _) in values.items()})
    for name, (_, bad) in values.items():
        if bad is not None:
            s.create('things/bad', spec={'f-' + name: bad})


@scenario
def arrays_and_objects(s):
    """minItems, maxItems, uniqueItems' absence, minProperties, maxProperties, required."""
    s.kind(thing({'a': {'type': 'array', 'items': TEXT, 'minItems': 1, 'maxItems': 2},
                  'b': {'type': 'object', 'additionalProperties': TEXT, 'minProperties': 1, 'maxProperties': 2},
                  'c': {'type': 'object', 'required': ['x', 'y'], 'properties': {'x': TEXT, 'y': TEXT}}},
                 required=['a']), schema={'required': ['spec']})
    try_all(s, {}, {'a': []}, {'a': ['x', 'y', 'z']}, {'a': ['x', 'x'], 'b': {}},
            {'a': ['x'], 'b': {'a': 'b', 'c': 'd', 'e': 'f'}}, {'a': ['x'], 'c': {'x': '1'}}, {'a': ['x'], 'c': {}},
            {'a': None}, {'a': ['x'], 'c': {'x': '1', 'y': '2'}})
    s.create('things/none')


@scenario
def combined(s):
    """allOf, anyOf, oneOf and not."""
    s.kind(thing({'all': dict(NUMBER, allOf=[{'minimum': 2}, {'maximum': 5}]),
                  'any': dict(TEXT, anyOf=[{'pattern': '^a'}, {'maxLength': 2}]),
                  'one': dict(NUMBER, oneOf=[{'minimum': 5}, {'maximum': 7}]),
                  'no': dict(TEXT, **{'not': {'enum': ['bad']}}),
                  'either': {'type': 'object', 'properties': {'a': TEXT, 'b': TEXT},
                             'oneOf': [{'required': ['a']}, {'required': ['b']}]}}))
    try_all(s, {'all': 1}, {'all': 6}, {'all': 3}, {'any': 'bcd'}, {'any': 'abc'}, {'one': 6}, {'one': 4}, {'no': 'bad'},
            {'no': 'good'}, {'either': {}}, {'either': {'a': 'x', 'b': 'y'}}, {'either': {'a': 'x'}})


@scenario
def int_or_string(s):
    """x-kubernetes-int-or-string takes both, and nothing else."""
    s.kind(thing({'port': {'x-kubernetes-int-or-string': True}, 'limited': {
        'x-kubernetes-int-or-string': True, 'pattern': '^[0-9]+%$', 'maximum': 10}}))
    try_all(s, {'port': 80}, {'port': 'http'}, {'port': True}, {'port': 1.5}, {'port': None}, {'port': []},
            {'limited': '5%'}, {'limited': 'x'}, {'limited': 11}, {'limited': 3})


@scenario
def several_errors(s):
    """All errors of an object are told at once."""
    s.kind(thing({'a': dict(NUMBER, minimum=2), 'b': dict(TEXT, maxLength=1), 'c': {'type': 'array', 'items': {
        'type': 'object', 'required': ['n'], 'properties': {'n': dict(NUMBER, maximum=3)}}}}, required=['z']))
    s.create('things/a', spec={'a': 1, 'b': 'xx', 'c': [{'n': 4}, {}, {'n': 'x'}]})


@scenario
def list_of_type_set(s):
    """Sets have no duplicates, whatever their scalars are."""
    s.kind(thing({'texts': {'type': 'array', 'items': TEXT, 'x-kubernetes-list-type': 'set'},
                  'numbers': {'type': 'array', 'items': {'type': 'number'}, 'x-kubernetes-list-type': 'set'},
                  'atoms': {'type': 'array', 'items': TEXT, 'x-kubernetes-list-type': 'atomic'},
                  'objects': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': {
                      'type': 'object', 'x-kubernetes-map-type': 'atomic', 'properties': {'a': TEXT}}}}))
    try_all(s, {'texts': ['a', 'b', 'a']}, {'texts': ['a', 'b', 'a', 'b', 'a']}, {'numbers': [1, 1.0, 2]},
            {'atoms': ['a', 'a']}, {'objects': [{'a': 'x'}, {'a': 'x'}]}, {'objects': [{'a': 'x'}, {'a': 'y'}]})


@scenario
def list_of_type_map(s):
    """Maps have unique keys; a key may be defaulted."""
    item = {'type': 'object', 'required': ['name'], 'properties': {
        'name': TEXT, 'port': dict(NUMBER, default=80), 'value': TEXT}}
    s.kind(thing({'list': {'type': 'array', 'items': item, 'x-kubernetes-list-type': 'map',
                           'x-kubernetes-list-map-keys': ['name', 'port']}}))
    try_all(s, {'list': [{'name': 'a'}, {'name': 'a'}]}, {'list': [{'name': 'a'}, {'name': 'a', 'port': 80}]},
            {'list': [{'name': 'a'}, {'name': 'a', 'port': 81}]}, {'list': [{'port': 1}]},
            {'list': [{'name': 'a', 'value': 'x'}, {'name': 'b'}, {'name': 'a', 'value': 'y'}]})


@scenario
def strict(s):
    """fieldValidation=Strict refuses unknown and doubled fields."""
    s.kind(thing({'text': TEXT, 'list': {'type': 'array', 'items': {'type': 'object', 'properties': {'a': TEXT}}}}))
    s.create('things/a?fieldValidation=Strict', spec={'text': 'x', 'extra': 1, 'list': [{'a': 'y', 'b': 'z'}]}, top=1)
    s.create('things/a?fieldValidation=Strict', metadata={'strange': 1}, spec={})
    s.post('things?fieldValidation=Strict', '{"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": '
           '{"name": "a", "name": "a"}, "spec": {"text": "x", "text": "y"}}')
    s.create('things/a', spec={}, hidden=True)
    s.replace('things/a?fieldValidation=Strict', spec={'extra': 1})
    s.patch('things/a?fieldValidation=Strict', {'spec': {'extra': 1}})
    s.patch('things/a?fieldValidation=Strict', [{'op': 'add', 'path': '/spec/extra', 'value': 1}], type='json')
    s.apply('things/a?fieldValidation=Strict', spec={'extra': 1})


@scenario
def warn(s):
    """fieldValidation=Warn, the default, tells in headers."""
    s.kind(thing({'text': TEXT}))
    s.create('things/a?fieldValidation=Warn', spec={'text': 'x', 'extra': 1}, top=1)
    s.create('things/b', spec={'text': 'x', 'extra': 1})
    s.post('things?fieldValidation=Warn', '{"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": '
           '{"name": "c"}, "spec": {"text": "x", "text": "y"}}')
    s.replace('things/a?fieldValidation=Warn', spec={'extra': 2})
    s.patch('things/a?fieldValidation=Warn', {'spec': {'extra': 3}})
    s.create('things/d?fieldValidation=Warn', spec={'text': 'x', 'tab"quote': 1})


@scenario
def ignore(s):
    """fieldValidation=Ignore tells nothing; other words are refused."""
    s.kind(thing({'text': TEXT}))
    s.create('things/a?fieldValidation=Ignore', spec={'text': 'x', 'extra': 1})
    s.create('things/b?fieldValidation=Sometimes', spec={'text': 'x'})
    s.patch('things/a?fieldValidation=ignore', {'spec': {'text': 'y'}})


@scenario
def dry_run(s):
    """dryRun answers as if, and changes nothing; other values than All are refused."""
    s.kind(thing({'text': dict(TEXT, default='d', maxLength=2)}), status=True)
    s.create('things/a?dryRun=All', spec={})
    s.get('things/a')
    s.create('things/a?dryRun=All', spec={'text': 'long'})
    s.create('things/a?dryRun=Some', spec={})
    s.create('things/a', spec={}, hidden=True)
    s.create('things/a?dryRun=All', spec={})
    s.replace('things/a?dryRun=All', spec={'text': 'x'})
    s.patch('things/a?dryRun=All', {'spec': {'text': 'y'}})
    s.patch('things/a/status?dryRun=All', {'status': {}})
    s.apply('things/b?dryRun=All', spec={'text': 'z'})
    s.delete('things/a?dryRun=All')
    s.delete('things/a', {'dryRun': ['All']})
    s.get('things')


@scenario
def ratcheting(s):
    """What was stored before the schema was tightened may stay as it is while other things change."""
    s.kind(thing({'old': TEXT, 'new': TEXT, 'list': {'type': 'array', 'items': TEXT}, 'n': NUMBER}))
    s.create('things/a', spec={'old': 'long', 'new': 'x', 'list': ['a', 'bb'], 'n': 5})
    s.patch('customresourcedefinitions/things.{ns}.example.com', [
        {'op': 'replace', 'path': '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties', 'value': {
            'old': dict(TEXT, maxLength=2), 'new': TEXT, 'list': {'type': 'array', 'items': dict(TEXT, maxLength=1)},
            'n': dict(NUMBER, maximum=3)}}], type='json', hidden=True)
    s.create('things/b?dryRun=All', spec={'old': 'long'}, until=422)
    s.patch('things/a', {'spec': {'new': 'y'}})
    s.patch('things/a', {'spec': {'old': 'other'}})
    s.patch('things/a', {'spec': {'list': ['a', 'bb', 'c']}})
    s.patch('things/a', {'spec': {'n': 6}})
    s.patch('things/a', {'spec': {'n': 2, 'old': 'ab'}})


@scenario
def strange_names(s):
    """Names of fields that are strange: with dots, slashes, quotes and spaces."""
    s.kind(thing({'a.b': dict(NUMBER, minimum=1), 'c/d': dict(NUMBER, minimum=1), "e'f": dict(NUMBER, minimum=1),
                  'g h': dict(NUMBER, minimum=1), 'map': {'type': 'object', 'additionalProperties': dict(
                      NUMBER, minimum=1)}, 'äö': dict(NUMBER, minimum=1)}))
    try_all(s, {'a.b': 0}, {'c/d': 0}, {"e'f": 0}, {'g h': 0}, {'map': {'x.y/z': 0, }}, {'äö': 0})
