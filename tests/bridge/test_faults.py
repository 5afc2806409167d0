# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""What happens when gateways, their hosts, daemons or ranks of a job over two clusters are killed."""
import os
import re
import signal
import time

from grids import MIDDLE
from harness import ASK, STANDIN, GridCase, main, wait_until

JOB = ("sh", "-c", "echo here; sleep 60")


class FaultCase(GridCase):
    def job(self, *options, program=JOB, ranks=4):
        p = self.begin("--env", f"ZIPMPI_BRIDGE_GATEWAY_PROGRAM={STANDIN}", "-n", ranks, *options, *program)
        for _ in range(ranks):
            self.assertEqual(p.stdout.readline(), "here\n")
        return p

    def gateway(self, host):
        self.assertTrue(wait_until(lambda: self.named(host, "standin_gateway"), 30))
        return self.named(host, "standin_gateway")[0]

    def ended(self, p, code):
        begin = time.monotonic()
        err = p.stderr.read()
        p.wait(20)
        self.assertEqual(p.returncode, code, err)
        self.assertLess(time.monotonic() - begin, 20, err)  # the ranks would sleep for a minute
        self.nothing_left()
        return err


class Gateways(FaultCase):
    def asking_job(self):
        """Ranks that ask for the gateways once go() was called."""
        flag = os.path.join(self.grid.folder, "go")
        if os.path.exists(flag):
            os.remove(flag)
        p = self.job(program=("sh", "-c", f"echo here; while [ ! -e {flag} ]; do sleep 0.05; done; exec {ASK} 1"))
        return p, lambda: open(flag, "w").close()

    def kill_gateway(self, host):
        before = self.gateway(host)
        os.kill(before, signal.SIGKILL)
        self.assertTrue(wait_until(lambda: before not in self.named(host, "standin_gateway"), 30))

    def test_a_killed_gateway_comes_back(self):
        p, go = self.asking_job()
        self.kill_gateway("z")
        self.assertEqual([p.stderr.readline(), p.stderr.readline()],
                         ["mpiexec: gateway 0 on host z: killed by SIGKILL; it is started again\n",
                          "mpiexec: gateway 0 on host z is back\n"])
        go()
        out = p.stdout.read()
        self.assertEqual(self.ended(p, 0), "")
        self.assertEqual(out.splitlines(), ["epochs 2"] * 4)

    def test_killed_again_and_again(self):
        p, go = self.asking_job()
        for _ in range(3):
            self.kill_gateway("z")
        go()
        self.ended(p, 0)

    def test_one_that_cannot_run_ends_the_job_after_the_grace(self):
        p = self.job("--env", "STANDIN_ENDS=yes", "--env", "ZIPMPI_BRIDGE_GRACE=1")
        err = self.ended(p, 1)
        self.assertIn("again and again; it is given up; no way is left between clusters a and b", err)
        self.assertIn("clusters a and b cannot reach each other any more", err)

    def test_nothing_is_left_after_a_kill(self):
        for host, name in (("front", "mpiexec"), ("z", "zipmpi-noded"), ("z", "zipmpi-guard"), ("a1", "zipmpi-noded")):
            p = self.job()
            self.gateway("z")
            os.kill(self.named(host, name)[0], signal.SIGKILL)
            p.wait(10)
            self.nothing_left()

    def test_a_cut_connection_of_a_daemon_is_named(self):
        p = self.job()
        noded = [words for words in self.connections("z") if "zipmpi-noded" in words[-1] and words[3].startswith(MIDDLE)]
        self.assertEqual(len(noded), 1)
        self.grid.run("z", ["ss", "-K", "-tnH", "src", noded[0][2], "dst", noded[0][3]], capture_output=True)
        err = self.ended(p, 1)
        self.assertIn("the connection between its zipmpi-noded and the one that started it broke", err)

    def connections(self, host):
        r = self.grid.run(host, ["ss", "-tnHp", "state", "established"], capture_output=True, text=True)
        return [line.split() for line in r.stdout.splitlines()]

    def test_a_killed_rank_is_reported(self):
        p = self.job()
        ranks = [pid for pid in self.named("b2", "sh") if b"\0PMI_RANK=" in open(f"/proc/{pid}/environ", "rb").read()]
        os.kill(ranks[0], signal.SIGKILL)
        err = self.ended(p, 128 + 9)
        self.assertEqual(err.count("mpiexec: "), 1, err)
        self.assertIn("host b2", err)
        self.assertIn("rank 3 ", err)

    def test_a_job_in_one_cluster_has_no_gateways(self):
        p = self.job(ranks=2)
        self.assertEqual(self.named("z", "standin_gateway"), [])
        os.kill(self.named("front", "mpiexec")[0], signal.SIGINT)
        self.ended(p, 130)

    def test_placement_shows_clusters_and_gateways(self):
        r = self.mpiexec("--env", f"ZIPMPI_BRIDGE_GATEWAY_PROGRAM={STANDIN}", "-n", 4, "--show-placement", "true")
        self.quiet(r)
        heads = [line for line in r.out.splitlines() if not line.startswith("  ")]
        self.assertEqual(heads, ["node 0, a1, cluster a", "node 1, a2, cluster a", "node 2, b1, cluster b", "node 3, b2, cluster b",
                                 "gateway 0, z, joins a and b"])


class GatewayHosts(FaultCase):
    SHAPE = "z1x2"

    def test_a_lost_host_of_which_another_remains(self):
        p = self.job(program=("sh", "-c", "echo here; sleep 2"))
        for pid in self.named("y", "zipmpi-noded"):
            os.kill(pid, signal.SIGKILL)
        err = self.ended(p, 0)
        self.assertTrue(re.fullmatch(r"mpiexec: gateway host y is lost: .*; the job goes on over the others\n", err), err)


class GatewayHostOff(FaultCase):
    SHAPE = "z1x2"

    def test_a_host_that_is_off_is_done_without(self):
        self.grid.kill_host("y")
        p = self.job(program=("sh", "-c", "echo here; sleep 1"))
        err = self.ended(p, 0)
        self.assertIn("gateway host y is lost", err)


if __name__ == "__main__":
    main()
