# SPDX-License-Identifier: Apache-2.0
"""Rules in CEL: x-kubernetes-validations of a schema."""
from scenario import scenario

TEXT, NUMBER = {'type': 'string', 'maxLength': 50}, {'type': 'integer'}


def ruled(schema, *rules):
    return dict(schema, **{'x-kubernetes-validations': [
        {'rule': rule} if isinstance(rule, str) else rule for rule in rules]})


def thing(properties, *rules):
    return {'spec': ruled({'type': 'object', 'properties': properties}, *rules)}


def try_all(s, *specs):
    for at, spec in enumerate(specs):
        s.create('things/t%d' % at, spec=spec)


@scenario
def messages(s):
    """A rule's message, its expression, and the rule itself where neither is given."""
    s.kind(thing({'a': NUMBER, 'b': NUMBER, 'c': NUMBER, 'd': TEXT},
                 'self.a < 5', {'rule': 'self.b < 5', 'message': 'b is small'},
                 {'rule': 'self.c < 5', 'messageExpression': '"with " + self.d + " c is below 5"'},
                 {'rule': 'self.d != "x"', 'message': 'kept', 'messageExpression': 'self.d == "x" ? "" : "never"'}))
    try_all(s, *({**{'a': 1, 'b': 1, 'c': 1, 'd': ''}, **bad} for bad in
                 ({}, {'a': 7}, {'b': 7}, {'c': 7}, {'d': 'x'}, {'a': 7, 'b': 7, 'c': 7})))


@scenario
def reasons_and_places(s):
    """reason and fieldPath of a rule stand in the cause."""
    s.kind(thing({'a': NUMBER, 'in': {'type': 'object', 'properties': {'x.y': NUMBER, 'b': TEXT}}},
                 {'rule': 'self.a != 1', 'reason': 'FieldValueInvalid', 'fieldPath': '.a'},
                 {'rule': 'self.a != 2', 'reason': 'FieldValueForbidden', 'message': 'no two'},
                 {'rule': 'self.a != 3', 'reason': 'FieldValueRequired', 'fieldPath': '.in.b', 'message': 'say b'},
                 {'rule': 'self.a != 4', 'reason': 'FieldValueDuplicate', 'fieldPath': ".in['x.y']"}))
    try_all(s, {'a': 1}, {'a': 2}, {'a': 3}, {'a': 4}, {'a': 5})


@scenario
def places(s):
    """Rules of items, of values of maps, and of the whole object."""
    s.kind({'spec': {'type': 'object', 'properties': {
        'list': {'type': 'array', 'maxItems': 5, 'items': ruled(TEXT, 'self.startsWith("a")')},
        'map': {'type': 'object', 'maxProperties': 5, 'additionalProperties': ruled(NUMBER, 'self > 1')},
        'scalar': ruled(NUMBER, 'self % 2 == 0')}}},
        schema={'x-kubernetes-validations': [{'rule': 'self.metadata.name != "forbidden"'},
                                             {'rule': 'self.kind == "Thing" && self.apiVersion.endsWith("/v1")'}]})
    try_all(s, {'list': ['ab', 'b', 'a', 'c']}, {'map': {'x': 1, 'y': 2}}, {'scalar': 3}, {'scalar': 4})
    s.create('things/forbidden', spec={})


@scenario
def transitions(s):
    """Rules that name oldSelf hold for updates only."""
    s.kind(thing({'fixed': ruled(TEXT, {'rule': 'self == oldSelf', 'message': 'is immutable'}),
                  'grows': ruled(NUMBER, 'self >= oldSelf'), 'map': {
                      'type': 'array', 'maxItems': 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'],
                      'items': ruled({'type': 'object', 'required': ['name'], 'properties': {'name': TEXT, 'v': NUMBER}},
                                     'self.v == oldSelf.v')}},
                 '!has(oldSelf.fixed) || has(self.fixed)'))
    s.create('things/a', spec={'fixed': 'x', 'grows': 3, 'map': [{'name': 'p', 'v': 1}]})
    s.patch('things/a', {'spec': {'fixed': 'y'}})
    s.patch('things/a', {'spec': {'fixed': None}})
    s.patch('things/a', {'spec': {'grows': 2}})
    s.patch('things/a', {'spec': {'grows': 4}})
    s.patch('things/a', {'spec': {'map': [{'name': 'q', 'v': 5}, {'name': 'p', 'v': 2}]}})
    s.patch('things/a', {'spec': {'map': [{'name': 'q', 'v': 5}, {'name': 'p', 'v': 1}]}})


@scenario
def optional_old_self(s):
    """optionalOldSelf: the rule holds for creating too, and oldSelf may have no value."""
    s.kind(thing({'n': NUMBER}, {
        'rule': 'oldSelf.hasValue() ? self.n >= oldSelf.value().n : self.n == 0', 'optionalOldSelf': True,
        'message': 'starts at 0 and grows'}))
    s.create('things/a', spec={'n': 1})
    s.create('things/a', spec={'n': 0})
    s.patch('things/a', {'spec': {'n': 5}})
    s.patch('things/a', {'spec': {'n': 4}})


@scenario
def strings(s):
    """Functions of strings, and regular expressions."""
    s.kind(thing({'t': TEXT},
                 'self.t.size() < 20', 'self.t.matches("^[a-z-]*$")', '!self.t.contains("bad")',
                 'self.t.split("-").all(p, p.size() > 1)', 'self.t.lowerAscii() == self.t',
                 'self.t.replace("-", "").indexOf("xy") == -1', 'self.t.trim() == self.t',
                 'self.t.substring(0, 2) != "no"', 'self.t.find("[0-9]+") == ""', 'self.t.charAt(0) != "z"'))
    try_all(s, {'t': 'ab-cd'}, {'t': 'AB-cd'}, {'t': 'ab-c'}, {'t': 'ab-bad'}, {'t': 'ab-xy'}, {'t': 'nope'}, {'t': 'ab12'},
            {'t': 'zz'}, {'t': 'a'}, {'t': 'abcdefghijklmnopqrstuvwxyz'})


@scenario
def lists_and_maps(s):
    """Macros and functions of lists and maps."""
    texts = {'type': 'array', 'maxItems': 5, 'items': TEXT}
    s.kind(thing({'l': texts, 'n': {'type': 'array', 'maxItems': 5, 'items': NUMBER},
                  'm': {'type': 'object', 'maxProperties': 5, 'additionalProperties': TEXT}},
                 '!has(self.l) || self.l.exists(x, x == "a")', '!has(self.l) || self.l.exists_one(x, x == "b")',
                 '!has(self.n) || self.n.sum() < 10', '!has(self.n) || self.n.isSorted()',
                 '!has(self.n) || self.n.filter(x, x > 3).size() < 2', '!has(self.n) || self.n.map(x, x * 2).max() < 13',
                 '!has(self.m) || "k" in self.m', '!has(self.m) || self.m.all(k, self.m[k] != "no")',
                 '!has(self.l) || self.l[0] != "q"'))
    try_all(s, {'l': ['a', 'b']}, {'l': ['b']}, {'l': ['a', 'b', 'b']}, {'n': [1, 2, 3]}, {'n': [3, 2, 1]},
            {'n': [1, 4, 5]}, {'n': [0, 0, 7]}, {'m': {'k': 'v'}}, {'m': {'j': 'v'}}, {'m': {'k': 'no'}}, {'l': []})


@scenario
def errors_while_running(s):
    """Rules that fail to give an answer: absent members, an index out of bounds, division by zero, overflow."""
    s.kind(thing({'a': NUMBER, 'l': {'type': 'array', 'maxItems': 3, 'items': NUMBER}, 't': TEXT}, 'self.a != 1 || self.l[5] > 1',
                 'self.a != 2 || self.t == "x"', 'self.a != 3 || 10 / (self.a - 3) > 1',
                 'self.a != 4 || int(self.t) == 1', 'self.a != 5 || self.a * 9223372036854775807 > 0'))
    try_all(s, {'a': 1, 'l': [1]}, {'a': 2}, {'a': 3}, {'a': 4, 't': 'x'}, {'a': 5}, {})


@scenario
def kubernetes_libraries(s):
    """Quantities, URLs, IP addresses, CIDRs, semantic versions and formats."""
    s.kind(thing({'q': TEXT, 'u': TEXT, 'i': TEXT, 'c': TEXT, 'v': TEXT, 'f': TEXT},
                 '!has(self.q) || isQuantity(self.q) && quantity(self.q).isLessThan(quantity("2Gi"))',
                 '!has(self.u) || isURL(self.u) && url(self.u).getScheme() == "https"',
                 '!has(self.i) || isIP(self.i) && ip(self.i).family() == 4',
                 '!has(self.c) || isCIDR(self.c) && cidr(self.c).containsIP("10.0.0.1")',
                 '!has(self.v) || isSemver(self.v) && semver(self.v).isGreaterThan(semver("1.2.3"))',
                 '!has(self.f) || !format.dns1123Label().validate(self.f).hasValue()'))
    try_all(s, {'q': '1Gi'}, {'q': '3Gi'}, {'q': 'x'}, {'u': 'https://a'}, {'u': 'http://a'}, {'i': '1.2.3.4'},
            {'i': '::1'}, {'c': '10.0.0.0/8'}, {'c': '11.0.0.0/8'}, {'v': '1.3.0'}, {'v': '1.2.3'}, {'f': 'good'}, {'f': 'No'})


@scenario
def times_and_durations(s):
    """date-time and duration formats are timestamps and durations in rules."""
    s.kind(thing({'from': {'type': 'string', 'format': 'date-time'}, 'to': {'type': 'string', 'format': 'date-time'},
                  'time': {'type': 'string', 'format': 'duration'}},
                 '!has(self.to) || self.from < self.to', '!has(self.time) || self.time <= duration("1h")',
                 '!has(self.from) || self.from.getFullYear() > 2000'))
    try_all(s, {'from': '2024-01-01T00:00:00Z', 'to': '2024-01-02T00:00:00Z'},
            {'from': '2024-01-01T00:00:00Z', 'to': '2023-01-02T00:00:00Z'}, {'time': '30m'}, {'time': '2h'},
            {'from': '1999-01-01T00:00:00Z'})


@scenario
def int_or_string(s):
    """Rules see which of the two it is."""
    s.kind(thing({'port': {'x-kubernetes-int-or-string': True}},
                 'type(self.port) == int ? self.port > 0 : self.port != "none"'))
    try_all(s, {'port': 80}, {'port': 0}, {'port': 'http'}, {'port': 'none'})


@scenario
def escaped_names(s):
    """Names of fields that are no identifiers, or reserved words, are escaped in rules."""
    s.kind(thing({'a-b': NUMBER, 'c.d': NUMBER, 'namespace': NUMBER, 'x_y': NUMBER, 'e/f': NUMBER},
                 '!has(self.a__dash__b) || self.a__dash__b > 1', '!has(self.c__dot__d) || self.c__dot__d > 1',
                 '!has(self.__namespace__) || self.__namespace__ > 1', '!has(self.x_y) || self.x_y > 1',
                 '!has(self.e__slash__f) || self.e__slash__f > 1'))
    try_all(s, {'a-b': 1}, {'c.d': 1}, {'namespace': 1}, {'x_y': 1}, {'e/f': 1}, {'a-b': 2, 'x_y': 2})


@scenario
def schema_first(s):
    """Rules are not asked about what the schema refuses already."""
    s.kind(thing({'a': dict(NUMBER, minimum=5), 'b': ruled(NUMBER, 'self < 3')}, 'self.a > 7'))
    try_all(s, {'a': 1, 'b': 1}, {'a': 'x', 'b': 5}, {'a': 6, 'b': 5}, {'b': 1})


@scenario
def status_rules(s):
    """Rules of the status are asked when the status is written."""
    s.kind({'spec': {'type': 'object'}, 'status': ruled({'type': 'object', 'properties': {'n': NUMBER}}, 'self.n >= oldSelf.n', 'self.n < 9')},
           status=True)
    s.create('things/a', spec={})
    s.patch('things/a/status', {'status': {'n': 10}})
    s.patch('things/a/status', {'status': {'n': 5}})
    s.patch('things/a/status', {'status': {'n': 4}})


@scenario
def ratcheted_rules(s):
    """A rule that is new is not asked about what does not change; one of a transition always is."""
    s.kind(thing({'old': TEXT, 'new': TEXT}))
    s.create('things/a', spec={'old': 'bad', 'new': 'x'})
    s.patch('customresourcedefinitions/things.{ns}.example.com', [
        {'op': 'replace', 'path': '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/old',
         'value': ruled(TEXT, 'self != "bad"')}], type='json', hidden=True)
    s.create('things/b?dryRun=All', spec={'old': 'bad'}, until=422)
    s.patch('things/a', {'spec': {'new': 'y'}})
    s.patch('things/a', {'spec': {'old': 'bad', 'new': 'z'}, 'metadata': {'labels': {'a': 'b'}}})
    s.patch('things/a', {'spec': {'old': 'good'}})
    s.patch('things/a', {'spec': {'old': 'bad'}})


@scenario
def budget(s):
    """A rule that costs too much is stopped."""
    s.kind(thing({'l': {'type': 'array', 'maxItems': 700, 'items': NUMBER}},
                 'self.l.all(x, self.l.exists(y, y == x))'), wait=False)
    s.get('customresourcedefinitions/things.{ns}.example.com', until=200, hidden=True)
    s.served()
    s.create('things/a', spec={'l': list(range(300))})
    s.create('things/b', spec={'l': [1, 2, 3]})
