# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Unauthenticated connections to the ports of ranks on two hosts: none is answered, descriptors and memory stay bounded, and the
job ends with every message in place. ci/hostile_connections.py makes 100,000 and measures the slowdown."""
import os
import random
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "multinode"))

from harness import ClusterCase, main  # noqa: E402
from hostile_connections import RANKS, HostileConnections, enter_network, listening_ports, resources  # noqa: E402

MESSAGE_AUDIT = os.environ["TEST_MESSAGE_AUDIT"]
CONNECTIONS = 1500
SILENT = 600
MAX_UNAUTHENTICATED = 256  # of transport/stream/connection_setup.cpp
MARGIN = 16
MAX_GROWTH_KB = 16 * 1024  # buffers of the job itself grow, too


class HostileConnectionsToRanks(ClusterCase):
    HOSTS = 2

    def attack(self, body):
        """Runs body in the network of n1 while a job runs; returns its result."""
        job = self.begin("-n", RANKS, "--host", "n1:2,n2:2", "--timeout", "60", MESSAGE_AUDIT, 1, 4)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.stdout.close)
        for _ in range(RANKS):  # before, ports of the search for devices are open, too
            line = job.stdout.readline()
            self.assertEqual(line, "here\n", "" if line else job.stderr.read())
        results = []

        def attack_from_host():
            if enter_network(self.cluster["n1"].pid):
                results.append(body(listening_ports("message_audit"), self.cluster.named("n1", "message_audit")))

        attacker = threading.Thread(target=attack_from_host)  # a network namespace belongs to a thread
        attacker.start()
        out, err = job.communicate(timeout=60)
        attacker.join(60)
        self.assertEqual((job.returncode, err), (0, ""), out)
        self.assertEqual(out.count("over"), RANKS, out)
        self.assertNotIn("WRONG", out)
        self.assertEqual(len(results), 1, "there was no attack")
        return results[0]

    def test_none_is_answered(self):
        def body(ports, _):
            connections = HostileConnections(random.Random(1))
            end = time.monotonic() + 3
            while connections.made < CONNECTIONS and time.monotonic() < end:
                connections.make_many(ports)
                connections.step()
            connections.close_all()
            return connections

        connections = self.attack(body)
        self.assertGreater(connections.made, CONNECTIONS // 3)
        self.assertEqual(connections.max_reply_bytes["ranks"], 0)

    def test_silent_connections_are_bounded(self):
        """All to one rank, which others are connected to meanwhile."""
        def body(ports, pids):
            before = [resources(pid) for pid in pids]
            connections = HostileConnections(random.Random(1))
            for _ in range(SILENT):
                connections.make(ports[0], silent_seconds=30)
                connections.step(0)
            end = time.monotonic() + 5
            while grown_descriptors(before, pids) <= MAX_UNAUTHENTICATED // 2 and time.monotonic() < end:
                time.sleep(0.05)  # until the rank has polled
            time.sleep(0.3)
            after = [resources(pid) for pid in pids]
            connections.close_all()
            return before, after

        def grown_descriptors(before, pids):
            return max(resources(pid)[0] - b[0] for pid, b in zip(pids, before))

        before, after = self.attack(body)
        descriptors = max(a[0] - b[0] for a, b in zip(after, before))
        self.assertGreater(descriptors, MAX_UNAUTHENTICATED // 2, "the connections did not reach a rank")
        self.assertLessEqual(descriptors, MAX_UNAUTHENTICATED + MARGIN)
        self.assertLess(max(a[1] - b[1] for a, b in zip(after, before)), MAX_GROWTH_KB)


if __name__ == "__main__":
    main()
