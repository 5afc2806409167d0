# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a rank has written is shown, in whatever way the program ends."""
import os
import signal
import tempfile
import time
import unittest

from harness import HELPERS, Case, run, start

PROGRAM = os.path.join(HELPERS, "last_words")
CPP = os.path.join(HELPERS, "last_words_cpp")
PLAIN = os.path.join(HELPERS, "last_words_plain")
FORTRAN = os.path.join(HELPERS, "last_words_f90")
RUNS = 3


class LastWords(Case):
    def spoken(self, code, *args):
        for _ in range(RUNS):
            r = run("-n", 2, *args)
            self.assertEqual((r.code, r.out), (code, "last words\n"), r)
        return r


class Library(LastWords):
    """The library ends the program: nothing has flushed its streams yet."""

    def test_mpi_abort(self):
        r = self.spoken(3, PROGRAM, "MPI_Abort")
        self.assertIn("called MPI_Abort", r.err)

    def test_fatal_error_in_c(self):
        self.assertIn("MPI_Send failed", self.spoken(1, PROGRAM, "fatal").err)

    def test_fatal_error_on_all_ranks(self):
        self.spoken(1, PROGRAM, "all fatal")

    def test_fatal_error_while_another_rank_dies(self):
        self.spoken(128 + signal.SIGKILL, PROGRAM, "fatal beside a death")

    def test_mpi_abort_in_cpp(self):
        self.assertIn("wide last words", self.spoken(3, CPP, "MPI_Abort").err)

    def test_mpi_abort_in_cpp_without_streams(self):
        self.assertIn("called MPI_Abort", self.spoken(3, PLAIN, "MPI_Abort").err)

    def test_fatal_error_in_cpp(self):
        self.assertIn("wide last words", self.spoken(1, CPP, "fatal").err)

    def test_fortran(self):
        if not os.path.exists(FORTRAN):
            self.skipTest("there is no Fortran compiler")
        for way, code in (("MPI_Abort", 3), ("fatal", 1)):
            with tempfile.NamedTemporaryFile() as file:
                self.spoken(code, FORTRAN, way, file.name)
                with open(file.name) as f:
                    self.assertEqual(f.read(), "last words\n")

    def test_a_thread_that_holds_stdout_delays_the_end_and_no_more(self):
        r = run("-n", 2, PROGRAM, "held")
        self.assertEqual(r.code, 3, r)
        self.assertIn("called MPI_Abort", r.err)
        self.assertLess(r.seconds, 8)


class Launcher(LastWords):
    """The program ends by itself, or mpiexec ends it."""

    def test_return(self):
        self.assertEqual(self.spoken(0, PROGRAM, "return").err, "")

    def test_exit(self):
        self.spoken(3, PROGRAM, "exit")

    def test_exit_without_flushing(self):
        self.spoken(3, PROGRAM, "_exit")

    def test_abort(self):
        self.spoken(128 + signal.SIGABRT, PROGRAM, "abort")

    def test_signal(self):
        self.spoken(128 + signal.SIGSEGV, PROGRAM, "signal")

    def test_uncaught_exception(self):
        self.assertIn("nobody catches this", self.spoken(128 + signal.SIGABRT, CPP, "exception").err)

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

    def test_a_rank_that_has_finalized_may_end_by_itself(self):
        for milliseconds in (0, 2, 50, 300):
            r = run("-n", 4, PROGRAM, "late", milliseconds)
            self.assertEqual((r.code, r.out), (1, "last words\n"), (milliseconds, r))

    def test_a_rank_that_has_finalized_does_not_stay_for_ever(self):
        begun = time.monotonic()
        self.assertEqual(run("-n", 4, PROGRAM, "late", 60000).code, 1)
        self.assertLess(time.monotonic() - begun, 10)


if __name__ == "__main__":
    unittest.main()
