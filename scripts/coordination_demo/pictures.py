# SPDX-License-Identifier: Apache-2.0
"""What a run looked like: timelines as text and SVG, and the table of what it cost."""
from .basics import SITES, say

CALLS = {'exclude': 'X', 'coordinators': 'C', 'kill': 'K', 'include': 'I', 'process lost': '!'}


class Timeline:
    """What happened in a world from the first change on, in seconds of the story: marks in lanes."""

    def __init__(self, world):
        scale = world.scale
        self.world = world
        self.marks = [((at - world.begun) * scale, lane, mark) for at, lane, mark in world.notes if at >= world.begun - 0.01]
        self.recoveries = []
        for entry in world.entries_at_end:
            at = (entry['atSeconds'] - world.begun) * scale
            if entry.get('refused'):
                continue
            if entry['caller'] in SITES and (entry['recovery'] or entry['call'] == 'process lost'):
                self.marks.append((at, entry['caller'], CALLS[entry['call']]))
            if entry['recovery']:
                self.recoveries.append(at)
        self.spans = {site: self.spans_of(site, scale) for site in SITES}
        ends = [at for at, _, _ in self.marks] + [end for spans in self.spans.values() for _, end, _ in spans]
        self.end = max(ends + [1.0]) * 1.02

    def spans_of(self, site, scale):
        """(from, to, 'pending' or 'ready'): when something of the site waited, and when all of that was ready."""
        spans = []
        for at, counts in self.world.samples:
            story = (at - self.world.begun) * scale
            if story < 0:
                continue
            pending = sum(counts[f'pendingFor{action}', site] for action in ('Exclusion', 'Inclusion', 'Restart'))
            ready = sum(counts[f'readyFor{action}', site] for action in ('Exclusion', 'Inclusion', 'Restart'))
            state = 'ready' if pending and ready >= pending else 'pending' if pending else None
            if spans and spans[-1][2] == state:
                spans[-1][1] = story
            else:
                if spans:
                    spans[-1][1] = story
                spans.append([story, story, state])
        return [(begin, end, state) for begin, end, state in spans if state]

    def text(self, end, width=96):
        column = lambda at: min(width - 1, max(0, int(at / end * width)))
        lines = []
        for site in SITES:
            row = [' '] * width
            for begin, until, state in self.spans[site]:
                for cell in range(column(begin), column(until) + 1):
                    row[cell] = '=' if state == 'ready' else '-'
            for at, lane, mark in sorted(self.marks):
                if lane == site:
                    cell = column(at)
                    while row[cell] in MARKS and cell < width - 1:
                        cell += 1  # two in one cell: the later one beside it
                    row[cell] = mark
            lines.append(f'{site:>9} |{"".join(row)}|')
        row = [' '] * width
        for at in self.recoveries:
            row[column(at)] = '#'
        lines.append(f'{"recovery":>9} |{"".join(row)}| {len(self.recoveries)}')
        return lines


MARKS = set(CALLS.values()) | {'*', '+', '^'}
LEGEND = ('* the resource changes   - pending   = all of it ready   X exclude   C coordinators   K kill (restart)   '
          'I include   # recovery   + it is killed, cut off or denied   ^ no longer')


def print_timelines(worlds):
    timelines = [Timeline(world) for world in worlds]
    end = max(timeline.end for timeline in timelines)
    for world, timeline in zip(worlds, timelines):
        say(f'\n   {world.scenario}, {world.mode}{shown_rule(world)}: 0 to {end:.0f} s')
        for line in timeline.text(end):
            say('   ' + line)


COLOURS = {'+': '#000000', '^': '#000000', 'X': '#c0392b', 'C': '#8e44ad', 'K': '#d35400', 'I': '#2471a3', '*': '#555555', '!': '#000000'}


def svg(scenario, worlds):
    """The timelines of one scenario, local above global."""
    timelines = [Timeline(world) for world in worlds]
    end = max(timeline.end for timeline in timelines)
    left, width, lane = 90, 760, 26
    x = lambda at: left + max(0.0, min(1.0, at / end)) * width
    out, y = [], 30
    for world, timeline in zip(worlds, timelines):
        out.append(f'<text x="10" y="{y}" font-weight="bold">{scenario}, {world.mode}{shown_rule(world)}: '
                   f'{len(timeline.recoveries)} recover{"y" if len(timeline.recoveries) == 1 else "ies"}</text>')
        y += 12
        for site in SITES:
            out.append(f'<text x="10" y="{y + 16}">{site}</text>'
                       f'<line x1="{left}" y1="{y + 12}" x2="{left + width}" y2="{y + 12}" stroke="#dddddd"/>')
            for begin, until, state in timeline.spans[site]:
                colour = '#a9dfbf' if state == 'ready' else '#f9e79f'
                out.append(f'<rect x="{x(begin):.1f}" y="{y + 4}" width="{max(1.5, x(until) - x(begin)):.1f}" height="16" '
                           f'fill="{colour}"/>')
            for at, site_of_mark, mark in sorted(timeline.marks):
                if site_of_mark == site:
                    out.append(f'<text x="{x(at):.1f}" y="{y + 17}" text-anchor="middle" font-weight="bold" '
                               f'fill="{COLOURS[mark]}">{mark}</text>')
            y += lane
        out.append(f'<text x="10" y="{y + 16}">recoveries</text>')
        for at in timeline.recoveries:
            out.append(f'<rect x="{x(at) - 1.5:.1f}" y="{y + 2}" width="3" height="20" fill="#c0392b"/>')
        y += lane + 24
    legend = ('* resource changes, yellow pending, green all ready, X exclude, C coordinators, K kill, I include, '
              '+ killed, cut off or denied, ^ no longer; '
              f'0 to {end:.0f} s')
    out.append(f'<text x="10" y="{y}" font-size="11">{legend}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 20}" height="{y + 14}" '
            f'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>\n'
            + '\n'.join(out) + '\n</svg>\n')


def print_shows(worlds):
    for world in worlds:
        for title, lines in world.shows:
            say(f'\n   {title}')
            for line in lines:
                say('     ' + line)


COUNTED = ('kill', 'exclude', 'coordinators', 'include', 'recoveries')


def table(stories, worlds):
    """A row for each world, and one for each story that mode local has no part in."""
    rows = [('scenario', 'mode', 'ready by', *COUNTED, 'needed', 'extra', 'seconds')]
    notes = {}
    for story in stories:
        of_story = [world for world in worlds if world.scenario == story.name]
        if of_story and story.instead:
            notes[len(rows)] = story.instead
            rows.append((story.name, 'local', *[''] * 9))
        for world in of_story:
            rows.append(row_of(world))
    widths = widths_of(rows)
    lines = lines_of(rows)
    room = sum(widths[2:]) + 3 * (len(widths) - 3)
    for number, note in notes.items():
        lines[number] = '   | ' + ' | '.join(str(rows[number][n]).ljust(widths[n]) for n in (0, 1)) + f' | {note.ljust(room)} |'
    return '\n'.join(under_head(lines, widths))


def widths_of(rows):
    return [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]


def lines_of(rows):
    return ['   | ' + ' | '.join(str(cell).ljust(width) for cell, width in zip(row, widths_of(rows))) + ' |' for row in rows]


def under_head(lines, widths):
    return [lines[0], '   |' + '|'.join('-' * (width + 2) for width in widths) + '|', *lines[1:]]


def price_table(worlds):
    """What agreement cost: the operators' own figures, in the seconds of the story."""
    paid = [world for world in worlds if world.figures]
    if not paid:
        return ''
    rows = [('scenario', 'mode', 'ready by', *paid[0].figures)]
    rows += [(world.scenario, world.mode, shown_ready_by(world), *(f'{value:.0f}' for value in world.figures.values())) for world in paid]
    return '\n'.join(under_head(lines_of(rows), widths_of(rows)))


def shown_rule(world):
    return '' if world.mode == 'local' else f', ready by {world.ready_by}'


def shown_ready_by(world):
    """Mode local has no part in it: it waits for nobody."""
    return '-' if world.mode == 'local' else world.ready_by


def row_of(world):
    counters = world.counters_at_end
    needed = world.story.needed
    judged = ('', '') if needed is None else (needed, counters['recoveries'] - needed)
    return (world.scenario, world.mode, shown_ready_by(world), *(counters[name] for name in COUNTED), *judged, f'{counters["seconds"]:.0f}')
