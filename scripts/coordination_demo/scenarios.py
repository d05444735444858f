# SPDX-License-Identifier: Apache-2.0
"""What is played. Each story gets a world that is up, and returns nothing; the world has the checks."""
import dataclasses
import typing

from .basics import SILENCE, SITES, Failed, TooSlow
from .told import metrics_tell

# ---- what stories have in common ----


def expect(world, **wanted):
    """Exactly so many calls, or a range of them. Where the machine did not keep the pace, nothing is shown by another
    number."""
    counters = world.counters()
    wanted = {name: value if isinstance(value, range) else range(value, value + 1) for name, value in wanted.items()}
    if world.mode == 'global' and any(counters[name] not in value for name, value in wanted.items()):
        why = world.out_of_step()
        if why:
            raise TooSlow(f'{world.name}: {why}')
    for name, value in wanted.items():
        text = str(value[0]) if len(value) == 1 else f'{value[0]} to {value[-1]}'
        world.check(f'{name} is {text}', counters[name] in value, f'{counters[name]}: {describe(world.entries())}')
    world.check('no process was lost', counters['lost'] == 0, describe(world.entries()))


def at_least(world, **wanted):
    counters = world.counters()
    for name, value in wanted.items():
        world.check(f'{name} is {value} or more', counters[name] >= value, f'{counters[name]}: {describe(world.entries())}')
    world.check('no process was lost', counters['lost'] == 0, describe(world.entries()))


def describe(entries):
    return '; '.join(f"{e['caller']} {e['call']} {len(e.get('groups', []))} at {e['atSeconds']:.1f} s"
                     + (f" refused: {e['refused']}" if e.get('refused') else '') for e in entries)


def everywhere(world, argument):
    return all(argument in process['commandLine'] for process in world.status()['processes'])


def nothing_left(world):
    """Of all keys only those of the registry are left, and what guards them; the lock is free."""
    try:
        world.wait('the store is empty', lambda: not world.left_in_store(), 120)
    except Failed as error:
        raise Failed(f'{error}: left are {world.left_in_store()}') from error
    world.check('nothing is left in the store', True)


def calm(world):
    """At the end no condition says that anything is waited for."""
    unfinished = lambda: [(site, kind) for site in SITES for kind in ('CoordinationPending', 'CoordinationBlocked')
                          for one in world.cluster(site)['status']['conditions'] if one['type'] == kind and one['status'] != 'False']
    world.wait(f'no condition says that it waits: {unfinished()}', lambda: not unfinished(), 120)
    world.check('the conditions are False', True)


def finish(world):
    for site in SITES:
        reconciles = world.metric('controller_runtime_reconcile_total', [site])
        world.check(f'/metrics of {site} counts its reconciles', reconciles > 0, reconciles)
    if world.mode == 'local':
        return
    nothing_left(world)
    calm(world)
    for site in SITES:
        members = lambda: world.metric('evenkeel_coordination_members', [site])
        world.wait(f'/metrics of {site} sees no member any more', lambda: members() == 0, 300)
        live = world.metric('evenkeel_coordination_instances', [site], mode=world.mode, presence='live')
        world.check(f'/metrics of {site} sees three instances', live == 3, live)
    world.figures = {
        'commits': world.metric('evenkeel_coordination_store_commits_total', outcome='committed'),
        'conflicts': world.metric('evenkeel_coordination_store_commits_total', outcome='conflict'),
        'bytes written': world.metric('evenkeel_coordination_store_written_bytes_total'),
        'lock wait, s': round(world.metric('evenkeel_coordination_lock_wait_seconds_total') * world.scale)}


def change_knob(world, value='2', stagger=30):
    world.stagger(stagger, lambda site: {'knobs': {'cache': value}})


def rolled_out(world, value='2'):
    world.wait_settled('the knob is rolled out', 3000)
    world.check('every process has the new knob', everywhere(world, f'--knob_cache={value}'))


def has_heard(world, site):
    """The site has something to do: it said so in the store, or, where that is not asked, to its pods."""
    if world.mode != 'local':
        return world.members(site) > 0
    return 'cache=2' in world.call('GET', f'/api/v1/namespaces/{site}/configmaps/ring')['data']['arguments']


# ---- the stories ----

def rollout(world):
    """A knob changes everywhere."""
    if world.mode == 'global':
        world.watch()
    change_knob(world)
    rolled_out(world)
    kills = {'local': 3, 'shadow': 3, 'global': 1}[world.mode]
    expect(world, kill=kills, exclude=0, coordinators=0, include=0, recoveries=kills)
    if world.mode == 'global':
        show_filling(world)
        for site in SITES:
            said = world.condition_messages(site, 'CoordinationPending')
            world.check(f'CoordinationPending of {site} said so', any(text.startswith('restart: ') for text in said), said)
        acted = [world.metric('evenkeel_coordination_steps_total', [site], action='restart', result='acted') for site in SITES]
        world.check('by /metrics of the three, one of them acted, once', sorted(acted) == [0, 0, 1], acted)
        metrics_tell(world, restart=1)
    finish(world)


def cell(table, column, row='all'):
    """(ready, pending) of a cell "12/48" of coordctl's table; a column that has nothing is not there."""
    head, *lines = table.splitlines()
    if column not in head:
        return 0, 0
    line = next((one for one in lines if one.startswith(row + ' ')), None)
    if line is None:
        return None  # it is being written
    first, _, second = line[head.index(column):].split()[0].partition('/')
    return (int(first), int(second)) if second else (0, int(first))


def show_filling(world):
    """Four moments of `coordctl watch`: it fills, it is full and waits, it was claimed, it is empty."""
    is_empty = lambda table: cell(table, 'Restart') == (0, 0)
    world.wait('coordctl sees it empty', lambda: is_empty(world.tables()[-1]), 120)
    tables = world.tables()
    full = (48, 48)
    filling = [table for table in tables if not is_empty(table) and cell(table, 'Restart') != full and 'claim' not in table]
    quiet = [table for table in tables if cell(table, 'Restart') == full and 'quiet window' in table]
    claimed = [table for table in tables if 'claim  restart' in table]
    if not (filling and quiet and claimed):
        raise TooSlow(f'{world.name}: coordctl watch missed a moment, of {len(tables)} tables')
    world.show('coordctl watch: it fills', max(filling, key=lambda table: cell(table, 'Restart')))
    world.show('all are ready; the quiet window', quiet[len(quiet) // 2])
    world.show('claimed: with one epoch, by one of them', claimed[0])
    world.show('and empty again', tables[-1])
    world.check('coordctl watch shows sets, quiet window, claim, and all empty', True)


def migrate(world):
    """Every process group is replaced."""
    old = world.groups()
    doomed = {group for groups in old.values() for group in groups}
    world.stagger(30, lambda site: {'processGroupsToRemove': old[site]})
    world.wait_settled('all process groups are replaced', 6000)
    replaced(world, doomed)
    if world.mode == 'local':
        at_least(world, exclude=3, coordinators=1, include=3)
    else:
        # The operators replace three classes, each of which may go alone.
        most = {'all': 1, 'transaction_system': 2, 'process_class': 3}[world.ready_by]
        expect(world, kill=0, exclude=range(1, most + 1), coordinators=1, include=range(1, most + 1),
               recoveries=range(3, 2 * most + 2))
        spared(world, doomed)
        metrics_tell(world, exclusion=1, inclusion=1)
    finish(world)


def replaced(world, doomed):
    running = {process['id'] for process in world.status()['processes']}
    world.check('every process group was replaced', not running & doomed, sorted(running & doomed))
    world.check('as many run as before', len(running) == len(doomed), len(running))
    world.check('no exclusion is left', not world.status().get('exclusions', []), world.status().get('exclusions'))


def spared(world, doomed):
    for entry in world.entries():
        if entry['call'] == 'coordinators':
            misplaced = doomed & set(entry['groups'])
            world.check('no coordinator is placed on a doomed process group', not misplaced, sorted(misplaced))


def upgrade(world):
    """A version that cannot talk to the old one: all processes have to restart at once, in either mode."""
    world.stagger(30, lambda site: {'version': '7.3.0'})
    world.wait_settled('the version is rolled out', 3000)
    versions = {process['version'] for process in world.status()['processes']}
    world.check('every process has the new version', versions == {'7.3.0'}, versions)
    world.check('nobody restarted a part alone', all(len(entry['groups']) == len(world.status()['processes'])
                for entry in world.entries() if entry['call'] == 'kill'), describe(world.entries()))
    expect(world, kill=2, recoveries=2)  # twice, as an order may not reach every process
    finish(world)


def crash(world):
    """An operator dies when it has said that it has something to restart."""
    change_knob(world, stagger=10)
    world.wait('dc3 has heard of it', lambda: has_heard(world, 'dc3'), 60)
    world.kill_operator('dc3')
    world.note('dc3', '+')
    others = lambda: all(world.has_argument(site, '--knob_cache=2') for site in ('dc1', 'dc2'))
    world.wait('the others go on without it', others, 600)
    world.check('what the dead one has to restart was left alone', not world.has_argument('dc3', '--knob_cache=2'))
    alone = 1 if world.mode == 'global' else 2
    expect(world, kill=alone)
    if world.mode == 'global':
        show_blocked(world)
    world.start_operator('dc3')
    world.note('dc3', '^')
    rolled_out(world)
    expect(world, kill=alone + 1, recoveries=alone + 1)
    finish(world)


def show_blocked(world):
    """Until the dead one counts as silent, the conditions of the others name it."""
    for site in ('dc1', 'dc2'):
        said = [text for text in world.condition_messages(site, 'CoordinationBlocked') if 'by dc3: ' in text]
        if not said:
            raise TooSlow(f'{world.name}: nobody waited for the dead one: {world.condition_messages(site, "CoordinationBlocked")}')
        world.check(f'CoordinationBlocked of {site} names who is in the way', True)
    world.show(f'kill -9 of dc3: CoordinationBlocked of dc2, last before it went on (1 s here is {world.scale:g} s)',
               brief(said[-1]))


def brief(text):
    """Without the middle of a long list of names."""
    words = text.split(' ')
    return ' '.join(word if len(word) < 60 else word[:word.index(',')] + ',...' for word in words)


def rename(world):
    """The scope of one instance gets another name in the midst of a roll-out."""
    change_knob(world, stagger=10)
    world.wait('what dc1 waits for is in the store', lambda: world.members('dc1') > 0, 60)
    before = world.members('dc1')
    world.patch('dc1', {'processGroupIdPrefix': 'unicorn'})
    moved = lambda: [key for key in world.store.keys(world.root + '/') if '/unicorn/' in key]
    world.wait('the keys are moved', moved, 60)
    left = [key for key in world.left_in_store() if '/dc1/' in key]
    world.check('no key of the old scope is left', not left, left)
    world.check('something was moved', before > 0, before)
    world.show('rename dc1 unicorn: coordctl show', world.coordctl('show'))
    rolled_out(world)
    expect(world, kill=1, recoveries=1)
    lines = world.log_lines('dc1', 'moved to another scope')
    world.check('it took one transaction', [line.get('transactions') for line in lines] == [1], lines)
    orphans = world.coordctl('janitor', '--silence', '10m').strip()
    world.check('no orphan', orphans == 'every scope has a live instance', orphans)
    world.show('rename: one transaction, no orphan', f'moved {lines[0]["members"]} members in {lines[0]["transactions"]} '
               f'transaction\n$ coordctl janitor\n{orphans}')
    finish(world)


def stale(world):
    """Somebody who is no more has left entries; they hold nobody up."""
    leftover = f'{world.root}/pendingForRestart/dc9/dc9-log-1'
    world.store.put(leftover, '{"kind":"log"}')
    change_knob(world)
    rolled_out(world)
    expect(world, kill=1, recoveries=1)
    world.wait('nobody deleted what is not theirs', lambda: world.left_in_store() == [leftover], 120)
    world.check('nobody deleted what is not theirs', True)
    orphans = world.coordctl('janitor')
    world.check('coordctl finds it', orphans.startswith('dc9: 1 entry'), orphans)
    swept = world.coordctl('janitor', '--sweep', 'dc9')
    world.show('stale: coordctl finds what nobody owns, and removes it',
               f'$ coordctl janitor\n{orphans}$ coordctl janitor --sweep dc9\n{swept}')
    finish(world)


def partition(world):
    """An operator is cut off from the store, and disturbs nobody as long as it is."""
    change_knob(world, stagger=10)
    world.wait('dc3 has heard of it', lambda: has_heard(world, 'dc3'), 60)
    world.proxies[0].cut()
    world.note('dc3', '+')
    others = lambda: all(world.has_argument(site, '--knob_cache=2') for site in ('dc1', 'dc2'))
    world.wait('the others go on without it', others, 600)
    alone = 1 if world.mode == 'global' else 2
    expect(world, kill=alone)
    # In mode local it waits for the end of its own minimum uptime before it asks for the lock.
    without = lambda: [text for text in world.condition_messages('dc3', 'CoordinationPending')
                       if 'restart: ' in text and 'has only been up' not in text]
    world.wait('dc3 is prepared, and says why it does not restart', without, 300)
    world.check('who is cut off did nothing', all(entry['caller'] != 'dc3' for entry in world.entries()), describe(world.entries()))
    world.show(f'dc3 cut off from the store, in mode {world.mode}: its CoordinationPending', brief(without()[-1]))
    world.proxies[0].heal()
    world.note('dc3', '^')
    rolled_out(world)
    expect(world, kill=alone + 1, recoveries=alone + 1)
    finish(world)


def switch(world):
    """One is set to mode local in the midst of a roll-out, and back."""
    change_knob(world, stagger=10)
    world.wait('what dc2 waits for is in the store', lambda: world.members('dc2') > 0, 60)
    world.patch('dc2', {'automationOptions': {'synchronizationMode': 'local'}})
    world.note('dc2', '+')
    left = lambda: world.store.keys(f'{world.root}/instances/dc2') or [
        key for key in world.store.keys(world.root + '/pendingFor') if '/dc2/' in key]
    world.wait('dc2 takes back what it has published', lambda: not left(), 60)
    world.show('dc2 set to mode local in the midst of a roll-out: coordctl show', world.coordctl('show'))
    rolled_out(world)
    expect(world, kill=2, recoveries=2)
    own = [entry['groups'] for entry in world.entries() if entry['call'] == 'kill' and entry['caller'] == 'dc2']
    world.check('dc2 restarted its own, alone', [all(group.startswith('dc2-') for group in groups) for groups in own] == [True], own)
    world.patch('dc2', {'automationOptions': {'synchronizationMode': 'global'}})
    world.note('dc2', '^')
    world.wait('dc2 is registered again', lambda: world.store.keys(f'{world.root}/instances/dc2'), 60)
    change_knob(world, '3', stagger=10)
    rolled_out(world, '3')
    expect(world, kill=3, recoveries=3)
    finish(world)


def deny(world):
    """One is denied in the midst of a migration; the others carry on, and it does nothing until allowed."""
    old = world.groups()
    doomed = {group for groups in old.values() for group in groups}
    world.stagger(10, lambda site: {'processGroupsToRemove': old[site]})
    world.wait('dc2 waits for its exclusion', lambda: world.members('dc2', 'pendingForExclusion') > 0, 60)
    world.coordctl('deny', 'dc2', '--reason', 'a drill')
    world.note('dc2', '+')
    world.wait_settled('dc1 and dc3 are done', 3000, ('dc1', 'dc3'))
    others = [entry for entry in world.entries() if entry['call'] in ('exclude', 'include', 'coordinators', 'kill')]
    world.check('who is denied called nothing', all(entry['caller'] != 'dc2' for entry in others), describe(others))
    world.check('the others did what they had to', {'exclude', 'include'} <= {entry['call'] for entry in others}, describe(others))
    world.show('dc2 denied in the midst of a migration: coordctl show', world.coordctl('show'))
    said = world.coordctl('allow', 'dc2').strip()
    world.check('the deny list is empty', said == 'denied: none', said)
    world.note('dc2', '^')
    world.wait_settled('dc2 is done, too', 3000)
    replaced(world, doomed)
    spared(world, doomed)
    at_least(world, exclude=1, include=1)
    finish(world)


def shadow(world):
    """Acts alone, and tells what agreement would have said."""
    rollout(world)
    lines = [(site, line) for site in SITES for line in world.log_lines(site, 'acted alone')]
    counts = [world.cluster(site)['status']['shadow'] for site in SITES]
    asked = sum(one.get('goes', 0) + one.get('waits', 0) for one in counts)
    world.check('each said once what agreement would have done', asked == 3 and len(lines) == 3, (counts, lines))
    world.check('the first one would have had to wait', any(one.get('waits') for one in counts), counts)
    world.show('shadow: what each one logged when it acted alone', '\n'.join(
        f'{site}: {brief(line["why"])}' for site, line in lines))
    claims = [key for key in world.store.keys(world.root + '/arbiter/claims/')]
    world.check('nobody claimed anything', not claims, claims)


# ---- the list of them ----

@dataclasses.dataclass(frozen=True)
class Story:
    name: str
    play: typing.Callable
    needed: typing.Optional[int]       # disruptions, if all is agreed
    modes: tuple = ('local', 'global')
    instead: str = ''                  # why it is not played in mode local
    silence: int = SILENCE             # seconds after which an operator that says nothing is not waited for


STORIES = {story.name: story for story in (
    Story('rollout', rollout, 1),
    Story('migrate', migrate, 3),
    Story('upgrade', upgrade, 2),
    Story('crash', crash, 2, silence=210),  # so that the others wait for the dead one, and say so
    Story('partition', partition, 2),
    Story('rename', rename, 1, ('global',), 'shares nothing but the lock, so nothing has to move'),
    Story('stale', stale, 1, ('global',), 'shares nothing but the lock, so nothing is left behind'),
    Story('switch', switch, 3, ('global',), 'the one that is set to local behaves so'),
    Story('deny', deny, None, ('global',), 'the deny list keeps it from the lock there, too'),
    Story('shadow', shadow, 1, ('shadow',)),
)}
