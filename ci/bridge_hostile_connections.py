#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Unauthenticated peers at the sockets of a gateway while a job runs over it: none may be accepted, nothing may crash, and the
job keeps its rate.

  ci/bridge_hostile_connections.py [ATTEMPTS [PER_SECOND [BUILD]]]     default 100000, 250, build/release; root

Attempts come from a host in the network between the gateways, to the socket of the link, and from a host of a cluster, to all
sockets of the gateway there: no data, random bytes, a handshake with a wrong authentication code, a truncated one, a repeated one.
"""
import os
import re
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
ATTEMPTS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
PER_SECOND = int(sys.argv[2]) if len(sys.argv) > 2 else 250
BUILD = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "build/release"))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/multinode/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/bridge"))

from multi_cluster import MultiCluster  # noqa: E402

TARGET = 0.95
SETTLED = 1.5  # sockets for the device probe are closed by then
SECONDS = ATTEMPTS / PER_SECOND + SETTLED + 2
ATTACK = r"""
import random, socket, struct, sys, time
address, ports, attempts, per_second = sys.argv[1], list(map(int, sys.argv[2].split(","))), int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(1)
magic = b"zipmpih2"
most, refused, held, last = 0, 0, [], b""


def answer(s):
    got = 0
    s.setblocking(False)
    try:
        while part := s.recv(4096):
            got += len(part)
    except OSError:
        pass
    s.close()
    return got


begin = time.monotonic()
for i in range(attempts):
    wait = begin + i / per_second - time.monotonic()
    if wait > 0:
        time.sleep(wait)
    try:
        s = socket.create_connection((address, ports[i % len(ports)]), 5)
    except OSError:
        refused += 1
        continue
    kind = i % 6
    claim = magic + struct.pack("<II", 1, 0x80000001) + rng.randbytes(96)
    words = (b"", rng.randbytes(rng.choice((1, 72, 111, 112, 500, 4000))), claim, claim[:rng.randrange(112)], last or claim,
             magic + b"\xff" * 300)[kind]
    last = claim
    try:
        s.sendall(words)
    except OSError:
        pass
    held.append(s)  # its reply is read later
    if len(held) > 40:
        most = max(most, answer(held.pop(0)))
for s in held:
    most = max(most, answer(s))
print(most, refused)
"""


def ports(clusters, host, name, address):
    """Sockets of a program on this host that listen on the address."""
    pids = subprocess.run(["nsenter", "-t", str(clusters[host].pid), "-n", "ss", "-Htlnp"], capture_output=True, text=True, check=True)
    found = [re.split(r"\s+", line)[3].rsplit(":", 1) for line in pids.stdout.splitlines() if name in line]
    return [port for at, port in found if at.strip("[]") in (address, "*", "0.0.0.0")]


def traffic(clusters, attack):
    """Messages per second of a job, optionally under attack; and the replies that the attackers received."""
    while clusters.named("g1", "zipmpi-gateway"):  # of the previous job
        time.sleep(0.05)
    job = clusters.start("front", [os.path.join(BUILD, "bin/mpiexec"), "--clusters", clusters.file, "-n", "4", "sh", "-c",
                               f"test $PMI_RANK = 0 && echo started; exec {BUILD}/tests/bridge/sequenced 1 65536 {SECONDS}"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job.stdout.readline()
    attackers = []
    if attack:
        time.sleep(SETTLED)
        for network, source in (("middle", "front"), ("a", "a1")):
            address = dict(clusters["g1"].places)[network]
            if open_ports := ports(clusters, "g1", "zipmpi-gateway", address):
                # Attackers would run on other machines: here they get only idle CPU time.
                words = ["nice", "-n", "19", "python3", "-c", ATTACK, address, ",".join(open_ports), str(ATTEMPTS // 2), str(PER_SECOND // 2)]
                attackers.append(clusters.start(source, words, stdout=subprocess.PIPE, text=True))
                print(f"{network}: {len(open_ports)} sockets at {address}")
    out, err = job.communicate(timeout=SECONDS + 120)
    if job.returncode != 0 or err:
        sys.exit(f"the job failed with status {job.returncode}: {err}")
    messages, seconds = map(float, re.search(r"messages (\S+) seconds (\S+)", out).groups())
    return messages / seconds, [a.communicate(timeout=SECONDS + 120)[0].strip() for a in attackers]


def main():
    with MultiCluster("z2") as clusters:
        before, _ = traffic(clusters, False)
        under, seen = traffic(clusters, True)
        after, _ = traffic(clusters, False)
    answers = [tuple(map(int, s.split())) for s in seen]
    refused = sum(r for _, r in answers)
    ratio = under / ((before + after) / 2)
    print(f"{ATTEMPTS} attempts: longest reply {max(a for a, _ in answers)} bytes, {refused} not connected")
    print(f"messages per second: {before:.0f} before, {under:.0f} under attack, {after:.0f} after; ratio {ratio:.2f}, target {TARGET}")
    if refused > ATTEMPTS // 100:
        sys.exit("inconclusive: attempts did not reach a gateway")
    return 0 if max(a for a, _ in answers) <= 72 and ratio >= TARGET else 1  # a nonce and a public key


if __name__ == "__main__":
    sys.exit(main())
