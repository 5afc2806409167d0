# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Processes and jobs in which libraries of several MPIs meet. They end with a message that names the files, never by a signal;
what can work does. How mpiexec prevents such processes: tests/launch/test_bindings.py."""
import os
import shutil
import subprocess
import tempfile
import unittest

MPIEXEC, LIBRARIES, PROGRAMS, MPICC, MPICC_MPICH = (
    os.environ["TEST_" + name] for name in ("MPIEXEC", "LIBRARIES", "PROGRAMS", "MPICC", "MPICC_MPICH"))
SONAMES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
STANDARD = os.path.join(os.path.dirname(LIBRARIES), "libmpi_abi.so.1")
SECONDS = 30


def library(binding):
    return os.path.join(LIBRARIES, binding, SONAMES[binding])


def program(name):
    return os.path.join(PROGRAMS, name)


class Mixes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mixes-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_words(self, *words, path=LIBRARIES + "/openmpi", preload=None):
        """Without the checks of mpiexec, as under another launcher."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "LD_"))}
        env["LD_LIBRARY_PATH"] = path
        if preload:
            env["LD_PRELOAD"] = preload
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=env, stdin=subprocess.DEVNULL)

    def fails(self, text, *words, **kw):
        r = self.run_words(*words, **kw)
        self.assertGreater(r.returncode, 0, r)  # negative: ended by a signal
        self.assertIn(text, r.stderr, r)

    def fails_with_two(self, first, second, *words, **kw):
        self.fails(f"the process has two MPI libraries, {first} and {second}", *words, **kw)

    def link(self, name, target):
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), name)
        os.symlink(target, path)
        return path

    def test_opened_before_init(self):
        self.fails_with_two(library("openmpi"), library("mpich"), program("mixes_openmpi"), "first", library("mpich"))

    def test_opened_after_init(self):
        """The library that is initialized second finds the first."""
        self.fails_with_two(library("mpich"), library("openmpi"), program("mixes_openmpi"), "later", library("mpich"))
        self.fails_with_two(library("openmpi"), library("mpich"), program("mixes_mpich"), "later", library("openmpi"),
                            path=LIBRARIES + "/mpich")

    def test_second_copy(self):
        copy = shutil.copy(library("openmpi"), self.folder)
        self.fails_with_two(copy, library("openmpi"), program("mixes_openmpi"), "later", copy)

    def test_profiler_of_another_abi(self):
        both = f"{LIBRARIES}/openmpi:{LIBRARIES}/mpich"
        self.fails_with_two(library("openmpi"), library("mpich"), program("mixes_openmpi"), "none", path=both,
                            preload=program("tool_mpich.so"))
        self.fails_with_two(library("mpich"), library("openmpi"), program("mixes_mpich"), "none", path=both,
                            preload=program("tool_openmpi.so"))

    def test_preloaded_library(self):
        self.fails_with_two(library("mpich"), library("openmpi"), program("mixes_openmpi"), "none", preload=library("mpich"))
        self.fails_with_two(STANDARD, library("openmpi"), program("mixes_openmpi"), "none", preload=STANDARD)

    def test_name_of_mpich(self):
        """A library under the name of another: it would take the handles of the program for addresses."""
        for target in (library("openmpi"), STANDARD):
            with self.subTest(target):
                link = self.link("libmpich.so.12", target)
                self.fails(f"the file {link} is not the library of this name, but ZipMPI's {os.path.basename(target)}",
                           program("mixes_mpich"), "none", path=os.path.dirname(link))

    def test_name_of_open_mpi(self):
        folder = os.path.dirname(self.link("libmpi.so.40", library("mpich")))
        self.fails("undefined symbol: ompi_", program("mixes_openmpi"), "none", path=folder)

    def test_names_of_links(self):
        """Names that programs use for the same library are accepted."""
        link = self.link("libmpi.so.40", self.link("libmpi.so.40.30.4", library("openmpi")))
        r = self.run_words(program("mixes_openmpi"), "none", path=os.path.dirname(link))
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "ok\n", ""))

    def upstream_program(self):
        """Linked as on hosts where MPICH's library is libmpi.so.12: with a copy of Debian's name changed to that."""
        with open(library("mpich"), "rb") as f:
            content = f.read().replace(b"\0libmpich.so.12\0", b"\0libmpi.so.12\0\0\0")
        copy = os.path.join(tempfile.mkdtemp(dir=self.folder), "libmpi.so.12")
        with open(copy, "wb") as f:
            f.write(content)
        built, source = os.path.join(self.folder, "upstream"), os.path.join(os.path.dirname(__file__), "mixes.c")
        subprocess.run([MPICC_MPICH, "-w", "-c", "-o", built + ".o", source], check=True)
        subprocess.run(["cc", "-o", built, built + ".o", copy], check=True)
        shutil.rmtree(os.path.dirname(copy))
        needed = subprocess.run(["readelf", "-d", built], check=True, capture_output=True, text=True).stdout
        self.assertIn("[libmpi.so.12]", needed)
        self.assertNotIn("libmpich.so.12", needed)
        return built

    def test_upstream_name_of_mpich(self):
        """libmpi.so.12 and libmpich.so.12, which the module needs, are one library, with and without mpiexec's choice."""
        words = MPIEXEC, "-n", "2", self.upstream_program(), "module", program("module_mpich.so")
        for path in (LIBRARIES + "/mpich", ""):
            with self.subTest(path):
                r = self.run_words(*words, path=path)
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "ok\n", ""))

    def test_function_of_the_other_library(self):
        source = os.path.join(self.folder, "internal.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write("#include <mpi.h>\nint ompi_comm_dup(MPI_Comm, MPI_Comm*);\n"
                    "int main(void) { MPI_Comm c; MPI_Init(0, 0); return ompi_comm_dup(MPI_COMM_WORLD, &c); }\n")
        subprocess.run([MPICC, "-o", source[:-2], source], check=True)
        self.fails("undefined symbol: ompi_comm_dup", source[:-2])

    def test_module_with_a_scope_of_its_own(self):
        for binding in SONAMES:
            with self.subTest(binding):
                r = self.run_words(MPIEXEC, "-n", "2", program("mixes_" + binding), "module", program(f"module_{binding}.so"))
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "ok\n", ""))

    def test_two_abis_in_one_job(self):
        """Each rank uses the library of its ABI; values on the network and in shared memory are those of core."""
        data = os.path.join(self.folder, "data")
        for first, second in (("openmpi", "mpich"), ("mpich", "openmpi")):
            with self.subTest(first=first):
                r = self.run_words(MPIEXEC, "-n", "1", program("interface_" + first), data, ":", "-n", "1",
                                   program("interface_" + second), data)
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "ok\n", ""))


if __name__ == "__main__":
    unittest.main()
