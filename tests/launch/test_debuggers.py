# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The process table of mpiexec for parallel debuggers (MPIR), read by gdb."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness

RING = os.path.join(harness.HELPERS, "mpi_ring")
LOCAL_AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode/local_agent.sh")

START = """set pagination off
set confirm off
set breakpoint pending on
set startup-with-shell off
handle all nostop noprint pass
break main
run
set var *(int*)&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
"""
# By the layout of the interface: host and program (pointers), process id.
TABLE = """python
import struct
size = int(gdb.parse_and_eval("*(int*)&MPIR_proctable_size"))
base = int(gdb.parse_and_eval("*(unsigned long*)&MPIR_proctable"))
memory = bytes(gdb.selected_inferior().read_memory(base, 24 * size))
table = list(struct.iter_unpack("QQi4x", memory))
text = lambda address: gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()
print("table of", size, "state", int(gdb.parse_and_eval("*(int*)&MPIR_debug_state")))
for i, (host, program, pid) in enumerate(table):
    print("rank", i, text(host), text(program), pid)
end
"""
HELD = """python
import os, time
time.sleep(0.5)
print("ended before release:", sum(not os.path.exists("/proc/%d" % row[2]) for row in table))
print("called:", os.listdir(CALLED))
end
continue
quit
"""


@unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
class Debuggers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zipmpi-mpir-")
        self.addCleanup(shutil.rmtree, self.folder)

    def gdb(self, script, *arguments):
        path = os.path.join(self.folder, "script.gdb")
        with open(path, "w", encoding="utf-8") as f:
            f.write(script)
        p = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", path, *map(str, arguments)], capture_output=True, text=True,
                           timeout=60, stdin=subprocess.DEVNULL, check=False)
        return p.stdout + p.stderr

    def rows(self, text):
        return [(int(rank), host, int(pid)) for rank, host, pid in re.findall(r"^rank (\d+) (\S+) \S+ (\d+)$", text, re.M)]

    def check_start(self, *options):
        """Ranks that write a file after MPI_Init: none exists while the debugger looks at the table."""
        called = os.path.join(self.folder, "called")
        os.mkdir(called)
        program = os.path.join(self.folder, "program")
        with open(program, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\n{RING} && touch "{called}/$PMI_RANK"\n')
        os.chmod(program, 0o755)
        script = START + TABLE + HELD.replace("CALLED", repr(called))
        text = self.gdb(script, "--args", harness.MPIEXEC, "-n", 4, *options, program)
        rows = self.rows(text)
        self.assertEqual([r[0] for r in rows], [0, 1, 2, 3], text)
        self.assertEqual(len({r[2] for r in rows}), 4)
        self.assertIn("table of 4 state 1", text)
        self.assertIn("ended before release: 0", text)
        self.assertIn("called: []", text)
        self.assertIn("exited normally", text)
        self.assertEqual(sorted(os.listdir(called)), ["0", "1", "2", "3"])
        return rows

    def test_start_under_a_debugger(self):
        self.check_start()

    def test_ranks_on_other_hosts(self):
        if not os.path.exists(os.path.join(os.path.dirname(harness.MPIEXEC), "../lib/zipmpi/zipmpi_ucx.so")):
            self.skipTest("this build has no network")
        rows = self.check_start("--host", "n1:2,n2,n3", "--launch-agent", LOCAL_AGENT, "--launch-fanout", "1")
        self.assertEqual([r[1] for r in rows], ["n1", "n1", "n2", "n3"])

    def test_attach_to_a_running_job(self):
        job = subprocess.Popen([harness.MPIEXEC, "-n", "3", "sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE, text=True)
        pids = sorted(int(job.stdout.readline()) for _ in range(3))
        text = self.gdb("set pagination off\n" + TABLE + "detach\nquit\n", "-p", job.pid)
        job.send_signal(signal.SIGTERM)
        job.wait(30)
        job.stdout.close()
        if "ptrace: Operation not permitted" in text:
            self.skipTest("attaching is not permitted")
        self.assertEqual(sorted(r[2] for r in self.rows(text)), pids, text)


if __name__ == "__main__":
    unittest.main()
