# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Killed gateways, gateway hosts, daemons and ranks of a job over two clusters."""
import os
import signal
import time

from multi_cluster import MIDDLE
from harness import QUERY_GATEWAYS, STUB_GATEWAY, MultiClusterCase, main, wait_until

JOB = ("sh", "-c", "echo here; sleep 60")


class FaultCase(MultiClusterCase):
    def job(self, *options, program=JOB, ranks=4):
        p = self.begin("--env", f"ZIPMPI_GATEWAY_PROGRAM={STUB_GATEWAY}", "-n", ranks, *options, *program)
        for _ in range(ranks):
            self.assertEqual(p.stdout.readline(), "here\n")
        return p

    def held_job(self, command):
        """A job whose ranks run a command after go() was called."""
        flag = os.path.join(self.clusters.folder, "go")
        if os.path.exists(flag):
            os.remove(flag)
        p = self.job(program=("sh", "-c", f"echo here; while [ ! -e {flag} ]; do sleep 0.05; done; exec {command}"))
        return p, lambda: open(flag, "w").close()

    def gateway(self, host):
        self.assertTrue(wait_until(lambda: self.named(host, "stub_gateway"), 30))
        return self.named(host, "stub_gateway")[0]

    def ended(self, p, code):
        begin = time.monotonic()
        err = p.stderr.read()
        p.wait(20)
        self.assertEqual(p.returncode, code, err)
        self.assertLess(time.monotonic() - begin, 20, err)  # the ranks would sleep for a minute
        self.nothing_left()
        return err


class Gateways(FaultCase):
    def querying_job(self):
        """A job whose ranks query the gateways after go() was called."""
        return self.held_job(f"{QUERY_GATEWAYS} 1")

    def kill_gateway(self, host):
        before = self.gateway(host)
        os.kill(before, signal.SIGKILL)
        self.assertTrue(wait_until(lambda: before not in self.named(host, "stub_gateway"), 30))

    def test_killed_gateway_restarts(self):
        p, go = self.querying_job()
        self.kill_gateway("z")
        self.assertEqual([p.stderr.readline(), p.stderr.readline()],
                         ["mpiexec: gateway 0 on host z: killed by SIGKILL; it is restarted\n",
                          "mpiexec: gateway 0 on host z is running again\n"])
        go()
        out = p.stdout.read()
        self.assertEqual(self.ended(p, 0), "")
        self.assertEqual(out.splitlines(), ["epochs 2"] * 4)

    def test_repeated_kills(self):
        p, go = self.querying_job()
        for _ in range(3):
            self.kill_gateway("z")
        go()
        self.ended(p, 0)

    def test_failing_gateway_ends_job_after_partition_timeout(self):
        p = self.job("--env", "STUB_GATEWAY_EXITS=yes", "--env", "ZIPMPI_GATEWAY_PARTITION_TIMEOUT=1")
        err = self.ended(p, 1)
        self.assertIn("repeatedly; it is not restarted; no path is left between clusters a and b", err)
        self.assertIn("clusters a and b are disconnected", err)

    def test_no_leftovers_after_kill(self):
        for host, name in (("front", "mpiexec"), ("z", "zipmpi-noded"), ("z", "zipmpi-guard"), ("a1", "zipmpi-noded")):
            p = self.job()
            self.gateway("z")
            os.kill(self.named(host, name)[0], signal.SIGKILL)
            p.wait(10)
            self.nothing_left()

    def test_broken_daemon_connection_is_named(self):
        p = self.job()
        noded = [row for row in self.connections("z") if "zipmpi-noded" in row[-1] and row[3].startswith(MIDDLE)]
        self.assertEqual(len(noded), 1)
        self.clusters.run("z", ["ss", "-K", "-tnH", "src", noded[0][2], "dst", noded[0][3]], capture_output=True)
        err = self.ended(p, 1)
        self.assertIn("the connection between its zipmpi-noded and its parent broke", err)

    def connections(self, host):
        r = self.clusters.run(host, ["ss", "-tnHp", "state", "established"], capture_output=True, text=True)
        return [line.split() for line in r.stdout.splitlines()]

    def test_killed_rank_is_reported(self):
        p = self.job()
        ranks = [pid for pid in self.named("b2", "sh") if b"\0PMI_RANK=" in open(f"/proc/{pid}/environ", "rb").read()]
        os.kill(ranks[0], signal.SIGKILL)
        err = self.ended(p, 128 + 9)
        self.assertEqual(err.count("mpiexec: "), 1, err)
        self.assertIn("host b2", err)
        self.assertIn("rank 3 ", err)

    def test_job_in_one_cluster_has_no_gateways(self):
        p = self.job(ranks=2)
        self.assertEqual(self.named("z", "stub_gateway"), [])
        os.kill(self.named("front", "mpiexec")[0], signal.SIGINT)
        self.ended(p, 130)

    def test_placement_shows_clusters_and_gateways(self):
        r = self.mpiexec("--env", f"ZIPMPI_GATEWAY_PROGRAM={STUB_GATEWAY}", "-n", 4, "--show-placement", "true")
        self.quiet(r)
        heads = [line for line in r.out.splitlines() if not line.startswith("  ")]
        self.assertEqual(heads, ["node 0, a1, cluster a", "node 1, a2, cluster a", "node 2, b1, cluster b", "node 3, b2, cluster b",
                                 "gateway 0, z, joins a and b"])


class GatewayHosts(FaultCase):
    SHAPE = "z1x2"

    def test_lost_gateway_host_with_alternative(self):
        p, go = self.held_job("true")
        for pid in self.named("y", "zipmpi-noded"):
            os.kill(pid, signal.SIGKILL)
        self.assertRegex(p.stderr.readline(), r"^mpiexec: gateway host y has failed: .*; the job continues over the others\n$")
        go()
        self.assertEqual(self.ended(p, 0), "")


class GatewayHostOff(FaultCase):
    SHAPE = "z1x2"

    def test_unreachable_gateway_host_is_not_used(self):
        self.clusters.kill_host("y")
        p, go = self.held_job("true")
        said = [p.stderr.readline()]
        while said[-1] and "gateway host y has failed" not in said[-1]:
            said.append(p.stderr.readline())
        self.assertIn("gateway host y has failed", said[-1], said)
        go()
        self.ended(p, 0)


if __name__ == "__main__":
    main()
