# SPDX-License-Identifier: Apache-2.0
"""Scenarios and the responses of a real control plane: recorded/<area>/<name>.json.

A recording has each request with its response, so it can be read and played by itself. Requests are written in
scenarios/; a recording with different requests is stale and reported as such. The scenarios of recorded/base have no
module, only their recordings.
"""
import json
import os

import scenario

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'recorded')
WIDTH = 118


def setup():
    """Returns the CRDs that the scenarios of base use."""
    return read(os.path.join(FOLDER, 'base', '_setup.json'))


def load():
    """Returns all scenarios sorted by name: area/name, about, alone, steps [{request, answer}], stale."""
    found = {}
    for area in sorted(os.listdir(FOLDER)):
        for file in sorted(os.listdir(os.path.join(FOLDER, area))):
            if file.endswith('.json') and not file.startswith('_'):
                entry = read(os.path.join(FOLDER, area, file))
                name = '%s/%s' % (area, file[:-5])
                found[name] = dict(entry, name=name, alone=area == 'base', stale=area != 'base' and 'has no source')
    for written in scenario.load():
        name = '%s/%s' % (written['area'], written['name'])
        known = found.get(name)
        same = known and [step['request'] for step in known['steps']] == written['steps']
        found[name] = {
            'name': name, 'about': written['about'], 'alone': written['alone'],
            'steps': known['steps'] if same else [{'request': step} for step in written['steps']],
            'stale': False if same else 'other requests than recorded' if known else 'is not recorded'}
    return [found[name] for name in sorted(found)]


def save(entry, answers):
    area, _, name = entry['name'].partition('/')
    os.makedirs(os.path.join(FOLDER, area), exist_ok=True)
    steps = [{'request': step['request'], 'answer': answer} for step, answer in zip(entry['steps'], answers)]
    with open(os.path.join(FOLDER, area, name + '.json'), 'w') as file:
        file.write(pretty({'name': name, 'about': entry['about'], 'steps': steps}) + '\n')


def remove(entry):
    os.remove(os.path.join(FOLDER, *entry['name'].split('/')) + '.json')


def read(path):
    with open(path) as file:
        return json.load(file)


def pretty(value, indent=0, before=0):
    """Returns JSON with line breaks only where a line would be too long."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + before + len(line) < WIDTH or not value or not isinstance(value, (dict, list)):
        return line
    pad = '\n' + ' ' * (indent + 1)
    if isinstance(value, list):
        return '[' + pad + (',' + pad).join(pretty(entry, indent + 1) for entry in value) + ']'
    parts = []
    for key, member in value.items():
        start = json.dumps(key, ensure_ascii=False) + ': '
        parts.append(start + pretty(member, indent + 1, len(start)))
    return '{' + pad + (',' + pad).join(parts) + '}'
