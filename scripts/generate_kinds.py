#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the built-in kinds as C++ structs: include/evenkeel/api/kinds/*.hpp and src/api/kinds/*.cpp.

usage: scripts/generate_kinds.py FOLDER

FOLDER holds one JSON file for each group and version of a Kubernetes API server, with its resources (as
discovery lists them) and its OpenAPI v3 schemas. The result is committed; run clang-format over it.

Shapes: an object that the server always has (the schema gives it the default {}) is a plain struct, any
other is optional. Lists and maps are plain. Scalars are optional, but for required ones in structs that
are made on purpose (items of lists, optional structs): a new object claims nothing that it was not told to.
Members are in this order: metadata, name, spec, status, then the rest by name.
"""
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Header -> (file in FOLDER, kinds). A header's other structs are those that its kinds need.
HEADERS = {
    "core": ("core_v1", ["ConfigMap", "Secret", "Namespace", "Event", "ServiceAccount", "Service"]),
    # Apart from the core, because a pod has a hundred structs, which take a second to compile.
    "pods": ("core_v1", ["Pod", "Node", "PersistentVolumeClaim"]),
    "apps": ("apps_v1", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]),
    "batch": ("batch_v1", ["Job", "CronJob"]),
    "coordination": ("coordination.k8s.io_v1", ["Lease"]),
    "events": ("events.k8s.io_v1", ["Event"]),
    "rbac": ("rbac.authorization.k8s.io_v1", ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
    "networking": ("networking.k8s.io_v1", ["Ingress", "NetworkPolicy"]),
    "policy": ("policy_v1", ["PodDisruptionBudget"]),
    "autoscaling": ("autoscaling_v2", ["HorizontalPodAutoscaler"]),
    "apiextensions": ("apiextensions.k8s.io_v1", ["CustomResourceDefinition"]),
}

# Schemas that are written by hand: C++ type, header, whether it is a class that may be plain.
KNOWN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("Quantity", "quantity.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Condition": ("Condition", "metadata.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector": ("LabelSelector", "selector.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": ("MicroTime", "time.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": ("ObjectMeta", "metadata.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": ("Time", "time.hpp"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("IntOrString", "int_or_string.hpp"),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": ("Json", "json.hpp"),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": ("Json", "json.hpp"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": ("Json", "json.hpp"),
}
# Kinds that namespace evenkeel names as well.
COMMON = {"ConfigMap", "CronJob", "DaemonSet", "Deployment", "Job", "Lease", "Namespace", "Node", "PersistentVolumeClaim",
          "Pod", "ReplicaSet", "Secret", "Service", "ServiceAccount", "StatefulSet"}
MEMBER_NAMES = {"openAPIV3Schema": "open_api_v3_schema"}
FIRST = ["metadata", "name", "spec", "status"]
# Words of C++, and what compilers in GNU mode define as macros.
KEYWORDS = {
    'linux', 'unix',
    "class", "continue", "default", "delete", "double", "enum", "explicit", "export", "float", "int", "long",
    "namespace", "new", "operator", "private", "protected", "public", "register", "short", "signed", "static",
    "template", "this", "union", "unsigned", "using", "virtual", "volatile",
}
GENERATED = "// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit."


def snake(wire):
    if wire in MEMBER_NAMES:
        return MEMBER_NAMES[wire]
    name = wire.replace("-", "_").replace("$", "")
    name = re.sub(r"([A-Z]+)s($|(?=[A-Z][a-z]))", lambda m: m.group(1).capitalize() + "s", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    return name + "_" if name in KEYWORDS else name


def camel(member):
    """What EVENKEEL_FIELDS makes of a member's name."""
    if member.endswith("_"):
        member = member[:-1]
    return re.sub(r"_+([a-z]?)", lambda m: m.group(1).upper(), member)


def ref_of(schema):
    """(name of the schema that this one refers to or None, whether it has the default {})."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1], schema.get("default") == {}
    parts = schema.get("allOf", [])
    if len(parts) == 1 and "$ref" in parts[0]:
        return parts[0]["$ref"].rsplit("/", 1)[1], schema.get("default") == {}
    return None, False


class Kinds:
    def __init__(self, folder):
        self.schemas = {}
        self.documents = {}
        for header, (file, _) in HEADERS.items():
            document = json.loads((folder / (file + ".json")).read_text())
            self.documents[header] = document
            self.schemas.update(document["schemas"])
        self.header_of = {}   # schema name -> header that its struct stands in
        self.order = collections.defaultdict(list)  # header -> schema names, each after what it needs
        self.always = set()   # names of schemas that are plain members somewhere
        self.resources = {}   # schema name -> (resource, group, version)
        self.writing = ""     # the header that is being written

    def struct_name(self, name):
        return name.rsplit(".", 1)[1]

    def namespace(self, header):
        """The namespace of a header's kinds: that of the group and version, core_v1."""
        group, version = self.document_group(header)
        return f"{group.split('.', 1)[0] or 'core'}_{version}"

    def qualified_name(self, name, header):
        """The name of a struct as the kinds of the header `header` have to write it."""
        space = self.namespace(self.header_of.get(name) or self.home(name, header))
        prefix = "" if space == self.namespace(header) else space + "::"
        return prefix + self.struct_name(name)

    def is_struct(self, name):
        return name not in KNOWN and bool(self.schemas[name].get("properties"))

    def home(self, name, user):
        """The header of a schema that the header `user` needs: that one, or the last one of the schema's group."""
        found = None
        for header, (file, _) in HEADERS.items():
            group = file.rsplit("_", 1)[0].split(".", 1)[0]
            version = file.rsplit("_", 1)[1]
            if name.endswith(f".{group}.{version}." + name.rsplit(".", 1)[1]):
                if header == user:
                    return header
                found = header
        if not found:
            raise SystemExit(f"no header for {name}")
        return found

    def visit(self, name, user):
        if name in self.header_of or not self.is_struct(name):
            return
        header = self.header_of[name] = self.home(name, user)
        for schema in self.schemas[name]["properties"].values():
            inner, always = ref_of(schema)
            if always:
                self.always.add(inner)
            for needed in self.needs(schema):
                self.visit(needed, header)
        self.order[self.header_of[name]].append(name)

    def needs(self, schema):
        name, _ = ref_of(schema)
        if name:
            yield name
        for inner in ("items", "additionalProperties"):
            if isinstance(schema.get(inner), dict):
                yield from self.needs(schema[inner])

    def load(self):
        for header, (_, kinds) in HEADERS.items():
            for kind in kinds:
                name = next(n for n, s in self.schemas.items()
                            for gvk in s.get("x-kubernetes-group-version-kind", [])
                            if gvk["kind"] == kind and self.document_group(header) == (gvk["group"], gvk["version"]))
                resource = next(r for r in self.documents[header]["resources"]
                                if r["kind"] == kind and "/" not in r["name"])
                self.resources[name] = (resource, *self.document_group(header))
                self.visit(name, header)

    def document_group(self, header):
        parts = self.documents[header]["groupVersion"].split("/")
        return (parts[0], parts[1]) if len(parts) == 2 else ("", parts[0])

    # ---- Types ----

    def value_type(self, schema, includes):
        """The C++ type of a value that is there."""
        name, _ = ref_of(schema)
        if name in KNOWN:
            includes.add(KNOWN[name][1])
            return KNOWN[name][0]
        if name and self.is_struct(name):
            return self.qualified_name(name, self.writing)
        if name:
            return self.value_type(self.schemas[name], includes)
        kind = schema.get("type")
        if kind == "array":
            return f"std::vector<{self.value_type(schema['items'], includes)}>"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"std::map<std::string, {self.value_type(schema['additionalProperties'], includes)}>"
        if kind == "string" and schema.get("format") == "byte":
            includes.add("bytes.hpp")
            return "Bytes"
        if kind == "integer":
            return "std::int32_t" if schema.get("format") == "int32" else "std::int64_t"
        simple = {"string": "std::string", "boolean": "bool", "number": "double"}
        if kind in simple:
            return simple[kind]
        includes.add("json.hpp")
        return "Json"

    def member_type(self, schema, required, includes):
        base = self.value_type(schema, includes)
        name, always = ref_of(schema)
        if base == "Json" or base.startswith(("std::vector", "std::map")):
            return base
        if name and self.schemas.get(name, {}).get("type") == "object" or base in ("ObjectMeta",):
            return base if always else f"std::optional<{base}>"
        plain = required and base not in ("Time", "MicroTime")
        return base if plain else f"std::optional<{base}>"

    # ---- Text ----

    def members(self, name):
        schema = self.schemas[name]
        wires = list(schema["properties"])
        if name in self.resources:
            wires = [wire for wire in wires if wire not in ("apiVersion", "kind")]
        first = [wire for wire in FIRST if wire in wires]
        return first + sorted(wire for wire in wires if wire not in first)

    def struct(self, name, includes):
        schema = self.schemas[name]
        lines = []
        if name in self.resources:
            resource, group, version = self.resources[name]
            lines.append(f"/// {group + '/' if group else ''}{version} {resource['kind']}.")
        lines.append(f"struct {self.struct_name(name)} {{")
        if name in self.resources:
            lines += self.resource(name)
        for wire in self.members(name):
            property_ = schema["properties"][wire]
            required = wire in schema.get("required", []) and name not in self.always
            kind = self.member_type(property_, required, includes)
            note = ""
            if property_.get("enum"):
                note = "  ///< " + ", ".join(f'"{value}"' for value in property_["enum"]) + "."
            start = {"bool": "false", "double": "0"}.get(kind, "0" if kind.startswith("std::int") else "{}")
            lines.append(f"  {kind} {snake(wire)} = {start};{note}")
        lines += ["", f"  bool operator==(const {self.struct_name(name)}&) const = default;", "};", ""]
        return lines

    def resource(self, name):
        resource, group, version = self.resources[name]
        parts = [f'.version = "{version}"', f'.kind = "{resource["kind"]}"', f'.plural = "{resource["name"]}"']
        if group:
            parts.insert(0, f'.group = "{group}"')
        if not resource["namespaced"]:
            parts.append(".scope = Scope::cluster")
        if resource.get("shortNames"):
            parts.append(f'.short_name = "{resource["shortNames"][0]}"')
        return ["  static constexpr ResourceInfo resource{" + ", ".join(parts) + "};"]

    def table(self, name):
        entries = []
        for wire in self.members(name):
            schema = self.schemas[name]["properties"][wire]
            attributes = []
            if camel(snake(wire)) != wire:
                attributes.append(f'wire("{wire}")')
            keys = schema.get("x-kubernetes-list-map-keys")
            if keys:
                attributes.append("list_map(" + ", ".join(f'"{key}"' for key in keys) + ")")
            elif "x-kubernetes-patch-merge-key" in schema:
                attributes.append(f'match_by("{schema["x-kubernetes-patch-merge-key"]}")')
            elif schema.get("x-kubernetes-list-type") == "set":
                attributes.append("list_set")
            member = snake(wire)
            entries.append(f"({member}, {', '.join(attributes)})" if attributes else member)
        return f"EVENKEEL_DEFINE_FIELDS({self.struct_name(name)}, {', '.join(entries)})"

    def write(self):
        for header in HEADERS:
            includes = {"fields.hpp", "metadata.hpp"}
            body = []
            self.writing = header
            for name in self.order[header]:
                body += self.struct(name, includes)
            needed = {self.header_of[n] for name in self.order[header]
                      for schema in self.schemas[name]["properties"].values()
                      for n in self.needs(schema) if n in self.header_of}
            needed.discard(header)
            self.write_header(header, body, includes, needed)
            self.write_source(header)

    def write_header(self, header, body, includes, needed):
        text = "\n".join(body)
        standard = [inc for inc, word in (("cstdint", "std::int"), ("map", "std::map"), ("optional", "std::optional"),
                                          ("string", "std::string"), ("vector", "std::vector")) if word in text]
        own = [f"#include <evenkeel/api/{inc}>" for inc in sorted(includes | {f"kinds/{n}.hpp" for n in needed})]
        declared = [f"EVENKEEL_DECLARE_FIELDS({self.struct_name(name)})" for name in self.order[header]]
        group, version = self.document_group(header)
        lines = ["// SPDX-License-Identifier: Apache-2.0", GENERATED,
                 f"// The kinds of {group or 'the core group'} {version}, complete in fields. Order of members: "
                 "metadata, name, spec,", "// status, then by name.", "#pragma once", ""]
        lines += [f"#include <{inc}>" for inc in standard] + [""] + own
        space = self.namespace(header)
        lines += ["", "namespace evenkeel {", "inline namespace v0 {", f"namespace {space} {{", ""] + body + declared
        lines += ["", f"}}  // namespace {space}", ""]
        common = [name for name in map(self.struct_name, self.order[header]) if name in COMMON]
        lines += [f"using {space}::{name};" for name in common] + ([""] if common else [])
        lines += ["}  // namespace v0", "}  // namespace evenkeel", ""]
        path = ROOT / "include/evenkeel/api/kinds" / f"{header}.hpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines))

    def write_source(self, header):
        lines = ["// SPDX-License-Identifier: Apache-2.0", GENERATED, f"#include <evenkeel/api/kinds/{header}.hpp>",
                 "", "namespace evenkeel {", "inline namespace v0 {", f"namespace {self.namespace(header)} {{", ""]
        lines += [self.table(name) for name in self.order[header]]
        lines += ["", f"}}  // namespace {self.namespace(header)}", "}  // namespace v0", "}  // namespace evenkeel", ""]
        path = ROOT / "src/api/kinds" / f"{header}.cpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    kinds = Kinds(pathlib.Path(sys.argv[1]))
    kinds.load()
    kinds.write()
    for header in HEADERS:
        print(f"kinds/{header}.hpp: {len(kinds.order[header])} structs")


if __name__ == "__main__":
    main()
