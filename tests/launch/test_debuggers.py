# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The process table of mpiexec for parallel debuggers (MPIR), read by gdb; ranks under gdb in panes of tmux (--gdb)."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import terminal  # noqa: E402

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


class Debuggers(unittest.TestCase):
    def setUp(self):
        harness.needs("gdb")
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


class Panes(terminal.Terminal, unittest.TestCase):
    """A tmux server of its own, in which mpiexec starts ranks under gdb."""
    MAX_POLLS = 600

    def panes(self):
        """Ids of the panes by title."""
        lines = self.tmux("list-panes", "-F", "#{pane_id} #{pane_title}").splitlines()
        return {title: pane for pane, _, title in (line.partition(" ") for line in lines)}

    def start(self, columns, rows, ranks):
        harness.needs("gdb")
        command = f"env -u DISPLAY -u DEBUGINFOD_URLS {harness.MPIEXEC} -n 6 --gdb={ranks} {RING}; echo ended with $?; sleep 60"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", self.id(), "-x", str(columns), "-y", str(rows), command)
        self.addCleanup(self.tmux, "kill-session", fails=True)

    def ask(self, pane, rank):
        """gdb in this pane has run the rank, and ends when told to."""
        self.screen_with(r"Inferior 1 \(process \d+\) exited", pane)
        self.tmux("send-keys", "-t", pane, "show environment PMI_RANK", "Enter")
        self.screen_with(f"^PMI_RANK = {rank}$", pane)
        self.tmux("send-keys", "-t", pane, "quit", "Enter")

    def test_chosen_ranks(self):
        self.start(120, 40, "0,2,4-5")
        self.assertTrue(harness.wait_until(lambda: len(self.panes()) == 5, 20), self.panes())
        titles = {f"rank {rank}": rank for rank in (0, 2, 4, 5)}
        self.assertTrue(harness.wait_until(lambda: set(titles) <= set(self.panes()), 20), self.panes())
        layout = self.tmux("list-panes", "-F", "#{pane_left} #{pane_top}").split("\n")
        self.assertEqual(len({line.split()[0] for line in layout if line}), 2, layout)
        panes = self.panes()
        for title, rank in titles.items():
            self.ask(panes[title], rank)
        self.screen_with("ended with 0")
        self.assertTrue(harness.wait_until(lambda: len(self.panes()) == 1, 10), self.panes())
        self.assertNotIn("pane-border-status", self.tmux("show-options", "-w"))

    def test_window_without_space(self):
        self.start(20, 4, "0-5")
        self.assertTrue(harness.wait_until(lambda: len(self.tmux("list-panes", "-s").splitlines()) == 7, 20))
        self.assertGreater(len(self.tmux("list-windows").splitlines()), 1)
        self.tmux("send-keys", "C-c")


if __name__ == "__main__":
    unittest.main()
