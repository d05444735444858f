# SPDX-License-Identifier: Apache-2.0
"""Plays the worlds, some of them at once, and prints what came of them."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from .basics import PROCESSES, READY_BY, SITES, Failed, Process, TooSlow, say
from .pictures import LEGEND, price_table, print_shows, print_timelines, svg, table
from .scenarios import STORIES
from .servers import Etcd, FoundationDb, find_etcd
from .world import World

SERVERS = {'embedded': 'evenkeel-apiserver', 'real': 'evenkeel-control-plane'}
LONGEST_FIRST = ('migrate', 'deny', 'partition', 'crash', 'rollout', 'shadow')  # so that none is left at the end
ETCD_ONLY = ('partition', 'stale')  # what they do is done to a connection, or a key, of etcd


class Demo:
    def __init__(self, options):
        self.options = options
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='evenkeel-coordination-'))
        self.build = pathlib.Path(options.build).resolve()
        self.server = SERVERS[options.server]
        self.programs = {name: self.program(name) for name in (self.server, 'ringdb-sim', 'ring-operator', 'coordctl')}
        self.stories = [STORIES[name] for name in options.scenarios]
        self.etcd = None
        self.turns = threading.Semaphore(options.together)
        self.begun = time.monotonic()

    def program(self, name):
        for place in ('src', 'examples', 'bin', '.'):
            path = self.build / place / name
            if os.access(path, os.X_OK) and path.is_file():
                return path
        raise Failed(f'{name} is not built; run make demo-coordination')

    def prepare(self):
        self.crds = self.directory / 'crds.yaml'
        done = subprocess.run([self.programs['ring-operator'], '--print-crds'], capture_output=True, text=True, check=True)
        self.crds.write_text(done.stdout, encoding='utf-8')
        store = 'ConfigMaps of the API server'
        if self.options.store and self.options.store.startswith('fdb://'):
            self.etcd = FoundationDb(self.options.store)
            store = self.etcd.name
        elif self.options.store != 'kube':
            if not self.options.store and not find_etcd():
                self.programs['evenkeel-etcd'] = self.program('evenkeel-etcd')
            self.etcd = Etcd(self.programs, self.directory, self.options.store)
            store = f'{self.etcd.name} at {self.etcd.url}'
        say(f'   store: {store}; API server: {self.options.server}; ready by: {self.options.ready_by}; '
            f'time passes {self.options.scale:g} times faster')

    def play(self, world):
        """Runs one world; its error, or None."""
        with self.turns:
            error = self.try_to_play(world)
            if isinstance(error, TooSlow):
                world.stop()
                slower = World(self, world.story, world.mode, world.scale / 3)
                self.worlds_played[self.worlds_played.index(world)] = slower
                world, error = slower, self.try_to_play(slower)
            world.entries_at_end = world.entries() if error is None else []
            world.counters_at_end = world.counters() if error is None else {}
            if error is None or not self.options.keep:
                world.stop()
        return error

    def try_to_play(self, world):
        begun = time.monotonic()
        try:
            world.bring_up()
            world.story.play(world)
            say(f'   ok: {world.name}: {len(world.checks)} checks, {world.counters()["recoveries"]} recoveries, '
                f'in {time.monotonic() - begun:.0f} s (at {time.monotonic() - self.begun:.0f} s)')
            return None
        except TooSlow as error:
            say(f'   out of step: {error}')
            return error
        except Exception as error:  # whatever it is, the others go on, and it is counted
            say(f'   FAILED: {world.name}: {type(error).__name__}: {error}')
            return error

    def worlds(self):
        wanted = self.options.mode
        return [World(self, story, mode, self.options.scale) for story in self.stories for mode in story.modes
                if not wanted or mode == wanted]

    def run(self):
        say(f'\n== three operators, one database of {len(SITES) * sum(PROCESSES.values())} processes, '
            f'{", ".join(self.options.scenarios)}')
        self.prepare()
        self.worlds_played = self.worlds()
        errors = {}
        threads = [threading.Thread(target=lambda n=number, w=world: errors.update({n: self.play(w)}))
                   for number, world in sorted(enumerate(self.worlds_played), key=lambda pair: place(pair[1]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failed = [error for error in errors.values() if error]
        self.show([world for number, world in enumerate(self.worlds_played) if not errors[number]])
        checks = sum(len(world.checks) for world in self.worlds_played)
        say(f'\n== {checks} checks passed, {len(failed)} of {len(errors)} runs failed, in {time.monotonic() - self.begun:.0f} s')
        if any(not isinstance(error, TooSlow) for error in failed):
            return 1
        if failed and os.environ.get('EVENKEEL_REQUIRE_REAL') == '1':
            say('EVENKEEL_REQUIRE_REAL=1: a run that was too slow is a failure')
            return 1
        return 77 if failed else 0

    def show(self, worlds):
        say(f'\n== what it cost: {LEGEND}')
        for story in self.stories:
            of_story = [world for world in worlds if world.scenario == story.name]
            if of_story:
                print_timelines(of_story)
            if of_story and self.options.svg:
                path = pathlib.Path(self.options.svg) / f'{story.name}.svg'
                path.write_text(svg(story.name, of_story), encoding='utf-8')
        say('\n== what a user sees')
        print_shows(worlds)
        say('')
        say(table(self.stories, worlds))
        say('\n' + price_table(worlds))

    def close(self):
        for process in Process.all:
            process.ask_to_stop()
        for process in Process.all:
            process.stop()


def place(world):
    return LONGEST_FIRST.index(world.scenario) if world.scenario in LONGEST_FIRST else len(LONGEST_FIRST)


def parse(usage):
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument('build')
    parser.add_argument('scenarios', nargs='*')
    parser.add_argument('--mode', choices=('local', 'shadow', 'global'))
    parser.add_argument('--ready-by', choices=READY_BY, default=READY_BY[0])
    parser.add_argument('--scale', type=float, default=20)
    parser.add_argument('--svg')
    parser.add_argument('--store')
    parser.add_argument('--server', choices=tuple(SERVERS), default='embedded')
    parser.add_argument('--together', type=int, default=7)
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--keep', action='store_true')
    options = parser.parse_intermixed_args()
    on_etcd = not options.store or options.store.startswith('etcd')
    possible = [name for name in STORIES if on_etcd or name not in ETCD_ONLY]
    options.scenarios = options.scenarios or possible
    unknown = [name for name in options.scenarios if name not in possible]
    if unknown:
        parser.error(f'no such scenario, or not with this store: {", ".join(unknown)}')
    return options


def main(usage):
    options = parse(usage)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left running
    demo, code = None, 1
    try:
        demo = Demo(options)
        code = demo.run()
    except (Failed, OSError, subprocess.SubprocessError) as error:
        print(f'\nFAILED: {error}', file=sys.stderr)
    except KeyboardInterrupt:
        code = 130
    finally:
        if demo:
            demo.close()
            if code == 0 and not options.keep:
                shutil.rmtree(demo.directory, ignore_errors=True)
            else:
                print(f'logs: {demo.directory}', file=sys.stderr)
    return code
