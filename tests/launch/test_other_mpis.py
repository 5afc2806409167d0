# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs linked with other MPIs run under ZipMPI's mpiexec, with their own libraries and with ZipMPI's bindings."""
import os
import re
import socket
import tempfile
import unittest

from harness import MPIEXEC, Case, helper, leftovers, needs, run


class Ring:
    program = ""
    mode = ("--mpi", "own")
    times = 1  # times one rank may initialize MPI: MPICH closes its connection in MPI_Finalize

    def setUp(self):
        self.before = leftovers()
        self.path = helper(self.program)

    def tearDown(self):
        self.assertEqual(leftovers(), self.before)

    def test_ring(self):
        r = run(*self.mode, "-n", 4, self.path)
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), [f"rank {i} of 4 sum 6" for i in range(4)])

    def test_abort(self):
        r = run(*self.mode, "-n", 3, self.path, "abort")
        self.assertEqual(r.code, 7, r)
        self.assertIn(": rank 1 called MPI_Abort with error code 7", r.err)

    def test_exit_without_finalize(self):
        r = run(*self.mode, "-n", 3, self.path, "leave")
        self.assertEqual(r.code, 1, r)
        self.assertIn("rank 1 exited without calling MPI_Finalize", r.err)

    def test_script_with_unwritable_tmpdir(self):
        script = " && ".join([f"'{self.path}'"] * self.times)
        r = run(*self.mode, "-n", 2, "sh", "-c", script, env={"TMPDIR": "/proc/1"})
        self.quiet(r)
        self.assertEqual(r.out.count("of 2 sum 1"), 2 * self.times)


class Mpich(Ring, Case):
    program = "mpi_ring_mpich"


class OpenMpi(Ring, Case):
    program = "mpi_ring_openmpi"
    times = 2


class Binding(Ring):
    """The same programs on ZipMPI's bindings."""
    mode = ()
    library = ""

    def setUp(self):
        super().setUp()
        folder = os.path.join(os.path.dirname(MPIEXEC), "../lib/bindings")
        self.library = os.path.realpath(os.path.join(folder, self.library))
        if not os.path.exists(self.library):
            self.skipTest("the bindings were not built")

    def test_library(self):
        r = run("-n", 1, self.path, "version")
        self.quiet(r)
        self.assertIn("ZipMPI", r.out)

    def test_spawn(self):
        """The library finds mpiexec, and the child loads the same library."""
        r = run("-n", 2, self.path, "spawn")
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["rank 0 of 1 sum 0", "rank 0 of 2 sum 1", "rank 1 of 2 sum 1", "spawned 1", "spawned 1"])

    def test_two_hosts(self):
        agent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode/local_agent.sh")
        r = run("-n", 4, "--host", "a:2,b:2", "--launch-agent", agent, self.path)
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), [f"rank {i} of 4 sum 6" for i in range(4)])


class MpichBinding(Binding, Case):
    program = "mpi_ring_mpich"
    library = "mpich/libmpich.so.12"


class OpenMpiBinding(Binding, Case):
    program = "mpi_ring_openmpi"
    library = "openmpi/libmpi.so.40"


class Netpipe(Case):
    """NetPIPE writes hosts and one line per size to stderr. Anything else there is an error."""
    own_lines = re.compile(r"\d+: \S+|Now starting the main loop|\s*\d+:\s+\d+ bytes.*Mbps in.*usec|")

    def pingpong(self, program):
        before = leftovers()
        with tempfile.TemporaryDirectory(prefix="launch-test-") as directory:
            r = run("--mpi", "own", "-n", 2, needs(program), "-n", 20, "-p", 0, "-u", 1024, "-o", os.path.join(directory, "np.out"))
        self.assertEqual(r.code, 0, r)
        self.assertRegex(r.err + r.out, re.compile(r" 1024 bytes.*Mbps"))
        self.assertEqual([line for line in r.err.splitlines() if not self.own_lines.fullmatch(line)], [], r)
        self.assertEqual(leftovers(), before)

    def test_openmpi(self):
        self.pingpong("NPopenmpi")

    def test_mpich(self):
        self.pingpong("NPmpich2")


PMI2 = r"""
import os, socket, sys
s = socket.socket(fileno=int(os.environ["PMI_FD"]))
f = s.makefile("rwb", buffering=0)
rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
f.write(b"cmd=init pmi_version=2 pmi_subversion=0\n")
assert b"rc=0" in f.readline()
def ask(body):
    f.write(b"%6d" % len(body) + body)
    n = int(f.read(6))
    answer = b""
    while len(answer) < n: answer += f.read(n - len(answer))
    return answer.decode()
assert f";rank={rank};size={size};" in ask(b"cmd=fullinit;pmirank=%d;threaded=FALSE;" % rank)
ask(b"cmd=kvs-put;key=k%d;value=v%d;" % (rank, rank))
ask(b"cmd=kvs-fence;")
for r in range(size): assert f"value=v{r};" in ask(b"cmd=kvs-get;key=k%d;" % r)
ask(b"cmd=finalize;")
print("good")
"""


class Pmi2(Case):
    def test_client(self):
        r = run("-n", 4, "python3", "-c", PMI2)
        self.quiet(r)
        self.assertEqual(r.out, "good\n" * 4)


if __name__ == "__main__":
    unittest.main()
