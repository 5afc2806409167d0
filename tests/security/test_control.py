# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A man in the middle of the control connection of a real job, and the secret of the job in memory."""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "multinode"))

from harness import MPIEXEC, Case, environment, main, run  # noqa: E402
from key_schedule import derive, descendants, found_in_memory, readable_by_users, secret_of  # noqa: E402

AGENT = os.path.join(HERE, "relay_agent.py")
# Output of ranks for 0.4 s, so that records go up; heartbeats go both ways every 0.5 s.
PROGRAM = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done; exec sleep 8"]


class ControlRelay(Case):
    def altered(self, kind, direction, unit):
        agent = f"{sys.executable} -B {AGENT} --alter {kind},{direction},{unit},b"
        r = run("-n", 2, "--host", "a:1,b:1", "--launch-agent", agent, *PROGRAM)
        self.assertNotEqual(r.code, 0, r)
        self.assertEqual(r.err.count("mpiexec: "), 1, r)
        self.assertLess(r.seconds, 15, r)
        return r

    def detected(self, kind, direction, unit):
        r = self.altered(kind, direction, unit)
        # What goes down is detected by the daemon, whose report may be lost with its connection.
        closed = "|its connection closed" if direction == "down" else ""
        self.assertRegex(r.err, "was altered, repeated or lost between the hosts" + closed, r)
        self.assertIn("b", r.err)

    # Units down: challenge, confirmation, start request, ...; up: response, then output, ...
    def test_start_request_flipped(self):
        self.detected("flip", "down", 2)

    def test_start_request_dropped(self):
        self.detected("drop", "down", 2)

    def test_repeated_down(self):
        self.detected("repeat", "down", 3)

    def test_reordered_down(self):
        self.detected("reorder", "down", 3)

    def test_flipped_up(self):
        self.detected("flip", "up", 2)

    def test_dropped_up(self):
        self.detected("drop", "up", 3)

    def test_repeated_up(self):
        self.detected("repeat", "up", 2)

    def test_reordered_up(self):
        self.detected("reorder", "up", 2)

    def test_truncated(self):
        for direction in ("down", "up"):
            r = self.altered("truncate", direction, 3)
            self.assertIn("connection", r.err)

    def test_altered_handshake_does_not_start_the_daemon(self):
        """The daemon connects again; the relay alters that, too."""
        r = self.altered("flip", "down", 0)
        self.assertIn("could not be started", r.err, r)


class SecretInMemory(Case):
    def test_secret_is_wiped_and_in_no_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, "bootstrap")
            agent = f"{sys.executable} -B {AGENT} --record {record}"
            p = subprocess.Popen([MPIEXEC, "-n", "2", "--host", "a:1,b:1", "--launch-agent", agent, "sh", "-c", "echo ready; exec sleep 30"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
            try:
                self.assertEqual([p.stdout.readline(), p.stdout.readline()], ["ready\n"] * 2)
                with open(record, "rb") as f:
                    data = f.read()
                secret = secret_of(data[:len(data) // 2])
                self.check_processes(p.pid, secret)
            finally:
                p.terminate()
                p.communicate(timeout=20)

    def check_processes(self, pid, secret):
        keys = {"secret": secret, "hop": derive(secret, "hop"), "control": derive(secret, "control")}
        names = {}
        for one in (pid, *descendants(pid)):
            with open(f"/proc/{one}/comm") as f:
                names.setdefault(f.read().strip(), []).append(one)
        self.assertEqual(len(names["zipmpi-noded"]), 2, names)
        time.sleep(0.2)
        for name, pids in names.items():
            for one in pids:
                self.assertNotIn(secret, readable_by_users(one), name)
                self.assertNotIn(secret.hex().encode(), readable_by_users(one), name)
                if name.startswith("python"):
                    continue  # the agent, which carried it
                found = found_in_memory(one, keys)
                self.assertFalse(found & {"secret", "control"}, (name, one))
                if name == "zipmpi-noded":
                    self.assertIn("hop", found)  # in the segment of its ranks: the search finds keys


if __name__ == "__main__":
    main()
