# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job under a hard time limit, and splits a message into its parts."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from installed import needed  # noqa: E402,F401 (re-exported)
from processes import children, state  # noqa: E402,F401 (re-exported)

BIN = os.environ["TEST_BIN"]
PROGRAMS = os.environ["TEST_DIAGNOSTICS"]
SECONDS = 30
LAUNCHERS = ("PMI", "OMPI_", "SLURM_", "ZIPMPI_", "MPIEXEC_", "FLUX_", "PALS_", "MPI_LOCALNRANKS")
SUITE_VARIABLE = "ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP"  # tests/environment.cmake
PARTS = ("  where: ", "  why:   ", "  fix:   ")


def tool(name):
    return os.path.join(BIN, name)


def program(name):
    return os.path.join(PROGRAMS, "diagnostics_" + name)


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS) or k == SUITE_VARIABLE}
    env.update(extra or {})
    return env


def run(*command, env=None):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, env=environment(env))


class Case(unittest.TestCase):
    def take_apart(self, text, source):
        """The four parts of a text that consists of one message and nothing else."""
        lines = text.splitlines()
        self.assertEqual(len(lines), 4, f"not one message of four lines:\n{text}")
        self.assertTrue(lines[0].startswith(source + ": "), text)
        parts = [lines[0][len(source) + 2:]]
        for line, head in zip(lines[1:], PARTS):
            self.assertTrue(line.startswith(head) and len(line) > len(head) + 3, text)
            parts.append(line[len(head):])
        return parts

    def check_message(self, text, source, patterns):
        for part, pattern in zip(self.take_apart(text, source), patterns):
            self.assertRegex(part, re.compile(pattern), text)
