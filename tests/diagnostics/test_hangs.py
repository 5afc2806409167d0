# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Real deadlocks: the first line of the hang report must name the right ranks; the stacks of the ranks follow it."""
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import Case, children, environment, needed, program, state, tool

WORLD = "MPI_COMM_WORLD"
REPORT_AFTER = 1
MOST_SECONDS = 60  # other load may delay everything
NO_STACKS = {"ZIPMPI_LAUNCH_STACK_SECONDS": "0"}
# case, ranks, text of the first line, texts of other lines
HANGS = [
    ("skipped_barrier", 4, "collective mismatch: ranks 0,2-3 wait in MPI_Barrier, rank 1 waits in MPI_Recv for a message "
     "from rank 3, tag 7 on " + WORLD, ["ranks 0,2-3: wait in MPI_Barrier (the 1st collective on"]),
    ("skipped_barrier_on_dup", 3, "collective mismatch: ranks 0,2 wait in MPI_Barrier, rank 1 waits in MPI_Recv for a "
     "message from rank 2, tag 7",
     ["ranks 0,2: wait in MPI_Barrier (the 1st collective on rows)"]),
    ("wrong_root", 2, f"different roots in the 1st collective on {WORLD}: rank 0 is in MPI_Bcast with root 0; "
     "rank 1 is in MPI_Bcast with root 1", []),
    ("send_send", 2, "deadlock: 0 \u2192 1 \u2192 0; each of these ranks blocks in a send, and none has posted the receive",
     ["rank 0: waits in MPI_Send to send 1048576 bytes to rank 1, tag 1", "MPI_Sendrecv"]),
    ("recv_recv", 2, "deadlock: 0 \u2192 1 \u2192 0; each of these ranks blocks in a receive, and none sends", []),
    ("three_circle", 4, "deadlock: 0 \u2192 1 \u2192 2 \u2192 0",
     ["ranks 2-3: wait in MPI_Recv for a message from rank 0"]),
    ("wrong_tag", 2, "tag mismatch: rank 0 receives tag 7 from rank 1, but the unexpected message from rank 1 has tag 8", []),
    ("wrong_tag_large", 2, "tag mismatch: rank 0 receives tag 7", ["rank 1: waits in MPI_Send to send 1048576 bytes to rank 0, tag 8"]),
    ("wrong_comm", 2, "communicator mismatch: rank 0 receives from rank 1 on rows, but the unexpected message from "
     "rank 1 is on " + WORLD, []),
    ("wrong_comm_collective", 3, "collectives on different communicators: ranks 0,2 are in MPI_Barrier on " + WORLD
     + "; rank 1 is in MPI_Barrier on rows", []),
    ("peer_finalized", 2, "rank 0 waits for rank 1, which has called MPI_Finalize", []),
    ("peer_exited", 2, "rank 0 waits for rank 1, which has ended (exited with status 0)", []),
    ("wildcard", 3, "rank 0 waits for a message from any rank, but no rank sends one", ["from any rank, tag 5"]),
    ("ssend", 2, "collective mismatch: rank 1 waits in MPI_Barrier, rank 0 waits in MPI_Ssend to send 4 bytes to rank 1, tag 3", []),
    ("waitall", 3, "collective mismatch: ranks 1-2 wait in MPI_Barrier, rank 0 waits in MPI_Waitall for a message "
     "from rank 2, tag 4 on " + WORLD, []),
    ("probe", 2, "deadlock: 0 \u2192 1 \u2192 0", ["rank 0: waits in MPI_Probe for a message from rank 1, tag 9"]),
    ("barrier_reduce", 4, f"different functions as the 1st collective on {WORLD}: ranks 0,2-3 are in MPI_Barrier; "
     "rank 1 is in MPI_Reduce", []),
    ("agreement", 3, "collective mismatch: ranks 0-1 wait in MPIX_Comm_agree, rank 2 waits in MPI_Recv for a message "
     "from rank 0, tag 6 on " + WORLD, ["ranks 0-1: wait in MPIX_Comm_agree for the other ranks on " + WORLD]),
    ("one_barrier_more", 3, "collective mismatch: ranks 0-1 wait in MPI_Recv, rank 2 waits in MPI_Barrier (the 2nd "
     f"collective on {WORLD})", []),
]


class Job:
    """A hanging job, and its stderr so far."""

    def __init__(self, case, ranks, *options, env=None):
        variables = env or NO_STACKS
        if case in ("wrong_root", "barrier_reduce"):
            # collectives by messages; in shared memory these mistakes are errors or harmless
            variables = {"ZIPMPI_COLL_SHM": "no", **variables}
        self.process = subprocess.Popen([tool("mpiexec"), "-n", str(ranks), "--timeout", "300", *options, program("hang"),
                                         case], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment(variables))
        self.text = ""

    def read_report(self, first=""):
        """Reads until a report is complete: its last line is the advice. Without a hang, so without the text `first` in its
        first line, there is none: then nothing follows the report for a second."""
        last = time.monotonic()
        end = last + MOST_SECONDS
        while "\n  fix: " not in self.text and time.monotonic() < end:
            if self.text and first not in self.text.partition("\n")[0] and time.monotonic() > last + 1:
                break
            if select.select([self.process.stderr], [], [], 0.1)[0]:
                chunk = self.process.stderr.read1(65536).decode()
                if not chunk:
                    break
                self.text += chunk
                last = time.monotonic()
        return self.text

    def rank_pids(self):
        """The processes that its daemon has started."""
        found = [self.process.pid]
        for _ in range(2):
            found = [pid for parent in found for pid in children(parent)]
        return found

    def await_sleep(self, ranks):
        """Until all ranks sleep: a report finds one that is awake "running"."""
        end = time.monotonic() + MOST_SECONDS
        while time.monotonic() < end:
            if [state(pid) for pid in self.rank_pids()] == ["S"] * ranks:
                break
            time.sleep(0.02)

    def report_on_request(self, ranks, first):
        self.await_sleep(ranks)
        self.text = ""
        self.process.send_signal(signal.SIGQUIT)
        return self.read_report(first)

    def report_with(self, ranks, first, requests):
        """The first report that has this text in its first line, otherwise the last one of up to `requests`."""
        for _ in range(requests):
            text = self.report_on_request(ranks, first)
            if first in text.partition("\n")[0]:
                break
        return text

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=MOST_SECONDS)
        return self.process.returncode, out.decode(), err.decode()


class HangCase(Case):
    def check_report(self, text, first, others):
        lines = text.splitlines()
        self.assertIn(first, lines[0], text)
        for words in others:
            self.assertTrue(any(words in line for line in lines[1:]), f"{words!r} is not in\n{text}")
        self.assertRegex(lines[-1], "^  fix: .{10}")
        self.assertEqual(text.count("mpiexec: "), 1, text)

    def check_end(self, job):
        """The job still ran, and ends as instructed."""
        self.assertIsNone(job.process.poll(), "the report ended the job")
        code, out, err = job.stop()
        self.assertEqual((code, out), (128 + signal.SIGTERM, ""), err)
        self.take_apart(err, "mpiexec")


class Hangs(HangCase):
    """Noticed by mpiexec."""


def hang_test(case, ranks, first, others):
    def test(self):
        job = Job(case, ranks, "--report-hang", str(REPORT_AFTER))
        try:
            text = job.read_report()
            self.check_report(text, first, others)
            self.assertTrue(text.startswith(f"mpiexec: no progress for {REPORT_AFTER} s: "), text)
            self.check_end(job)
        finally:
            job.process.kill()
            job.process.communicate()
    return test


for row in HANGS:
    setattr(Hangs, "test_" + row[0], hang_test(*row))


class HangReportOnRequest(HangCase):
    """Requested with SIGQUIT, twice: the job continues."""

    def request_report(self, case, ranks, first, others):
        job = Job(case, ranks)
        try:
            # At first a rank may not have reached the deadlock yet; later one may just have been woken.
            for requests in (60, 2):
                self.check_report(job.report_with(ranks, first, requests), first, others)
            self.check_end(job)
        finally:
            job.process.kill()
            job.process.communicate()

    def test_deadlocks(self):
        for row in HANGS[0], HANGS[3], HANGS[6]:
            with self.subTest(row[0]):
                self.request_report(*row)

    def test_computing_rank(self):
        self.request_report("peer_computes", 3, "ranks 0,2 wait for rank 1, which is in user code, outside MPI",
                 ["ranks 0,2: wait in MPI_Barrier"])


class NoHang(Case):
    """--report-hang reports only jobs that cannot make progress."""

    def check_quiet(self, case, ranks):
        p = subprocess.run([tool("mpiexec"), "-n", str(ranks), "--report-hang", "1", program("hang"), case],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, env=environment())
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))

    def test_slow_messages(self):
        self.check_quiet("slow_messages", 2)

    def test_computing_rank(self):
        self.check_quiet("computes_for_3_seconds", 3)

    def test_all_ranks_outside_mpi(self):
        self.check_quiet("all_sleep_for_3_seconds", 3)


# Prints what eu-stack prints, for every process the same.
EU_STACK = """#!/bin/sh
for pid; do :; done
echo "PID $pid - process"
echo "TID $pid:"
echo "#0  0x00007f0a9a189503 epoll_wait@GLIBC_2.2.5 - /usr/lib/x86_64-linux-gnu/libc.so.6"
echo "#1  0x00007f0a9a18de53 MPI_Barrier - /usr/lib/libmpi_abi.so.1"
echo "#2  0x0000558088da74af main - /opt/app/a.out"
echo "    /opt/app/a.c:12:3"
"""
NEVER_ENDS = """#!/bin/sh
echo $$ > "{0}/pid"
exec /bin/sleep 1000
"""


class Stacks(Case):
    """By the installed gdb, and by programs that take its place."""

    def folder_with(self, name, text):
        folder = tempfile.mkdtemp(prefix="zipmpi-stacks-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.format(folder) if name == "gdb" else text)
        os.chmod(path, 0o755)
        return folder

    def stacks(self, case, ranks, env, end):
        """What follows a hang report, until the text `end`. There is one report, and the job continues."""
        job = Job(case, ranks, "--report-hang", str(REPORT_AFTER), env=env)
        try:
            limit = time.monotonic() + 120
            while end not in job.text and time.monotonic() < limit and job.process.poll() is None:
                if select.select([job.process.stderr], [], [], 0.1)[0]:
                    job.text += job.process.stderr.read1(65536).decode()
            time.sleep(REPORT_AFTER + 0.5)
            code, out, err = job.stop()
            self.assertEqual((code, out), (128 + signal.SIGTERM, ""), job.text + err)
            text = job.text + err
            self.assertEqual(text.count("mpiexec: no progress for"), 1, text)
            return text[text.index("\n  fix: "):].split("\n", 2)[2]
        finally:
            job.process.kill()
            job.process.communicate()

    def test_gdb_and_equal_stacks(self):
        needed("gdb")
        text = self.stacks("skipped_barrier", 4, {"ZIPMPI_LAUNCH_STACK_SECONDS": "100"}, "  [1]\n    MPI_Recv\n")
        if "ptrace: Operation not permitted" in text:
            self.skipTest("attaching is not permitted")
        self.assertTrue(text.startswith("mpiexec: stacks of the ranks, by gdb:\n"), text)
        folded = re.search(r"^  \[0,2-3\]\n    MPI_Barrier\n(?:    .*\n)*?    main, .*\n", text, re.M)
        other = re.search(r"^  \[1\]\n    MPI_Recv\n(?:    .*\n)*?    main, .*\n", text, re.M)
        self.assertTrue(folded and other, text)
        self.assertEqual(len(re.findall(r"^  \[", text, re.M)), 2, text)

    def test_eu_stack(self):
        text = self.stacks("skipped_barrier", 4, {"PATH": self.folder_with("eu-stack", EU_STACK)}, "main, a.c:12\n")
        self.assertTrue(text.startswith("mpiexec: stacks of the ranks, by eu-stack:\n"
                                        "  [0,2-3]\n    MPI_Barrier\n    main, a.c:12\n"
                                        "  [1]\n    MPI_Recv\n    main, a.c:12\n"), text)

    def test_no_tool(self):
        text = self.stacks("recv_recv", 2, {"PATH": "/nonexistent"}, "install")
        self.assertRegex(text, r"\Ampiexec: no stacks of the ranks: install gdb or eu-stack \(elfutils\) on host \S+\n")

    def test_a_tool_that_hangs(self):
        folder = self.folder_with("gdb", NEVER_ENDS)
        text = self.stacks("recv_recv", 2, {"PATH": folder, "ZIPMPI_LAUNCH_STACK_SECONDS": "1"}, "not read")
        self.assertIn("\n  ranks 0-1: not read; at most 64 ranks of a host are read, in 1 s (launch.stack_seconds)\n", text)
        with open(os.path.join(folder, "pid"), encoding="utf-8") as f:
            self.assertFalse(os.path.exists(f"/proc/{f.read().strip()}"))

    def test_time_limit(self):
        p = subprocess.run([tool("mpiexec"), "-n", "2", "--timeout", "2", program("hang"), "recv_recv"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60,
                           env=environment({"PATH": self.folder_with("eu-stack", EU_STACK)}))
        self.assertEqual((p.returncode, p.stdout), (124, ""), p.stderr)
        lines = p.stderr.splitlines(keepends=True)
        self.assertIn("the job was terminated after 2 s", lines[0])
        self.assertEqual("".join(lines[4:6]), "mpiexec: stacks of the ranks, by eu-stack:\n  [0-1]\n")


if __name__ == "__main__":
    unittest.main()
