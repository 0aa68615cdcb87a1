# SPDX-License-Identifier: Apache-2.0
"""A folder for each test, in which it writes sources, compiles and runs them. The script's first argument names the compiler."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1)


class compiling(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return name

    def run_program(self, *words, fails=False, **environment):
        done = subprocess.run(words, cwd=self.folder.name, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
        self.assertEqual(done.returncode != 0, fails, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr
