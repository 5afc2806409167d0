# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several hosts in which a process or host is killed, stopped, or disconnected."""
import contextlib
import os
import signal
import time
from unittest import mock

from harness import ClusterCase, main, wait_until

JOB = ("sh", "-c", "echo here; sleep 60")


class FaultCase(ClusterCase):
    def job(self, *options, program=JOB, slots=2):
        """A job on all hosts, after every rank has printed its line."""
        p = self.begin("-n", self.HOSTS * slots, *options, "--host", self.all_hosts(slots), *program)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        for _ in range(self.HOSTS * slots):
            line = p.stdout.readline()
            self.assertEqual(line, "here\n", "" if line else p.stderr.read())
        return p

    def named(self, host, name):
        return self.cluster.named(host, name)

    def rank(self, host):
        """A process of a rank started by the daemon: the first of those with its environment."""
        found = []
        for pid in self.named(host, "sh"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
                found += [pid] if b"\0PMI_RANK=" in f.read() else []
        self.assertTrue(found, "no rank")
        return min(found)

    def ends(self, p, code, host):
        begin = time.monotonic()
        err = p.stderr.read()
        p.wait(20)
        seconds = time.monotonic() - begin
        self.assertEqual(p.returncode, code, err)
        self.assertEqual(err.count("mpiexec: "), 1, err)
        self.assertIn(f"host {host}", err)
        self.assertLess(seconds, 20, err)  # the ranks would sleep for a minute
        return err

    def ends_at_once(self, p, code, host):
        err = self.ends(p, code, host)
        self.assertNotIn("no heartbeat for", err, "noticed only by the heartbeat timeout")
        return err

    def patient_job(self, *options):
        """One rank per host; the ranks end when goes_on_after_a_stop() allows it."""
        self.flag = os.path.join(self.cluster.folder, "over")
        if os.path.exists(self.flag):
            os.remove(self.flag)
        wait = f"echo here; until [ -e {self.flag} ]; do sleep 0.05; done; echo over"
        return self.job(*options, program=("sh", "-c", wait), slots=1)

    def goes_on_after_a_stop(self, p, pid, seconds, stop=signal.SIGSTOP):
        """Checks that a patient job survives while this process of it is stopped for a while."""
        os.kill(pid, stop)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        open(self.flag, "w").close()
        out, err = p.stdout.read(), p.stderr.read()
        p.wait(10)
        self.assertEqual((p.returncode, err, out.count("over")), (0, "", self.HOSTS))


class Faults(FaultCase):
    def test_killed_rank(self):
        for width in (1, 32):
            p = self.job("--launch-fanout", width)
            os.kill(self.rank("n3"), signal.SIGKILL)
            err = self.ends_at_once(p, 128 + 9, "n3")
            self.assertIn("rank ", err)
            self.nothing_left()

    def test_killed_daemon(self):
        for width in (1, 2, 32):
            p = self.job("--launch-fanout", width)
            os.kill(self.named("n3", "zipmpi-noded")[0], signal.SIGKILL)
            self.ends_at_once(p, 1, "n3")
            self.nothing_left()

    def test_killed_guard(self):
        p = self.job("--launch-fanout", 1)
        os.kill(self.named("n3", "zipmpi-guard")[0], signal.SIGKILL)
        self.ends_at_once(p, 128 + 15, "n3")
        self.nothing_left()

    def test_killed_mpiexec(self):
        for width in (1, 32):
            p = self.job("--launch-fanout", width)
            os.kill(self.named("n1", "mpiexec")[0], signal.SIGKILL)
            p.wait(10)
            self.nothing_left()

    def test_interrupt(self):
        p = self.job("--launch-fanout", 2)
        os.kill(self.named("n1", "mpiexec")[0], signal.SIGINT)
        p.wait(10)
        self.assertEqual(p.returncode, 130)
        self.nothing_left()

    def test_exit_status_of_remote_rank(self):
        r = self.mpiexec("-n", 4, "--host", self.all_hosts(), "sh", "-c", "test $PMI_RANK = 2 && exit 5; sleep 60")
        self.assertEqual(r.code, 5, r)
        self.assertIn("host n3", r.err)
        self.nothing_left()

    def test_stopped_rank_and_daemon_are_not_dead(self):
        for find in (lambda: self.rank("n2"), lambda: self.named("n2", "zipmpi-noded")[0]):
            p = self.patient_job("--launch-fanout", 2)
            pid = find()
            self.goes_on_after_a_stop(p, pid, 2.5)
        self.nothing_left()


class HeartbeatTimeout(FaultCase):
    def test_stopped_and_continued_job(self):
        p = self.patient_job("--launch-fanout", 2)
        mpiexec = self.named("n1", "mpiexec")[0]
        self.goes_on_after_a_stop(p, mpiexec, 5, signal.SIGTSTP)

    def test_disconnected_host(self):
        for width in (1, 32):
            p = self.job("--launch-fanout", width)
            self.cluster.link("n3", "down")
            try:
                self.ends(p, 1, "n3")
                self.assertTrue(wait_until(lambda: not self.cluster.left(), 10), self.cluster.left())
            finally:
                self.cluster.link("n3", "up")
            self.nothing_left()

    def test_permanently_stopped_daemon(self):
        p = self.job("--launch-fanout", 1)
        pid = self.named("n3", "zipmpi-noded")[0]
        os.kill(pid, signal.SIGSTOP)
        self.ends(p, 1, "n3")
        os.kill(pid, signal.SIGCONT)
        self.nothing_left()

    def test_longer_timeout(self):
        with mock.patch.dict(os.environ, ZIPMPI_LAUNCH_HEARTBEAT_TIMEOUT_MS="20000"):
            p = self.patient_job("--launch-fanout", 1)
        pid = self.named("n3", "zipmpi-noded")[0]
        self.goes_on_after_a_stop(p, pid, 5)


class HostFailure(FaultCase):
    def test_host_dies(self):
        p = self.job("--launch-fanout", 1)
        self.cluster.kill_host("n3")
        self.ends(p, 1, "n3")
        self.assertTrue(wait_until(lambda: not [n for n in ("n1", "n2", "n4") if self.cluster.pids(n)], 10))


if __name__ == "__main__":
    main()
