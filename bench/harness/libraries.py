# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The compared libraries: how a program is built with each and started under it."""
import os
import shutil
import subprocess

from .targets import BASELINE, ZIPMPI

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXTERNAL = ("PMI", "OMPI_", "ZIPMPI_", "MPIEXEC_", "HYDRA_", "SLURM_", "UCX_")
MPI_PROGRAMS = ("latency", "bandwidth", "message_rate", "skew", "overlap", "oversubscribed", "memory", "blocked_cpu", "startup",
                "patterns", "collectives", "noncontig", "packing", "overlap_collectives", "matching", "onesided", "gups",
                "halo", "locks", "lu", "tasks", "epochs", "fences", "ring", "busy_target")
BASELINE_PROGRAMS = ("cache_line", "copy", "futex")
UCX_LAYER = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "pml_ucx_tls", "any",
             "--mca", "pml_ucx_devices", "any", "-x", "UCX_TLS=posix,cma,self"]


def environment(settings=()):
    """The environment without variables of another launcher or of a user's settings, with settings of a run (pairs)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(EXTERNAL)}
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
    """One column. `pinned`: the launcher's options for a rank per core, `oversubscribed`: those for more ranks than cores,
    `settings`: environment of its runs."""

    def __init__(self, key, title, compiler, launcher, pinned, oversubscribed, version, settings=()):
        self.key, self.title, self.compiler, self.launcher = key, title, compiler, launcher
        self.pinned, self.oversubscribed, self.version_command = pinned, oversubscribed, version
        self.settings = settings
        self.folder = None

    def missing(self):
        """The first of its tools that is not installed, or None."""
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

    def command(self, run, cores):
        return [*self.launcher, *run.placing(self, cores), "-n", str(run.ranks), *run.words(self)]

    def check(self, _folder):
        """Raises subprocess.SubprocessError if the library cannot run here."""

    def clean_up(self):
        """Called after a run that was ended. Launchers on one host end their ranks themselves."""


class OpenMpiUcx(Library):
    """Open MPI over UCX: usable only if a program gets through MPI_Init with that component."""

    def check(self, folder):
        program = os.path.join(folder, "check_startup")
        for command in ([self.compiler, "-O2", "-w", self.source("startup"), "-o", program],
                        [*self.launcher, *self.oversubscribed, "-n", "2", program]):
            subprocess.run(command, check=True, env=environment(), capture_output=True, text=True, timeout=60)


class Baseline(Library):
    """No library: programs that fork their second process."""

    def __init__(self):
        super().__init__(BASELINE, "baseline", "cc", ["cc"], [], [], ["cc", "--version"])

    def source(self, program):
        return os.path.join(BENCH, "baseline", program + ".c")

    def command(self, run, cores):
        return run.words(self)


def zipmpi_library(bin_folder, key=ZIPMPI, title="ZipMPI", settings=()):
    zipmpi = os.path.join(bin_folder, "mpiexec")
    return Library(key, title, os.path.join(bin_folder, "mpicc"), [zipmpi], ["--bind-to", "core"], [],
                   [zipmpi, "--version"], settings)


def variants_of(bin_folder, name, values):
    """ZipMPI with its defaults, and with each value of an environment variable or, if the name begins with --, of an option of
    mpiexec."""
    made = [zipmpi_library(bin_folder, title="default")]
    for value in values:
        option = name.startswith("--")
        library = zipmpi_library(bin_folder, value, value, () if option else ((name, value),))
        if option:
            library.launcher = [*library.launcher, name, value]
        made.append(library)
    return made


def peers():
    openmpi = "mpirun.openmpi"
    return [
        Library("openmpi", "Open MPI", "mpicc.openmpi", [openmpi], ["--bind-to", "core"], ["--oversubscribe"],
                [openmpi, "--version"]),
        OpenMpiUcx("openmpi_ucx", "Open MPI ucx", "mpicc.openmpi", [openmpi, *UCX_LAYER], ["--bind-to", "core"],
                ["--oversubscribe"], [openmpi, "--version"]),
        Library("mpich", "MPICH", "mpicc.mpich", ["mpirun.mpich"], ["-bind-to", "core"], [], ["mpichversion"]),
    ]


def all_libraries(bin_folder):
    return [zipmpi_library(bin_folder), *peers(), Baseline()]
