# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Concurrent jobs on this host: other load must not affect the result, so launch.avoid_busy_cpus is off. A job beside other
work: with the default."""
import ctypes
import itertools
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from harness import Case, MPIEXEC, children, environment, expand, marked, mark, run, wait_until

QUIET = {"ZIPMPI_LAUNCH_AVOID_BUSY_CPUS": "no"}
MASK = "grep Cpus_allowed_list /proc/self/status | cut -f2"
CPUS = sorted(os.sched_getaffinity(0))
TOGETHER_SECONDS = 0.1
SOON_SECONDS = 30  # other load may delay everything


def setUpModule():
    """A /dev/shm of our own, and with it a registry in which jobs of other tests claim no cores. Needs root."""
    clone_newns, private, recursive = 1 << 17, 1 << 18, 1 << 14
    libc = ctypes.CDLL(None)
    if libc.unshare(clone_newns) == 0 and libc.mount(b"none", b"/", None, ctypes.c_ulong(private | recursive), None) == 0:
        libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", ctypes.c_ulong(0), None)


class Job:
    """A job whose ranks print their CPU mask on request, until they are told to exit."""
    def __init__(self, ranks, *options):
        self.mark = mark()
        self.ranks = ranks
        self.process = subprocess.Popen([MPIEXEC, "-n", str(ranks), *options, "--env", self.mark, "sleep", "60"],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(QUIET))

    def masks(self):
        """CPUs of each rank whose program runs. From the tree of processes, in less than a millisecond."""
        found = []
        left = children(self.process.pid)
        while left:
            pid = left.pop()
            try:
                with open(f"/proc/{pid}/comm") as f:
                    if f.read() == "sleep\n":
                        found.append(frozenset(os.sched_getaffinity(pid)))
                    else:
                        left += children(pid)
            except OSError:
                pass
        return found

    def started(self):
        return len(self.masks()) == self.ranks

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=SOON_SECONDS)
        self.process.stderr.close()


@unittest.skipIf(len(CPUS) < 2, "one CPU")
class ConcurrentJobs(Case):
    def start(self, ranks, *options):
        job = Job(ranks, *options)
        self.addCleanup(job.end)
        return job

    def soon(self, condition, what):
        self.assertTrue(wait_until(condition, SOON_SECONDS), what)

    def test_one_rank_has_all_cores(self):
        r = run("-n", 1, "sh", "-c", MASK, env=QUIET)
        self.quiet(r)
        self.assertEqual(expand(r.out.strip()), set(CPUS))

    def test_as_many_ranks_as_cores_have_one_each(self):
        r = run("-n", len(CPUS), "--bind-to", "core", "sh", "-c", MASK, env=QUIET)
        self.quiet(r)
        cores = {frozenset(expand(mask)) for mask in r.out.split()}  # a core may have several hardware threads
        self.assertEqual(sorted(cpu for core in cores for cpu in core), CPUS)

    def test_two_jobs_of_one_rank(self):
        first = self.start(1)
        self.soon(lambda: first.masks() == [frozenset(CPUS)], "one rank has all")
        second = self.start(1)
        self.soon(second.started, "it runs")
        self.soon(lambda: not set(first.masks()[0]) & set(second.masks()[0]), "they have separate cores")
        second.end()
        self.soon(lambda: first.masks() == [frozenset(CPUS)], "the cores are returned")

    def test_all_taken(self):
        first = self.start(len(CPUS), "--bind-to", "core")
        self.soon(first.started, "it runs")
        r = run("-n", 1, "--report-bindings", "sh", "-c", MASK, env=QUIET)
        self.assertEqual(expand(r.out.strip()), set(CPUS))
        self.assertIn("not bound: 0 of", r.err)
        self.assertIn("belong to other jobs", r.err)

    def test_killed_job_releases_its_claim(self):
        for victim in ("mpiexec", "daemon"):
            first = self.start(len(CPUS), "--bind-to", "core")
            self.soon(first.started, "it runs")
            pid = first.process.pid
            os.kill(pid if victim == "mpiexec" else children(pid)[0], signal.SIGKILL)
            self.soon(lambda: not marked(first.mark), "its ranks have ended")
            self.soon(self.nothing_is_claimed, "its cores are free")
            self.soon(lambda: not os.path.exists(f"/dev/shm/zipmpi-cpus-{os.geteuid()}"), "no file is left")

    @staticmethod
    def nothing_is_claimed():
        """A job of one rank is bound to all cores; if other jobs hold all cores it is unbound, with an equal mask."""
        err = run("-n", 1, "--report-bindings", "true", env=QUIET).err
        return "its share of" in err and "belong to other jobs" not in err

    def start_at_once(self, jobs, ranks):
        """Jobs that are started within 100 ms of each other; a slow machine may need several attempts."""
        for _ in range(10):
            begin = time.monotonic()
            started = [self.start(ranks) for _ in range(jobs)]
            if time.monotonic() - begin <= TOGETHER_SECONDS:
                return started
            for job in started:
                job.end()
            self.soon(self.nothing_is_claimed, "the cores of the late jobs are free")
        return self.fail(f"this machine cannot start {jobs} programs within {TOGETHER_SECONDS} s")

    def check_cores(self, jobs):
        """No two jobs are bound to one core while another one is free. A core that its owner has lent is in two masks until
        the owner has noticed (decision 0042), and none is free then; with as many ranks as cores none is lent."""
        def sample():
            return [job.masks() for job in jobs]
        masks, again = sample(), sample()
        for _ in range(50):  # not while a rank is moved
            if masks == again:
                break
            masks, again = again, sample()
        bound = [set().union(*(m for m in of_job if m != frozenset(CPUS))) for of_job in masks]
        free = set(CPUS).difference(*bound)
        for one, other in itertools.combinations(bound, 2):
            if free or jobs[0].ranks >= len(CPUS):
                self.assertFalse(one & other, masks)

    def test_four_jobs_of_two_ranks_at_once(self):
        jobs = self.start_at_once(4, 2)

        def soon(condition, what):
            end = time.monotonic() + SOON_SECONDS
            while not condition() and time.monotonic() < end:
                self.check_cores(jobs)  # without a pause: as many samples as possible
            self.assertTrue(condition(), what)

        def each_core_has_one_owner():
            taken = [m for job in jobs for m in job.masks() if m != frozenset(CPUS)]
            return all(sum(cpu in m for m in taken) == 1 for cpu in CPUS)
        soon(lambda: all(job.started() for job in jobs), "they run")
        soon(each_core_has_one_owner, "borrowed cores are returned")
        for _ in range(100):
            self.check_cores(jobs)
        if len(CPUS) == 2:
            self.assertEqual(sorted(len(set(job.masks())) for job in jobs), [1, 1, 1, 2])

    def test_ranks_know_of_other_jobs_on_their_cpus(self):
        program = os.environ.get("TEST_YIELDING")
        if not program:
            self.skipTest("sanitizers yield, too")
        env = environment(QUIET | {"ZIPMPI_LAUNCH_COUNT_OTHER_JOBS": "yes"})

        def command(cpu, *words):
            return ["taskset", "-c", str(cpu), MPIEXEC, "-n", "1", *words]

        def check(part):
            r = subprocess.run(command(CPUS[0], program, part), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "yielding: ok\n", ""), part)

        def start(cpu, *words):
            job = subprocess.Popen(command(cpu, *words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=env)
            self.addCleanup(job.wait, 20)
            self.addCleanup(job.terminate)
            return job

        start(CPUS[1], "sleep", "60")
        check("own_cpu")
        told = start(CPUS[0], program, "shared_cpu")
        other = start(CPUS[0], "sleep", "60")
        self.assertEqual(told.wait(20), 0, "a rank is told of a job that starts later")
        check("shared_cpu")
        other.terminate()
        other.wait(20)
        check("own_cpu")

    def test_report(self):
        r = run("-n", 1, "--report-bindings", "true", env=QUIET)
        self.assertRegex(r.err, r"^mpiexec: rank 0 on host \S+: CPUs [0-9,-]+: its share of \d+ cores?\n$")
        r = run("-n", 2, "--bind-to", "none", "--report-bindings", "true", env=QUIET)
        self.assertRegex(r.err, r"^(mpiexec: rank [01] on host \S+: not bound: as requested\n){2}$")
        r = run("-n", len(CPUS) + 1, "--report-bindings", "true", env=QUIET)
        self.assertEqual(r.err.count("not bound: "), len(CPUS) + 1, r)


@unittest.skipIf(len(CPUS) < 2, "one CPU")
class OtherWork(Case):
    SECONDS = 15  # to find a moment in which another CPU is free

    def spin_on(self, cpu):
        """A process that keeps one CPU busy and has begun to."""
        program = f"import os; os.sched_setaffinity(0, [{cpu}]); print(flush=True)\nwhile True: pass"
        spinner = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(spinner.stdout.close)
        self.addCleanup(spinner.wait, SOON_SECONDS)
        self.addCleanup(spinner.kill)
        spinner.stdout.readline()
        return spinner

    def job_beside(self, cpu):
        """"avoided": the rank had another CPU. "named": no other was free, because more work than the test's runs here. "missed":
        the CPU did not count as busy, as when the host of a virtual machine suspends it during the sample."""
        r = run("-n", 1, "--report-bindings", "sh", "-c", MASK)
        self.assertEqual(r.code, 0, r)
        busy = re.search(r"; CPUs ([0-9,-]+) are busy with other work\n$", r.err)
        if not busy or cpu not in expand(busy[1]):
            return "missed"
        bound = re.match(r"mpiexec: rank 0 on host \S+: CPUs ([0-9,-]+): its share of", r.err)
        if not bound:
            self.assertRegex(r.err, r": not bound: 0 of \d+ cores are free; ", r)
            self.assertEqual(expand(r.out.strip()), set(CPUS), r)
            return "named"
        self.assertNotIn(cpu, expand(bound[1]), r)
        self.assertEqual(expand(r.out.strip()), expand(bound[1]), r)
        return "avoided"

    def test_a_busy_cpu_is_avoided_and_named(self):
        for cpu in (CPUS[0], CPUS[-1]):
            with self.subTest(cpu=cpu):
                spinner = self.spin_on(cpu)
                end = time.monotonic() + self.SECONDS
                found = [self.job_beside(cpu)]
                while found[-1] != "avoided" and time.monotonic() < end:
                    found.append(self.job_beside(cpu))
                spinner.kill()
                spinner.wait(SOON_SECONDS)
                self.assertLess(found[:-1].count("missed"), max(len(found) / 10, 2), found)
                if found[-1] != "avoided":
                    self.assertIn("named", found)
                    self.skipTest("other work keeps all CPUs busy")


if __name__ == "__main__":
    unittest.main(verbosity=2)
