# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on this machine, by an agent that starts everything locally. Needs no privileges."""
import os
import random
import shutil
import socket
import subprocess
import tempfile

from harness import EXCHANGE, LOCAL_AGENT, MPIEXEC, Case, environment, main, run, wait_until


class Nodes(Case):
    def nodes(self, *args, **kw):
        return run("--launch-agent", LOCAL_AGENT, *args, **kw)

    def test_node_of_each_rank(self):
        r = self.nodes("-n", 5, "--host", "a:2,b:3", "sh", "-c",
                       'echo "$PMI_RANK/$PMI_SIZE $ZIPMPI_NODE_INDEX/$ZIPMPI_NODES $MPI_LOCALRANKID/$MPI_LOCALNRANKS"')
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0/5 0/2 0/2", "1/5 0/2 1/2", "2/5 1/2 0/3", "3/5 1/2 1/3", "4/5 1/2 2/3"])

    def test_map_by_node_and_no_count(self):
        r = self.nodes("--map-by", "node", "--host", "a:2,b:3", "sh", "-c", 'echo "$PMI_RANK $ZIPMPI_NODE_INDEX"')
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0 0", "1 1", "2 0", "3 1", "4 1"])

    def test_values_cross_nodes_in_trees_of_any_shape(self):
        for width in (1, 2, 3, 32):
            r = self.nodes("-n", 14, "--launch-fanout", width, "--host", ",".join(f"h{i}:2" for i in range(7)), EXCHANGE)
            self.quiet(r)
            self.assertEqual(len(r.out.splitlines()), 14, r)

    def test_slurm_and_pbs_name_the_hosts(self):
        r = self.nodes("sh", "-c", "echo $PMI_RANK $ZIPMPI_NODE_INDEX",
                       env={"SLURM_JOB_NODELIST": "n[08-09],m", "SLURM_TASKS_PER_NODE": "1(x2),2"})
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0 0", "1 1", "2 2", "3 2"])

    def test_failing_agent_is_named(self):
        r = run("-n", 2, "--host", "a,b", "--launch-agent", "sh -c 'echo no such host >&2; exit 3'", "true")
        self.assertEqual(r.code, 1)
        self.assertIn("no such host", r.err)
        self.assertIn("exited with status 3", r.err)

    def test_input_and_exit_status(self):
        r = self.nodes("-n", 4, "--host", "a:2,b:2", "sh", "-c", 'test $PMI_RANK = 0 && cat; test $PMI_RANK = 3 && sleep 0.5 && exit 7; sleep 30',
                       stdin="one\ntwo\n")
        self.assertEqual(r.code, 7, r)
        self.assertEqual(r.out, "one\ntwo\n")
        self.assertEqual(r.err.count("mpiexec: "), 1, r)
        self.assertLess(r.seconds, 5)

    def test_placement_of_all_nodes(self):
        r = self.nodes("-n", 3, "--show-placement", "--host", "a:2,b", "true")
        self.quiet(r)
        self.assertEqual([x for x in r.out.splitlines() if x.startswith("node")], ["node 0, a", "node 1, b"])

    def test_one_hang_report_for_all_nodes(self):
        helper = os.path.join(os.environ.get("TEST_HELPERS", ""), "segment_rank")
        r = self.nodes("-n", 4, "--map-by", "node", "--host", "a:2,b:2", "--report-hang", "0.5", helper, "circle", 2)
        self.assertEqual(r.code, 0, r)
        self.assertEqual(r.err.count("no progress for 0.5 s: deadlock"), 1, r)
        self.assertIn("0 \u2192 1 \u2192 2 \u2192 3 \u2192 0", r.err)

    def test_stacks_of_all_nodes(self):
        """Ranks of the last host are two levels below mpiexec."""
        folder = tempfile.mkdtemp(prefix="stacks-")
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "eu-stack"), "w") as f:
            f.write('#!/bin/sh\nfor pid; do :; done\necho "TID $pid:"\necho "#0  0x1 main - /a.out"\n')
        os.chmod(os.path.join(folder, "eu-stack"), 0o755)
        for name in ("sh", "cat", "sleep", "env", "setsid"):
            os.symlink(shutil.which(name), os.path.join(folder, name))
        r = self.nodes("-n", 4, "--launch-fanout", 1, "--host", "a:2,b,c", "--timeout", "2", "sleep", "60", env={"PATH": folder})
        self.assertEqual(r.code, 124, r)
        self.assertIn("\nmpiexec: stacks of the ranks, by eu-stack:\n  [0-3]\n    main, a.out\n", r.err)

    def test_only_the_cause_is_reported(self):
        r = self.nodes("-n", 4, "--host", "a:2,b:2", "sh", "-c",
                       'test $PMI_RANK = 0 && exit 3; test $PMI_RANK = 3 && sleep 0.03 && kill -9 $$; sleep 20')
        self.assertEqual(r.code, 128 + 9, r)
        self.assertIn("the other 3 ranks were terminated", r.err)


class UnexpectedMessages(Case):
    """Three nodes flood the first one with messages without receives."""

    def flood(self, engine):
        r = run("--launch-agent", LOCAL_AGENT, "-n", 4, "--host", "a,b,c,d", os.path.join(os.environ["TEST_MPI_FOLDER"], "unexpected"), 30000, 24,
                env={"ZIPMPI_NET_ENGINE": engine, "ZIPMPI_P2P_UNEXPECTED_PEER_LIMIT": "1M"})
        self.quiet(r)
        self.assertIn("unexpected: ok", r.out)

    def test_tcp(self):
        self.flood("tcp")

    def test_ucx(self):
        self.flood("ucx")


class HostileConnections(Case):
    """Unauthenticated connections while daemons are expected."""

    def test_nothing_is_disclosed_and_no_connection_accepted(self):
        folder = tempfile.mkdtemp(prefix="hostile-")
        self.addCleanup(shutil.rmtree, folder)
        flag = os.path.join(folder, "go")
        slow = f"sh -c 'until [ -e {flag} ]; do sleep 0.05; done; exec {LOCAL_AGENT} \"$@\"' agent"
        p = subprocess.Popen([MPIEXEC, "-n", "2", "--host", "a,b", "--launch-agent", slow, "echo", "started"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=environment())
        self.assertTrue(wait_until(lambda: self.ports_of(p.pid), 10))
        ports = self.ports_of(p.pid)
        rng = random.Random(1)
        said = set()
        held = []
        for i in range(2000):
            s = socket.create_connection(rng.choice(ports), 5)
            if i % 10 == 0:
                held.append(s)  # silent
                continue
            s.settimeout(5)
            got = b""
            try:
                s.sendall(rng.randbytes(rng.choice((1, 111, 112, 500))))
                s.shutdown(socket.SHUT_WR)
                while part := s.recv(4096):
                    got += part
            except OSError:
                pass  # closed by the other side
            said.add(len(got))
            s.close()
        open(flag, "w").close()
        out, err = p.communicate(timeout=20)
        for s in held:
            s.close()
        self.assertEqual((p.returncode, out, err), (0, "started\nstarted\n", ""))
        self.assertLessEqual(max(said), 72)  # a nonce and a public key at most
        self.assertGreater(max(said), 0)  # at least one connection got a nonce

    @staticmethod
    def ports_of(pid):
        found = []
        for line in subprocess.run(["ss", "-Htlnp"], capture_output=True, text=True, check=True).stdout.splitlines():
            if f"pid={pid}," in line:
                address, port = line.split()[3].rsplit(":", 1)
                found.append((address.strip("[]"), int(port)))
        return found


if __name__ == "__main__":
    main()
