# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library the ranks load: mpiexec puts ZipMPI's bindings first for programs that were built for other MPIs. The
libraries are stand-ins that print their name, in a copy of the installation."""
import json
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

import harness
from harness import Case, environment, needs

LIBRARY = '#include <stdio.h>\nvoid which_mpi(void) { puts("NAME"); }\n'
PROGRAM = "void which_mpi(void);\nint main(void) { which_mpi(); }\n"
PLAIN = "int main(void) { return 0; }\n"


class World:
    """An installation with bindings, another MPI of each kind, and programs for them, in one directory."""

    def __init__(self):
        needs("cc")
        self.root = tempfile.mkdtemp(prefix="launch-test-")
        self.bindings = os.path.join(self.root, "zip/lib/bindings")
        self.other = os.path.join(self.root, "other")
        os.makedirs(os.path.join(self.root, "zip/bin"))
        for name in ("mpiexec", "zipmpi-noded"):
            shutil.copy(os.path.join(os.path.dirname(harness.MPIEXEC), name), os.path.join(self.root, "zip/bin"))
        modules = os.path.join(os.path.dirname(harness.MPIEXEC), "../lib/zipmpi")
        shutil.copytree(modules, self.path("zip/lib/zipmpi"), ignore=lambda folder, names: set(names) - {"zipmpi_crypto.so"})
        self.mpiexec = os.path.join(self.root, "zip/bin/mpiexec")
        for family, soname in (("openmpi", "libmpi.so.40"), ("mpich", "libmpich.so.12")):
            self.library(f"zip/lib/bindings/{family}", soname, f"ZipMPI for {family}")
            self.library("other", soname, f"another {family}")
        self.library("other", "libmpi_abi.so.1", "standard")
        self.openmpi = self.program("openmpi", "libmpi.so.40")
        self.mpich = self.program("mpich", "libmpich.so.12")

    def path(self, name):
        return os.path.join(self.root, name)

    def compile(self, text, output, *options):
        os.makedirs(os.path.dirname(self.path(output)), exist_ok=True)
        done = subprocess.run(["cc", "-x", "c", "-", "-o", self.path(output), *options], input=text, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return self.path(output)

    def library(self, folder, soname, says, *options, text=None):
        return self.compile(text or LIBRARY.replace("NAME", says), f"{folder}/{soname}", "-shared", "-fPIC",
                            f"-Wl,-soname,{soname}", *options)

    def program(self, name, *sonames, options=(), text=PROGRAM):
        return self.compile(text, name, *options, f"-L{self.other}", f"-Wl,-rpath-link,{self.other}", "-Wl,--no-as-needed",
                            *(f"-l:{s}" for s in sonames))

    def openmpi_bytes(self):
        with open(self.openmpi, "rb") as f:
            return bytearray(f.read())

    def write_program(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def run(self, *args, **variables):
        env = environment({"LD_LIBRARY_PATH": self.other, **variables})
        p = subprocess.run([self.mpiexec, "-n", "1", *map(str, args)], capture_output=True, timeout=harness.SECONDS,
                           env={k: v for k, v in env.items() if v is not None}, text=True, stdin=subprocess.DEVNULL)
        return harness.Result(p.returncode, p.stdout, p.stderr, 0)

    def script(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as f:
            f.write(text)
        os.chmod(self.path(name), 0o755)
        return self.path(name)


class Worldly(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.world = World()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.world.root)
        super().tearDownClass()

    def says(self, text, *args, **variables):
        """The rank loads this library, and mpiexec writes nothing."""
        r = self.world.run(*args, **variables)
        self.quiet(r)
        self.assertEqual(r.out, text + "\n")

    def fails(self, code, *sentences, program, options=(), **variables):
        """No rank starts; the message has what, where, why and fix."""
        r = self.world.run(*options, program, **variables)
        self.assertEqual(r.code, code, r)
        self.assertEqual(r.out, "")
        self.sentences(r, sentences)

    def warns(self, output, *sentences, program, options=(), **variables):
        """The program runs, after a message."""
        r = self.world.run(*options, program, **variables)
        self.assertEqual((r.code, r.out), (0, output + "\n"), r)
        self.sentences(r, sentences)

    def sentences(self, r, sentences):
        for part in ("mpiexec: ", "\n  where: ", "\n  why: ", "\n  fix: ", *sentences):
            self.assertIn(part, r.err)


class BindingChoice(Worldly):
    def test_openmpi(self):
        self.says("ZipMPI for openmpi", self.world.openmpi)

    def test_mpich(self):
        self.says("ZipMPI for mpich", self.world.mpich)

    def test_both_programs_in_one_job(self):
        r = self.world.run(self.world.openmpi, ":", "-n", 1, self.world.mpich)
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["ZipMPI for mpich", "ZipMPI for openmpi"])

    def test_two_hosts(self):
        agent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode/local_agent.sh")
        r = self.world.run("-n", 2, "--host", "a:1,b:1", "--launch-agent", agent, self.world.openmpi)
        self.quiet(r)
        self.assertEqual(r.out, "ZipMPI for openmpi\n" * 2)

    def test_own(self):
        self.says("another mpich", "--mpi", "own", self.world.mpich)

    def test_unknown_choice(self):
        self.fails(2, "--mpi auto, --mpi zipmpi or --mpi own", program=self.world.mpich, options=["--mpi", "best"])

    def test_needed_by_a_library(self):
        self.world.library("other", "libsolver.so", "", f"-L{self.world.other}", "-l:libmpi.so.40",
                           text="void which_mpi(void);\nvoid solve(void) { which_mpi(); }\n")
        program = self.world.program("indirect", "libsolver.so", text="void solve(void);\nint main(void) { solve(); }\n")
        self.says("ZipMPI for openmpi", program)

    def test_variable_of_the_command_line(self):
        self.says("ZipMPI for openmpi", "--env", f"LD_LIBRARY_PATH={self.world.other}", self.world.openmpi, LD_LIBRARY_PATH=None)

    def test_runpath(self):
        program = self.world.program("runpath", "libmpi.so.40", options=[f"-Wl,--enable-new-dtags,-rpath,{self.world.other}"])
        self.says("ZipMPI for openmpi", program, LD_LIBRARY_PATH=None)
        program = self.world.program("runpath_mpich", "libmpich.so.12", options=[f"-Wl,--enable-new-dtags,-rpath,{self.world.other}"])
        self.says("ZipMPI for mpich", program, LD_LIBRARY_PATH=None)
        self.says("another mpich", "--mpi", "own", program, LD_LIBRARY_PATH=None)

    def test_rpath(self):
        program = self.world.program("rpath", "libmpi.so.40", options=[f"-Wl,--disable-new-dtags,-rpath,{self.world.other}"])
        self.says("ZipMPI for openmpi", program)
        r = self.world.run("-v", program)
        self.assertIn("DT_RPATH", r.err)

    def test_runtime_of_open_mpi(self):
        """Empty libraries are found only where the host has none: what a rank starts may need the real ones."""
        text = PROGRAM.replace("which_mpi();", 'which_mpi(); puts(getenv("LD_LIBRARY_PATH"));')
        text = "#include <stdio.h>\n#include <stdlib.h>\n" + text
        runtime = os.path.join(self.world.bindings, "openmpi/runtime")
        self.world.library("zip/lib/bindings/openmpi/runtime", "libopen-rte.so.99", "empty")
        program = self.world.program("with_runtime", "libmpi.so.40", "libopen-rte.so.99", text=text, options=[f"-L{runtime}"])
        self.says(f"ZipMPI for openmpi\n{self.world.bindings}/openmpi:{self.world.other}:{runtime}", program)
        self.world.library("host", "libopen-rte.so.99", "real")
        host = f"{self.world.path('host')}:{self.world.other}"
        self.says(f"ZipMPI for openmpi\n{self.world.bindings}/openmpi:{host}", program, LD_LIBRARY_PATH=host)

    def test_script(self):
        script = self.world.script("script.sh", f"#!/bin/sh\n{self.world.openmpi}\n{self.world.mpich}\n")
        self.says("ZipMPI for openmpi\nZipMPI for mpich", script)
        self.says("another openmpi\nanother mpich", "--mpi", "own", script)

    def test_r(self):
        """R puts a list of its own before LD_LIBRARY_PATH."""
        os.makedirs(self.world.path("r"))
        r = self.world.script("r/R", f"#!/bin/sh\nR_HOME_DIR=/usr/lib/R\nLD_LIBRARY_PATH=$R_LD_LIBRARY_PATH exec {self.world.openmpi}\n")
        self.says("ZipMPI for openmpi", r)
        self.says("ZipMPI for openmpi", self.world.script("t.R", f"#!{r} -f\n"))

    def test_standard_abi_is_unchanged(self):
        program = self.world.program("standard", "libmpi_abi.so.1",
                                     text='#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_LIBRARY_PATH")); }\n')
        self.says(self.world.other, program)
        r = self.world.run("--mpi", "zipmpi", program)
        self.assertTrue(r.out.startswith(self.world.bindings), r)

    def test_verbose_names_the_binding(self):
        r = self.world.run("-v", self.world.openmpi)
        self.assertIn(f"{self.world.openmpi} uses Open MPI's ABI (libmpi.so.40", r.err)
        self.assertIn(self.world.bindings + "/openmpi", r.err)

    def test_list_is_not_extended_twice(self):
        """Ranks start mpiexec for MPI_Comm_spawn."""
        script = self.world.script("nested.sh", f"#!/bin/sh\nexec {self.world.mpiexec} -n 1 printenv LD_LIBRARY_PATH\n")
        self.says(f"{self.world.bindings}/openmpi:{self.world.bindings}/mpich:{self.world.other}", script)


class BindingDoctor(Worldly):
    """`zipmpi doctor PROGRAM` and `zipmpi env`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(os.path.join(os.path.dirname(harness.MPIEXEC), "zipmpi"), cls.world.path("zip/bin"))

    def zipmpi(self, *args, **variables):
        env = environment({"LD_LIBRARY_PATH": self.world.other, **variables})
        return subprocess.run([self.world.path("zip/bin/zipmpi"), *args], capture_output=True, text=True, env=env, timeout=harness.SECONDS)

    def test_program(self):
        r = self.zipmpi("doctor", self.world.openmpi)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        self.assertRegex(r.stdout, r"uses +ZipMPI\n")
        self.assertIn(f"libmpi.so.40 (Open MPI), needed by {self.world.openmpi}", r.stdout)
        self.assertIn(f"{self.world.bindings}/openmpi/libmpi.so.40, by LD_LIBRARY_PATH", r.stdout)

    def test_json(self):
        r = self.zipmpi("doctor", "--json", self.world.mpich)
        facts = json.loads(r.stdout)["program"]
        self.assertEqual(facts["libraries"][0]["file"], f"{self.world.bindings}/mpich/libmpich.so.12")
        self.assertEqual(facts["messages"], [])

    def test_refused(self):
        r = self.zipmpi("doctor", self.world.program("doctor_mixed", "libmpi.so.40", "libmpich.so.12"))
        self.assertEqual(r.returncode, 1, r)
        self.assertIn("mixes two MPIs", r.stdout)

    def test_python(self):
        """The extension module decides, not the interpreter."""
        module = self.world.library("packages/mpi4py", "MPI.abi3.so", "", f"-L{self.world.other}", "-Wl,--no-as-needed",
                                    "-l:libmpich.so.12", text="int module;\n")
        script = self.world.script("t.py", "#!/usr/bin/env python3\n")
        os.makedirs(self.world.path("tools"))
        os.symlink("/bin/sh", self.world.path("tools/python3"))
        r = self.zipmpi("doctor", script, PYTHONPATH=self.world.path("packages"), PATH=self.world.path("tools"))
        self.assertIn(f"module {module}", r.stdout)
        self.assertIn("libmpich.so.12 (MPICH)", r.stdout)

    def test_not_found(self):
        r = self.zipmpi("doctor", "/nowhere/program")
        self.assertEqual(r.returncode, 127, r)

    def test_env(self):
        """The printed line makes a program load the binding without mpiexec."""
        r = subprocess.run(["sh", "-c", f'eval "$({self.world.path("zip/bin/zipmpi")} env)" && {self.world.openmpi} && {self.world.mpich}'],
                           capture_output=True, text=True, env=environment({"LD_LIBRARY_PATH": self.world.other}))
        self.assertEqual(r.stdout, "ZipMPI for openmpi\nZipMPI for mpich\n", r)
        self.assertTrue(self.zipmpi("env", "--shell", "csh").stdout.startswith('setenv LD_LIBRARY_PATH "'))
        module = self.zipmpi("env", "--module").stdout
        self.assertTrue(module.startswith("#%Module1.0\n"), module)
        self.assertIn(f'prepend-path LD_LIBRARY_PATH "{self.world.bindings}/openmpi:{self.world.bindings}/mpich"', module)


class BindingFaults(Worldly):
    def test_two_bindings(self):
        self.world.library("other", "liba.so", "", f"-L{self.world.other}", "-Wl,--no-as-needed", "-l:libmpich.so.12", text="int a;\n")
        program = self.world.program("mixed", "libmpi.so.40", "liba.so")
        self.fails(126, "mixes two MPIs", program, f"{self.world.other}/liba.so", "libmpi.so.40", "libmpich.so.12", program=program)
        r = self.world.run("--mpi", "own", program)
        self.assertEqual((r.code, r.out), (0, "another openmpi\n"), r)

    def test_standard_and_another(self):
        program = self.world.program("mixed_standard", "libmpi_abi.so.1", "libmpich.so.12")
        self.fails(126, "mixes two MPIs", "libmpi_abi.so.1", "libmpich.so.12", program=program)

    def test_preloaded_profiler_of_another_abi(self):
        profiler = self.world.library("tools", "libprofiler.so", "", f"-L{self.world.other}", "-Wl,--no-as-needed",
                                      "-l:libmpich.so.12", text="int profiler;\n")
        self.fails(126, profiler, "mixes two MPIs", "LD_PRELOAD", program=self.world.openmpi, LD_PRELOAD=profiler)

    def test_preloaded_other_library(self):
        library = os.path.join(self.world.other, "libmpi.so.40")
        self.warns("another openmpi", library, "LD_PRELOAD", program=self.world.openmpi, LD_PRELOAD=library)

    def test_old_version(self):
        self.world.library("other", "libmpi.so.20", "Open MPI 2")
        self.warns("Open MPI 2", "libmpi.so.20", "ZipMPI has no library", program=self.world.program("old", "libmpi.so.20"))

    def test_old_mpich(self):
        self.world.library("other", "libmpich.so.10", "MPICH 3.0")
        self.warns("MPICH 3.0", "libmpich.so.10", "libmpi.so.12 (MPICH 3.1", program=self.world.program("old_mpich", "libmpich.so.10"))

    def test_name_of_mpich_in_open_mpi(self):
        text = '#include <stdio.h>\nint ompi_mpi_comm_world;\nvoid which_mpi(void) { puts("Open MPI 1.10"); }\n'
        self.world.library("other", "libmpi.so.12", "", text=text)
        program = self.world.program("ambiguous", "libmpi.so.12",
                                     text=PROGRAM.replace("which_mpi(); }", "extern int ompi_mpi_comm_world; return ompi_mpi_comm_world; }"))
        r = self.world.run(program)
        self.sentences(r, ["libmpi.so.12", "another version of Open MPI"])

    def test_missing_companion(self):
        self.world.library("gone", "libmpi_usempi.so.40", "companion")
        program = self.world.program("companion", "libmpi.so.40", "libmpi_usempi.so.40", options=[f"-L{self.world.path('gone')}"])
        r = self.world.run(program)
        self.assertEqual(r.code, 127, r)
        self.sentences(r, ["a library of the program is missing: libmpi_usempi.so.40"])

    def test_missing_binding(self):
        moved = self.world.bindings + "/mpich"
        os.rename(moved, moved + ".away")
        try:
            self.says("another mpich", self.world.mpich)
            self.assertIn("has no binding for it", self.world.run("-v", self.world.mpich).err)
        finally:
            os.rename(moved + ".away", moved)

    def test_truncated_program(self):
        for size in (20, 100, 5000):
            program = self.world.write_program("truncated", self.world.openmpi_bytes()[:size])
            self.fails(126, "the file is damaged", program=program)

    def test_random_damage(self):
        """Any content of the headers ends with a message or with the program's own failure, never of mpiexec."""
        for i in range(40):
            bad = self.world.openmpi_bytes()
            for at in range(16 + i * 7 % 48, min(len(bad), 900), 37 + i):
                bad[at] = (bad[at] + 1 + i * 91) % 256
            r = self.world.run("--dry-run", self.world.write_program("damaged", bad))
            self.assertIn(r.code, (0, 126, 127), r)

    def test_truncated_library(self):
        folder = self.world.path("broken")
        os.makedirs(folder)
        with open(os.path.join(self.world.other, "libmpi.so.40"), "rb") as f, open(os.path.join(folder, "libmpi.so.40"), "wb") as g:
            g.write(f.read(200))
        self.says("ZipMPI for openmpi", self.world.openmpi, LD_LIBRARY_PATH=folder)

    def test_32_bit_program(self):
        bad = self.world.openmpi_bytes()
        bad[4] = 1  # class
        bad[18] = 3  # i386
        r = self.world.run(self.world.write_program("bits32", bad))
        self.assertNotEqual(r.code, 0)
        self.sentences(r, ["it is a 32-bit file"])

    def test_other_processor(self):
        bad = self.world.openmpi_bytes()
        bad[18:20] = b"\x08\x00"  # MIPS
        r = self.world.run(self.world.write_program("machine", bad))
        self.assertNotEqual(r.code, 0)
        self.sentences(r, ["it is a file for another processor (ELF machine 8)"])

    def test_missing_linker(self):
        program = self.world.program("linker", "libmpi.so.40", options=["-Wl,--dynamic-linker=/nowhere/ld.so.9"])
        self.fails(127, "its dynamic linker /nowhere/ld.so.9 does not exist", program=program)

    def test_script_without_interpreter(self):
        script = self.world.script("bad.sh", "#!/nowhere/python9 -u\n")
        self.fails(127, "the interpreter /nowhere/python9 does not exist", program=script)
        script = self.world.script("bad_env.sh", "#!/usr/bin/env python99\n")
        self.fails(127, "the interpreter python99 does not exist", program=script)

    def test_script_of_another_system(self):
        script = self.world.script("dos.sh", "#!/bin/sh\r\necho x\r\n")
        self.fails(127, "carriage return", program=script)

    def test_script_that_is_its_own_interpreter(self):
        script = self.world.path("loop.sh")
        self.world.script("loop.sh", f"#!{script}\n")
        self.assertNotEqual(self.world.run(script).code, 0)

    def test_program_not_found(self):
        self.fails(127, "cannot be started", program=self.world.path("nothing"))

    def test_static_program(self):
        try:
            quiet = self.world.compile(PLAIN, "plain", "-static")
        except AssertionError:
            self.skipTest("no static C library")
        self.quiet(self.world.run(quiet))
        text = '#include <stdio.h>\nconst char* ompi_mpi_init = "ompi_mpi_init";\nint main(void) { puts("static"); return !*ompi_mpi_init; }\n'
        program = self.world.compile(text, "static", "-static")
        self.warns("static", "statically linked", program=program)
        self.says("static", "--mpi", "own", program)
        own = self.world.compile(text.replace('"static"', '"ZIPMPI_NODE_FD"'), "static_zipmpi", "-static")
        self.says("ZIPMPI_NODE_FD", own)

    def test_setuid_program(self):
        if os.getuid() != 0:
            self.skipTest("only root can make a program of another user")
        program = self.world.program("setuid", "libmpi.so.40", options=[f"-Wl,-rpath,{self.world.other}"])
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o755 | stat.S_ISUID)
        r = self.world.run(program)
        self.sentences(r, ["setuid", "the dynamic linker ignores LD_LIBRARY_PATH"])

    def test_own_open_mpi_without_pmix(self):
        self.warns("another openmpi", "Open MPI needs PMIx", program=self.world.openmpi, options=["--mpi", "own", "--pmix", "no"])


if __name__ == "__main__":
    unittest.main()
