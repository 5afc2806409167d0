# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts large_job with many ranks or on many hosts, and reads its figures. Used by test_scale.py and ci/scale.py."""
import os
import resource
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../multinode"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402,F401 (re-exported)

OPTIONS = ("--merge-stderr-to-stdout",)  # saves a descriptor per rank
DESCRIPTORS_PER_RANK = 2  # of the daemon: a pipe and a socket
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


def run_ranks(mpiexec, program, ranks, barriers=10, seconds=120):
    """One host. Adds the memory that the machine lacks while the job runs, per rank."""
    before = available_kib()
    begin = time.monotonic()
    found = checked(subprocess.run([mpiexec, *OPTIONS, "-n", str(ranks), program, str(barriers)], capture_output=True, text=True,
                                   stdin=subprocess.DEVNULL, timeout=seconds), begin)
    return found | {"machine_kib": (before - found["available_kib"]) / ranks}


def run_hosts(mpiexec, program, cluster, hosts, ranks_per_host, barriers=10, seconds=120):
    """Namespaces as hosts."""
    names = ",".join(f"n{i + 1}:{ranks_per_host}" for i in range(hosts))
    begin = time.monotonic()
    return checked(cluster.run("n1", [mpiexec, "--launch-agent", cluster.agent, "-n", hosts * ranks_per_host, "--host", names,
                                      program, barriers], capture_output=True, text=True, timeout=seconds,
                               env={"ZIPMPI_NET_ENGINE": "tcp"}), begin)


def processes_of(program):
    """Number of processes that run a program."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            count += os.readlink(f"/proc/{pid}/exe") == program
        except OSError:
            pass
    return count


def kill_launcher(mpiexec, program, ranks, seconds=120):
    """Kills mpiexec (SIGKILL) while all ranks run. Returns the seconds until no process of the job is left."""
    program = os.path.realpath(program)
    job = subprocess.Popen([mpiexec, *OPTIONS, "-n", str(ranks), program, "1", str(seconds)], stdout=subprocess.PIPE, text=True,
                           stdin=subprocess.DEVNULL)
    try:
        line = job.stdout.readline()
        if figures(line).get("ranks") != ranks:
            raise RuntimeError(f"the job did not start: {line}")
    finally:
        job.send_signal(signal.SIGKILL)
    begin = time.monotonic()
    job.wait()
    job.stdout.close()
    while processes_of(program) > 0:
        if time.monotonic() - begin > seconds:
            raise RuntimeError(f"{processes_of(program)} processes are left")
        time.sleep(0.05)
    return time.monotonic() - begin
