# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs/guide as a reader follows them: writes programs, runs commands, compares outputs.

usage: test_guide.py PAGE...
  ```c with a first line /* name.c ... */   becomes the file name.c
  ```fortran with a first line ! name.f90   becomes the file name.f90
  ```sh                                     each line is a command; must exit with status 0 and an empty stderr
  ```sh with TEXT                           like sh, with TEXT appended to each line: options that shorten it
  ```sh beside a job                        like sh, while a job runs
  ```sh elsewhere                           not run here: see README.md
  ```text after commands                    lines that they printed, in any order
Programs that pages assume (a.out, master, halo and others, a file of hosts) are created. ssh starts everything on this machine.
multi_cluster.md has a separate test in tests/bridge."""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
GUIDE = os.path.join(HERE, "../../docs/guide")
BIN = os.environ["TEST_BIN"]
TOOLS = {"ssh": 'while [ "${1#-}" != "$1" ]; do case $1 in -o|-p|-l) shift;; esac; shift; done; shift; exec sh -c "$*"',
         "sudo": 'exec "$@"'}
EXTERNAL = ("ZIPMPI_", "PMI", "OMPI_", "TEST_")
SUITE_VARIABLE = "ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP"  # tests/environment.cmake
MISSING = 127
SLEEPS = "mpiexec -n 2 ./sleeps"
SLEEPER = """#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) { MPI_Init(&argc, &argv); sleep(60); MPI_Finalize(); return 0; }
"""
HELLO = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) { MPI_Init(&argc, &argv); puts("here"); MPI_Finalize(); return 0; }
"""


def blocks(page):
    with open(os.path.join(GUIDE, page)) as f:
        return re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```", f.read(), re.S | re.M)


def commands_of(text):
    return [re.sub(r"\s+# .*", "", line).strip() for line in text.replace("\\\n", " ").splitlines()
            if line.strip() and not line.strip().startswith("#")]


class Guide(unittest.TestCase):
    def prepare(self):
        folder = tempfile.mkdtemp(prefix="guide", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, folder)
        tools = os.path.join(folder, ".tools")
        os.mkdir(tools)
        for name, text in TOOLS.items():
            path = os.path.join(tools, name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\n" + text + "\n")
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(EXTERNAL) or k == SUITE_VARIABLE}
        self.env["PATH"] = f"{BIN}:{tools}:/usr/bin:/bin:/usr/sbin:/sbin"
        self.env["XDG_CONFIG_HOME"] = folder
        os.symlink(os.path.normpath(os.path.join(HERE, "..")), os.path.join(folder, "tests"))
        with open(os.path.join(folder, "hosts"), "w") as f:
            f.write("n1 slots=2\nn2 slots=2\n")
        with open(os.path.join(folder, "a.c"), "w") as f:
            f.write(HELLO)
        self.run_command("mpicc a.c && for p in master worker halo changing; do cp a.out $p; done")

    def run_command(self, command):
        p = subprocess.run(command, shell=True, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=120)
        first = next(w for w in command.split() if "=" not in w)
        if p.returncode == MISSING and shutil.which(first, path=self.env["PATH"]) is None:
            print(f"not here: {command}")
            return ""
        self.assertEqual((p.returncode, p.stderr), (0, ""), f"{command}\n{p.stdout}")
        return p.stdout

    def start_job(self):
        with open(os.path.join(self.folder, "sleeps.c"), "w") as f:
            f.write(SLEEPER)
        self.run_command("mpicc sleeps.c -o sleeps")
        job = subprocess.Popen(SLEEPS.split(), cwd=self.folder, env=self.env, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if subprocess.run([f"{BIN}/zipmpi", "top", "--once", "--interval", "0.1", "--pid", str(job.pid)], env=self.env,
                              capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.05)
        return job

    def run_block(self, text, marks):
        job = self.start_job() if marks == "beside a job" else None
        printed = ""
        for command in commands_of(text):
            with self.subTest(command=command):
                printed += self.run_command(command + marks.removeprefix("with") if marks.startswith("with ") else command)
        if job:
            job.terminate()
            job.wait(30)
        return printed

    def follow(self, page):
        self.prepare()
        printed, ran = "", 0
        for kind, marks, text in blocks(page):
            name = re.match(r"(?:/\*|!) (\w+\.(?:c|f90))\b", text)
            if kind in ("c", "fortran") and name:
                with open(os.path.join(self.folder, name[1]), "w") as f:
                    f.write(text)
            elif kind == "sh" and marks.strip() != "elsewhere":
                printed = self.run_block(text, marks.strip())
                ran += 1
            elif kind == "text":
                for line in text.splitlines():
                    self.assertIn(line, printed.splitlines(), page)
        self.assertGreater(ran, 0)

    def test_pages(self):
        for page in PAGES:
            with self.subTest(page=page):
                self.follow(page)

    def test_index_lists_every_page(self):
        with open(os.path.join(GUIDE, "README.md")) as f:
            listed = set(re.findall(r"\]\((\w+\.md)\)", f.read()))
        self.assertEqual(listed | {"README.md"}, {p for p in os.listdir(GUIDE) if p.endswith(".md")})


if __name__ == "__main__":
    PAGES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
