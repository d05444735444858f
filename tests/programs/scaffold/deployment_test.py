#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies what the operator of a project that `evenkeel new` wrote prints with --print-manifests to the embedded API
server, runs it with the arguments of its Deployment, and holds every request that it sends against its roles.

usage: deployment_test.py APISERVER PROJECT OPERATOR"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'scripts'))
from check_deployment import PREFLIGHT, SECONDS, Check, Relay, attributes, granted  # noqa: E402


def applied(check, operator):
    """The roles and the container's arguments, after everything is applied but the sample."""
    name = operator.name
    printed = subprocess.run([operator, '--print-manifests'], capture_output=True, text=True, check=True).stdout
    check.kubectl('apply', '-f', '-', text=printed)
    get = lambda *what: json.loads(check.kubectl('-n', f'{name}-system', 'get', *what, '-o', 'json'))  # noqa: E731
    roles = get(f'clusterroles/{name}'), get(f'roles/{name}-runtime')
    container = get(f'deployments/{name}')['spec']['template']['spec']['containers'][0]
    if container['image'] != f'{name}:0.1.0':
        raise SystemExit(f'the image is {container["image"]}')
    return roles, container['args']


def work(check, project, kind):
    """Makes, changes and deletes the sample; its Deployment follows."""
    deployment = ('-n', 'default', 'get', 'deployment', 'sample', '--ignore-not-found', '-o', 'jsonpath={.spec.replicas}')
    check.kubectl('apply', '-f', project / 'deploy/sample.yaml')
    check.until('the Deployment is there', lambda: check.kubectl(*deployment) == '2')
    check.kubectl('patch', kind, 'sample', '--type', 'merge', '-p', '{"spec": {"replicas": 3}}')
    check.until('the Deployment is scaled', lambda: check.kubectl(*deployment) == '3')
    check.until_field(f'{kind}/sample', '.status.conditions[0].reason', 'Progressing')
    check.kubectl('delete', kind, 'sample', f'--timeout={SECONDS}s')
    check.until('the Deployment is gone', lambda: check.kubectl(*deployment) == '')


def run(check, server, project, operator):
    check.start(server, '--write-kubeconfig', check.kubeconfig)
    check.until('the server is there', lambda: check.kubeconfig.exists() and check.kubeconfig.stat().st_size)
    roles, arguments = applied(check, operator)
    direct = check.kubeconfig.read_text()
    relay = Relay(int(re.search(r'http://127\.0\.0\.1:(\d+)', direct)[1]))
    indirect = check.folder / 'relayed'
    indirect.write_text(re.sub(r'127\.0\.0\.1:\d+', f'127.0.0.1:{relay.address}', direct)
                        .replace('namespace: default', f'namespace: {operator.name}-system'))
    arguments = [re.sub(r'=:80(80|81)$', '=127.0.0.1:0', argument) for argument in arguments]
    process = check.start(operator, '--kubeconfig', indirect, *arguments)
    kind = re.search(r'^kind: (\w+)', (project / 'deploy/sample.yaml').read_text(), re.M)[1].lower()
    work(check, project, kind)
    process.send_signal(signal.SIGTERM)
    code = process.wait(timeout=SECONDS)

    asked = {attributes(*request) for request in relay.requests} - {None}
    denied = sorted(one for one in asked if not granted(one, roles) and one[:3] != PREFLIGHT)
    used = {(verb, resource) for verb, _, resource, _ in asked}
    for verb, group, resource, space in denied:
        print(f'no role grants {verb} of {resource}.{group} in namespace "{space}"')
    if code or ('patch', 'deployments') not in used:
        print(f'exit code {code}; the operator asked for {sorted(asked)}')
        return 1
    print(f'{len(asked)} kinds of requests, {len(denied)} not granted')
    return 1 if denied else 0


def main():
    server, project, operator = map(pathlib.Path, sys.argv[1:])
    check = Check(tempfile.gettempdir())
    try:
        return run(check, server, project, operator)
    finally:
        check.end()


if __name__ == '__main__':
    sys.exit(main())
