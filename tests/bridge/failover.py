#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""failover.py TIMES MESSAGES BUILD [kill|stop|cut|reset]: see ci/bridge_failover.sh."""
import os
import signal
import subprocess
import sys
import time

from multi_cluster import MULTIHOMED, MultiCluster

ABSENT_SECONDS = 1.6  # a gateway is stopped or disconnected for this long: longer than its detection takes


def kill(clusters, host, gateway):
    os.kill(gateway, signal.SIGKILL)


def stop(clusters, host, gateway, away=ABSENT_SECONDS):
    os.kill(gateway, signal.SIGSTOP)
    time.sleep(away)
    os.kill(gateway, signal.SIGCONT)


def cut(clusters, host, gateway):
    for network in ("a", "b"):  # the launcher still reaches it
        clusters.link(host, "down", network)
    time.sleep(ABSENT_SECONDS)
    for network in ("a", "b"):
        clusters.link(host, "up", network)


def reset(clusters, host, gateway, rounds=5):
    """Resets every connection of the gateway except those of the launcher, several times. A second round hits UCX while it
    reconnects, which UCX 1.13 does not always survive."""
    for _ in range(rounds):
        p = clusters.run(host, ["ss", "-tnHp", "state", "established"], capture_output=True, text=True)
        for words in (line.split() for line in p.stdout.splitlines() if "zipmpi-gateway" in line):
            clusters.run(host, ["ss", "-K", "-tnH", "src", words[2], "dst", words[3]], stdout=subprocess.DEVNULL)
        time.sleep(0.02)


# Fault, and seconds before the next one: a gateway restarts within 0.2 s, and a closed path is reconnected every 0.5 s.
FAULTS = {"kill": (kill, 0.5), "stop": (stop, 1.2), "cut": (cut, 1.2), "reset": (reset, 1.0)}


def main():
    times, messages, build = int(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3])
    inject, pause = FAULTS[sys.argv[4] if len(sys.argv) > 4 else "kill"]
    lasts = pause + (ABSENT_SECONDS if inject in (stop, cut) else 0)
    with MultiCluster("z1x2") as clusters:
        job = clusters.start("front", [f"{build}/bin/mpiexec", "--launch-agent", clusters.agent, "--clusters", clusters.file, "-n", "4",
                                   f"{build}/tests/bridge/sequenced", str(messages // 4), "300000", str(times * lasts + 2)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done = 0
        while done < times and job.poll() is None:
            time.sleep(pause)
            host = MULTIHOMED[done % 2]
            gateways = clusters.named(host, "zipmpi-gateway")
            if not gateways:
                continue
            inject(clusters, host, gateways[0])
            done += 1
        out, err = job.communicate(timeout=3600)
    gaps = sorted((float(g) for g in out.split("gaps")[1].split()), reverse=True) if "gaps" in out else []
    print(f"{inject.__name__} {done} times, status {job.returncode} {out.split('gaps')[0].strip()}")
    if gaps:
        print("longest gaps, ms:", " ".join(map(str, gaps[:12])), "; of", done, "the 99th percentile:",
              gaps[min(len(gaps) - 1, done // 100)])
    if job.returncode != 0:
        print(err, file=sys.stderr)
    sys.exit(job.returncode != 0 or done < times)


if __name__ == "__main__":
    main()
