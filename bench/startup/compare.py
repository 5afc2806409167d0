#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Time from the launcher's start until the last rank has left MPI_Init: ZipMPI, Open MPI and MPICH, each with its own compiler
wrapper and launcher, alternating on this machine. Prints a section of Markdown.

Exits with 0 if zipmpi takes at most --limit of the faster peer's time, with 1 if it takes more, and with 77 if the result is
inconclusive: a peer is not installed, or the spread of the rounds is too large."""
import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# pylint: disable=wrong-import-position
from harness.host_info import commit  # noqa: E402
from harness.libraries import environment  # noqa: E402

INCONCLUSIVE = 77
MAX_SPREAD = 0.15
MAX_ROUNDS = 7
CLEAR = 2  # a target met by this factor in every run needs no more rounds
RUN_LIMIT = 120  # seconds
ZIPMPI = "ZipMPI"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup.c")


class Inconclusive(Exception):
    pass


class Library:
    def __init__(self, name, compiler, launcher):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.program, self.seconds, self.whole, self.runs = "", [], [], []

    def build(self, folder):
        for tool in (self.compiler, self.launcher[0]):
            if shutil.which(tool) is None:
                raise Inconclusive(f"{tool} is not installed")
        self.program = os.path.join(folder, "startup_" + self.name.replace(" ", "_"))
        subprocess.run([self.compiler, "-O2", SOURCE, "-o", self.program], check=True)

    def command(self, ranks):
        return [*self.launcher, "-n", str(ranks), self.program]

    def once(self, ranks):
        """Seconds until the last rank has left MPI_Init, and until the launcher has exited."""
        begin = time.time_ns()
        try:
            run = subprocess.run(self.command(ranks), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 env=environment(), timeout=RUN_LIMIT, check=False)
        except subprocess.TimeoutExpired as late:
            raise Inconclusive(f"{self.name} did not end within {RUN_LIMIT} s") from late
        end = time.time_ns()
        lines = [line.split() for line in run.stdout.splitlines() if line.startswith("startup ")]
        if run.returncode != 0 or sorted(int(line[1]) for line in lines) != list(range(ranks)):
            raise Inconclusive(f"{self.name} ended with status {run.returncode}, {len(lines)} ranks answered:\n" +
                              run.stderr[-2000:])
        return (max(int(line[4]) for line in lines) - begin) / 1e9, (end - begin) / 1e9

    def measure(self, ranks, repeats):
        """The figure of a round: the median of `repeats` runs, as short runs are noisier than long ones."""
        runs = [self.once(ranks) for _ in range(repeats)]
        self.runs += [run[0] for run in runs]
        self.seconds.append(statistics.median(run[0] for run in runs))
        self.whole.append(statistics.median(run[1] for run in runs))

    def median(self):
        return statistics.median(self.seconds)

    def spread(self):
        """Interquartile range divided by the median."""
        if len(self.seconds) == 1:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", help="folder of ZipMPI's mpicc and mpiexec")
    parser.add_argument("--ranks", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=0.5, help="largest time of zipmpi relative to the faster peer")
    parser.add_argument("--verdict-only", action="store_true",
                        help=f"stop when the slowest run of zipmpi meets the limit by a factor of {CLEAR} against the "
                             "fastest run of the peers")
    return parser.parse_args()


def clearly_met(libraries, args):
    zipmpi, *peers = libraries
    return args.verdict_only and CLEAR * max(zipmpi.runs) <= args.limit * min(min(peer.runs) for peer in peers)


def measure_all(libraries, args):
    with tempfile.TemporaryDirectory(prefix="startup-") as folder:
        for library in libraries:
            library.build(folder)
        for library in libraries:
            library.once(2)  # loads the files into the page cache
        for done in range(1, MAX_ROUNDS + 1):
            for library in libraries:
                library.measure(args.ranks, 5 if library.name == ZIPMPI else 1)
            steady = all(library.spread() <= MAX_SPREAD for library in libraries)
            if clearly_met(libraries, args) or (done >= max(args.rounds, 2) and steady):
                return


def table(libraries, args):
    print(f"### Startup of {args.ranks} ranks on {len(os.sched_getaffinity(0))} cores\n")
    print(f"{time.strftime('%Y-%m-%d')}, commit {commit()}, Linux {platform.release()}. From the launcher's start until "
          "the last rank has left MPI_Init.\n")
    print("| library | median | spread | rounds | until the launcher has exited | command |")
    print("|---|---|---|---|---|---|")
    for library in libraries:
        command = " ".join([*map(os.path.basename, library.launcher), "-n", str(args.ranks), "./startup"])
        print(f"| {library.name} | {library.median():.3f} s | {library.spread():.0%} | {len(library.seconds)} "
              f"| {statistics.median(library.whole):.3f} s | `{command}` |")
    print(flush=True)


def verdict(libraries, args):
    zipmpi, *peers = libraries
    best = min(peers, key=Library.median)
    ratio = zipmpi.median() / best.median()
    print(f"ZipMPI / faster peer ({best.name}): **{ratio:.3f}**; at most {args.limit} is wanted.")
    far = [f"{library.name} {library.spread():.0%}" for library in libraries if library.spread() > MAX_SPREAD]
    if far and not clearly_met(libraries, args):
        raise Inconclusive(f"the spread exceeds {MAX_SPREAD:.0%}: {', '.join(far)}")
    print("Met." if ratio <= args.limit else "Missed.")
    return 0 if ratio <= args.limit else 1


def main():
    args = arguments()
    libraries = [
        Library(ZIPMPI, os.path.join(args.bin, "mpicc"), [os.path.join(args.bin, "mpiexec")]),
        Library("Open MPI", "mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe"]),
        Library("MPICH", "mpicc.mpich", ["mpiexec.mpich"]),
    ]
    try:
        measure_all(libraries, args)
        table(libraries, args)
        return verdict(libraries, args)
    except Inconclusive as reason:
        print(f"Inconclusive: {reason}")
        return INCONCLUSIVE


if __name__ == "__main__":
    sys.exit(main())
