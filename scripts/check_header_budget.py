#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the preprocessed lines of every public header and refuses one that outgrew its budget: compile time
is a feature. Raise one only with a reason in the commit."""
import concurrent.futures
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET = {'ratelimit': 45_000, 'workqueue': 55_000, 'evenkeel.hpp': 76_000}
SHELLS = {'ratelimit/throttle.hpp': 52_000,  # waits through a clock, as a queue does
          'testing/harness.hpp': 75_000, 'testing/run.hpp': 75_000, 'testing/explore.hpp': 75_000, 'testing/operations.hpp': 75_000, 'testing/simulation.hpp': 75_000,  # a whole operator, as the umbrella
          'manager/manager.hpp': 71_100, 'testing/running_manager.hpp': 71_100,  # caches that hold a share
          'controller/dependents.hpp': 71_500,  # the builder, which it extends, and a graph
          'manager/run.hpp': 75_000, 'coordination/process_groups/steps.hpp': 75_000}
OTHERS = 71_000
# Named for what it brings in.
EXEMPT = {'api/nlohmann.hpp'}


def lines(header):
    out = subprocess.run(['g++', '-std=c++20', '-E', '-P', '-I', str(ROOT / 'include'), '-x', 'c++', str(header)],
                         capture_output=True, check=True).stdout
    return out.count(b'\n')


def main():
    headers = [h for h in sorted((ROOT / 'include/evenkeel').rglob('*.hpp'))
               if str(h.relative_to(ROOT / 'include/evenkeel')) not in EXEMPT]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lines, headers))
    failed = False
    largest = (0, '')
    for header, count in zip(headers, counts):
        name = str(header.relative_to(ROOT / 'include/evenkeel'))
        budget = SHELLS.get(name) or BUDGET.get(name.split('/')[0], OTHERS)
        largest = max(largest, (count, name))
        if count > budget:
            failed = True
            print(f'{name}: {count} preprocessed lines, budget {budget}')
    print(f'{len(headers)} headers, the largest {largest[1]} with {largest[0]} lines')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
