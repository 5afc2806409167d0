# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that end in every wrong way, and ranks that only appear to have ended."""
import os
import signal
import subprocess
import time

from faults import MPIEXEC, Case, children, environment, helper, main, wait_until

SECONDS = 20
RANKS = 4


def start(how):
    return subprocess.Popen([MPIEXEC, "-n", str(RANKS), helper("endings"), how], text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def run(how):
    p = start(how)
    try:
        out, err = p.communicate(timeout=SECONDS)
    finally:
        p.kill()
    return p.returncode, out, err


class EndingCase(Case):
    def ranks(self, p):
        """The processes of the ranks, once all have executed their program."""
        def found():
            daemons = children(p.pid)
            return [pid for pid in (children(daemons[0]) if daemons else []) if name_of(pid) == "endings"]
        self.assertTrue(wait_until(lambda: len(found()) == RANKS, 10))
        return found()


class Endings(EndingCase):
    def ends(self, how, status, text, program="mpiexec"):
        code, out, err = run(how)
        self.assertEqual((code, out), (status, ""), err)
        self.four_parts(err, program)
        self.assertRegex(err, text)
        return err

    def test_exit_without_finalize(self):
        self.ends("exit0", 1, "rank 1 exited without calling MPI_Finalize; the other 3 ranks were terminated")

    def test_all_exit_without_finalize(self):
        self.ends("all_exit", 1, r"rank \d exited without calling MPI_Finalize")

    def test_exit_status(self):
        for how in ("exit3", "quick3"):
            self.ends(how, 3, "rank 1 exited with status 3")

    def test_abort(self):
        self.ends("abort", 134, r"rank 1 was killed by SIGABRT \(signal 6\)")

    def test_exception(self):
        err = self.ends("throw", 134, r"rank 1 was killed by SIGABRT \(signal 6\)")
        self.assertIn("thrown on purpose", err)

    def test_mpi_abort(self):
        self.ends("mpi_abort", 7, "rank 1 called MPI_Abort with error code 7", "zipmpi")

    def test_mpi_abort_from_all_ranks_at_once(self):
        for _ in range(5):
            self.ends("all_abort", 7, r"rank \d called MPI_Abort with error code 7", "zipmpi")

    def test_death_while_another_rank_is_stopped(self):
        p = start("time")
        ranks = self.ranks(p)
        os.kill(ranks[0], signal.SIGSTOP)
        os.kill(ranks[1], signal.SIGKILL)
        _, err = p.communicate(timeout=SECONDS)
        self.assertEqual(p.returncode, 137, err)
        self.four_parts(err)


class NoTermination(EndingCase):
    def quiet_run(self, how):
        code, out, err = run(how)
        self.assertEqual((code, out, err), (0, "", ""))

    def test_forked_child_exits(self):
        self.quiet_run("forks")

    def test_mpi_in_a_forked_child_is_refused(self):
        code, out, err = run("calls_in_children")
        self.assertEqual((code, out), (0, ""), err)
        self.assertEqual(err.count("was called in a forked child of a rank"), 7, err)

    def two_programs(self, ranks):
        program = helper("endings") + " forks"
        p = subprocess.run([MPIEXEC, "-n", str(ranks), "sh", "-c", f"{program} && {program}"], text=True, timeout=SECONDS,
                           stdin=subprocess.DEVNULL, capture_output=True, env=environment())
        return p.returncode, p.stdout, p.stderr

    def test_second_program_in_a_rank_is_refused(self):
        code, out, err = self.two_programs(3)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("a second MPI program cannot start in this rank", err)

    def test_rank_without_peers_runs_several_programs(self):
        self.assertEqual(self.two_programs(1), (0, "", ""))

    def test_descriptors_are_not_inherited(self):
        self.quiet_run("descriptors")

    def test_stopped_rank(self):
        p = start("time")
        rank = self.ranks(p)[2]
        os.kill(rank, signal.SIGSTOP)
        time.sleep(2)
        self.assertIsNone(p.poll())
        os.kill(rank, signal.SIGCONT)
        out, err = p.communicate(timeout=SECONDS)
        self.assertEqual((p.returncode, out, err), (0, "", ""))


if __name__ == "__main__":
    main()
