# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: one for every function and program, and no groff warnings."""
import glob
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import installed  # noqa: E402

MANUAL = os.environ["TEST_MANUAL"]
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/mpi.h")


def shown(page):
    env = dict(os.environ, MANWIDTH="100", LC_ALL="C", MAN_KEEP_FORMATTING="")
    p = subprocess.run(["man", "--warnings", "-l", os.path.join(MANUAL, page)], env=env, capture_output=True, text=True)
    return re.sub(".\b", "", p.stdout), p.stderr


class Manual(unittest.TestCase):
    def test_every_function_has_a_page(self):
        with open(HEADER) as f:
            names = set(re.findall(r"\b(MPIX?_[A-Z]\w*|MPI_T_\w+)\(", f.read()))
        names = {n for n in names if not n.isupper() and not n.removesuffix("_c").endswith("_function")}
        pages = {os.path.basename(p)[:-2] for p in glob.glob(MANUAL + "/man3/*.3")}
        self.assertGreater(len(pages), 600)
        self.assertEqual(names - pages, set())

    def test_every_program_has_a_page(self):
        with_fortran = os.path.exists(f"{MANUAL}/../bin/mpifort")
        for name in ("mpiexec", "mpirun", "zipmpi", "zipmpi-noded", "zipmpi-gateway", "mpicc", "mpicxx",
                     *(("mpifort", "mpif90", "mpif77") if with_fortran else ())):
            self.assertTrue(os.path.exists(f"{MANUAL}/man1/{name}.1"), name)

    def test_no_groff_warnings(self):
        installed.needed("groff")
        pages = [p for p in glob.glob(MANUAL + "/man?/*") if os.path.getsize(p) > 60]  # not those that only include another
        self.assertGreater(len(pages), 500)
        p = subprocess.run(["groff", "-man", "-ww", "-z", "-Tascii", *pages], capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))

    def test_rendered_page(self):
        installed.needed("man")
        text, complaints = shown("man3/MPI_Send.3")
        self.assertEqual(complaints, "")
        for words in ("MPI_Send, MPI_Send_c - sends a message", "MPI_Send_c(const void *buf, MPI_Count count",
                      "dest is not a rank in the communicator", "chapter 3"):
            self.assertIn(words, re.sub(r"\s+", " ", text))
        for page, words in (("man1/mpiexec.1", "--report-hang"), ("man1/zipmpi.1", "zipmpi top"),
                            ("man7/zipmpi-parameters.7", "ZIPMPI_SHM_CELL_SIZE"), ("man1/mpicc.1", "-showme:link")):
            text, complaints = shown(page)
            self.assertEqual(complaints, "", page)
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
