# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""zipmpi top on a running job: one table for scripts, and the screen as shown in a terminal (tmux)."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import terminal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from processes import children  # noqa: E402

BIN = os.environ["TEST_BIN"]
BUSY = os.environ["TEST_BUSY"]
TOP = [BIN + "/zipmpi", "top"]
PATIENT = {"ZIPMPI_LAUNCH_HEARTBEAT_TIMEOUT_MS": "60000"}  # a test stops a daemon for some seconds
LOCAL_AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode/local_agent.sh")


class Job:
    """Four ranks: one computes, one waits for it, two exchange messages."""

    def __init__(self, *options, ranks=4, seconds=600):
        self.process = subprocess.Popen([BIN + "/mpiexec", "-n", str(ranks), "--bind-to", "none", *options, BUSY, str(seconds)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **PATIENT})

    def choose(self):
        return ["--pid", str(self.process.pid)]

    def table(self, *arguments):
        p = subprocess.run([*TOP, "--once", *self.choose(), *arguments], capture_output=True, text=True, timeout=60)
        return p

    def settled_table(self, *arguments):
        """A table with the replies of all hosts, which other load may delay beyond the limit of mpiexec, and with ranks 2 and 3
        in MPI: it may find them between two calls."""
        for _ in range(20):
            p = self.table(*arguments)
            if "without reply" not in p.stdout and " 4 ranks: 1 computing, " in p.stdout:
                break
        return p

    def wait(self, *arguments):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            p = self.table("--interval", "0.1", *arguments)
            if p.returncode == 0 and "waiting" in p.stdout and re.search(r"(?m)^ +0 computing +- +- +- +3 ", p.stdout):
                return
            time.sleep(0.1)
        raise AssertionError(p.stdout + p.stderr)

    def end(self):
        self.process.terminate()
        self.process.wait(30)


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = Job()
        cls.addClassCleanup(cls.job.end)
        cls.job.wait()


class Once(Top):
    def rows(self, *arguments):
        p = self.job.settled_table(*arguments)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertTrue(all(len(line) <= 80 for line in p.stdout.splitlines()[1:]), p.stdout)
        return p.stdout.splitlines()

    def test_states(self):
        lines = self.rows()
        self.assertIn("4 ranks: 1 computing", lines[0])
        self.assertRegex(lines[1], r"rank.*state.*call.*peer.*msg/s.*byte/s.*unexp.*path")
        self.assertEqual(len(lines), 6)
        self.assertRegex(lines[2], r"^ +0 computing +- +- +- +3 inline$")
        self.assertRegex(lines[3], r"^ +1 waiting +MPI_Recv +0 ")
        # The message of the partner may have arrived just before its receive was posted.
        for line, other in ((lines[4], 3), (lines[5], 2)):
            self.assertRegex(line, rf"^ +{5 - other} .*[0-9.]+[kM]? +[0-9.]+[kM]? +[-1] inline$")

    def test_sorted(self):
        lines = self.rows("--sort", "messages")
        self.assertEqual({line.split()[0] for line in lines[2:4]}, {"2", "3"})
        self.assertEqual(self.rows("--sort", "unexpected")[2].split()[0], "0")

    def test_links(self):
        lines = self.rows("--links")
        self.assertRegex(lines[1], r"^2 of \d+ links are busy: [0-9.]+[kM]?B/s within this node$")
        self.assertRegex(lines[2], r"from +to +msg/s +coll/s +byte/s +where")
        self.assertEqual(sorted(line.split()[:2] for line in lines[3:]), [["2", "3"], ["3", "2"]])
        self.assertRegex(lines[3], r" [0-9.]+[kM]? +- +[0-9.]+[kM]? +node +#{20}$")

    def test_no_such_job(self):
        p = subprocess.run([*TOP, "--once", "--job", "no such job"], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("no job was found", p.stderr)
        self.assertIn("fix:", p.stderr)


class AllHosts(unittest.TestCase):
    """Through mpiexec and its daemons; ranks of the last host are two levels below mpiexec."""

    @classmethod
    def setUpClass(cls):
        cls.options = []
        if os.path.exists(os.path.join(BIN, "../lib/zipmpi/zipmpi_ucx.so")):
            cls.options = ["--host", "n1,n2:2,n3", "--launch-agent", LOCAL_AGENT, "--launch-fanout", "1"]
        cls.job = Job(*cls.options)
        cls.addClassCleanup(cls.job.end)
        cls.job.wait("--all-hosts")

    def hosts(self, one):
        return ["n1", "n2", "n2", "n3"] if self.options else [one] * 4

    def test_table(self):
        p = self.job.settled_table("--all-hosts")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        lines = p.stdout.splitlines()
        self.assertRegex(lines[0], r"^job zipmpi-\w+  %d hosts?  4 ranks: 1 computing, " % len(set(self.hosts(""))))
        self.assertRegex(lines[1], r"rank.*state.*call.*peer.*msg/s.*byte/s.*unexp.*path +host$")
        self.assertRegex(lines[3], r"^ +1 waiting +MPI_Recv +0 ")
        self.assertEqual([line.split()[0] for line in lines[2:]], ["0", "1", "2", "3"])
        self.assertEqual([line.split()[-1] for line in lines[2:]], self.hosts(lines[2].split()[-1]))

    def test_json(self):
        for _ in range(5):  # other load may delay a reply
            p = self.job.table("--all-hosts", "--json")
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            facts = json.loads(p.stdout)
            if not facts["missing_nodes"]:
                break
        self.assertEqual([r["host"] for r in facts["ranks"]], self.hosts(facts["ranks"][0]["host"]))
        self.assertEqual([r["state"] for r in facts["ranks"]][:2], ["computing", "waiting"])
        self.assertGreater(facts["ranks"][2]["messages_per_second"], 0)
        self.assertEqual([(h["host"], h["ranks"]) for h in facts["hosts"]],
                         [("n1", 1), ("n2", 2), ("n3", 1)] if self.options else [(facts["ranks"][0]["host"], 4)])
        self.assertEqual(facts["missing_nodes"], [])

    def last_daemon(self):
        """The daemon that has started no other."""
        def is_daemon(pid):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                return f.read() == "zipmpi-noded\n"
        below = {}
        left = [self.job.process.pid]
        while left:
            pid = left.pop()
            below[pid] = children(pid)
            left += below[pid]
        daemons = [pid for pid in below if is_daemon(pid)]
        guards = {pid for pid in daemons if any(c in daemons for c in below[pid])}
        return max(pid for pid in daemons if pid not in guards)

    def test_a_host_that_does_not_reply(self):
        if not self.options:
            self.skipTest("this build has no network")
        daemon = self.last_daemon()
        os.kill(daemon, signal.SIGSTOP)
        try:
            for _ in range(5):  # other load may delay the reply of another host, too
                p = self.job.table("--all-hosts", "--interval", "0.05")
                if ", 1 without reply" in p.stdout:
                    break
        finally:
            os.kill(daemon, signal.SIGCONT)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("  3 hosts, 1 without reply  3 ranks: ", p.stdout)

    def test_no_such_job(self):
        p = subprocess.run([*TOP, "--once", "--all-hosts", "--job", "no such job"], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("no mpiexec of this user", p.stderr)


class Terminal(terminal.Terminal, Top):
    def test_keys_and_sizes(self):
        command = " ".join([*TOP, *self.job.choose()]) + "; echo ended with $?; sleep 30"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "20", command)
        screen = self.screen_with(r"^ +2 .*[0-9.]+[kM]? +[0-9.]+[kM]? +- inline")
        self.assertRegex(screen, r"(?m)^ *r:rankv s:state")
        self.assertRegex(screen, r"(?m)^ +1 waiting +MPI_Recv +0 ")
        self.assertIn("q quit", screen)
        self.tmux("send-keys", "r")
        screen = self.screen_with(r"r:rank\^")
        self.assertLess(screen.index("3 "), screen.index("MPI_Recv"))
        self.tmux("send-keys", "m")
        self.screen_with(r"m:msg/")
        self.tmux("send-keys", "w")
        screen = self.screen_with("rank 1: waits in MPI_Recv for a message from rank 0, tag 5")
        self.assertRegex(screen, r"(?m)^ *(rank 0: is|ranks 0,[23](-3)?: are) in user code")
        self.tmux("send-keys", "l")
        self.screen_with(r"^ +2 +3 +[0-9.]+[kM]? .* node +#")
        self.tmux("send-keys", "l")
        self.tmux("resize-window", "-x", "50", "-y", "5")
        screen = self.screen_with(r"arrows|q quit")
        self.assertTrue(all(len(line) <= 50 for line in screen.splitlines()))
        self.tmux("resize-window", "-x", "100", "-y", "20")
        self.screen_with(r"^ +1 waiting")
        self.tmux("send-keys", "q")
        self.screen_with("ended with 0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
