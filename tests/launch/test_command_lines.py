# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command lines: those of command_lines.txt lead to the plans of that file, and every option of the table is accepted."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

import command_lines
from harness import MPIEXEC, Case, environment, needs, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "gen"))

from zipmpi_gen import command_line  # noqa: E402

FILES, BLOCKS = command_lines.read(command_lines.PATH.read_text())
TABLE = command_line.read(ROOT / "launch/mpiexec/options.toml")
# Builds with sanitizers have no library that records calls, and say so.
RECORDS_CALLS = (pathlib.Path(MPIEXEC).parents[1] / "lib/zipmpi/zipmpi_trace_standard.so").exists()


def needs_recording(block):
    return any(line.startswith(("profile", "trace")) for line in block.plan)


class Plans(Case):
    def test_there_are_enough(self):
        by_manual = Counter(block.section for block in BLOCKS)
        self.assertEqual(len(by_manual), 4, by_manual)
        self.assertGreaterEqual(min(by_manual.values()), 40, by_manual)

    def test_each_leads_to_its_plan(self):
        with command_lines.Place(FILES) as place:
            for block in BLOCKS:
                if needs_recording(block) and not RECORDS_CALLS:
                    continue
                with self.subTest(command=block.command, env=block.env):
                    self.assertEqual(place.plan(block), block.plan)


class Starts(Case):
    def test_there_are_enough(self):
        self.assertGreaterEqual(sum(block.starts for block in BLOCKS), 30)

    def test_expected_output(self):
        with command_lines.Place(FILES) as place:
            for block in filter(lambda b: b.starts, BLOCKS):
                with self.subTest(command=block.command, env=block.env):
                    done = place.run(block)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(sorted(line.rstrip() for line in done.stdout.splitlines()), [o.rstrip() for o in block.output])


class Options(Case):
    """The table and the program agree."""
    VALUES = {"none": [], "attached": [], "one": ["1"], "two": ["a", "b"], "pair": ["A=1"], "ranks": ["0"]}

    def test_every_name_is_accepted(self):
        for option in TABLE.options:
            for name in option.names:
                with self.subTest(option=name):
                    done = run("--dry-run", name, *self.VALUES[option.words], "true")
                    self.assertNotIn(f"the option {name} is not known", done.err)
                    self.assertIn(done.code, (0, 2))
                    if option.does == "refuse":
                        self.four_parts(done.err)
                        self.assertIn(f"{name} is not supported", done.err)
                        self.assertIn(option.use, done.err)
                    elif option.does == "accept":
                        self.quiet(done)

    def test_ignored_options_are_reported_with_v(self):
        for option in (o for o in TABLE.options if o.does == "accept"):
            with self.subTest(option=option.names[0]):
                done = run("-v", option.names[0], *self.VALUES[option.words], "true")
                self.assertEqual(done.code, 0, done)
                self.assertEqual(len(re.findall("^mpiexec: .* has no effect: ", done.err, re.M)), 1, done.err)

    def test_help_lists_all_options(self):
        short, everything = run("--help").out, run("--help=all").out
        for option in command_line.documented(TABLE):
            for name in option.names:
                self.assertIn(name, everything)
            listed = re.search(rf"^  {re.escape(', '.join(option.names))}(?![-\\w])", short, re.M)
            self.assertEqual(listed is not None, option.own, option.names)

    def test_common_scripts(self):
        with command_lines.Place(FILES) as place:
            for words in ("--oversubscribe", "--allow-run-as-root", "-x FOO=1", "--mca btl tcp,self", "-genv A 1", "-ppn 2", "-wdir .",
                          "--report-bindings", "-l", "--tag-output", "--machinefile hosts", "-H host:4"):
                block = command_lines.Block("", f"-np 2 {words} true")
                self.assertEqual(place.plan(block)[0], "ranks 2", words)


class Completion(Case):
    def complete_in_zsh(self, text):
        """In an interactive zsh, by its completion system."""
        with tempfile.TemporaryDirectory(prefix="completion-") as folder:
            command_line.main(ROOT / "launch/mpiexec/options.toml", folder)
            done = subprocess.run(["zsh", "-f", HERE / "complete.zsh", f"{folder}/completion", text], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, cwd="/", timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def complete(self, *words):
        with tempfile.TemporaryDirectory(prefix="completion-") as folder:
            command_line.main(ROOT / "launch/mpiexec/options.toml", folder)
            script = (f"source {folder}/completion/mpiexec; COMP_WORDS=({' '.join(words)}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                      "_zipmpi_mpiexec; printf '%s\\n' \"${COMPREPLY[@]}\"")
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd="/", timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        needs("bash")
        self.assertEqual(self.complete("mpiexec", "--report-b"), ["--report-bindings"])
        self.assertIn("l3cache", self.complete("mpiexec", "-n", "4", "--bind-to", "l"))
        self.assertIn("/usr", [p.rstrip("/") if p.startswith("/") else "/" + p for p in self.complete("mpiexec", "--wdir", "us")])
        self.assertEqual(self.complete("mpiexec", "-n", "''"), [])
        self.assertNotIn("--label", self.complete("mpiexec", "-n", "2", "true", "--lab"))
        self.assertEqual(self.complete("mpiexec", "true", ":", "--lab"), ["--label"])

    def test_zsh(self):
        needs("zsh")
        self.assertEqual(self.complete_in_zsh("mpiexec --report-b"), ["--report-bindings"])
        self.assertEqual(self.complete_in_zsh("mpirun -n 4 --bind-to l"), ["l1cache", "l2cache", "l3cache"])
        self.assertIn("usr", self.complete_in_zsh("mpiexec --wdir us"))
        self.assertEqual(self.complete_in_zsh("mpiexec -n "), [])
        self.assertEqual(self.complete_in_zsh("mpiexec --mca btl self --lab"), ["--label"])
        self.assertIn("true", self.complete_in_zsh("mpiexec -n 2 tru"))
        self.assertNotIn("--label", self.complete_in_zsh("mpiexec -n 2 true --lab"))


class Tools(Case):
    """--gdb and --xterm with a stub of xterm that only runs its command."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="windows-")
        self.addCleanup(self.folder.cleanup)
        for name, text in (("xterm", 'echo "window $2"; shift 3; exec "$@"'), ("gdb", 'while [ "$1" != --args ]; do shift; done; shift\n'
                                                                              'echo "gdb $PMI_RANK"; exec "$@"')):
            path = pathlib.Path(self.folder.name) / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        self.env = {"DISPLAY": ":9", "PATH": f"{self.folder.name}:{os.environ['PATH']}"}

    def lines(self, *words):
        done = run("-n", 3, *words, "sh", "-c", "echo rank $PMI_RANK", env=self.env)
        self.quiet(done)
        return sorted(done.out.splitlines())

    def test_gdb(self):
        self.assertEqual(self.lines("--gdb=0,2"), ["gdb 0", "gdb 2", "rank 0", "rank 1", "rank 2", "window rank 0", "window rank 2"])

    def test_xterm(self):
        self.assertEqual(self.lines("--xterm", "1"), ["rank 0", "rank 1", "rank 2", "window rank 1"])
        self.assertEqual(len(self.lines("--xterm", "-1")), 6)


class Directories(Case):
    def test_program_is_searched_there(self):
        with tempfile.TemporaryDirectory(prefix="wdir-") as folder:
            script = pathlib.Path(folder) / "hello"
            script.write_text("#!/bin/sh\necho hello $(pwd)\n")
            script.chmod(0o755)
            self.assertEqual(run("-n", 1, "-wdir", folder, "./hello").out, f"hello {folder}\n")
            self.assertEqual(run("-n", 1, "-path", folder, "hello").out.split()[0], "hello")

    def test_missing_directory(self):
        done = run("-n", 1, "-wdir", "/no/such/directory", "true")
        self.assertEqual((done.code, done.out), (127, ""))
        self.four_parts(done.err)
        self.assertIn("directory /no/such/directory", done.err)
        self.assertIn("--wdir", done.err)


class ReportPid(Case):
    def test_pid_of_mpiexec(self):
        p = subprocess.Popen([MPIEXEC, "--report-pid", "-", "-n", "1", "true"], stdout=subprocess.PIPE, text=True, env=environment())
        self.assertEqual(p.communicate(timeout=20)[0], f"{p.pid}\n")


if __name__ == "__main__":
    unittest.main()
