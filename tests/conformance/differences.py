# SPDX-License-Identifier: Apache-2.0
"""The list of the scenarios in which the embedded server differs from a real one, and the table made of it.

differences.txt has a line for each: area/name and the reason. All other scenarios are equal, except for
wording that no client parses (normalise.py). The table is in docs/conformance.md between two marks.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, 'differences.txt')
DOCUMENT = os.path.join(HERE, '..', '..', 'docs', 'conformance.md')
TABLE = re.compile(r'(<!-- differences -->\n).*?(<!-- end of differences -->)', re.S)
NO_REASON = 'no reason given'


def read():
    """Returns {name: (verdict, reason)}."""
    found = {}
    with open(LIST) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                name, reason = line.strip().split(None, 1)
                found[name] = 'different', reason
    return found


def write(verdicts, whole):
    """Keeps existing reasons and, unless `whole`, the lines of scenarios that were not played."""
    known = read()
    if not whole:
        verdicts = dict({name: verdict for name, (verdict, _) in known.items()}, **verdicts)
    with open(LIST, 'w') as file:
        file.write('# Scenarios in which the embedded server is not equal to a real one, and why.\n')
        for name, verdict in sorted(verdicts.items()):
            if verdict != 'equal':
                file.write('%s %s\n' % (name, known.get(name, ('', NO_REASON))[1]))


def table():
    lines = ['| Scenario | What differs |', '|---|---|']
    for name, (_, reason) in sorted(read().items()):
        lines.append('| %s | %s |' % (name, reason))
    return '\n%s\n\n' % '\n'.join(lines)


def update_document():
    with open(DOCUMENT) as file:
        text = file.read()
    with open(DOCUMENT, 'w') as file:
        file.write(TABLE.sub(lambda m: m.group(1) + table() + m.group(2), text))


def complaints():
    """Returns the problems of the list's form and of the document."""
    for name, (_, reason) in sorted(read().items()):
        if reason == NO_REASON:
            yield 'differences.txt: %s has no reason' % name
    with open(DOCUMENT) as file:
        text = file.read()
    if TABLE.sub(lambda m: m.group(1) + table() + m.group(2), text) != text:
        yield 'docs/conformance.md: the table is not that of differences.txt; --update writes it'
