# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that lack something: the job runs normally, or one message states why it cannot."""
import os
import resource
import socket
import subprocess
import unittest
import uuid

from faults import (MPIEXEC, NEW_MOUNTS, NEW_NET, NEW_UTS, Case, environment, helper, main, marked, mount_tmpfs,
                    namespaces_work, unshare, wait_until)

SECONDS = 40
MiB = 1 << 20


def small_dev_shm():
    unshare(NEW_MOUNTS)
    mount_tmpfs("/dev/shm", "size=1m,mode=1777")


def no_loopback():
    unshare(NEW_NET)  # a new network starts with lo down


def unknown_name():
    unshare(NEW_UTS)
    socket.sethostname("no.such.host.example")


def no_stdin():
    os.close(0)


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


class HostCase(Case):
    def job(self, *args, env=None, before=None):
        """A job in a child that `before` has restricted. Status, stdout, stderr; no process may be left."""
        name = uuid.uuid4().hex
        p = subprocess.Popen([MPIEXEC, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, preexec_fn=before,
                             env=environment({**(env or {}), "FAULTS_MARK": name}))
        try:
            out, err = p.communicate(timeout=SECONDS)
        finally:
            p.kill()
        self.assertTrue(wait_until(lambda: not marked("FAULTS_MARK=" + name), 10), marked("FAULTS_MARK=" + name))
        return p.returncode, out, err

    def runs(self, ranks=4, options=(), **kw):
        code, out, err = self.job("-n", ranks, *options, helper("exchange"), "small=2000", "large=2000000", **kw)
        self.assertEqual((code, out, err), (0, f"exchange: ok, {ranks} ranks\n", ""))

    def runs_or_says_why(self, ranks, before):
        code, out, err = self.job("-n", ranks, helper("exchange"), "small=2000", "large=2000000", before=before)
        if code == 0:
            self.assertEqual((out, err), (f"exchange: ok, {ranks} ranks\n", ""))
            return True
        self.assertNotIn(code, (-6, -7, -11, 134, 135, 139), err)
        lines = [line for line in err.splitlines() if not line.startswith("exchange: ")]  # output of the program
        self.assertIn(lines[0].split(":")[0] if lines else "", ("mpiexec", "zipmpi"), err)
        self.four_parts("\n".join(lines), lines[0].split(":")[0])
        self.assertEqual(len(lines), 4, err)
        return False


class BadHosts(HostCase):
    ways = {"dev_shm": small_dev_shm, "loopback": no_loopback, "name": unknown_name, "stdin": no_stdin}

    def setUp(self):
        if not namespaces_work():
            self.skipTest("needs root and namespaces")

    def test_one_thing_missing(self):
        for name, way in self.ways.items():
            for pmix in ("no", "yes"):
                with self.subTest(missing=name, pmix=pmix):
                    self.runs(options=("--pmix", pmix), before=way)

    def test_no_folder_for_files(self):
        for tmpdir in ("/nowhere", "/proc", "not/absolute", ""):
            for pmix in ("no", "yes"):
                with self.subTest(tmpdir=tmpdir, pmix=pmix):
                    self.runs(options=("--pmix", pmix), env={"TMPDIR": tmpdir})

    def test_all_at_once(self):
        def everything():
            for way in self.ways.values():
                way()
            for place in ("/tmp", "/run"):
                mount_tmpfs(place, "ro")
        for pmix in ("no", "yes"):
            with self.subTest(pmix=pmix):
                self.runs(options=("--pmix", pmix), env={"TMPDIR": "/nowhere"}, before=everything)


class Limits(HostCase):
    def test_file_size(self):
        for size in (0, 4096, 64 << 10, 8 * MiB):
            with self.subTest(size=size):
                self.runs_or_says_why(4, limit(resource.RLIMIT_FSIZE, size))

    def test_file_size_of_a_singleton(self):
        p = subprocess.run([helper("exchange"), "small=10"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=SECONDS, env=environment(), preexec_fn=limit(resource.RLIMIT_FSIZE, 4096))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.four_parts(p.stderr, "zipmpi")
        self.assertIn("ulimit -f", p.stderr)

    def test_open_files(self):
        self.assertTrue(self.runs_or_says_why(8, limit(resource.RLIMIT_NOFILE, 64)))
        for files in (4, 5, 6, 8, 10, 13, 20, 30, 40):
            with self.subTest(files=files):
                self.runs_or_says_why(8, limit(resource.RLIMIT_NOFILE, files))

    def test_address_space(self):
        ran = [self.space(size * MiB) for size in (8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 48, 64, 256, 1024)]
        self.assertTrue(ran[-1])

    def space(self, size):
        with self.subTest(size=size):
            try:
                return self.runs_or_says_why(4, limit(resource.RLIMIT_AS, size))
            except subprocess.SubprocessError:
                return False  # too little even for Python's child process


class MemoryGroup(HostCase):
    """The kernel kills processes of a job that has used up its memory."""
    base = "/sys/fs/cgroup/memory"

    def setUp(self):
        self.group = f"{self.base}/zipmpi-test-{uuid.uuid4().hex[:8]}"
        try:
            os.mkdir(self.group)
        except OSError:
            self.skipTest("needs root and a memory control group, version 1")
        self.addCleanup(self.remove_group)

    def limited(self, size):
        with open(f"{self.group}/memory.limit_in_bytes", "w") as f:
            f.write(str(size))
        procs = os.open(f"{self.group}/cgroup.procs", os.O_WRONLY)
        self.addCleanup(os.close, procs)
        return lambda: os.write(procs, b"0")

    def remove_group(self):  # busy until its last process has exited
        def gone():
            try:
                os.rmdir(self.group)
            except OSError:
                return not os.path.exists(self.group)
            return True
        self.assertTrue(wait_until(gone, 10))

    def test_out_of_memory(self):
        codes = []
        for size in (64, 24, 12, 6, 3):
            with self.subTest(mib=size):
                code, _, err = self.job("-n", 4, helper("exchange"), "small=100", f"large={16 * MiB}",
                                        before=self.limited(size * MiB))
                codes.append(code)
                self.assertNotIn(code, (135, -7), err)
                if code > 0:
                    self.four_parts(err, "mpiexec" if "mpiexec: " in err else "zipmpi")
        self.assertIn(137, codes)


if __name__ == "__main__":
    main()
