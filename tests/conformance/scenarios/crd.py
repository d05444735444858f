# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions themselves: creating, refusing, changing and deleting them."""
from scenario import crd, scenario

TEXT = {'type': 'string'}
SPEC = {'spec': {'type': 'object', 'properties': {'text': TEXT}}}
CRDS = 'customresourcedefinitions'
THINGS = CRDS + '/things.{ns}.example.com'


def refused(s, properties, **how):
    """A CRD whose schema has these properties is refused; none is ever made."""
    s.post(CRDS + '?dryRun=All', crd({'spec': {'type': 'object', 'properties': properties}}, **how))


def version(name, served=True, storage=False, **more):
    return dict({'name': name, 'served': served, 'storage': storage,
                 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': SPEC}}}, **more)


@scenario
def established(s):
    """A new CRD gets its conditions and its accepted names."""
    s.post(CRDS, crd(SPEC), hidden=True)
    s.get(THINGS, within=30, until={'status/conditions/type=Established/status': 'True'})


@scenario
def names_defaulted(s):
    """Singular, listKind and conversion are defaulted."""
    document = crd(SPEC)
    del document['spec']['names']['singular'], document['spec']['names']['listKind']
    s.post(CRDS + '?dryRun=All', document)


@scenario
def names_in_conflict(s):
    """A second CRD in a group that takes the same kind and short name is not established."""
    s.kind(SPEC, names={'shortNames': ['th']})
    s.kind(SPEC, plural='others', wait=False, names={'shortNames': ['th']})
    s.get(CRDS + '/others.{ns}.example.com', within=30, until={
        'status/conditions/type=NamesAccepted/status': 'False'})
    s.get('others')


@scenario
def scope_cluster(s):
    """A cluster-scoped kind has no namespaces in its paths."""
    s.kind(SPEC, scope='Cluster')
    s.create('things/{ns}-a', spec={'text': 'x'})
    s.get('things/{ns}-a')
    s.get('/apis/{ns}.example.com/v1/namespaces/{ns}/things')
    s.delete('things/{ns}-a')


@scenario
def deleted_with_its_objects(s):
    """A CRD that is deleted takes its objects along, admits no new ones meanwhile, and is then not served."""
    s.kind(SPEC)
    s.create('things/a', spec={'text': 'x'}, finalizers=['example.com/wait'])
    s.delete(THINGS, hidden=True)
    s.get(THINGS, until={'status/conditions/type=Terminating/reason': 'InstanceDeletionInProgress'})
    s.create('things/b', spec={'text': 'y'})
    s.get('things/a', until={'metadata/deletionGracePeriodSeconds': 0})
    s.patch('things/a', {'metadata': {'finalizers': None}})
    s.get(THINGS, until=404, within=60)
    s.get('things', until=404)


@scenario
def deleted_answer(s):
    """What deleting a CRD answers, and deleting it again."""
    s.kind(SPEC)
    s.delete(THINGS)
    s.get(THINGS, until=404, within=30)
    s.delete(THINGS)


@scenario
def made_again(s):
    """A CRD that was deleted can be made again, and starts without objects."""
    s.kind(SPEC)
    s.create('things/a', spec={'text': 'x'}, hidden=True)
    s.delete(THINGS, hidden=True)
    s.get(THINGS, until=404, within=60)
    s.kind(SPEC)
    s.get('things')


@scenario
def generation(s):
    """Changes of the spec count, changes of metadata do not."""
    s.kind(SPEC)
    s.patch(THINGS, {'metadata': {'labels': {'a': 'b'}}}, capture={'generation': 'metadata/generation'})
    s.patch(THINGS, {'spec': {'names': {'categories': ['all']}}})
    s.get(THINGS, within=30, until={'status/acceptedNames/categories/0': 'all'})


@scenario
def status_is_kept(s):
    """What an update says of the status is ignored; the status subresource changes only that."""
    s.kind(SPEC)
    s.patch(THINGS, {'status': {'storedVersions': ['v7']}})
    s.patch(THINGS + '/status', {'spec': {'names': {'categories': ['all']}}, 'status': {'storedVersions': ['v1', 'v0']}})


@scenario
def stored_versions(s):
    """A version that objects are stored in cannot be removed until storedVersions no longer names it."""
    s.kind(SPEC, versions=[version('v1', storage=True), version('v2')])
    s.patch(THINGS, {'spec': {'versions': [version('v1'), version('v2', storage=True)]}})
    s.patch(THINGS, {'spec': {'versions': [version('v2', storage=True)]}})
    s.patch(THINGS + '/status', {'status': {'storedVersions': ['v1']}})
    s.patch(THINGS + '/status', {'status': {'storedVersions': ['v2']}})
    s.patch(THINGS, {'spec': {'versions': [version('v2', storage=True)]}})


@scenario
def immutable(s):
    """Group, names once accepted, scope and the like cannot change."""
    s.kind(SPEC)
    s.patch(THINGS, {'spec': {'scope': 'Cluster'}})
    s.patch(THINGS, {'spec': {'names': {'kind': 'Other'}}})
    s.patch(THINGS, {'spec': {'group': 'other.example.com'}})
    s.patch(THINGS, {'spec': {'names': {'plural': 'others'}}})
    s.patch(THINGS, {'metadata': {'name': 'others.example.com'}})


@scenario
def schema_changes(s):
    """A changed schema holds for what is written afterwards; what is stored is read with the new one."""
    s.kind({'spec': {'type': 'object', 'properties': {'text': TEXT, 'old': TEXT}}})
    s.create('things/a', spec={'text': 'x', 'old': 'y'})
    s.patch(THINGS, {'spec': {'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {
        'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {
            'text': dict(TEXT, maxLength=3), 'new': dict(TEXT, default='n')}}}}}}]}}, hidden=True)
    s.get('things/a', until={'spec/new': 'n'})
    s.create('things/b', spec={'text': 'long', 'old': 'y'})
    s.patch('things/a', {'spec': {'text': 'xy'}})


@scenario
def no_longer_served(s):
    """A version that is no longer served answers 404, the others go on."""
    s.kind(SPEC, versions=[version('v1', storage=True), version('v2')])
    s.create('things/a', spec={'text': 'x'}, hidden=True)
    s.patch(THINGS, {'spec': {'versions': [version('v1', served=False, storage=True), version('v2')]}}, hidden=True)
    s.get('things/a', until=404)
    s.get('/apis/{ns}.example.com/v2/namespaces/{ns}/things/a')


@scenario
def discovered(s):
    """A CRD's resource and its subresources are in discovery."""
    s.kind(SPEC, status=True, names={'shortNames': ['th'], 'categories': ['all', 'mine']},
           version={'subresources': {'status': {}, 'scale': {
               'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n'}}})
    s.get('/apis/{ns}.example.com/v1', within=30, until={'resources/#': 3})
    s.get('/apis/{ns}.example.com', within=30, until=200)


@scenario
def discovered_versions(s):
    """The versions of a group in the order of preference."""
    names = ['v1', 'v2beta1', 'v10', 'v2', 'v1alpha1', 'foo1', 'v3beta2']
    s.kind(SPEC, versions=[version(name, storage=name == 'v1') for name in names])
    s.get('/apis/{ns}.example.com', within=30, until={'versions/#': 7})


@scenario
def refused_names(s):
    """Names that do not fit together, or are none."""
    s.post(CRDS + '?dryRun=All', dict(crd(SPEC), metadata={'name': 'other'}))
    s.post(CRDS + '?dryRun=All', crd(SPEC, plural='Things'))
    s.post(CRDS + '?dryRun=All', crd(SPEC, kind='not a kind'))
    s.post(CRDS + '?dryRun=All', crd(SPEC, names={'listKind': 'Thing'}))
    s.post(CRDS + '?dryRun=All', crd(SPEC, names={'shortNames': ['Bad Name'], 'categories': ['no_good']}))
    s.post(CRDS + '?dryRun=All', crd(SPEC, group='nodots'))
    s.post(CRDS + '?dryRun=All', crd(SPEC, scope='Everywhere'))
    s.post(CRDS + '?dryRun=All', crd(SPEC, group='things.k8s.io'))


@scenario
def refused_versions(s):
    """Versions without a name, twice, with no or two of storage, or none at all."""
    for versions in ([version('V1', storage=True)], [version('v1', storage=True), version('v1')],
                     [version('v1')], [version('v1', storage=True), version('v2', storage=True)],
                     [version('v1', served=False, storage=True)],
                     [{'name': 'v1', 'served': True, 'storage': True}],
                     [version('v1', storage=True, deprecationWarning='old')],
                     [version('v1', storage=True, deprecated=True, deprecationWarning='')]):
        s.post(CRDS + '?dryRun=All', crd({}, versions=versions))
    empty = crd({})
    empty['spec']['versions'] = []
    s.post(CRDS + '?dryRun=All', empty)


@scenario
def refused_conversion(s):
    """Conversion by webhook without a webhook, with a bad one, and by what does not exist."""
    service = {'service': {'namespace': 'n', 'name': 's', 'path': '/c'}}
    for conversion in ({'strategy': 'Webhook'}, {'strategy': 'Magic'}, {},
                       {'strategy': 'None', 'webhook': {'conversionReviewVersions': ['v1']}},
                       {'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': [], 'clientConfig': service}},
                       {'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': ['v1'], 'clientConfig': {}}},
                       {'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': ['v1'],
                                                           'clientConfig': {'url': 'http://x.example.com'}}}):
        s.post(CRDS + '?dryRun=All', crd(SPEC, conversion=conversion))


@scenario
def refused_without_a_type(s):
    """Structural schemas say a type everywhere."""
    refused(s, {'a': {}})
    refused(s, {'a': {'properties': {'b': TEXT}}})
    refused(s, {'a': {'type': 'array', 'items': {}}})
    refused(s, {'a': {'type': 'array'}})
    refused(s, {'a': {'type': 'thing'}})
    s.post(CRDS + '?dryRun=All', crd({}, schema={'type': 'string'}))
    s.post(CRDS + '?dryRun=All', crd(SPEC, preserveUnknownFields=True))


@scenario
def refused_not_structural(s):
    """What a structural schema must not have."""
    refused(s, {'a': {'type': 'object', 'additionalProperties': TEXT, 'properties': {'b': TEXT}}})
    refused(s, {'a': {'type': 'object', 'additionalProperties': False}})
    refused(s, {'a': {'type': 'object', 'anyOf': [{'properties': {'b': {'minLength': 1}}}]}})
    refused(s, {'a': {'type': 'string', 'not': {'type': 'string', 'pattern': 'x'}}})
    refused(s, {'a': {'type': 'string', 'allOf': [{'default': 'x'}]}})
    refused(s, {'a': {'type': 'array', 'items': [TEXT]}})
    refused(s, {'a': {'type': 'array', 'items': TEXT, 'uniqueItems': True}})
    refused(s, {'a': {'$ref': '#/definitions/x'}})
    refused(s, {'a': {'type': 'object', 'patternProperties': {'x': TEXT}}})


@scenario
def refused_metadata_schema(s):
    """Of metadata only name and generateName can be restricted."""
    for metadata in ({'type': 'object', 'properties': {'name': dict(TEXT, maxLength=3)}},
                     {'type': 'object', 'properties': {'labels': {'type': 'object'}}},
                     {'type': 'string'}, {'type': 'object', 'required': ['labels']}):
        s.post(CRDS + '?dryRun=All', crd(dict(SPEC, metadata=metadata)))
    s.post(CRDS + '?dryRun=All', crd(dict(SPEC, apiVersion={'type': 'integer'}, kind={'type': 'string'})))


@scenario
def refused_defaults(s):
    """Defaults must be valid themselves, and pruned."""
    refused(s, {'a': dict(TEXT, default=5)})
    refused(s, {'a': dict(TEXT, default='long', maxLength=2)})
    refused(s, {'a': {'type': 'object', 'properties': {'b': TEXT}, 'default': {'c': 'd'}}})
    refused(s, {'a': {'type': 'integer', 'default': 'x'}})
    refused(s, {'a': dict(TEXT, default=None)})
    refused(s, {'a': dict(TEXT, nullable=True, default=None)})


@scenario
def refused_lists(s):
    """List types need their keys, keys their properties, sets and maps the right items."""
    one = {'type': 'object', 'properties': {'name': TEXT, 'n': {'type': 'integer'}, 'o': {'type': 'object'}}}
    refused(s, {'a': {'type': 'array', 'items': one, 'x-kubernetes-list-type': 'map'}})
    refused(s, {'a': {'type': 'array', 'items': one, 'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name']}})
    refused(s, {'a': {'type': 'array', 'items': dict(one, required=['no', 'o']), 'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['no', 'o', 'no']}})
    refused(s, {'a': {'type': 'array', 'items': TEXT, 'x-kubernetes-list-map-keys': ['name']}})
    refused(s, {'a': {'type': 'array', 'items': one, 'x-kubernetes-list-type': 'set'}})
    refused(s, {'a': {'type': 'array', 'items': TEXT, 'x-kubernetes-list-type': 'bag'}})
    refused(s, {'a': dict(TEXT, **{'x-kubernetes-list-type': 'set'})})
    refused(s, {'a': dict(TEXT, **{'x-kubernetes-map-type': 'atomic'})})
    refused(s, {'a': {'type': 'object', 'x-kubernetes-map-type': 'other'}})


@scenario
def refused_extensions(s):
    """Extensions of Kubernetes where they do not belong."""
    refused(s, {'a': dict(TEXT, **{'x-kubernetes-int-or-string': True})})
    refused(s, {'a': dict(TEXT, **{'x-kubernetes-preserve-unknown-fields': True})})
    refused(s, {'a': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': False}})
    refused(s, {'a': {'type': 'object', 'x-kubernetes-embedded-resource': True}})
    refused(s, {'a': dict(TEXT, **{'x-kubernetes-embedded-resource': True,
                                   'x-kubernetes-preserve-unknown-fields': True})})


@scenario
def refused_values(s):
    """Keywords with values that make no sense."""
    refused(s, {'a': dict(TEXT, pattern='(')})
    refused(s, {'a': dict(TEXT, maxLength=-1)})
    refused(s, {'a': dict(TEXT, enum=[])})
    refused(s, {'a': {'type': 'integer', 'minimum': 5, 'maximum': 2}})
    refused(s, {'a': {'type': 'integer', 'multipleOf': 0}})
    refused(s, {'a': {'type': 'array', 'items': TEXT, 'minItems': 3, 'maxItems': 2}})
    refused(s, {'a': {'type': 'object', 'required': ['a', 'a']}})
    refused(s, {'a': {'type': 'integer', 'maximum': 'x'}})


def refused_rules_of(s, *rules):
    for members in rules:
        refused(s, {'n': {'type': 'integer'}}, schema={'x-kubernetes-validations': [members]})


@scenario
def refused_rules(s):
    """Rules with bad companions."""
    refused_rules_of(
        s, {'rule': ''}, {'rule': 'self.spec.n > 1', 'message': 'a\nb'}, {'rule': 'self.spec.n > 1', 'message': ' '},
        {'rule': 'self.spec.n > 1', 'fieldPath': '.spec.m'}, {'rule': 'self.spec.n > 1', 'fieldPath': 'spec'},
        {'rule': 'self.spec.n > 1', 'optionalOldSelf': True})


@scenario
def refused_rules_that_do_not_compile(s):
    """Rules that cannot be read, say no boolean, or name unknown fields, and reasons that there are not."""
    refused_rules_of(
        s, {'rule': 'self.spec.n >'}, {'rule': 'self.spec.n'}, {'rule': 'self.spec.m > 1'}, {'rule': 'self.spec.n > "x"'},
        {'rule': 'self.spec.n > 1', 'messageExpression': 'self.spec.n'}, {'rule': 'self.spec.n > 1', 'reason': 'Whatever'})


@scenario
def refused_expensive_rules(s):
    """Rules whose estimated cost is above the budget."""
    refused(s, {'a': {'type': 'array', 'items': {'type': 'array', 'items': TEXT}, 'x-kubernetes-validations': [
        {'rule': 'self.all(x, x.all(y, self.all(z, z.all(w, w == y))))'}]}})


@scenario
def int_or_string(s):
    """What generators write for a number or a percentage is accepted."""
    port = {'x-kubernetes-int-or-string': True, 'anyOf': [{'type': 'integer'}, {'type': 'string'}]}
    s.kind({'spec': {'type': 'object', 'properties': {'port': port, 'limited': {
        'x-kubernetes-int-or-string': True, 'pattern': '^[0-9]+%?$', 'anyOf': port['anyOf']}}}})
    s.create('things/a', spec={'port': 80, 'limited': '5%'})
    s.create('things/b', spec={'port': True})
    s.create('things/c', spec={'limited': 'x'})


@scenario
def refused_columns(s):
    """Printer columns need a name, a type and a path."""
    for column in ({'name': 'A', 'type': 'text', 'jsonPath': '.spec.a'}, {'name': '', 'type': 'string', 'jsonPath': '.a'},
                   {'name': 'A', 'type': 'string', 'jsonPath': ''}, {'name': 'A', 'type': 'string', 'jsonPath': 'spec.a'},
                   {'name': 'A', 'type': 'string', 'format': 'f', 'jsonPath': '.spec.a'}):
        s.post(CRDS + '?dryRun=All', crd(SPEC, version={'additionalPrinterColumns': [column]}))


@scenario
def refused_subresources(s):
    """The scale subresource needs paths under spec and status."""
    for scale in ({'specReplicasPath': '', 'statusReplicasPath': '.status.n'},
                  {'specReplicasPath': '.status.n', 'statusReplicasPath': '.spec.n'},
                  {'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n', 'labelSelectorPath': '.x'},
                  {'specReplicasPath': '.spec.n[0]', 'statusReplicasPath': '.status.n'}):
        s.post(CRDS + '?dryRun=All', crd(SPEC, version={'subresources': {'scale': scale}}))


@scenario
def refused_selectable_fields(s):
    """Selectable fields are strings, booleans or integers of the schema, named once, at most eight."""
    for fields in (['.spec.no'], ['.spec'], ['.spec.text', '.spec.text'], ['spec.text'], ['.metadata.name'], [''],
                   ['.spec.f%d' % n for n in range(9)]):
        s.post(CRDS + '?dryRun=All', crd(SPEC, version={'selectableFields': [{'jsonPath': path} for path in fields]}))


@scenario
def strict_fields(s):
    """Unknown and duplicate members of a CRD: an error, a warning, or nothing."""
    document = dict(crd(SPEC), extra=1)
    document['spec']['versions'][0]['unknown'] = True
    document['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec']['optional'] = True
    for mode in ('Strict', 'Warn', 'Ignore', 'Sometimes'):
        s.post(CRDS + '?dryRun=All&fieldValidation=' + mode, document)


@scenario
def wrong_types(s):
    """A CRD with members of wrong types."""
    document = crd(SPEC)
    document['spec']['versions'] = 'v1'
    s.post(CRDS + '?dryRun=All', document)
    document = crd(SPEC)
    document['spec']['versions'][0]['served'] = 'yes'
    s.post(CRDS + '?dryRun=All', document)
    document = crd(SPEC)
    del document['spec']
    s.post(CRDS + '?dryRun=All', document)


@scenario
def applied(s):
    """A CRD can be applied, again without effect, and changed by it."""
    spec = crd(SPEC)['spec']
    s.apply(THINGS, spec=spec)
    s.get(THINGS, within=30, until={'status/conditions/type=Established/status': 'True'})
    s.apply(THINGS, spec=spec)
    s.apply(THINGS, spec=dict(spec, names=dict(spec['names'], shortNames=['th'])))


@scenario
def table(s):
    """What kubectl get crd shows."""
    s.kind(SPEC)
    s.get(THINGS, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
