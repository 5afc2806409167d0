# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --profile, on a program with known calls."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.environ["TEST_BIN"]
PROGRAM = os.environ["TEST_PROFILED"]


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, check=False, **options)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zipmpi-profile-")
        self.addCleanup(shutil.rmtree, self.folder)

    def good(self, *command, **options):
        p = run(*command, **options)
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        return p.stdout

    def path(self, name):
        return os.path.join(self.folder, name)


class Profile(Case):
    def test_table(self):
        p = run(f"{BIN}/mpiexec", "-n", 4, "--bind-to", "none", "--profile", "--wdir", self.folder, PROGRAM)
        self.assertEqual((p.returncode, p.stdout), (0, ""), p.stderr)
        lines = p.stderr.splitlines()
        self.assertRegex(lines[0], r"^profile of 4 ranks, \d+\.\d+ m?s: [0-9.]+ % of the time in MPI; "
                                   r"lowest [0-9.]+ % \(rank [0-3]\), highest [0-9.]+ % \(rank [0-3]\)$")
        rows = {line.split()[0]: line.split() for line in lines[2:]}
        self.assertEqual(rows["MPI_Barrier"][1], "8")
        self.assertRegex(lines[-1], r"^  and \d+ other functions$")
        self.assertEqual(len(lines), 13)
        self.assertEqual(os.listdir(self.folder), [])

    def test_nothing_is_loaded_without_the_option(self):
        maps = self.good(f"{BIN}/mpiexec", "-n", 1, "cat", "/proc/self/maps")
        self.assertNotIn("zipmpi_trace", maps)
        self.assertIn("zipmpi_trace_standard.so", self.good(f"{BIN}/mpiexec", "-n", 1, "--profile", "cat", "/proc/self/maps"))

    def test_not_on_another_library(self):
        mpicc = shutil.which("mpicc.openmpi")
        if mpicc is None:
            self.skipTest("there is no Open MPI")
        program = self.path("program")
        self.good(mpicc, "-w", os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiled.c"), "-o", program)
        p = run(f"{BIN}/mpiexec", "-n", 1, "--mpi", "own", "--profile", "--dry-run", program)
        self.assertIn("the calls of this program are not recorded", p.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
