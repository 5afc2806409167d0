# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Output of a rank is complete, however the program ends."""
import os
import signal
import tempfile
import time
import unittest

from harness import HELPERS, Case, run, start

PROGRAM = os.path.join(HELPERS, "final_output")
CPP = os.path.join(HELPERS, "final_output_cpp")
PLAIN = os.path.join(HELPERS, "final_output_plain")
FORTRAN = os.path.join(HELPERS, "final_output_f90")
RUNS = 3


class FinalOutputCase(Case):
    def check_output(self, code, *args):
        for _ in range(RUNS):
            r = run("-n", 2, *args)
            self.assertEqual((r.code, r.out), (code, "last words\n"), r)
        return r


class Library(FinalOutputCase):
    """The library ends the program: its streams are not flushed yet."""

    def test_mpi_abort(self):
        r = self.check_output(3, PROGRAM, "MPI_Abort")
        self.assertIn("called MPI_Abort", r.err)

    def test_fatal_error_in_c(self):
        self.assertIn("MPI_Send failed", self.check_output(1, PROGRAM, "fatal").err)

    def test_fatal_error_on_all_ranks(self):
        self.check_output(1, PROGRAM, "all fatal")

    def test_fatal_error_while_another_rank_dies(self):
        self.check_output(128 + signal.SIGKILL, PROGRAM, "fatal during a death")

    def test_mpi_abort_in_cpp(self):
        self.assertIn("wide last words", self.check_output(3, CPP, "MPI_Abort").err)

    def test_mpi_abort_in_cpp_without_streams(self):
        self.assertIn("called MPI_Abort", self.check_output(3, PLAIN, "MPI_Abort").err)

    def test_fatal_error_in_cpp(self):
        self.assertIn("wide last words", self.check_output(1, CPP, "fatal").err)

    def test_fortran(self):
        if not os.path.exists(FORTRAN):
            self.skipTest("there is no Fortran compiler")
        for way, code in (("MPI_Abort", 3), ("fatal", 1)):
            with tempfile.NamedTemporaryFile() as file:
                self.check_output(code, FORTRAN, way, file.name)
                with open(file.name) as f:
                    self.assertEqual(f.read(), "last words\n")

    def test_thread_that_locks_stdout_only_delays_exit(self):
        r = run("-n", 2, PROGRAM, "held")
        self.assertEqual(r.code, 3, r)
        self.assertIn("called MPI_Abort", r.err)
        self.assertLess(r.seconds, 8)


class Launcher(FinalOutputCase):
    """The program ends normally, or mpiexec ends it."""

    def test_return(self):
        self.assertEqual(self.check_output(0, PROGRAM, "return").err, "")

    def test_exit(self):
        self.check_output(3, PROGRAM, "exit")

    def test_exit_without_flushing(self):
        self.check_output(3, PROGRAM, "_exit")

    def test_abort(self):
        self.check_output(128 + signal.SIGABRT, PROGRAM, "abort")

    def test_signal(self):
        self.check_output(128 + signal.SIGSEGV, PROGRAM, "signal")

    def test_uncaught_exception(self):
        self.assertIn("uncaught exception", self.check_output(128 + signal.SIGABRT, CPP, "exception").err)

    def test_death_of_another_rank(self):
        r = run("-n", 2, PROGRAM, "killed")
        self.assertEqual((r.code, r.out), (128 + signal.SIGKILL, "last words\n"), r)

    def test_time_limit(self):
        r = run("-n", 2, "--timeout", 5, PROGRAM, "wait")
        self.assertEqual((r.code, r.out), (124, "last words\n"), r)

    def test_interrupt(self):
        p = start("-n", 2, PROGRAM, "wait")
        self.assertEqual(p.stdout.readline(), "last words\n")
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=10)
        self.assertEqual(p.returncode, 128 + signal.SIGINT)

    def test_finalized_rank_may_exit_normally(self):
        for milliseconds in (0, 2, 50, 300):
            r = run("-n", 4, PROGRAM, "late", milliseconds)
            self.assertEqual((r.code, r.out), (1, "last words\n"), (milliseconds, r))

    def test_finalized_rank_is_ended_eventually(self):
        begun = time.monotonic()
        self.assertEqual(run("-n", 4, PROGRAM, "late", 60000).code, 1)
        self.assertLess(time.monotonic() - begun, 10)


if __name__ == "__main__":
    unittest.main()
