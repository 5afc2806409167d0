#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random faults under load, on hosts that are namespaces: ci/fault_storm.py [FAULTS] [SEED] [BUILD_DIR]

Each job is tests/cluster/ledger on three hosts with two ranks each. While it runs one thing goes wrong: a rank, a
daemon or mpiexec is killed; a rank, a daemon or mpiexec is stopped for a while; a link is down for a while, or for
good; a connection is reset. Then must hold: no hang, no wrong or duplicated message, nothing left on any host, and the
job ends as promised: well if it should survive, with one message if not. Prints the seed; a run with the same seed has
the same faults. Root only; exits with 77 where there can be no hosts.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAULTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
BUILD = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "build/release"))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/cluster/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/cluster"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402

MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
LEDGER = os.path.join(BUILD, "tests/cluster/ledger")
HOSTS, SLOTS = 3, 2
RANKS = HOSTS * SLOTS
LIMIT = float(os.environ.get("STORM_LIMIT", "60"))  # seconds that a job may take before it counts as hung
dice = random.Random(SEED)


class Wrong(Exception):
    pass


class Job:
    """One job, from its start to its end."""

    def __init__(self, cluster, number, keep_going, seconds):
        self.cluster = cluster
        words = [MPIEXEC, "--launch-agent", cluster.agent, "-n", RANKS, "--launch-width", dice.choice((1, 2, 32)),
                 "--host", ",".join(f"n{i + 1}:{SLOTS}" for i in range(HOSTS))]
        words += ["--keep-going"] if keep_going else []
        words += [LEDGER, SEED + number, seconds] + (["keep-going"] if keep_going else [])
        self.process = cluster.start("n1", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out = [self.process.stdout.readline() for _ in range(RANKS)]
        if self.out != ["here\n"] * RANKS:
            raise Wrong(f"the job did not start: {self.out} {self.end()}")

    def named(self, host, name):
        return sorted(self.cluster.named(host, name))

    def pick(self, name):
        host = "n1" if name == "mpiexec" else f"n{dice.randint(1, HOSTS)}"
        pids = self.named(host, name)
        if not pids:
            raise Wrong(f"no {name} on {host}")
        return dice.choice(pids)

    def end(self):
        try:
            out, err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            state = self.hang_report()
            self.process.kill()
            raise Wrong("hung: " + state) from None
        return self.process.returncode, out, err

    def hang_report(self):
        for pid in self.named("n1", "mpiexec"):
            os.kill(pid, signal.SIGQUIT)
        time.sleep(2)
        for pid in self.named("n1", "mpiexec"):
            os.kill(pid, signal.SIGKILL)
        _, err = self.process.communicate(timeout=20)
        return err[-3000:]


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill(job, name):
    pid = job.pick(name)
    time.sleep(dice.uniform(0, 0.8))
    signal_to(pid, signal.SIGKILL)


def stop(job, name, seconds):
    pid = job.pick(name)
    time.sleep(dice.uniform(0, 0.5))
    signal_to(pid, signal.SIGSTOP)
    time.sleep(seconds)
    signal_to(pid, signal.SIGCONT)


def cut(job, seconds):
    host = f"n{dice.randint(1, HOSTS)}"
    time.sleep(dice.uniform(0, 0.5))
    job.cluster.link(host, "down")
    try:
        time.sleep(seconds)
    finally:
        job.cluster.link(host, "up")


def reset(job):
    host = job.cluster[f"n{dice.randint(1, HOSTS)}"]
    time.sleep(dice.uniform(0, 0.8))
    inside = ["nsenter", "-t", str(host.pid), "-n", "ss"]
    listed = subprocess.run([*inside, "-Htn", "state", "established"], capture_output=True, text=True, check=True).stdout
    pairs = [line.split()[2:4] for line in listed.splitlines() if "10.99.0." in line]
    if not pairs:
        return
    local, remote = dice.choice(sorted(pairs))
    subprocess.run([*inside, "-K", "src", local, "dst", remote], capture_output=True, check=False)


# name: (how often, with --keep-going, what happens, what the job may end with; None: anything but a hang)
KINDS = {
    "rank killed": (3, False, lambda j: kill(j, "ledger"), {137}),
    "rank killed, the others go on": (4, True, lambda j: kill(j, "ledger"), {0}),
    "two ranks killed, the others go on": (2, True, lambda j: (kill(j, "ledger"), kill(j, "ledger")), {0}),
    "daemon killed": (2, False, lambda j: kill(j, "zipmpi-noded"), {1}),
    "mpiexec killed": (2, False, lambda j: kill(j, "mpiexec"), {-9, 137}),
    "rank stopped": (3, False, lambda j: stop(j, "ledger", dice.uniform(0.05, 2)), {0}),
    "daemon stopped": (2, False, lambda j: stop(j, "zipmpi-noded", dice.uniform(0.05, 1.5)), {0}),
    "mpiexec stopped": (1, False, lambda j: stop(j, "mpiexec", dice.uniform(0.05, 1.5)), {0}),
    "link down for a moment": (2, False, lambda j: cut(j, dice.uniform(0.05, 1)), {0}),
    "connection reset": (3, False, reset, None),
    "connection reset, the others go on": (1, True, reset, None),
}


def files(cluster):
    """Temporary files of the hosts, which have their own folders for them."""
    found = {}
    for host in cluster.hosts[1:]:
        for folder in ("tmp", "dev/shm"):
            names = os.listdir(f"/proc/{host.pid}/root/{folder}")
            if names:
                found[host.name, folder] = names
    return found


def nothing_left(cluster):
    until = time.monotonic() + 8
    while cluster.left() and time.monotonic() < until:
        time.sleep(0.02)
    if cluster.left():
        raise Wrong(f"left: {cluster.left()}")
    if files(cluster):
        raise Wrong(f"left: {files(cluster)}")


def one_fault(cluster, number):
    kinds = list(KINDS)
    name = dice.choices(kinds, [KINDS[k][0] for k in kinds])[0]
    _, keep_going, act, allowed = KINDS[name]
    job = Job(cluster, number, keep_going, 1.2)
    act(job)
    code, out, err = job.end()
    if "WRONG" in out:
        raise Wrong(f"{name}: {out}")
    if allowed is not None and code not in allowed:
        raise Wrong(f"{name}: status {code} {err[-3000:]}")
    if code == 0 and not keep_going and (out.count("over") != RANKS or err):
        raise Wrong(f"{name}: {out.count('over')} ranks ended well {err[-3000:]}")
    nothing_left(cluster)
    # UCX 1.13 has some on connections that break: its rank is gone, and the job ends or goes on as after any other death.
    asserted = re.search(r"Assertion `.*?' failed", err)
    if asserted:
        return f"{name}: job {'went on without' if keep_going else 'ended with'} a rank that met: {asserted[0]}"
    return f"{name}: {'job went on' if code == 0 else 'job ended'}"


def storm():
    print(f"seed {SEED}, {FAULTS} faults", flush=True)
    counts = collections.Counter()
    wrong = 0
    begin = time.monotonic()
    number = 0
    while number < FAULTS:
        with Cluster(HOSTS) as cluster: # a fresh one now and then, and after trouble
            try:
                for _ in range(min(50, FAULTS - number)):
                    number += 1
                    counts[one_fault(cluster, number)] += 1
            except Wrong as why:
                wrong += 1
                print(f"fault {number}: {why}", flush=True)
        print(f"{number} faults, {wrong} wrong, {time.monotonic() - begin:.0f} s", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print(f"fault_storm: {FAULTS} faults, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(storm())
    except CannotRun as reason:
        print(reason)
        sys.exit(SKIP)
