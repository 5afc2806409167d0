# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of packages.

usage: test_recipes.py VERSION"""
import ast
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = sys.argv.pop(1)


def read(name):
    return (ROOT / name).read_text()


class Recipes(unittest.TestCase):
    def test_version(self):
        for name, pattern in (("debian/changelog", r"^zipmpi \(([\d.]+)\)"), ("packaging/zipmpi.spec", r"^Version:\s+(\S+)"),
                              ("packaging/spack/package.py", r'version\("([\d.]+)"'), ("packaging/conda-forge/meta.yaml", r'version: "([\d.]+)"'),
                              (f"packaging/easybuild/ZipMPI-{VERSION}-GCC-12.3.0.eb", r"^version = '([\d.]+)'")):
            self.assertEqual(re.search(pattern, read(name), re.MULTILINE)[1], VERSION, name)

    def test_recipes_in_python_parse(self):
        for path in ["packaging/spack/package.py", *(str(p.relative_to(ROOT)) for p in ROOT.glob("packaging/easybuild/*.eb"))]:
            ast.parse(read(path), path)

    def test_recipe_in_yaml_parses(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no PyYAML")
        self.assertEqual(yaml.safe_load(read("packaging/conda-forge/meta.yaml"))["package"]["name"], "zipmpi")

    def test_container_has_the_packages(self):
        text = read("packaging/Containerfile")
        for package in ("libzipmpi1", "zipmpi", "libzipmpi-dev", "zipmpi-bindings"):
            self.assertIn(f"/tmp/packages/{package}_*.deb", text)

    def test_build_dependencies_agree(self):
        """debian/control needs what ci/packages_build.txt has, without the packages of tests."""
        listed = {line for line in read("ci/packages_build.txt").splitlines() if line and not line.startswith("#")}
        control = read("debian/control").split("Build-Depends:")[1].split("Standards-Version")[0]
        needed = {word.split()[0] for word in control.replace("\n", " ").split(",")}
        self.assertEqual(needed - {"debhelper-compat"}, listed - {"libgtest-dev"})

    def test_every_installed_file_is_in_one_package(self):
        patterns = {p.name: p.read_text().split() for p in ROOT.glob("debian/*.install")}
        for name in ("bin/mpiexec", "bin/mpicc", "bin/mpif90", "bin/zipmpi-noded", "include/mpi.h", "lib/libmpi_abi.so.1", "lib/libmpi_abi.so",
                     "lib/zipmpi/zipmpi_ucx.so", "lib/zipmpi/openmpi/libmpi.so.40", "share/man/man1/mpicc.1", "share/man/man1/mpiexec.1",
                     "share/zipmpi/torch/build.sh"):
            path = pathlib.PurePath("usr/lib/zipmpi") / name
            found = [package for package, lines in patterns.items() for line in lines
                     if any(p.match(line) for p in (path, *path.parents))]
            self.assertEqual(len(found), 1, (name, found))


class Modules(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="modules-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for kind, name in (("lua", f"{VERSION}.lua"), ("tcl", VERSION)):
            target = self.folder / kind / "zipmpi" / name
            target.parent.mkdir(parents=True)
            target.write_text(read(f"packaging/modulefile.{kind}").replace("@PREFIX@", "/opt/zipmpi").replace("@VERSION@", VERSION))

    def load(self, kind, *command):
        p = subprocess.run([*command, "load", f"zipmpi/{VERSION}"], capture_output=True, text=True,
                           env={"MODULEPATH": str(self.folder / kind), "PATH": "/usr/bin:/bin"})
        self.assertRegex(p.stdout, r"PATH=.?/opt/zipmpi/bin", p.stderr)
        self.assertRegex(p.stdout, r"MPI_HOME=.?/opt/zipmpi")

    def test_lmod(self):
        lmod = pathlib.Path("/usr/share/lmod/lmod/libexec/lmod")
        if not lmod.exists():
            self.skipTest("Lmod is not installed")
        self.load("lua", str(lmod), "bash")

    def test_environment_modules(self):
        modulecmd = pathlib.Path("/usr/lib/x86_64-linux-gnu/modulecmd.tcl")
        if not modulecmd.exists():
            self.skipTest("Environment Modules is not installed")
        self.load("tcl", str(modulecmd), "bash")


if __name__ == "__main__":
    unittest.main(verbosity=2)
