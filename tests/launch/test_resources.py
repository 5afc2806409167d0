# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shortages: disk space, closed output, descriptors, memory. One message with the true cause, or none."""
import os
import re
import resource
import subprocess
import tempfile
import time
import unittest

from harness import MPIEXEC, SECONDS, Case, Result, environment, helper

OUTPUT_LOST = 74
MANY = "yes 0123456789 | head -n 100000"


def limited(kind, value):
    """Sets a limit, soft and hard, in the process that starts mpiexec."""
    return lambda: resource.setrlimit(kind, (value, value))


def run_with(*args, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=None):
    start = time.monotonic()
    p = subprocess.run([MPIEXEC, *map(str, args)], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, timeout=SECONDS,
                       env=environment(env), preexec_fn=preexec_fn)
    return Result(p.returncode, (p.stdout or b"").decode(), (p.stderr or b"").decode(), time.monotonic() - start)


class FullDisk(Case):
    def lost(self, result, why):
        self.assertEqual(result.code, OUTPUT_LOST, result)
        self.four_parts(result.err)
        self.assertIn("the output of the job could not be written", result.err)
        self.assertIn("why:   " + why + "\n", result.err)

    def test_stdout(self):
        with open("/dev/full", "wb") as full:
            for script in ("echo one", MANY, MANY + "; sleep 60"):
                r = run_with("-n", 2, "sh", "-c", script, stdout=full)
                self.lost(r, "No space left on device")
                self.assertLess(r.seconds, 10)

    def on_small_disk(self, command):
        """Runs a shell command in a folder with room for 64 KiB; %s is mpiexec."""
        with tempfile.TemporaryDirectory(prefix="launch-test-") as folder:
            script = f"mount -t tmpfs -o size=64k none {folder} || exit 77; cd {folder}; " + command % MPIEXEC
            p = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, timeout=SECONDS, env=environment())
        if p.returncode in (1, 77) and b"mpiexec" not in p.stderr:
            self.skipTest("a private file system is not possible here")
        return Result(p.returncode, p.stdout.decode(), p.stderr.decode(), 0)

    def test_file_system_that_fills_up(self):
        r = self.on_small_disk(f"%s -n 2 sh -c '{MANY}' > out; status=$?; wc -c < out; exit $status")
        self.lost(r, "No space left on device")
        self.assertEqual(r.out, "65536\n")

    def test_limit_of_file_size(self):
        limit = 64 << 20  # the limit also applies to shared-memory files
        with tempfile.NamedTemporaryFile() as file:
            os.truncate(file.name, limit - 8192)
            with open(file.name, "ab") as end:
                r = run_with("-n", 2, "sh", "-c", MANY, stdout=end, preexec_fn=limited(resource.RLIMIT_FSIZE, limit))
            self.lost(r, "File too large")
            self.assertEqual(os.stat(file.name).st_size, limit)

    def test_stderr_is_reported_by_status_only(self):
        with open("/dev/full", "wb") as full:
            r = run_with("-n", 2, "sh", "-c", "echo lost >&2; sleep 0.2; echo kept", stderr=full)
        self.assertEqual((r.code, r.out), (OUTPUT_LOST, "kept\nkept\n"))

    def test_failed_rank_takes_precedence(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(run_with("-n", 1, "sh", "-c", "echo lost >&2; exit 3", stderr=full).code, 3)

    def test_output_of_mpiexec(self):
        with open("/dev/full", "wb") as full:
            r = run_with("--help", stdout=full)
        self.assertEqual(r.code, 1)
        self.four_parts(r.err)
        self.assertIn("No space left on device", r.err)

    def test_files_of_ranks_lose_nothing(self):
        r = self.on_small_disk("rest=$(%s -n 1 -outfile-pattern %%r sh -c 'seq 20000') && cat 0 && echo \"$rest\"")
        self.assertEqual((r.code, r.out), (0, "".join(f"{i}\n" for i in range(1, 20001))), r)
        self.four_parts(r.err)
        self.assertIn("0: No space left on device", r.err)


class ClosedOutput(Case):
    def test_closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            r = run_with("-n", 2, "sh", "-c", MANY + "; sleep 60", stdout=pipe)
        self.assertEqual((r.code, r.err), (141, ""), r)

    def test_no_descriptor(self):
        p = subprocess.run(["sh", "-c", f"{MPIEXEC} -n 2 echo text >&-"], capture_output=True, timeout=SECONDS, env=environment())
        self.assertEqual((p.returncode, p.stderr), (0, b""))


class Descriptors(Case):
    RANKS = 40

    def start(self, soft, hard, script="true"):
        return run_with("-n", self.RANKS, "sh", "-c", script,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))

    def test_message_names_a_sufficient_limit(self):
        r = self.start(64, 64)
        self.assertEqual((r.code, r.out), (1, ""), r)
        self.four_parts(r.err)
        needed = re.search(r"needs (\d+) descriptors for 40 ranks on this host, and the limit .* is 64\n", r.err)
        self.assertIsNotNone(needed, r)
        self.quiet(self.start(int(needed[1]), int(needed[1])))
        self.assertEqual(self.start(int(needed[1]) - 1, int(needed[1]) - 1).code, 1)

    def test_pipes_in_a_second_table(self):
        """A socket and two pipes per rank need more than this limit."""
        r = self.start(128, 128, "seq 3000; echo $PMI_RANK >&2")
        self.assertEqual(r.code, 0, r)
        self.assertEqual(sorted(r.err.split(), key=int), [str(rank) for rank in range(self.RANKS)])
        self.assertEqual(sorted(r.out.split(), key=int), [str(n) for n in range(1, 3001) for _ in range(self.RANKS)])
        failed = self.start(128, 128, "echo before; test $PMI_RANK != 7 || exit 3; sleep 60")
        self.assertEqual(failed.code, 3, failed)
        self.four_parts(failed.err)

    def test_soft_limit_is_raised_for_mpiexec_only(self):
        r = self.start(64, 4096, "ulimit -Sn; ulimit -Hn")
        self.quiet(r)
        self.assertEqual(r.out.split().count("64"), self.RANKS)
        self.assertEqual(r.out.split().count("4096"), self.RANKS)


    def test_inherited_descriptors(self):
        """Ranks inherit what mpiexec inherited, and nothing of its own."""
        read, write = os.pipe()
        high = 300
        os.dup2(write, high)
        script = "echo rank > /proc/self/fd/300; ls /proc/self/fd | grep -vc '^300$'"
        p = subprocess.run([MPIEXEC, "-n", "40", "sh", "-c", script], capture_output=True, timeout=SECONDS, env=environment(),
                           pass_fds=[high])
        os.close(write)
        os.close(high)
        with os.fdopen(read) as pipe:
            self.assertEqual((p.returncode, p.stderr, pipe.read()), (0, b"", "rank\n" * 40))
        # standard streams, PMI, node segment, the folder that ls reads
        self.assertEqual(p.stdout.decode().split(), ["6"] * 40)


class Memory(Case):
    def test_allocation_failures_in_init(self):
        refused = 0
        for number in range(1, 200):
            r = run_with("-n", 1, helper("failing_malloc"), number, 256)
            if r.out == "none was refused\n":
                break
            if r.code == 0:  # the allocation is optional
                self.assertEqual((r.out, r.err), ("one was refused\n", ""), r)
                continue
            refused += 1
            self.assertEqual(r.code, 1, r)
            self.four_parts(r.err, "zipmpi")
            self.assertTrue(r.err.startswith("zipmpi: MPI cannot start: out of memory\n"), r)
        self.quiet(r)
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
