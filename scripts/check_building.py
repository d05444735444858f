#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/building.md with the build: every option of cmake/options.cmake has its row and every row its option,
the page and README.md list the libraries of cmake/components.cmake, and README.md, docs/guide.md and docs/building.md give one
recipe to install."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTION = re.compile(r'^\s*(?:cmake_dependent_option|option)\((\w+)|^\s*set\((\w+)\s[^)]*?\sCACHE\s', re.M)
ROW = re.compile(r'^\| `(\w+)` \|', re.M)
RECIPE = re.compile(r'<!-- recipe: install -->\n```sh\n(.*?)```', re.S)


def options(text):
    return {name or cached for name, cached in OPTION.findall(text)} - {'CMAKE_BUILD_TYPE'}


def main():
    problems = []
    page = (ROOT / 'docs/building.md').read_text()
    declared = options((ROOT / 'cmake/options.cmake').read_text())
    documented = set(ROW.findall(page))
    problems += [f'docs/building.md: no row for the option {name}' for name in sorted(declared - documented)]
    problems += [f'docs/building.md: {name} is not an option of cmake/options.cmake'
                 for name in sorted(documented - declared)]
    for path in [*ROOT.glob('cmake/*.cmake'), ROOT / 'CMakeLists.txt', *ROOT.glob('src/**/*.cmake'), ROOT / 'src/CMakeLists.txt']:
        if path.name != 'options.cmake' and options(path.read_text()):
            problems.append(f'{path.relative_to(ROOT)}: options belong into cmake/options.cmake')

    libraries = re.search(r'set\(evenkeel_components ([^)]*)\)', (ROOT / 'cmake/components.cmake').read_text())[1].split()
    listed = {'docs/building.md': re.findall(r'`(\w+)`', re.search(r'Components are the libraries: (.*?)\.', page, re.S)[1]),
              'README.md': re.findall(r'^\|[^|]*\| `evenkeel::(\w+)` \|', (ROOT / 'README.md').read_text(), re.M)}
    problems += [f'{name}: its libraries are not those of cmake/components.cmake: {", ".join(sorted(set(found) ^ set(libraries)))}'
                 for name, found in listed.items() if set(found) != set(libraries)]
    recipe = RECIPE.findall(page)
    if len(recipe) != 1:
        problems.append('docs/building.md: has no recipe to install, or several')
    for name in ('README.md', 'docs/guide.md'):
        if RECIPE.findall((ROOT / name).read_text()) != recipe:
            problems.append(f'{name}: its recipe to install is not that of docs/building.md')
    for path in [ROOT / 'README.md', *ROOT.glob('docs/**/*.md')]:
        shell = ''.join(re.findall(r'```sh\n(.*?)```', RECIPE.sub('', path.read_text()), re.S))
        if re.search(r'cmake --install (?!build/queue)', shell):
            problems.append(f'{path.relative_to(ROOT)}: has a recipe to install of its own')
    for problem in problems:
        print(problem)
    print(f'{len(declared)} options, {len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
