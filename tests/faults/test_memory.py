# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The node's memory runs out after N reservations: an error that the program can handle, or one message."""
import subprocess

from faults import MPIEXEC, Case, environment, helper, main

RANKS = 4
SECONDS = 20


class ShortMemory(Case):
    def job(self, after, *args, rank=None, ranks=RANKS, options=()):
        env = ["--env", f"LD_PRELOAD={helper('short_memory.so')}", "--env", f"FAULTS_FALLOCATE_AFTER={after}"]
        if rank is not None:
            env += ["--env", f"FAULTS_RANK={rank}"]
        p = subprocess.run([MPIEXEC, "-n", str(ranks), *env, *options, helper("no_memory"), *args], text=True,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, env=environment())
        return p.returncode, p.stdout, p.stderr

    def sweep(self, check, **kw):
        """From no reservation at all to enough of them; the last run must succeed."""
        good = []
        for after in (0, 1, 2, 3, 4, 5, 6, 8, 1000):
            with self.subTest(after=after, **kw):
                good.append(check(after, **kw))
        self.assertTrue(good[-1])
        self.assertFalse(good[0])

    def handled(self, after, **kw):
        code, out, err = self.job(after, "return", **kw)
        if code == 0:
            self.assertEqual((out, err), ("", ""))
            return True
        self.assertEqual(code, 5, out + err)
        for line in out.splitlines():
            self.assertRegex(line, r"^MPI_\w+: MPI_ERR_NO_MEM$", out)
        self.four_parts(err, "zipmpi")
        self.assertIn("called MPI_Abort with error code 5", err)
        return False

    def fatal(self, after, **kw):
        code, out, err = self.job(after, **kw)
        if code == 0:
            self.assertEqual((out, err), ("", ""))
            return True
        self.assertEqual((code, out), (1, ""), err)
        self.four_parts(err, "zipmpi")
        self.assertRegex(err, r"^zipmpi: MPI_\w+ failed: MPI_ERR_NO_MEM")
        return False

    def test_handled_by_the_program(self):
        self.sweep(self.handled)

    def test_in_one_rank(self):
        for rank in (0, 2):
            self.sweep(self.handled, rank=rank)

    def test_fatal(self):
        self.sweep(self.fatal)

    def test_fatal_in_one_rank(self):
        self.sweep(self.fatal, rank=1)

    def test_singleton_without_segment(self):
        p = subprocess.run([helper("no_memory")], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=SECONDS, env=environment({"LD_PRELOAD": helper("short_memory.so"),
                                                             "FAULTS_FALLOCATE_AFTER": "0"}))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.four_parts(p.stderr, "zipmpi")


if __name__ == "__main__":
    main()
