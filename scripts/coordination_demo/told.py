# SPDX-License-Identifier: Apache-2.0
"""Whether the operators' metrics of coordination say what happened."""
from .basics import SITES


class Coordination:
    """What the /metrics of all operators say of coordination: [(site, name, labels, value)]."""

    def __init__(self, world):
        self.found = []
        for site in SITES:
            for series, value in world.scrape(site).items():
                name, _, labels = series.rstrip('}').partition('{')
                if name.startswith('evenkeel_coordination_'):
                    self.found.append((site, name[len('evenkeel_coordination_'):], set(labels.split(',')), value))

    def values(self, name, **labels):
        wanted = {f'{label}="{value}"' for label, value in labels.items()}
        return [value for _, found, of, value in self.found if found == name and wanted <= of]

    def text(self):
        return '; '.join(f'{site} {name} {value:g}' for site, name, _, value in self.found if value)


def metrics_tell(world, **calls):
    """Checks /metrics of coordination against what happened; `calls` of each action."""
    def at_rest():
        all_of = Coordination(world)
        actions = {label for _, name, of, _ in all_of.found if name == 'members' for label in of if label.startswith('action=')}
        return len(actions) == 4 and not any(all_of.values('members') + all_of.values('oldest_pending_seconds')
                                             + all_of.values('lock_held'))
    world.wait('the metrics say that nothing is pending, and no lock held', at_rest, 120)
    found = Coordination(world)
    check = lambda what, holds: world.check(f'metrics: {what}', holds, found.text())
    for site in SITES:
        of_site = found.values('members', action='restart', scope=site, phase='pending')
        check(f'each operator knows of {site}', len(of_site) == len(SITES))
    for action, count in calls.items():
        check(f'{action} was done', sum(found.values('steps_total', action=action, result='acted')) >= count)
        check(f'{action} was let go', sum(found.values('verdicts_total', action=action, verdict='proceed')) >= count)
        check(f'{action}: all know of the claim', min(found.values('claim_epoch', action=action)) >= count)
    check('somebody had to wait', sum(found.values('verdicts_total', verdict='wait') + found.values('verdicts_total', verdict='blocked')) > 0)
    check('three are global and live', found.values('instances', mode='global', presence='live') == [3] * len(SITES))
    check('the lock was taken, and held for a while', sum(found.values('lock_taken_total')) >= 1
          and sum(found.values('lock_held_seconds_total')) > 0)
    check('each says how long it waited for the lock', len(found.values('lock_wait_seconds_total')) == len(SITES))
    check('transactions', min(found.values('store_commits_total', outcome='committed')) > 0)
    check('conflicts and unknown outcomes are counted', all(
        len(found.values('store_commits_total', outcome=outcome)) == len(SITES) for outcome in ('conflict', 'unknown')))
    check('bytes', min(found.values('store_written_bytes_total') + found.values('store_read_bytes_total')) > 0)
