# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The suites of a comparison."""
import contextlib
import os
from typing import NamedTuple, Tuple

from .intervals import MIN_PAIRS
from .stats import parse, startup_times
from .targets import BASELINE, ZIPMPI

EVERY_LIBRARY = ()
LATENCY_SIZES = "0,1,8,40,64,256,1024,4096,8192,16384,32768,65536,262144,1048576,4194304"
BANDWIDTH_SIZES = "1,8,64,256,1024,4096,8192,16384,32768,65536,262144,1048576,4194304"
FEW_SIZES = "8,1024,16384,65536,1048576,4194304"
COPY_SIZES = "4096,16384,65536,262144,1048576,4194304"
LARGE_SIZES = "1048576,4194304"
COLLECTIVE_SIZES = "8,64,512,4096,32768,262144,1048576"
OVERSUBSCRIBED_COLLECTIVE_SIZES = "8,1024,16384"
NETWORK_SIZES = (8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
MIN_BASELINE_BANDWIDTH = 65536  # smallest size whose bandwidth is compared with UCX alone
LARGE_NETWORK_SIZES = "65536,262144,1048576,4194304"
NETWORK_COLLECTIVE_SIZES = "8,512,8192,65536,524288"
HALO_SIZES = "8,4096,65536"
EPOCH_SIZES = "8,256,4096,32768,262144"
BUSY_MICROSECONDS = "1,10,100,1000,10000"  # microseconds
VECTOR_SIZES = "2048,8192,32768,131072,524288"
APPLICATIONS = "applications"
SUITES = ("quick", "default", "oversubscribed", "collectives", "datatypes", "onesided", "onesided_hosts", "queues",
          "cluster", "all", APPLICATIONS)
OVER_HOSTS = ("onesided_hosts", "cluster")
MINUTES = {"quick": 3, "default": 10}  # limits of suites, if none is given
MINUTES_OF_OTHERS = 30
ONESIDED = ("onesided", "onesided_hosts", "all")  # pictures of one-sided communication
COMPARED_IN_ALL = ("default", "oversubscribed", "collectives", "datatypes", "onesided")
WITH_UCX = ("quick", "default", "cluster", "all")  # also run ucx_perftest
MAX_HOSTS = 4  # of suites over hosts
QUEUES = "ZIPMPI_SHM_POLL_MODE=all_rings,mpsc,expected,hybrid"  # the values that the suite "queues" compares


class Run(NamedTuple):
    program: str
    arguments: Tuple[str, ...] = ()
    ranks: int = 2
    only: Tuple[str, ...] = EVERY_LIBRARY  # keys of the libraries that run it; all MPI libraries if empty
    limit: int = 60  # seconds
    max_rounds: int = 1000
    hosts: int = 1  # with equally many ranks on each
    at_once: bool = False  # prints all results at its end: no long wait if a library does not exit

    def words(self, library):
        """The command that the library's launcher starts."""
        return [os.path.join(library.folder, self.program), *self.arguments]

    def placing(self, library, cores):
        return library.pinned if self.ranks <= cores else library.oversubscribed

    def work_folder(self):
        """The folder of a run; the current one."""
        return contextlib.nullcontext()

    def written(self, _folder):
        """The text of its output files: it writes none."""
        return ""

    def lines(self, output, begin, _end):
        """Its results. begin, end: of the run, in nanoseconds."""
        return startup_times(output, begin, self.ranks) if self.program == "startup" else parse(output)

    def title(self):
        words = [self.program, *(a for a in self.arguments if a.startswith(("ways", "memory", "what", "name")))]
        return (" ".join(words) + (f" with {self.ranks} ranks" if self.ranks > 2 else "") +
                (f" on {self.hosts} hosts" if self.hosts > 1 else ""))


QUICK = [
    Run("cache_line", only=(BASELINE,)),
    Run("latency", ("sizes=" + FEW_SIZES, "sweeps=5")),
    Run("copy", ("sizes=" + LARGE_SIZES, "sweeps=5"), only=(BASELINE,)),
    Run("bandwidth", ("sizes=8,1024,65536,1048576", "sweeps=5")),
    Run("message_rate"),
]
DEFAULT = [
    Run("cache_line", only=(BASELINE,)),
    Run("latency", ("sizes=" + LATENCY_SIZES,)),
    Run("message_rate"),
    Run("copy", ("sizes=" + COPY_SIZES,), only=(BASELINE,)),
    Run("bandwidth", ("sizes=" + BANDWIDTH_SIZES, "sweeps=5")),
    Run("bandwidth", ("sizes=" + LARGE_SIZES, "memory=alloc", "sweeps=5")),
    Run("bandwidth", ("sizes=" + FEW_SIZES, "ways=2", "sweeps=5")),
    Run("message_rate", ranks=4),
    Run("skew", ("sizes=16384,65536",)),
    Run("overlap", ("sizes=65536,1048576", "sweeps=5")),
    Run("futex", only=(BASELINE,)),
]


def oversubscribed_runs():
    runs = [Run("futex", only=(BASELINE,)), Run("oversubscribed")]
    for ranks in (32, 64, 128):
        runs.append(Run("oversubscribed", ("slice=0.02", "sweeps=7", "limit=3"), ranks, limit=150))
    for ranks in (16, 64, 128):
        runs.append(Run("memory", (), ranks, limit=150, max_rounds=MIN_PAIRS))
    runs.append(Run("memory", (), 256, only=(ZIPMPI,), limit=150, max_rounds=MIN_PAIRS))
    runs.append(Run("startup", (), 2))
    runs.append(Run("startup", (), 128, limit=150, max_rounds=MIN_PAIRS))
    runs.append(Run("blocked_cpu", ("seconds=10",), only=(ZIPMPI,), max_rounds=MIN_PAIRS))
    return runs


def collectives():
    """A slow iteration is not repeated: some peers need seconds for 128 ranks."""
    runs = []
    for ranks in (2, 4, 8, 16):
        runs.append(Run("collectives", ("sizes=" + COLLECTIVE_SIZES, "sweeps=5", "slice=0.002", "limit=2", "least=3", "hurry=0.3"),
                        ranks, limit=60))
    for ranks in (64, 128):
        runs.append(Run("collectives", ("sizes=" + OVERSUBSCRIBED_COLLECTIVE_SIZES, "sweeps=5", "slice=0.01", "limit=2", "least=3", "hurry=0.3"),
                        ranks, limit=120))
    return runs


DATATYPES = [
    Run("noncontig", ("sizes=" + VECTOR_SIZES,)),
    Run("packing", ("sizes=" + VECTOR_SIZES,), ranks=1),
    Run("overlap_collectives", ("sizes=1024,65536", "sweeps=5")),
    Run("overlap_collectives", ("sizes=1024,65536", "sweeps=5", "hurry=0.05", "limit=2"), ranks=4),
]


SHORT_EPOCHS = ("sweeps=3", "limit=0.5", "hurry=0.05")


def onesided():
    """Targets without asynchronous progress make some peers slow: their runs are short, with a limit on repetitions."""
    runs = [Run("onesided", ("busy=0.02", "sweeps=5", "limit=1"), limit=120, at_once=True)]
    runs += [Run("gups", (), ranks, at_once=True) for ranks in (2, 4)]
    runs += [Run("lu", ("n=512", "block=32", "sweeps=3"), ranks, at_once=True) for ranks in (2, 4, 8)]
    runs += [Run("locks", ("seconds=0.3",), contenders + 1, at_once=True) for contenders in (2, 8, 32)]
    runs += [Run("halo", ("sizes=" + HALO_SIZES, "sweeps=3", "limit=0.5", "hurry=0.05"), ranks, at_once=True) for ranks in (4, 9)]
    runs += [Run("tasks", (), ranks, at_once=True) for ranks in (2, 8)]
    runs += [Run("epochs", ("sizes=" + EPOCH_SIZES, *SHORT_EPOCHS), at_once=True)]
    runs += [Run("fences", SHORT_EPOCHS, ranks, at_once=True) for ranks in (2, 4, 8, 16)]
    return runs + busy_targets()


def busy_targets(hosts=1):
    return [Run(program, ("sizes=" + BUSY_MICROSECONDS, "sweeps=3", "limit=1", "hurry=0.05"), hosts=hosts, limit=25, at_once=True)
            for program in ("ring", "busy_target")]


def onesided_hosts():
    """One-sided programs between two hosts. Every operation is a message there: fewer of them."""
    runs = [Run("epochs", ("sizes=" + EPOCH_SIZES, *SHORT_EPOCHS), hosts=2, at_once=True)]
    runs += [Run("fences", SHORT_EPOCHS, ranks, hosts=2, at_once=True) for ranks in (2, 4, 8)]
    runs += [Run("locks", ("seconds=0.3",), ranks, hosts=2, at_once=True) for ranks in (4, 8)]
    runs += [Run("halo", ("sizes=" + HALO_SIZES, *SHORT_EPOCHS), 4, hosts=2, at_once=True)]
    runs += [Run("gups", ("updates=200",), ranks, hosts=2, at_once=True) for ranks in (2, 4)]
    runs += [Run("lu", ("n=512", "block=32", "sweeps=3"), ranks, hosts=2, at_once=True) for ranks in (2, 4)]
    runs += [Run("tasks", ("tasks=200", "micro=20e-6"), ranks, hosts=2, at_once=True) for ranks in (2, 4)]
    return runs + busy_targets(2)


def cluster():
    sizes = "sizes=" + ",".join(map(str, NETWORK_SIZES))
    runs = [
        Run("latency", (sizes, "sweeps=15"), hosts=2, at_once=True),
        Run("bandwidth", (sizes, "sweeps=7"), hosts=2, at_once=True),
        Run("noncontig", ("what=bandwidth", "sizes=" + LARGE_NETWORK_SIZES, "sweeps=3"), only=(ZIPMPI,), hosts=2),
        Run("collectives", ("only=coll_bcast,coll_allreduce,coll_alltoall", "sizes=" + NETWORK_COLLECTIVE_SIZES, "sweeps=5",
                            "slice=0.01", "limit=1", "least=3", "hurry=0.08"), 16, hosts=4, at_once=True),
        Run("gups", ("updates=200",), 4, hosts=2, at_once=True),
        Run("startup", (), 128, only=(ZIPMPI, "openmpi"), max_rounds=MIN_PAIRS, hosts=4),
    ]
    # ucx_perftest connects anew for every size, and a connection is slower after other sizes: zipmpi also uses one run per size.
    for size in NETWORK_SIZES:
        runs.append(Run("latency", (f"sizes={size}", "name=latency_alone", "sweeps=7"), only=(ZIPMPI,), hosts=2))
        if size >= MIN_BASELINE_BANDWIDTH:
            runs.append(Run("bandwidth", (f"sizes={size}", "name=bandwidth_alone", "sweeps=3"), only=(ZIPMPI,), hosts=2))
    for ranks in (16, 64, 256):
        runs.append(Run("memory", ("until=ring",), ranks, only=(ZIPMPI,), max_rounds=MIN_PAIRS, hosts=4))
    return runs


def patterns():
    return [Run("patterns", ("slice=0.02", "sweeps=5", "limit=2", "hurry=0.5"), ranks, limit=60) for ranks in (2, 4, 16, 64, 128)]


def runs_of(name):
    if name == "all":
        return DEFAULT + [run for run in oversubscribed_runs() if run.program != "futex"] + collectives() + DATATYPES + onesided()
    return {"quick": QUICK, "default": DEFAULT, "oversubscribed": oversubscribed_runs(), "collectives": collectives(),
            "datatypes": DATATYPES, "onesided": onesided(), "onesided_hosts": onesided_hosts(), "queues": patterns(),
            "cluster": cluster()}[name]


def chosen(runs, programs=(), ranks=()):
    """Those of these programs with these numbers of ranks; empty: all."""
    return [run for run in runs if (not programs or run.program in programs) and (not ranks or run.ranks in ranks)]


def suites_of_targets(name):
    """The suites whose targets are evaluated after a suite."""
    return {"quick": ("default",), "all": COMPARED_IN_ALL}.get(name, (name,))
