#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/api/patch_fields.inc, the patch strategies of built-in kinds, from src/apiserver/data/builtin_kinds.txt.

usage: scripts/generate_patch_fields.py

A line per kind, and per field that has a strategy or leads to one: {type, field, type below, merge key, strategy}.
Types are numbers. The result is committed.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRATEGIES = {None: "none", "merge": "merge", "retainKeys": "retain", "merge,retainKeys": "merge_retain",
              "replace": "replace"}


def type_below(schema):
    inner = schema.get("items", schema.get("additionalProperties", schema))
    return inner.get("$ref", "") if isinstance(inner, dict) else ""


def main():
    types, kinds = {}, []
    for line in (ROOT / "src/apiserver/data/builtin_kinds.txt").read_text().splitlines():
        tag, _, rest = line.partition(" ")
        name, _, value = rest.partition("\t")
        if tag == "t":
            types[name] = json.loads(value).get("properties", {})
        elif tag == "k":
            kinds.append((name, value))
    strategy = "x-kubernetes-patch-strategy"
    needed = {name for name, fields in types.items() if any(strategy in field for field in fields.values())}
    while more := {name for name, fields in types.items() if name not in needed
                   and any(type_below(field) in needed for field in fields.values())}:
        needed |= more
    number = {name: i + 1 for i, name in enumerate(sorted(needed))}
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Written by scripts/generate_patch_fields.py from src/apiserver/data/builtin_kinds.txt; do not edit.",
             "// clang-format off", "constexpr PatchKind patch_kinds[] = {"]
    for name, of in sorted(kinds):
        if of in needed:
            group_version, _, kind = name.rpartition("/")
            lines.append(f'    {{"{group_version.lstrip("/")}", "{kind}", {number[of]}}},')
    lines += ["};", "constexpr PatchField patch_fields[] = {"]
    for name in sorted(needed):
        for field, schema in sorted(types[name].items()):
            below = number.get(type_below(schema), 0)
            if below or strategy in schema:
                key = schema.get("x-kubernetes-patch-merge-key", "")
                lines.append(f'    {{{number[name]}, "{field}", {below}, "{key}", '
                             f'Strategy::{STRATEGIES[schema.get(strategy)]}}},')
    lines += ["};", "// clang-format on", ""]
    (ROOT / "src/api/patch_fields.inc").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
