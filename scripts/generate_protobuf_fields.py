#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/apiserver/data/protobuf_fields.txt: the field numbers of the built-in kinds' protobuf messages.

  generate_protobuf_fields.py API APIMACHINERY > src/apiserver/data/protobuf_fields.txt

API and APIMACHINERY are git directories of github.com/kubernetes/api and github.com/kubernetes/apimachinery.
Read from generated.proto (numbers and types) and types.go (JSON names; "-" for members that stand inline).
One line a message: its OpenAPI name, a tab, then "name number type" separated by ";". A type is s (string),
i (integer), b (bool), y (bytes), d (double) or a message, without package if that is the line's own; "*" before
it is a list, "%" a map from strings, "?" a value that JSON leaves out when it is zero (protobuf writes it).
"""
import re
import subprocess
import sys

API = """admissionregistration/v1 apps/v1 authentication/v1 authorization/v1 autoscaling/v1 autoscaling/v2 batch/v1
certificates/v1 coordination/v1 core/v1 discovery/v1 events/v1 networking/v1 policy/v1 rbac/v1 scheduling/v1 storage/v1""".split()
MACHINERY = ["pkg/apis/meta/v1", "pkg/runtime", "pkg/api/resource", "pkg/util/intstr"]
SCALARS = {"string": "s", "bool": "b", "int32": "i", "int64": "i", "uint32": "i", "uint64": "i", "bytes": "y",
           "double": "d"}
LIST_KINDS = re.compile(r"List$")


def show(repository, path):
    run = subprocess.run(["git", "-C", repository, "show", "HEAD:" + path], capture_output=True, text=True)
    return run.stdout


def openapi_name(name):
    return "io.k8s" + name[len("k8s.io"):] if name.startswith("k8s.io.") else name


def json_names(repository, folder):
    """{struct: {number: (JSON name, or "-" if inline; whether zero is left out)}}"""
    found, struct = {}, None
    files = subprocess.run(["git", "-C", repository, "ls-tree", "--name-only", "HEAD", folder + "/"],
                           capture_output=True, text=True).stdout.split()
    for path in files:
        if not path.endswith(".go") or path.endswith("_test.go") or "generated" in path:
            continue
        for line in show(repository, path).splitlines():
            start = re.match(r"type (\w+) struct", line)
            if start:
                struct = start.group(1)
            tag = re.search(r'([^\s`]+)\s+`.*json:"([^"]*)".*protobuf:"\w+,(\d+)', line)
            if struct and tag:
                kind, json_tag, number = tag.groups()
                name = json_tag.split(",")[0]
                found.setdefault(struct, {})[int(number)] = (name or "-", "omitempty" in json_tag and kind[0] != "*")
    return found


def type_token(text, package):
    if text in SCALARS:
        return SCALARS[text]
    name = openapi_name(text.lstrip("."))
    return name[len(package) + 1:] if name.rpartition(".")[0] == package else name


def messages(repository, folder):
    text = show(repository, folder + "/generated.proto")
    package = openapi_name(re.search(r"^package ([\w.]+);", text, re.M).group(1))
    names = json_names(repository, folder)
    for match in re.finditer(r"^message (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        message, body = match.groups()
        if LIST_KINDS.search(message):
            continue
        fields = []
        for line in body.splitlines():
            field = re.match(r"\s+(optional|repeated|map<(\w+),\s*([\w.]+)>)\s+(?:([\w.]+)\s+)?(\w+) = (\d+)", line)
            if not field:
                continue
            label, _, value, kind, name, number = field.groups()
            token = "%" + type_token(value, package) if value else type_token(kind, package)
            json_name, zero_left_out = names.get(message, {}).get(int(number), (name, False))
            if label == "repeated":
                token = "*" + token
            elif zero_left_out and token in SCALARS.values():
                token = "?" + token
            fields.append("%s %s %s" % (json_name, number, token))
        yield package + "." + message, ";".join(fields)


def main():
    api, machinery = sys.argv[1:3]
    lines = [pair for folder in API for pair in messages(api, folder)]
    lines += [pair for folder in MACHINERY for pair in messages(machinery, folder)]
    for name, fields in sorted(lines):
        print(name + "\t" + fields)


if __name__ == "__main__":
    main()
