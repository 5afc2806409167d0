#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the checks: a small repository without faults, then one fault at a time."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKS = pathlib.Path(__file__).resolve().parent
HEAD = "// SPDX-FileCopyrightText: 2026 the ZipMPI authors\n// SPDX-License-Identifier: BSD-3-Clause\n"
GOOD = {
    "README.md": "# All\n\nSee [docs](docs/README.md#how-fast-it-is), `src/part/code.cpp`, docs/decisions/0001.\n"
                 "`ZIPMPI_SHM_CELLS_PER_RANK=1 mpiexec -n 2 --label ./a.out --own` and `zipmpi info --params`, param `shm.cells_per_rank`.\n"
                 "```sh\nmpiexec -n 1 ./a --its-own : -n 2 -label ./b\n```\n",
    "docs/README.md": "# Pages\n\n- [one](decisions/0001_one.md)\n- [guide](guide/README.md)\n\n## How fast it is\n\n![x](x.svg)\n",
    "docs/guide/README.md": "# Guide\n\n1. [run](running.md)\n",
    "docs/guide/running.md": "# Run\n\nText, `--label` too.\n",
    "docs/decisions/0001_one.md": "# One\n\nText.\n",
    "docs/x.svg": "<svg/>\n",
    "src/README.md": "# src\n\n`part/`: `code.cpp`, `more_*.cpp`; `own/`\n",
    "src/part/code.cpp": HEAD + "// docs/guide/running.md, part/more_a.cpp, ZIPMPI_SHM_CELLS_PER_RANK\n"
                                "Param<int64_t> cells{\n    \"shm.cells_per_rank\", 1};\n",
    "src/part/more_a.cpp": HEAD,
    "src/own/README.md": "# own\n\n`file.cpp`\n",
    "src/own/file.cpp": HEAD,
    "launch/README.md": "# launch\n\n`mpiexec/`: `options`\n",
    "launch/mpiexec/options.cpp": HEAD + 'app.add_option("-n,--np", x);\napp.add_flag("--label", y);\n',
    "tools/README.md": "# tools\n\n`zipmpi/`: see its README\n",
    "tools/zipmpi/README.md": "# zipmpi\n\n`main.cpp`\n",
    "tools/zipmpi/main.cpp": HEAD + 'app.add_subcommand("info", "");\ninfo->add_flag("--params", z);\n',
}


class Repository:
    """The files of GOOD with some changed; None removes one."""

    def __init__(self, changes):
        self.folder = tempfile.TemporaryDirectory(prefix="zipmpi-checks-")
        root = pathlib.Path(self.folder.name).resolve()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for name, text in (GOOD | changes).items():
            if text is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
        self.root = root

    def commit(self):
        """Commits all files and returns the abbreviated id."""
        for words in (["add", "--all"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--message=all: test"]):
            subprocess.run(["git", "-C", self.root, *words], check=True)
        return subprocess.run(["git", "-C", self.root, "rev-parse", "--short=8", "HEAD"], check=True, capture_output=True,
                              text=True).stdout.strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def check(self, name, root=None):
        done = subprocess.run([sys.executable, "-B", CHECKS / f"{name}.py"], capture_output=True, text=True, check=False,
                              env=os.environ | {"CHECKED_ROOT": str(root or self.root)})
        assert done.stderr == "", done.stderr
        return done.returncode, done.stdout.splitlines()[:-1]


def added(name, text):
    return {name: GOOD[name] + text}


# The options as a table.
TABLE = {"launch/mpiexec/options.cpp": None, "launch/mpiexec/options.toml": """
[[group]]
title = "All"
options = [
  {names="-n --np", args="N", does="ranks"}, {names="--label -l", args="", does="label"},
  {names="--genv", args="NAME VALUE", does="env"}, {names="--output", args="[=X]", does="output"},
  {names="--tune", args="", does="refuse"},
]
"""}

# The lists of the wording check.
WORDS = {
    "cmake/checks/wording.tsv": "line\tall\t\\bnobody\\b\tno process\npart\tall\tnobody\tno process\nline\tall\t\\bluck\\b\tbackoff\n",
    "cmake/checks/wording_exempt.tsv": "\\bluck\\b\tsrc/own/free.cpp\tfor this test\n",
    "cmake/checks/retired_names.tsv": "old_thing\tnew_thing\n",
}

# check, changed files, location and text of the finding
FAULTS = [
    ("pages", added("README.md", "[a](docs/none.md)\n"), "README.md:8: the link to docs/none.md does not resolve"),
    ("pages", added("README.md", "[a](docs/README.md#nowhere)\n"), "README.md:8: docs/README.md has no heading #nowhere"),
    ("pages", added("README.md", "[a](#nowhere)\n"), "README.md:8: this page has no heading #nowhere"),
    ("pages", added("docs/guide/running.md", "\n## Empty\n\n## Full\n\nText.\n"),
     "docs/guide/running.md:5: this section is empty"),
    ("pages", added("docs/guide/running.md", "\n## Empty\n"), "docs/guide/running.md:5: this section is empty"),
    ("pages", added("docs/guide/running.md", "\n#\n\nText.\n"), "docs/guide/running.md:5: a heading without text"),
    ("pages", {"docs/design/new.md": "# New\n\nText.\n"}, "docs/design/new.md:1: this page is in no index"),
    ("pages", {"docs/design/new.svg": "<svg/>\n"}, "docs/design/new.svg:1: no page shows this picture"),
    ("pages", {"src/README.md": None, "src/part/README.md": "# part\n\n`code`, `more_a`\n"}, "src:1: no README.md here"),
    ("pages", {"src/leaf/file.cpp": HEAD}, "src/leaf:1: no README.md here, and none above"),
    ("pages", {"src/part/deep/file.cpp": HEAD, "src/part/deep/README.md": "# deep\n\n`file.cpp`\n"},
     "src/part:1: no README.md here"),
    ("pages", {"src/part/unnamed.cpp": HEAD}, "src/part/unnamed.cpp:1: src/README.md does not name this file"),
    ("pages", {"src/part/unnamed.cpp": HEAD} | added("src/README.md", "Nothing is unnamed.\n"),
     "src/part/unnamed.cpp:1: src/README.md does not name this file"),
    ("pages", {"src/own/unnamed.hpp": HEAD}, "src/own/unnamed.hpp:1: src/own/README.md does not name this file"),
    ("pages", added("src/own/README.md", "line\n" * 60), "src/own/README.md:1: longer than 60 lines"),
    ("references", added("README.md", "`shm.cell`\n"), "README.md:8: shm.cell is not a parameter"),
    ("references", added("README.md", "Set ZIPMPI_SHM_CELL=1.\n"), "README.md:8: ZIPMPI_SHM_CELL is not a parameter"),
    ("references", added("src/own/file.cpp", "// ZIPMPI_SHM_CELL\n"), "src/own/file.cpp:3: ZIPMPI_SHM_CELL is not a parameter"),
    ("references", added("README.md", "`mpiexec -n 2 --lable ./a.out`\n"), "README.md:8: mpiexec has no option --lable"),
    ("references", added("README.md", "```sh\nmpiexec -n 2 ./a : -x 1 ./b\n```\n"), "README.md:9: mpiexec has no option -x"),
    ("references", TABLE | added("README.md", "`mpiexec --genv A --b -l --output ./a --own`, `mpiexec -np 2 --lable ./a`\n"),
     "README.md:8: mpiexec has no option --lable"),
    ("references", TABLE | added("README.md", "`--tune` is refused: `mpiexec --tune ./a`\n"), "README.md:8: mpiexec has no option --tune"),
    ("references", added("README.md", "`zipmpi info --nobs`\n"), "README.md:8: zipmpi info has no option --nobs"),
    ("references", added("README.md", "with `--nobs 1`\n"), "README.md:8: no command has the option --nobs"),
    ("references", {"docs/design/seeds.md": "# A\n\n| what | code |\n|---|---|\n| a | yes |\n"},
     "docs/design/seeds.md:5: this row names no path in the column of code"),
    ("references", {"docs/design/seeds.md": "# A\n\n| what | code |\n|---|---|\n| a | `Thing` in src/own/file.cpp |\n"},
     "docs/design/seeds.md:5: Thing is not defined in a file that this row names"),
    ("references", added("README.md", "`part/none.cpp`\n"), "README.md:8: part/none.cpp is not a file or folder"),
    ("references", added("README.md", "see src/none/ there\n"), "README.md:8: src/none/ is not a file or folder"),
    ("references", added("README.md", "see docs/decisions/0002\n"), "README.md:8: docs/decisions/0002 is not a file"),
    ("references", added("README.md", "`none.cpp`\n"), "README.md:8: none.cpp is not a file or folder"),
    ("references", added("README.md", "`own/none.*`\n"), "README.md:8: there are no files own/none.*"),
    ("references", added("src/own/file.cpp", "// see own/none.hpp\n"), "src/own/file.cpp:3: own/none.hpp is not a file"),
    ("wording", WORDS | added("README.md", "Nobody waits.\n"), "README.md:8: 'Nobody': no process"),
    ("wording", WORDS | added("src/own/file.cpp", "int of_nobody;\n"), "src/own/file.cpp:3: 'nobody' in 'of_nobody'"),
    ("wording", WORDS | added("src/own/file.cpp", "int old_thing;\n"), "src/own/file.cpp:3: 'old_thing' is called new_thing now"),
    ("wording", WORDS | added("src/own/file.cpp", "// luck\n") | {"src/own/free.cpp": HEAD + "// luck\n"},
     "src/own/file.cpp:3: 'luck'"),
    ("length", added("src/own/file.cpp", "int x;\n" * 400), "src/own/file.cpp:1: 402 lines, the limit is 400"),
    ("length", added("src/own/file.cpp", "void f() {\n" + "g();\n" * 80 + "}\n"), "src/own/file.cpp:3: function of 82 lines"),
    ("class_size", added("src/own/file.cpp", "class A {\n" + "void f();\n" * 31 + "};\n"), "src/own/file.cpp:3: A: 31 functions"),
    ("class_size", added("src/own/file.cpp", "class A {\n" + "void f() {}\n" * 4 + "int a_;\n" * 16 + "};\n"),
     "src/own/file.cpp:3: A: 16 data members"),
    ("class_size", added("src/own/file.cpp", "struct A {\n" + "int a;\n" * 31 + "};\n"), "src/own/file.cpp:3: A: 31 data members"),
    ("texts", {"src/own/file.cpp": "int x;\n"}, "src/own/file.cpp:1: the two SPDX lines"),
    ("texts", added("src/own/file.cpp", "// TO" + "DO\n"), "src/own/file.cpp:3: a task note"),
    ("texts", added("README.md", "/ho" + "me/me\n"), "README.md:8: a machine-specific path"),
]


class Checks(unittest.TestCase):
    def test_no_findings_in_correct_repository(self):
        with Repository({}) as repository:
            for check in ("class_size", "length", "pages", "references", "texts", "wording"):
                self.assertEqual(repository.check(check), (0, []))

    def test_exactly_each_fault_is_found(self):
        for check, changes, said in FAULTS:
            with self.subTest(said), Repository(changes) as repository:
                status, found = repository.check(check)
                self.assertEqual(status, 1)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(said), found[0])

    def test_commits_of_pages_are_in_the_history(self):
        unknown = "1a2b3c4d"
        with Repository({}) as repository:
            known = repository.commit()
            (repository.root / "README.md").write_text(GOOD["README.md"] + f"Measured at commit {known}, `a1-{unknown}`.\n")
            self.assertEqual(repository.check("references"), (0, []))
            (repository.root / "README.md").write_text(GOOD["README.md"] + f"After\n{unknown}: 3 s.\nCommit 12345678 was slow.\n")
            self.assertEqual(repository.check("references"),
                             (1, [f"README.md:9: {unknown} is not a commit of this history",
                                  "README.md:10: 12345678 is not a commit of this history"]))
            repository.commit()
            shallow = repository.root / "clone"
            subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repository.root}", shallow], check=True)
            self.assertEqual(repository.check("references", shallow), (0, []))


if __name__ == "__main__":
    unittest.main()
