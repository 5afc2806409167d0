# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that are compared: how a program is built with each and started under it."""
import os
import shutil
import subprocess

from .bars import BARE, OURS

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOREIGN = ("PMI", "OMPI_", "ZIPMPI_", "MPIEXEC_", "HYDRA_", "SLURM_", "UCX_")
MPI_PROGRAMS = ("latency", "bandwidth", "message_rate", "skew", "overlap", "crowd", "memory", "blocked", "startup",
                "patterns", "collectives", "vectors", "packing", "overlap_collectives", "matching", "onesided", "gups",
                "halo", "locks", "lu", "tasks", "epochs", "fences", "ring", "target")
BARE_PROGRAMS = ("line", "copy", "futex")
UCX_LAYER = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "pml_ucx_tls", "any",
             "--mca", "pml_ucx_devices", "any", "-x", "UCX_TLS=posix,cma,self"]


def environment(settings=()):
    """Ours without what another launcher or a user's settings left in it, with settings of a run (pairs)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    env.update(settings)
    return env


def first_line(command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, env=environment())
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return next((" ".join(line.split()) for line in run.stdout.splitlines() if line.strip()), "unknown")


class Library:
    """One column. `pinned` are the launcher's words for a rank per core, `crowded` those for more ranks than cores,
    `settings` what its runs have in their environment."""

    def __init__(self, key, title, compiler, launcher, pinned, crowded, version, settings=()):
        self.key, self.title, self.compiler, self.launcher = key, title, compiler, launcher
        self.pinned, self.crowded, self.version_command = pinned, crowded, version
        self.settings = settings
        self.folder = None

    def missing(self):
        """The first of its tools that is not there, or None."""
        return next((tool for tool in (self.compiler, self.launcher[0]) if tool and shutil.which(tool) is None), None)

    def version(self):
        return first_line(self.version_command)

    def source(self, program):
        folder = "startup" if program == "startup" else "programs"
        return os.path.join(BENCH, folder, program + ".c")

    def build(self, programs, folder):
        self.folder = folder
        for program in programs:
            # -w: some peers' headers make gcc warn about correct calls
            command = [self.compiler, "-O2", "-w", self.source(program), "-o", os.path.join(folder, program)]
            subprocess.run(command, check=True, env=environment(), capture_output=True, text=True)

    def program(self, run):
        return [os.path.join(self.folder, run.program), *run.arguments]

    def command(self, run, cores):
        placing = self.pinned if run.ranks <= cores else self.crowded
        return [*self.launcher, *placing, "-n", str(run.ranks), *self.program(run)]

    def clean_up(self):
        """After a run that was ended. A launcher here takes its ranks along."""


class Bare(Library):
    """No library: programs that start their own second process."""

    def __init__(self):
        super().__init__(BARE, "bare", "cc", ["cc"], [], [], ["cc", "--version"])

    def source(self, program):
        return os.path.join(BENCH, "bare", program + ".c")

    def command(self, run, cores):
        return self.program(run)


def our_library(bin_folder, key=OURS, title="ZipMPI", settings=()):
    ours = os.path.join(bin_folder, "mpiexec")
    return Library(key, title, os.path.join(bin_folder, "mpicc"), [ours], ["--bind-to", "core"], [],
                   [ours, "--version"], settings)


def variants(bin_folder, name, values):
    """Ours as it is, and with each value of an environment variable."""
    return [our_library(bin_folder, title="default")] + [
        our_library(bin_folder, value, value, ((name, value),)) for value in values]


def peers():
    openmpi = "mpirun.openmpi"
    return [
        Library("openmpi", "Open MPI", "mpicc.openmpi", [openmpi], ["--bind-to", "core"], ["--oversubscribe"],
                [openmpi, "--version"]),
        Library("openmpi_ucx", "Open MPI ucx", "mpicc.openmpi", [openmpi, *UCX_LAYER], ["--bind-to", "core"],
                ["--oversubscribe"], [openmpi, "--version"]),
        Library("mpich", "MPICH", "mpicc.mpich", ["mpirun.mpich"], ["-bind-to", "core"], [], ["mpichversion"]),
    ]


def all_libraries(bin_folder):
    return [our_library(bin_folder), *peers(), Bare()]
