# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: running a job under a hard time limit, and taking a message apart."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from processes import children  # noqa: E402,F401 (for the tests)

BIN = os.environ["TEST_BIN"]
PROGRAMS = os.environ["TEST_DIAGNOSE"]
SECONDS = 30
LAUNCHERS = ("PMI", "OMPI_", "SLURM_", "ZIPMPI_", "MPIEXEC_", "FLUX_", "PALS_", "MPI_LOCALNRANKS")
OURS = "ZIPMPI_WAIT_DEMAND_WAKES"  # tests/environment.cmake
PARTS = ("  where: ", "  why:   ", "  do:    ")


def tool(name):
    return os.path.join(BIN, name)


def program(name):
    return os.path.join(PROGRAMS, "diagnose_" + name)


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS) or k == OURS}
    env.update(extra or {})
    return env


def run(*command, env=None):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, env=environment(env))


class Case(unittest.TestCase):
    def take_apart(self, text, who):
        """The four parts of a text that consists of one message and nothing else."""
        lines = text.splitlines()
        self.assertEqual(len(lines), 4, f"not one message of four lines:\n{text}")
        self.assertTrue(lines[0].startswith(who + ": "), text)
        parts = [lines[0][len(who) + 2:]]
        for line, head in zip(lines[1:], PARTS):
            self.assertTrue(line.startswith(head) and len(line) > len(head) + 3, text)
            parts.append(line[len(head):])
        return parts

    def check_message(self, text, who, patterns):
        for part, pattern in zip(self.take_apart(text, who), patterns):
            self.assertRegex(part, re.compile(pattern), text)
