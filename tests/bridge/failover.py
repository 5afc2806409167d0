#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""failover.py TIMES MESSAGES BUILD [kill|stop|cut|reset]: see ci/bridge_failover.sh."""
import os
import signal
import subprocess
import sys
import time

from grids import ZIPPERS, Grid

AWAY = 1.6  # seconds that a gateway is stopped or cut off: longer than it takes to be noticed


def kill(grid, host, gateway):
    os.kill(gateway, signal.SIGKILL)


def stop(grid, host, gateway, away=AWAY):
    os.kill(gateway, signal.SIGSTOP)
    time.sleep(away)
    os.kill(gateway, signal.SIGCONT)


def cut(grid, host, gateway):
    for network in ("a", "b"):  # the launcher still reaches it
        grid.link(host, "down", network)
    time.sleep(AWAY)
    for network in ("a", "b"):
        grid.link(host, "up", network)


def reset(grid, host, gateway, rounds=5):
    """Every connection of the gateway, several times; those of the launcher stay. A second round meets UCX while it connects
    again, which UCX 1.13 does not always survive."""
    for _ in range(rounds):
        p = grid.run(host, ["ss", "-tnHp", "state", "established"], capture_output=True, text=True)
        for words in (line.split() for line in p.stdout.splitlines() if "zipmpi-gateway" in line):
            grid.run(host, ["ss", "-K", "-tnH", "src", words[2], "dst", words[3]], stdout=subprocess.DEVNULL)
        time.sleep(0.02)


# What is done to a gateway, and seconds before the next: one needs 0.2 s to be started again, and a lane that was closed is greeted
# every 0.5 s.
WAYS = {"kill": (kill, 0.5), "stop": (stop, 1.2), "cut": (cut, 1.2), "reset": (reset, 1.0)}


def main():
    times, messages, build = int(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3])
    harm, pause = WAYS[sys.argv[4] if len(sys.argv) > 4 else "kill"]
    lasts = pause + (AWAY if harm in (stop, cut) else 0)
    with Grid("z1x2") as grid:
        job = grid.start("front", [f"{build}/bin/mpiexec", "--launch-agent", grid.agent, "--grid", grid.file, "-n", "4",
                                   f"{build}/tests/bridge/numbered", str(messages // 4), "300000", str(times * lasts + 2)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done = 0
        while done < times and job.poll() is None:
            time.sleep(pause)
            host = ZIPPERS[done % 2]
            gateways = grid.named(host, "zipmpi-gateway")
            if not gateways:
                continue
            harm(grid, host, gateways[0])
            done += 1
        out, err = job.communicate(timeout=3600)
    gaps = sorted((float(g) for g in out.split("gaps")[1].split()), reverse=True) if "gaps" in out else []
    print(f"{harm.__name__} {done} times, status {job.returncode} {out.split('gaps')[0].strip()}")
    if gaps:
        print("longest gaps, ms:", " ".join(map(str, gaps[:12])), "; of", done, "the 99th percentile:",
              gaps[min(len(gaps) - 1, done // 100)])
    if job.returncode != 0:
        print(err, file=sys.stderr)
    sys.exit(job.returncode != 0 or done < times)


if __name__ == "__main__":
    main()
