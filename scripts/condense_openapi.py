#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Condenses the resources and OpenAPI v3 schemas of a real API server into src/apiserver/data/builtin_kinds.txt.

    condense_openapi.py OPENAPI_FOLDER TABLE_COLUMNS_JSON OUTPUT

OPENAPI_FOLDER holds one JSON file per group version: {"groupVersion", "resources" (as discovery lists them),
"schemas" (components of the OpenAPI v3 document)}. TABLE_COLUMNS_JSON maps "apps/v1 deployments" to columns:
lists of name, type, format, priority and description (without it for Name, Age and Created At).
The output has one line per item, so that a reader parses only what it needs:

    g <group version>\t<resources as JSON>\t<type names, blank separated>
    t <type name>\t<schema as JSON>
    k <group/version/Kind>\t<type name>
    c columns\t<JSON>
"""
import json
import pathlib
import sys

# As `kubectl api-versions` of a real server orders groups: by priority, not by name.
ORDER = ["v1", "events.k8s.io/v1", "authentication.k8s.io/v1", "authorization.k8s.io/v1", "apps/v1",
         "autoscaling/v2", "autoscaling/v1", "batch/v1", "certificates.k8s.io/v1", "networking.k8s.io/v1", "policy/v1",
         "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "admissionregistration.k8s.io/v1",
         "apiextensions.k8s.io/v1", "scheduling.k8s.io/v1", "coordination.k8s.io/v1", "discovery.k8s.io/v1"]


def compact(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def flatten(node):
    """{"allOf": [{"$ref": X}], ...} as {"$ref": X, ...}; the reader turns it back."""
    if isinstance(node, list):
        return [flatten(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {name: flatten(value) for name, value in node.items()}
    every = node.get("allOf")
    if isinstance(every, list) and len(every) == 1 and list(every[0]) == ["$ref"]:
        del node["allOf"]
        node["$ref"] = every[0]["$ref"]
    if isinstance(node.get("$ref"), str):
        node["$ref"] = node["$ref"].removeprefix("#/components/schemas/")
    return node


def merge_type(types, name, schema):
    """Two group versions tell the same type apart only by the kinds that they list for it."""
    kinds = "x-kubernetes-group-version-kind"
    if name in types:
        known = {key: value for key, value in types[name].items() if key != kinds}
        if known != {key: value for key, value in schema.items() if key != kinds}:
            sys.exit(f"{name}: two shapes of one name")
        for kind in schema.get(kinds, []):
            if kind not in types[name].setdefault(kinds, []):
                types[name][kinds].append(kind)
    else:
        types[name] = schema


def main(folder, columns, output):
    types, lines = {}, []
    files = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        document = json.loads(path.read_text())
        files[document["groupVersion"]] = document
    for name in sorted(files, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n)):
        document = files[name]
        for type_name, schema in document["schemas"].items():
            merge_type(types, type_name, flatten(schema))
        lines.append(f"g {name}\t{compact(document['resources'])}\t{' '.join(sorted(document['schemas']))}")
    for name in sorted(types):
        kinds = types[name].get("x-kubernetes-group-version-kind", [])
        if len(kinds) == 1:
            kind = kinds[0]
            lines.append(f"k {kind['group']}/{kind['version']}/{kind['kind']}\t{name}")
        lines.append(f"t {name}\t{compact(types[name])}")
    lines.append(f"c columns\t{compact(json.loads(pathlib.Path(columns).read_text()))}")
    pathlib.Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
