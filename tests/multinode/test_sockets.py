# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sockets that a job opens, as reported by strace."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from cluster import SKIP
from harness import LOCAL_AGENT, MPIEXEC, Case, environment, main

PROGRAM = os.path.join(os.environ["TEST_MPI_FOLDER"], "collectives")
ENGINES = os.environ["TEST_ENGINES"].split(",")
TWO_NODES = ("-n", "4", "--host", "a:2,b:2", "--launch-agent", LOCAL_AGENT)


class Sockets(Case):
    def calls(self, *args, **env):
        """Socket calls of mpiexec and all its descendants, one text for each thread."""
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.run(["strace", "-ff", "-e", "trace=socket,bind,listen,connect", "-o", os.path.join(folder, "calls"),
                                MPIEXEC, *args, PROGRAM], capture_output=True, text=True, timeout=60, env=environment(env))
            self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
            texts = []
            for name in os.listdir(folder):
                with open(os.path.join(folder, name)) as f:
                    texts.append(f.read())
            return texts

    @staticmethod
    def listening_ports(text):
        """Also libfabric's outgoing connections are bound, to port 0."""
        bound = {}
        for call, fd, port in re.findall(r"^(bind|listen)\((\d+), (?:\{sa_family=AF_INET6?,.*?port=htons\((\d+)\).*= 0$)?", text, re.MULTILINE):
            if call == "bind":
                bound[fd] = port
            elif bound.get(fd):
                yield int(bound[fd])

    def test_one_host_needs_no_network(self):
        self.assertNotRegex("".join(self.calls("-n", "4")), "AF_INET|AF_NETLINK")

    def test_nothing_listens_on_all_addresses(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                calls = "".join(self.calls(*TWO_NODES, ZIPMPI_NET_ENGINE=engine))
                bound = re.findall(r'bind\(\d+, \{sa_family=AF_INET6?,.*?"([^"]+)"', calls)
                self.assertTrue(bound)
                self.assertFalse([a for a in bound if a in ("0.0.0.0", "::")], bound)

    def test_all_ports_are_of_the_range(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                calls = self.calls(*TWO_NODES, ZIPMPI_NET_ENGINE=engine, ZIPMPI_NET_PORTS="29400-29499")
                ports = [port for text in calls for port in self.listening_ports(text)]
                self.assertGreater(len(ports), 6, calls)
                self.assertFalse([p for p in ports if not 29400 <= p <= 29499], ports)


if __name__ == "__main__":
    if shutil.which("strace") is None:
        print("strace is not installed")
        sys.exit(SKIP)
    main()
