# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions themselves: creating, refusing, changing and deleting them."""
from scenario import scenario

TEXT = {'type': 'string'}
SPEC = {'spec': {'type': 'object', 'properties': {'text': TEXT}}}


@scenario
def scope_cluster(s):
    """A cluster-scoped kind has no namespaces in its paths."""
    s.kind(SPEC, scope='Cluster')
    s.create('things/{ns}-a', spec={'text': 'x'})
    s.get('things/{ns}-a')
    s.get('/apis/{ns}.example.com/v1/namespaces/{ns}/things')
    s.delete('things/{ns}-a')
