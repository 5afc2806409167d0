# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import select
import signal
import subprocess
import time
import unittest

from harness import Case, children, first_good, helper, leftovers, mark, marked, run, shell, start, wait_until


class ExitStatus(Case):
    def test_of_the_first_failing_rank(self):
        r = shell(4, "test $PMI_RANK = 2 && exit 42; sleep 60")
        self.assertEqual(r.code, 42, r)
        self.four_parts(r.err)
        self.assertIn("rank 2 exited with status 42; the other 3 ranks were terminated", r.err)

    def test_of_a_signal(self):
        for name, number in (("SEGV", 11), ("KILL", 9), ("ABRT", 6)):
            r = shell(3, f"test $PMI_RANK = 1 && kill -{name} $$; sleep 60")
            self.assertEqual(r.code, 128 + number, r)
            self.four_parts(r.err)
            self.assertIn(f"rank 1 was killed by SIG{name} (signal {number})", r.err)

    def test_ranks_that_ignore_sigterm_are_killed_within_a_second(self):
        script = 'trap "" TERM; test $PMI_RANK = 0 && { sleep 0.2; exit 3; }; while :; do sleep 0.1; done'
        r = first_good(5, lambda: shell(4, script), lambda r: r.seconds < 1.5)
        self.assertEqual(r.code, 3, r)
        self.assertLess(r.seconds, 1.5)

    def test_output_precedes_message(self):
        r = shell(1, "echo last words >&2; exit 9")
        self.assertTrue(r.err.startswith("last words\nmpiexec: rank 0 exited with status 9\n"), r)

    def test_leaving_mpi_without_finalize(self):
        r = run("-n", 3, helper("segment_rank"), "no-finalize")
        self.assertEqual(r.code, 1, r)
        self.four_parts(r.err)
        self.assertIn("rank 1 exited without calling MPI_Finalize", r.err)

    def test_death_inside_mpi_call(self):
        r = run("-n", 3, helper("segment_rank"), "die-in-call")
        self.assertEqual(r.code, 139, r)
        self.four_parts(r.err)
        self.assertRegex(r.err, r"where: rank 1 of 3, host \S+, pid \d+, in MPI.*\(peer 0, tag 5, MPI_COMM_WORLD\)")

    def test_abort(self):
        r = run("-n", 3, helper("segment_rank"), "abort")
        self.assertEqual(r.code, 7, r)
        self.four_parts(r.err)
        self.assertIn("rank 1 called MPI_Abort with error code 7", r.err)

    def test_abort_reported_by_library(self):
        r = run("-n", 1, helper("segment_rank"), "reported-abort")
        self.assertEqual((r.code, r.err), (1, ""), r)

    def test_successful_rank(self):
        self.quiet(run("-n", 3, helper("segment_rank")))


class Signals(Case):
    def interrupted(self, trap, signals, pause=0.1):
        """Ranks set their traps, wait, and get these signals through mpiexec."""
        name = mark()
        p = start("-n", 2, "--env", name, "sh", "-c", trap + "; echo ready; while :; do sleep 0.05; done")
        self.assertEqual([p.stdout.readline(), p.stdout.readline()], ["ready\n"] * 2)
        begun = time.monotonic()
        for i, s in enumerate(signals):
            time.sleep(pause if i > 0 else 0)
            p.send_signal(s)
        out, err = p.communicate(timeout=10)
        self.assertTrue(wait_until(lambda: not marked(name), 10), marked(name))
        return p.returncode, out, err, time.monotonic() - begun

    def test_ctrl_c_is_forwarded(self):
        code, out, err, _ = self.interrupted('trap "echo bye $PMI_RANK; exit 0" INT', [signal.SIGINT])
        self.assertEqual((code, err), (130, ""))
        self.assertEqual(sorted(out.splitlines()), ["bye 0", "bye 1"])

    def test_ctrl_c_kills_ranks_that_ignore_it(self):
        code, _, err, _ = self.interrupted('trap "" INT TERM', [signal.SIGINT])
        self.assertEqual((code, err), (130, ""))

    def test_second_ctrl_c_is_faster(self):
        code, _, _, seconds = first_good(5, lambda: self.interrupted('trap "" INT TERM', [signal.SIGINT] * 2),
                                         lambda result: result[3] < 0.9)
        self.assertEqual(code, 130)
        self.assertLess(seconds, 0.9, "as after one Ctrl-C: remaining ranks are killed after a second")

    def test_sigterm(self):
        code, _, err, _ = self.interrupted(":", [signal.SIGTERM])
        self.assertEqual(code, 143)
        self.four_parts(err)

    def test_user_signals(self):
        p = start("-n", 2, "sh", "-c", 'trap "echo got; exit 0" USR1; echo ready; while :; do sleep 0.05; done')
        self.assertEqual([p.stdout.readline(), p.stdout.readline()], ["ready\n"] * 2)
        p.send_signal(signal.SIGUSR1)
        out, err = p.communicate(timeout=10)
        self.assertEqual((p.returncode, out), (0, "got\n" * 2), err)


class Timeout(Case):
    def test_option_and_variable(self):
        for args, env in ((("--timeout", "0.5"), {}), ((), {"MPIEXEC_TIMEOUT": "0.5"})):
            r = run("-n", 2, *args, "sleep", "60", env={"ZIPMPI_LAUNCH_STACK_SECONDS": "0", **env})
            self.assertEqual(r.code, 124, r)
            self.four_parts(r.err)

    def test_not_reached(self):
        self.quiet(run("-n", 2, "--timeout", "10", "true"))


FAMILY = '(setsid sh -c "sleep 100; :" &) ; (trap "" TERM; sleep 100; :) & sh -c "sleep 100; :"; :'


class NoLeftoverProcesses(Case):
    def setUp(self):
        self.before = leftovers()

    def start_family(self, *options):
        name = mark()
        p = start("-n", 3, *options, "--env", name, "sh", "-c", FAMILY)
        self.assertTrue(wait_until(lambda: len(marked(name)) >= 18, 30), len(marked(name)))
        return p, name

    def gone(self, name):
        self.assertTrue(wait_until(lambda: not marked(name), 20), marked(name))
        self.assertTrue(wait_until(lambda: leftovers() == self.before, 10), leftovers())

    def test_mpiexec_killed(self):
        for pmix in ("yes", "no"):
            p, name = self.start_family("--pmix", pmix)
            p.kill()
            p.communicate()
            self.gone(name)

    def test_daemon_killed(self):
        p, name = self.start_family("--pmix", "yes")
        os.kill(children(p.pid)[0], signal.SIGKILL)
        _, err = p.communicate(timeout=10)
        self.assertEqual(p.returncode, 1)
        self.four_parts(err)
        self.gone(name)

    def test_rank_killed(self):
        p, name = self.start_family()
        ranks = [pid for pid in marked(name) if os.getpgid(pid) == pid and os.getsid(pid) != pid]
        os.kill(ranks[0], signal.SIGKILL)
        p.communicate(timeout=10)
        self.assertEqual(p.returncode, 137)
        self.gone(name)

    def test_end_of_ranks_ends_their_children(self):
        name = mark()
        r = run("-n", 2, "--env", name, "sh", "-c", "sleep 100 & echo started")
        self.quiet(r)
        self.assertEqual(r.out, "started\n" * 2)
        self.gone(name)

    def test_random_kills(self):
        rng = random.Random(20261115)
        for _ in range(12):
            name = mark()
            p = start("-n", 4, "--env", name, "sh", "-c", "sleep 50 & sleep 60; :")
            time.sleep(rng.random() * 0.08)
            victims = marked(name) + [p.pid]
            try:
                os.kill(rng.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                pass
            try:
                p.communicate(timeout=3)
            except subprocess.TimeoutExpired: # a grandchild was hit: the job continues
                p.kill()
                p.communicate()
            self.gone(name)


class HangReport(Case):
    def test_on_request(self):
        name = mark()
        p = start("-n", 3, "--env", name, helper("segment_rank"), "circle", 60)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertTrue(wait_until(lambda: len(marked(name)) == 3, 10))
        os.set_blocking(p.stderr.fileno(), False)
        err = ""
        for _ in range(100):  # until the ranks wait
            p.send_signal(signal.SIGQUIT)
            wait_until(lambda: select.select([p.stderr], [], [], 0)[0], 1)
            err += p.stderr.read() or ""
            if "deadlock" in err:
                break
        self.assertIsNone(p.poll(), err)
        self.assertIn("deadlock: 0 \u2192 1 \u2192 2 \u2192 0", err)
        self.assertIn("for a message from rank 2, tag 7 on MPI_COMM_WORLD", err)

    def test_automatic_report_once(self):
        r = run("-n", 2, "--report-hang", "0.4", helper("segment_rank"), "circle", 2)
        self.assertEqual(r.code, 0, r)
        self.assertEqual(r.err.count("no progress for 0.4 s: deadlock"), 1, r)

    def test_no_false_alarm(self):
        self.quiet(run("-n", 2, "--report-hang", "0.2", "sleep", "1"))


if __name__ == "__main__":
    unittest.main()
