# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of one host in containers, made of the namespaces that rootless container programs use. Needs no privileges, but a
kernel that permits user namespaces."""
import os
import shutil
import subprocess
import tempfile

from harness import MPIEXEC, Case, CannotRun, environment, main, run

FOLDER = os.environ["TEST_MPI_FOLDER"]
BUILD = os.path.dirname(os.path.dirname(MPIEXEC))
RUNS = (("collectives",), ("random_messages", "seed=1", "rounds=10"), ("random_collectives", "seed=2", "rounds=10"), ("windows",),
        ("random_windows", "seed=3", "rounds=10"), ("files",))
OWN_FOLDERS = 'mount -t tmpfs none /dev/shm && mount -t tmpfs none /tmp && exec "$0" "$@"'


class Containers(Case):
    @classmethod
    def setUpClass(cls):
        tried = subprocess.run(["unshare", "-Urmpf", "--mount-proc", "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            raise CannotRun("no user namespaces here: " + tried.stderr)

    def check(self, *container):
        """Each rank in its own container."""
        for program, *arguments in RUNS:
            with self.subTest(program=program):
                r = run("-n", 4, *container, os.path.join(FOLDER, program), *arguments)
                self.quiet(r)
                self.assertIn(f"{program}: ok", r.out)

    def test_user_namespace_per_rank(self):
        self.check("unshare", "-Ur")

    def test_processes_of_each_rank_apart(self):
        self.check("unshare", "-Urmpf", "--mount-proc", "--kill-child")

    def test_own_temporary_folders(self):
        self.check("unshare", "-Urm", "sh", "-c", OWN_FOLDERS)

    def test_own_network_and_ipc(self):
        self.check("unshare", "-Urni")

    def test_only_some_ranks_in_containers(self):
        self.check("sh", "-c", 'if [ $((PMI_RANK % 2)) = 1 ]; then exec unshare -Urmpf --mount-proc --kill-child "$0" "$@"; fi; exec "$0" "$@"')

    def test_other_path_of_the_library(self):
        """As Apptainer: the installation of the host is mounted at another path."""
        folder = tempfile.mkdtemp(prefix="containers-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, folder)
        script = (f'mount --rbind {BUILD} {folder} && mount -t tmpfs none {BUILD} && export LD_LIBRARY_PATH={folder}/lib && '
                  f'program=$1; shift; exec {folder}/tests/mpi/"$program" "$@"')
        for program, *arguments in RUNS:
            with self.subTest(program=program):
                r = run("-n", 4, "unshare", "-Urm", "sh", "-c", script, "container", program, *arguments)
                self.quiet(r)
                self.assertIn(f"{program}: ok", r.out)

    def test_launcher_and_ranks_in_one_container(self):
        p = subprocess.run(["unshare", "-Urmpf", "--mount-proc", "--kill-child", MPIEXEC, "-n", "4", os.path.join(FOLDER, "collectives")],
                           capture_output=True, text=True, timeout=40, env=environment(), check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        self.assertIn("collectives: ok", p.stdout)


if __name__ == "__main__":
    main()
