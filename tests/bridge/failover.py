#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""failover.py KILLS MESSAGES BUILD: see ci/bridge_failover.sh."""
import os
import signal
import subprocess
import sys
import time

from grids import ZIPPERS, Grid

PAUSE = 0.5  # between two kills; a gateway needs 0.2 s to be started again


def main():
    kills, messages, build = int(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3])
    with Grid("z1x2") as grid:
        job = grid.start("front", [f"{build}/bin/mpiexec", "--launch-agent", grid.agent, "--grid", grid.file, "-n", "4",
                                   f"{build}/tests/bridge/numbered", str(messages // 4), "300000", str(kills * PAUSE + 2)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done = 0
        while done < kills and job.poll() is None:
            time.sleep(PAUSE)
            gateways = grid.named(ZIPPERS[done % 2], "zipmpi-gateway")
            if not gateways:
                continue
            os.kill(gateways[0], signal.SIGKILL)
            done += 1
        out, err = job.communicate(timeout=3600)
    gaps = sorted((float(g) for g in out.split("gaps")[1].split()), reverse=True) if "gaps" in out else []
    print(f"kills {done} status {job.returncode} {out.split('gaps')[0].strip()}")
    if gaps:
        print("longest gaps, ms:", " ".join(map(str, gaps[:12])), "; of", done, "kills the 99th percentile:",
              gaps[min(len(gaps) - 1, done // 100)])
    if job.returncode != 0:
        print(err, file=sys.stderr)
    sys.exit(job.returncode != 0 or done < kills)


if __name__ == "__main__":
    main()
