#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives evenkeel-curve from outside: tool_test.py PATH_OF_THE_PROGRAM."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = sys.argv[1]
BOTH = 'max_of(exponential(5ms, 1000s), token_bucket(10, 100))'
LADDER = {0: 7, 1: 1, 2: 1, 5: 1, 10: 1, 20: 1}


def run(*arguments, path=None):
    environment = dict(os.environ, **({'PATH': path} if path is not None else {}))
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=60)


class Curve(unittest.TestCase):
    def rows(self, *arguments):
        """The comma-separated rows of 31 seconds as numbers."""
        done = run(*arguments, '--seconds', '31', '--csv')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        heading, *rows = done.stdout.splitlines()
        return heading, [[int(cell) for cell in row.split(',')] for row in rows]

    def test_per_item_grows_with_the_objects(self):
        heading, rows = self.rows('exponential(5ms, 1000s)', '--objects', '1,10000')
        self.assertEqual(heading, 'second,1,10000')
        self.assertEqual(rows, [[s, LADDER.get(s, 0), 10_000 * LADDER.get(s, 0)] for s in range(31)])

    def test_bucket_is_the_same_for_all(self):
        _, rows = self.rows('token_bucket(10, 100)', '--objects', '1,100,10000')
        self.assertEqual(rows, [[s] + [109 if s == 0 else 10] * 3 for s in range(31)])

    def test_default_is_both(self):
        expected = [[s, LADDER.get(s, 0), 10 * LADDER.get(s, 0)] + [109 if s == 0 else 10] * 3 for s in range(31)]
        for limiter in ([], ['default()'], [BOTH]):
            self.assertEqual(self.rows(*limiter, '--objects', '1,10,100,1000,10000')[1], expected)

    def test_ten_per_minute(self):
        _, rows = self.rows('max_of(exponential(5ms, 1000s), token_bucket(10, 1m, 100))', '--objects', '10000')
        self.assertEqual(rows, [[s, 100 if s == 0 else 1 if s % 6 == 0 else 0] for s in range(31)])

    def test_table_and_newcomer(self):
        done = run(BOTH, '--objects', '1,10000', '--seconds', '3', '--newcomer', '1050ms')
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.splitlines(), [
            'second  1 object  10000 objects',
            '     0         7            109',
            '     1         1             10',
            '     2         1             10',
            '   sum         9            129',
            'after 1 object, one that fails for the first time at 1.05s waits 5ms',
            'after 10000 objects, one that fails for the first time at 1.05s waits 16m40.05s'])

    def test_run_time_and_workers(self):
        arguments = ['fast_slow(500ms, 500ms, 0)', '--objects', '3', '--seconds', '4', '--csv', '--run-time', '1s']
        self.assertEqual(run(*arguments).stdout, 'second,3\n0,0\n1,1\n2,1\n3,1\n')
        self.assertEqual(run(*arguments, '--workers', '3').stdout, 'second,3\n0,0\n1,3\n2,0\n3,3\n')

    def test_wrong_flags_end_with_two_and_say_what(self):
        for arguments, said in [
                (['exponental(5ms, 1s)'], 'column 1: found "exponental", expected a limiter; did you mean exponential?'),
                (['exponential(5ms)'], 'column 16: found ")"'),
                (['--run-time', 'soon'], '"soon" is not a duration'),
                (['--newcomer', '31s'], 'within the seconds'),
                (['--objects', '0'], '--objects'),
                (['--seconds', '-1'], '--seconds'),
                (['--sceonds', '1'], '--sceonds')]:
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ''), arguments)
            self.assertIn(said, done.stderr)

    def test_time_that_stands_still_is_an_error(self):
        done = run('fast_slow(0s, 0s, 0)', '--objects', '1')
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn('--run-time', done.stderr)

    def test_without_gnuplot_it_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / 'curve.svg'
            done = run('--svg', str(picture), path=folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn('install the package gnuplot-nox', done.stderr)
            self.assertIn('sum', done.stdout)
            self.assertFalse(picture.exists())

    @unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
    def test_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder) / "it's a curve.svg"
            png = pathlib.Path(folder) / 'curve.png'
            done = run(BOTH, '--svg', str(svg), '--png', str(png))
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            texts = [text.text for text in xml.etree.ElementTree.parse(svg).iter('{http://www.w3.org/2000/svg}text')]
            for text in [BOTH, '1 object', '100 objects', '10000 objects', 'requeues per second']:
                self.assertIn(text, texts)
            self.assertEqual(png.read_bytes()[:8], b'\x89PNG\r\n\x1a\n')
            self.assertEqual(run('--svg', folder + '/missing/curve.svg').returncode, 1)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
