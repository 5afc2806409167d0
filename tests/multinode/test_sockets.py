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


class Sockets(Case):
    def calls(self, *args, **env):
        """Socket calls of mpiexec and all its descendants."""
        with tempfile.NamedTemporaryFile(mode="r") as log:
            p = subprocess.run(["strace", "-f", "-e", "trace=socket,bind,listen,connect", "-o", log.name, MPIEXEC, *args, PROGRAM],
                               capture_output=True, text=True, timeout=60, env=environment(env))
            self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
            return log.read()

    def test_one_host_needs_no_network(self):
        self.assertNotRegex(self.calls("-n", "4"), "AF_INET|AF_NETLINK")

    def test_nothing_listens_on_all_addresses(self):
        calls = self.calls("-n", "4", "--host", "a:2,b:2", "--launch-agent", LOCAL_AGENT)
        bound = re.findall(r'bind\(\d+, \{sa_family=AF_INET6?,.*?"([^"]+)"', calls)
        self.assertTrue(bound)
        self.assertFalse([a for a in bound if a in ("0.0.0.0", "::")], bound)

    def test_all_ports_are_of_the_range(self):
        calls = self.calls("-n", "4", "--host", "a:2,b:2", "--launch-agent", LOCAL_AGENT, ZIPMPI_NET_PORTS="29400-29499")
        ports = [int(p) for p in re.findall(r"bind\(\d+, \{sa_family=AF_INET6?,.*?port=htons\((\d+)\).*= 0$", calls, re.MULTILINE)]
        self.assertGreater(len(ports), 6, calls)
        self.assertFalse([p for p in ports if not 29400 <= p <= 29499], ports)


if __name__ == "__main__":
    if shutil.which("strace") is None:
        print("strace is not installed")
        sys.exit(SKIP)
    main()
