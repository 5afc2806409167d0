# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A program compiled with clang's MemorySanitizer, as docs/guide/debugging.md describes it.

usage: test_msan.py CLANG INCLUDE_DIR LIBRARY MPIEXEC
"""
import os
import subprocess
import sys
import tempfile
import unittest

CLANG, INCLUDE, LIBRARY, MPIEXEC = sys.argv[1:5]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exchange.c")


class MemorySanitizer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def ends(self, *options):
        """Exit status, stdout and stderr of the program, compiled with these options, on two ranks."""
        program = os.path.join(self.folder, "exchange")
        subprocess.run([CLANG, "-fsanitize=memory", "-g", "-O1", *options, "-I" + INCLUDE, SOURCE, "-o", program, LIBRARY,
                        "-Wl,-rpath," + os.path.dirname(LIBRARY)], check=True)
        run = subprocess.run([MPIEXEC, "--timeout", "60", "-n", "2", program], capture_output=True, text=True)
        return run.returncode, run.stdout, run.stderr

    def test_results_that_are_declared_written(self):
        self.assertEqual(self.ends("-DTELL_SANITIZER"), (0, "exchange: ok\n", ""))

    def test_functions_on_ignore_list(self):
        path = os.path.join(self.folder, "ignored")
        with open(path, "w") as file:
            file.write("fun:exchange\nfun:main\n")
        self.assertEqual(self.ends("-fsanitize-ignorelist=" + path), (0, "exchange: ok\n", ""))

    def test_program_is_still_checked(self):
        status, _, err = self.ends()
        self.assertNotEqual(status, 0)
        self.assertIn("MemorySanitizer: use-of-uninitialized-value", err)
        self.assertIn("exchange.c", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
