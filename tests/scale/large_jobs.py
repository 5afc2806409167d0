# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts large_job with many ranks or on many hosts and reads its figures; kills ranks and mpiexec. Used by test_scale.py and
ci/scale.py."""
import os
import resource
import signal
import subprocess
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../multinode"), os.path.join(HERE, "..")]
from cluster import SKIP, CannotRun, Cluster  # noqa: E402,F401 (re-exported)
from processes import state, wait_until  # noqa: E402

OPTIONS = ("--merge-stderr-to-stdout",)  # saves a descriptor per rank
DESCRIPTORS_PER_RANK = 1  # of each of the daemon's two tables: a pipe or a socket
OTHER_DESCRIPTORS = 100


def most_ranks(wanted):
    """As many ranks of one host as the limit of open files permits."""
    return min(wanted, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - OTHER_DESCRIPTORS) // DESCRIPTORS_PER_RANK)


def available_kib():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("MemAvailable:"))


def figures(line):
    words = line.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def checked(process, begin):
    """The figures of a job that has ended, with its duration."""
    if process.returncode != 0 or process.stderr:
        raise RuntimeError(f"status {process.returncode}\n{process.stdout[-2000:]}{process.stderr[-4000:]}")
    return figures(process.stdout) | {"seconds": time.monotonic() - begin}


def run_ranks(mpiexec, program, ranks, calls=10, windows=0, seconds=120):
    """One host. Adds the memory that the machine lacks while the job runs, per rank."""
    before = available_kib()
    begin = time.monotonic()
    found = checked(subprocess.run([mpiexec, *OPTIONS, "-n", str(ranks), program, str(calls), "0", str(windows)], capture_output=True, text=True,
                                   stdin=subprocess.DEVNULL, timeout=seconds), begin)
    return found | {"machine_kib": (before - found["available_kib"]) / ranks}


def run_hosts(mpiexec, program, cluster, hosts, ranks_per_host, calls=10, seconds=120):
    """Namespaces as hosts."""
    names = ",".join(f"n{i + 1}:{ranks_per_host}" for i in range(hosts))
    begin = time.monotonic()
    return checked(cluster.run("n1", [mpiexec, "--launch-agent", cluster.agent, "-n", hosts * ranks_per_host, "--host", names,
                                      program, calls], capture_output=True, text=True, timeout=seconds,
                               env={"ZIPMPI_NET_ENGINE": "tcp"}), begin)


SHARE = 10  # every tenth rank is killed
JOB_MARK = "SCALE_TEST_MARK"
PLACES = ("/dev/shm", "/tmp", "/run")


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read().split(b"\0")
    except OSError:
        return []


def marked(mark):
    """Processes of the job whose mpiexec has this mark, and their environments: ranks, daemon and mpiexec."""
    found = {int(pid): environment_of(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    return {pid: env for pid, env in found.items() if f"{JOB_MARK}={mark}".encode() in env}


def files():
    """Files of jobs, except the claims of CPUs, which all jobs of a user share."""
    return {os.path.join(place, name) for place in PLACES for name in os.listdir(place)
            if name.startswith("zipmpi-") and not name.startswith("zipmpi-cpus-")}


class RunningJob:
    """A job whose rank 0 prints its size when all ranks run. With its processes and files, those of the daemon too."""

    def __init__(self, mpiexec, options, ranks, words):
        self.mark = uuid.uuid4().hex
        self.files = files()
        self.job = subprocess.Popen([mpiexec, *OPTIONS, *options, "-n", str(ranks), *map(str, words)], stdout=subprocess.PIPE, text=True,
                                    stdin=subprocess.DEVNULL, env=dict(os.environ, **{JOB_MARK: self.mark}))
        line = self.job.stdout.readline()
        if figures(line).get("ranks") != ranks:
            self.job.kill()
            raise RuntimeError(f"the job did not start: {line}")

    def ranks(self):
        """Process ids by rank."""
        found = {}
        for pid, env in marked(self.mark).items():
            found |= {int(word[9:]): pid for word in env if word.startswith(b"PMI_RANK=")}
        return found

    def kill(self, ranks):
        """Kills ranks at once: mpiexec and the daemon, which would end the others after the first, are stopped meanwhile."""
        by_rank = self.ranks()
        launcher = sorted(set(marked(self.mark)) - set(by_rank.values()))
        for pid in launcher:
            os.kill(pid, signal.SIGSTOP)
        if not wait_until(lambda: all(state(pid) == "T" for pid in launcher), 10):
            raise RuntimeError(f"not stopped: {[(pid, state(pid)) for pid in launcher]}")
        for rank in ranks:
            os.kill(by_rank[rank], signal.SIGKILL)
        for pid in launcher:
            os.kill(pid, signal.SIGCONT)

    def left(self):
        return sorted(marked(self.mark)) + sorted(files() - self.files)

    def seconds_until_nothing_is_left(self, begin, seconds):
        while self.left():
            if time.monotonic() - begin > seconds:
                raise RuntimeError(f"left after {seconds} s: {self.left()[:20]}")
            time.sleep(0.05)
        return time.monotonic() - begin


def kill_launcher(mpiexec, program, ranks, seconds=120):
    """Kills mpiexec (SIGKILL) while all ranks run. Returns the seconds until nothing of the job is left."""
    running = RunningJob(mpiexec, (), ranks, [program, 1, seconds])
    running.job.send_signal(signal.SIGKILL)
    begin = time.monotonic()
    running.job.wait()
    running.job.stdout.close()
    return running.seconds_until_nothing_is_left(begin, seconds)


def kill_ranks(mpiexec, program, ranks, keep_going, seconds=120):
    """Kills every tenth rank at once. Seconds until mpiexec has ended and until nothing is left; with keep_going also what the
    survivors measured, and the seconds until they had agreed."""
    running = RunningJob(mpiexec, ["--keep-going"] if keep_going else [], ranks, [program, SHARE, seconds])
    victims = range(SHARE - 1, ranks, SHARE)
    begin = time.monotonic()
    running.kill(victims)
    found = {"killed": len(victims)}
    if keep_going:
        found |= figures(running.job.stdout.readline()) | {"agreed": time.monotonic() - begin}
    running.job.communicate(timeout=seconds)
    found |= {"status": running.job.returncode, "ended": time.monotonic() - begin}
    return found | {"clean": running.seconds_until_nothing_is_left(begin, seconds)}
