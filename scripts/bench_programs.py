# SPDX-License-Identifier: Apache-2.0
"""Runs programs that measure themselves, on each side in turn, and writes a page of what they report: the common part
of scripts/bench-runtime, scripts/bench-cache and scripts/bench-webhook."""
import argparse
import json
import os
import pathlib
import platform
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / 'build/peers'
LINE_SECONDS, STOP_SECONDS = 120, 30
QUIET_MS, QUIET_SECONDS, LONGEST_QUIET_WAIT = 15, 0.25, 10


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def cpu_ms_of(pid):
    """Of the process, without its children. 0 if it is gone."""
    try:
        fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf('SC_CLK_TCK')


def tree_of(pid):
    """The process and all that it started."""
    pids = [pid]
    for one in pids:
        for children in pathlib.Path(f'/proc/{one}/task').glob('*/children'):
            try:
                pids += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return pids


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{command[0]}: {done.stderr[-2000:]}')
    return done.stdout


class Program:
    """A program that prints lines, answers commands, and how long it took from its exec."""

    def __init__(self, command):
        self.command = command
        self.started_ns = now_ns()
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.rest = b''

    def line(self, wanted):
        """The first line that `wanted` accepts."""
        deadline = time.monotonic() + LINE_SECONDS
        while True:
            line, found, rest = self.rest.partition(b'\n')
            if found:
                self.rest = rest
                text = line.decode()
                if wanted(text):
                    return text
                continue
            if not select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                self.fail(f'no line in {LINE_SECONDS} s')
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                self.fail('it ended')
            self.rest += more

    def event(self, name):
        return json.loads(self.line(lambda text: text.startswith('{') and json.loads(text).get('event') == name))

    def send(self, command):
        self.process.stdin.write(command.encode() + b'\n')
        self.process.stdin.flush()

    def ask(self, command, answer=None):
        """The line that answers a command; its event has the name of the command if `answer` does not."""
        self.send(command)
        return self.event(answer or command.split()[0])

    def fail(self, why):
        self.process.kill()
        output, errors = self.process.communicate()
        sys.exit(f'{self.command[0]}: {why}\n{(output + errors).decode()[-2000:]}')

    def stop(self, wanted=None):
        self.process.send_signal(signal.SIGTERM)
        result = self.event(wanted) if wanted else None
        try:
            self.process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(f'did not end in {STOP_SECONDS} s')
        return result

    def finish(self):
        """Ends its input, at which it ends."""
        try:
            self.process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(f'did not end in {STOP_SECONDS} s')

    def status(self, name):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(rf'^{name}:\s+(\d+)', text, re.M)[1])

    def switches(self):
        """How often its threads went to sleep so far: each time one was woken before."""
        count = 0
        for status in pathlib.Path(f'/proc/{self.process.pid}/task').glob('*/status'):
            count += int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', status.read_text(), re.M)[1])
        return count

    def cpu_ms(self):
        return cpu_ms_of(self.process.pid)


class Server(Program):
    """A server with the objects in it that `load` creates."""

    def __init__(self, name, command, load, objects):
        self.name = name
        self.folder = tempfile.TemporaryDirectory(prefix='bench-')
        self.kubeconfig = os.path.join(self.folder.name, 'kubeconfig')
        super().__init__([*command, '--write-kubeconfig', self.kubeconfig])
        self.line(lambda text: ' is ready at ' in text)
        self.objects = objects
        self.load = load
        self.token = 0
        self.run_load('--create', objects)

    def run_load(self, *flags):
        return run([self.load, '--server', self.kubeconfig, *flags])

    def whole_cpu_ms(self):
        return sum(map(cpu_ms_of, tree_of(self.process.pid)))

    def settle(self):
        """Waits until the server has digested what was asked of it before, so that no side pays for another's."""
        deadline = time.monotonic() + LONGEST_QUIET_WAIT
        while time.monotonic() < deadline:
            before = self.whole_cpu_ms()
            time.sleep(QUIET_SECONDS)
            if self.whole_cpu_ms() - before <= QUIET_MS:
                return

    def end(self):
        self.stop()
        self.folder.cleanup()


def build_go(name, left_out, what):
    """The program of benchmarks/peers/NAME; None if it cannot be built."""
    program = PEERS / name
    if not shutil.which('go'):
        left_out.append(f'{what}: there is no Go on this machine (1.26 or later is needed)')
    elif subprocess.run(['go', 'build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', str(program),
                         f'./{name}'], cwd=ROOT / 'benchmarks/peers').returncode:
        left_out.append(f'{what}: its program did not build')
    else:
        return program
    return None


def build_rust(name, left_out, what):
    program = PEERS / 'rust/release' / name
    if not shutil.which('cargo'):
        left_out.append(f'{what}: there is no cargo on this machine (Rust 1.89 or later is needed)')
    elif subprocess.run(['cargo', 'build', '--release', '--locked', '--package', name, '--target-dir',
                         str(PEERS / 'rust')], cwd=ROOT / 'benchmarks/peers').returncode:
        left_out.append(f'{what}: its program did not build')
    else:
        return program
    return None


def has_control_plane(left_out):
    if subprocess.run([ROOT / 'scripts/control-plane', '--path'], capture_output=True).returncode:
        left_out.append('the real API server: it is not built (make control-plane)')
        return False
    return True


def in_turn(rounds, plan, sides):
    """What to measure in each round: its number, the workload and the side, each round in another order."""
    for number in range(rounds):
        for workload in plan:
            order = list(sides)
            at = number % len(order) if order else 0
            for side in order[at:] + order[:at]:
                yield number, workload, side


def row_of(server, workload, side, number, figures):
    """A row of the results; prints it."""
    print(f'{server}/{workload} {side}: ' + ', '.join(f'{key} {value:.4g}' for key, value in figures.items()),
          file=sys.stderr, flush=True)
    return {'server': server, 'workload': workload, 'side': side, 'round': number, **figures}


class Table:
    def __init__(self, rows):
        self.rows = rows

    def values(self, server, workload, side, figure):
        found = [row for row in self.rows if (row['server'], row['workload'], row['side']) == (server, workload, side)
                 and figure in row]
        return [row[figure] for row in sorted(found, key=lambda row: row['round'])]

    def median(self, server, workload, side, figure):
        values = self.values(server, workload, side, figure)
        return statistics.median(values) if values else None

    def ratio(self, server, workload, figure, peer, peers_workload=None):
        """Ours to theirs round by round: median and spread (largest minus smallest, of the median)."""
        ours = self.values(server, workload, 'ours', figure)
        theirs = self.values(server, peers_workload or workload, peer, figure)
        each = [a / b for a, b in zip(ours, theirs) if b]
        if not each:
            return None, None
        middle = statistics.median(each)
        return middle, (max(each) - min(each)) / middle if middle and len(each) > 1 else None


def amount(value, unit=''):
    if value is None:
        return '-'
    text = f'{value:,.0f}' if value >= 100 else f'{value:.3g}'
    return f'{text} {unit}'.strip()


def figure_lines(table, figures, plan, sides, hidden=()):
    """A line for each figure and server: `figures` are pairs of a workload and its (figure, words, unit); `plan` has
    the workloads of each server, and `sides` their names, ours first. What nobody measured has no line, nor has a pair of server and figure that is hidden."""
    peers = list(sides)[1:]
    lines = ['| what | server | ' + ' | '.join(sides.values()) + ' | ratio to them | spread |',
             '|---|---|' + '---:|' * (len(sides) + 2)]
    for workload, each_figure in figures:
        for server in plan:
            if workload not in plan[server]:
                continue
            for figure, words, unit in each_figure:
                medians = [table.median(server, workload, side, figure) for side in sides]
                if (server, figure) in hidden or all(median is None for median in medians):
                    continue
                ratios = [table.ratio(server, workload, figure, peer) for peer in peers]
                text = ' / '.join('-' if ratio is None else f'{ratio:.2f}x' for ratio, _ in ratios)
                spread = ' / '.join('-' if width is None else f'{width:.0%}' for _, width in ratios)
                each = ' | '.join(amount(median, unit) for median in medians)
                lines.append(f'| {words} | {server} | {each} | {text} | {spread} |')
    return lines


def ratio_verdict(ratio, bound):
    """The cells measured, wanted and verdict of a ratio that is to be at most `bound`, at least if negative."""
    wanted = f'>= {-bound:.3g}x' if bound < 0 else f'<= {bound:.3g}x'
    if ratio is None:
        return f'- | {wanted} | not measured |'
    met = ratio >= -bound if bound < 0 else ratio <= bound
    return f'{ratio:.2f}x | {wanted} | {"met" if met else "**missed**"} |'


def value_verdict(value, bound, unit):
    """Likewise for a value."""
    wanted = f'>= {amount(-bound, unit)}' if bound < 0 else f'<= {amount(bound, unit)}'
    if value is None:
        return f'- | {wanted} | not measured |'
    met = value >= -bound if bound < 0 else value <= bound
    return f'{amount(value, unit)} | {wanted} | {"met" if met else "**missed**"} |'


def folded_targets(lines):
    met = sum(line.endswith('| met |') for line in lines)
    return ['', '## Targets', '', '<details>', f'<summary>{met} of {len(lines) - 2} targets met</summary>', '', *lines, '',
            '</details>']


def machine(build, go, rust):
    """What was measured with: `go` and `rust` are the peers' programs, or None."""
    cache = (build / 'CMakeCache.txt').read_text()
    compiler = re.search(r'^CMAKE_CXX_COMPILER:\w+=(.*)$', cache, re.M)[1]
    lines = [f'{os.cpu_count()} processors ({platform.machine()})', run([compiler, '--version']).splitlines()[0]]
    if go:
        lines.append(', '.join(run([go, '-versions']).split('\n')).strip(', '))
    if rust:
        lock = (ROOT / 'benchmarks/peers/Cargo.lock').read_text()
        crates = [f'{name} {version}' for name, version in re.findall(r'name = "(\S+)"\nversion = "(\S+)"', lock)
                  if name in ('kube', 'k8s-openapi', 'tokio')]
        lines.append(', '.join([run(['rustc', '--version']).split(' (')[0], *crates]))
    return lines


def load_average():
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f'careful: this machine is busy (load {load:.1f}); figures are only as good as that', file=sys.stderr)
    return load


def rounded(row):
    return {key: float(f'{value:.6g}') if isinstance(value, float) else value for key, value in row.items()}


def write(document, results, page, text_of):
    """Writes the results, and the page that `text_of` makes of them: both say the same."""
    document = document | {'rows': [rounded(row) for row in document['rows']]}
    rows = ',\n'.join(json.dumps(row) for row in document['rows'])
    head = {key: value for key, value in document.items() if key != 'rows'}
    results.write_text(json.dumps(head)[:-1] + ', "rows": [\n' + rows + '\n]}\n')
    page.write_text(text_of(document))
    print(f'written: {results.relative_to(ROOT)} and {page.relative_to(ROOT)}')


def argument_parser(description, servers, sides):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path, nargs='?', default=ROOT / 'build/bench')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--only', default='')
    parser.add_argument('--servers', type=lambda text: text.split(','), default=list(servers))
    parser.add_argument('--sides', type=lambda text: text.split(','), default=list(sides))
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--render', action='store_true')
    return parser
