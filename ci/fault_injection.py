#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random faults under load, on hosts made of namespaces: ci/fault_injection.py [FAULTS] [SEED] [BUILD_DIR]

Each job is tests/multinode/message_audit on three hosts with two ranks each. One fault occurs while it runs: a rank, a
daemon or mpiexec is killed or stopped for a while; a link is down for a while or permanently; a connection is reset.
Requirements: no hang, no wrong or duplicated message, no leftovers on any host, and the job ends as specified: successfully
if it must survive, otherwise with one message. Prints the seed; runs with equal seeds have equal faults. Root only; exits
with 77 where hosts cannot be created.
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
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/multinode/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/multinode"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402

MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
MESSAGE_AUDIT = os.path.join(BUILD, "tests/multinode/message_audit")
HOSTS, SLOTS = 3, 2
RANKS = HOSTS * SLOTS
LIMIT = float(os.environ.get("FAULT_INJECTION_LIMIT", "60"))  # seconds after which a job counts as hung
rng = random.Random(SEED)


class CheckFailed(Exception):
    pass


class Job:
    """One job, from start to end."""

    def __init__(self, cluster, number, keep_going, seconds):
        self.cluster = cluster
        words = [MPIEXEC, "--launch-agent", cluster.agent, "-n", RANKS, "--launch-fanout", rng.choice((1, 2, 32)),
                 "--host", ",".join(f"n{i + 1}:{SLOTS}" for i in range(HOSTS))]
        words += ["--keep-going"] if keep_going else []
        words += [MESSAGE_AUDIT, SEED + number, seconds] + (["keep-going"] if keep_going else [])
        self.process = cluster.start("n1", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out = [self.process.stdout.readline() for _ in range(RANKS)]
        if self.out != ["here\n"] * RANKS:
            raise CheckFailed(f"the job did not start: {self.out} {self.end()}")

    def named(self, host, name):
        return sorted(self.cluster.named(host, name))

    def pick(self, name):
        host = "n1" if name == "mpiexec" else f"n{rng.randint(1, HOSTS)}"
        pids = self.named(host, name)
        if not pids:
            raise CheckFailed(f"no {name} on {host}")
        return rng.choice(pids)

    def end(self):
        try:
            out, err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            state = self.hang_report()
            self.process.kill()
            raise CheckFailed("hung: " + state) from None
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
    time.sleep(rng.uniform(0, 0.8))
    signal_to(pid, signal.SIGKILL)


def stop(job, name, seconds):
    pid = job.pick(name)
    time.sleep(rng.uniform(0, 0.5))
    signal_to(pid, signal.SIGSTOP)
    time.sleep(seconds)
    signal_to(pid, signal.SIGCONT)


def cut(job, seconds):
    host = f"n{rng.randint(1, HOSTS)}"
    time.sleep(rng.uniform(0, 0.5))
    job.cluster.link(host, "down")
    try:
        time.sleep(seconds)
    finally:
        job.cluster.link(host, "up")


def reset(job):
    host = job.cluster[f"n{rng.randint(1, HOSTS)}"]
    time.sleep(rng.uniform(0, 0.8))
    inside = ["nsenter", "-t", str(host.pid), "-n", "ss"]
    listed = subprocess.run([*inside, "-Htn", "state", "established"], capture_output=True, text=True, check=True).stdout
    pairs = [line.split()[2:4] for line in listed.splitlines() if "10.99.0." in line]
    if not pairs:
        return
    local, remote = rng.choice(sorted(pairs))
    subprocess.run([*inside, "-K", "src", local, "dst", remote], capture_output=True, check=False)


# name: (frequency, with --keep-going, fault, allowed exit statuses; None: anything but a hang)
KINDS = {
    "rank killed": (3, False, lambda j: kill(j, "message_audit"), {137}),
    "rank killed, the others continue": (4, True, lambda j: kill(j, "message_audit"), {0}),
    "two ranks killed, the others continue": (2, True, lambda j: (kill(j, "message_audit"), kill(j, "message_audit")), {0}),
    "daemon killed": (2, False, lambda j: kill(j, "zipmpi-noded"), {1}),
    "mpiexec killed": (2, False, lambda j: kill(j, "mpiexec"), {-9, 137}),
    "rank stopped": (3, False, lambda j: stop(j, "message_audit", rng.uniform(0.05, 2)), {0}),
    "daemon stopped": (2, False, lambda j: stop(j, "zipmpi-noded", rng.uniform(0.05, 1.5)), {0}),
    "mpiexec stopped": (1, False, lambda j: stop(j, "mpiexec", rng.uniform(0.05, 1.5)), {0}),
    "link down for a moment": (2, False, lambda j: cut(j, rng.uniform(0.05, 1)), {0}),
    "connection reset": (3, False, reset, None),
    "connection reset, the others continue": (1, True, reset, None),
}


def files(cluster):
    """Temporary files of the hosts, which have private folders for them."""
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
        raise CheckFailed(f"left: {cluster.left()}")
    if files(cluster):
        raise CheckFailed(f"left: {files(cluster)}")


def one_fault(cluster, number):
    kinds = list(KINDS)
    name = rng.choices(kinds, [KINDS[k][0] for k in kinds])[0]
    _, keep_going, act, allowed = KINDS[name]
    job = Job(cluster, number, keep_going, 1.2)
    act(job)
    code, out, err = job.end()
    if "WRONG" in out:
        raise CheckFailed(f"{name}: {out}")
    if allowed is not None and code not in allowed:
        raise CheckFailed(f"{name}: status {code} {err[-3000:]}")
    if code == 0 and not keep_going and (out.count("over") != RANKS or err):
        raise CheckFailed(f"{name}: {out.count('over')} ranks ended successfully {err[-3000:]}")
    nothing_left(cluster)
    # Assertions of UCX 1.13 on broken connections: its rank dies, and the job ends or continues as after any other failure.
    asserted = re.search(r"Assertion `.*?' failed", err)
    if asserted:
        return f"{name}: job {'continued without' if keep_going else 'ended with'} a rank that failed with: {asserted[0]}"
    return f"{name}: {'job continued' if code == 0 else 'job ended'}"


def inject_faults():
    print(f"seed {SEED}, {FAULTS} faults", flush=True)
    counts = collections.Counter()
    wrong = 0
    begin = time.monotonic()
    number = 0
    while number < FAULTS:
        with Cluster(HOSTS) as cluster: # a new one every few jobs, and after a failure
            try:
                for _ in range(min(50, FAULTS - number)):
                    number += 1
                    counts[one_fault(cluster, number)] += 1
            except CheckFailed as why:
                wrong += 1
                print(f"fault {number}: {why}", flush=True)
        print(f"{number} faults, {wrong} wrong, {time.monotonic() - begin:.0f} s", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print(f"fault_injection: {FAULTS} faults, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(inject_faults())
    except CannotRun as reason:
        print(reason)
        sys.exit(SKIP)
