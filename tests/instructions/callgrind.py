# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a profile of callgrind: inclusive instructions of functions, and the files of the functions that a call reaches."""
import pathlib
import re
import subprocess
import sys
import tempfile

NAME = re.compile(r"\((?P<id>\d+)\)(?: (?P<name>.*))?$")


class Profile:
    def __init__(self, text):
        self.names = {"file": {}, "function": {}}
        self.inclusive, self.home, self.callees = {}, {}, {}
        function = file = callee = None
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "fl":
                file = self.name("file", value)
            elif key == "fn":
                function = self.name("function", value)
                self.home.setdefault(function, file)
            elif key in ("fi", "fe", "cfi", "cfl"):
                self.name("file", value)
            elif key == "cfn":
                callee = self.name("function", value)
            elif key == "calls":
                self.callees.setdefault(function, set()).add(callee)
            elif re.match(r"[+*\d-]", line) and function is not None:
                self.inclusive[function] = self.inclusive.get(function, 0) + int(line.split()[1])

    def name(self, kind, value):
        match = NAME.match(value)
        names = self.names[kind]
        if match is None:
            return value
        if match["name"] is not None:
            names[match["id"]] = match["name"]
        return names[match["id"]]

    def reached_files(self, function, roots):
        """Files in these folders of the functions called from this one, directly or not."""
        seen, todo = set(), [function]
        while todo:
            for callee in self.callees.get(todo.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
        return {self.home[f] for f in seen if f in self.home and self.home[f] and self.home[f].startswith(roots)}


def profile_of_rank_0(mpiexec, program, *options, launch=()):
    """options are those of valgrind, launch those of mpiexec."""
    with tempfile.TemporaryDirectory(prefix="zipmpi-instructions-") as folder:
        done = subprocess.run([mpiexec, "-n", "2", *launch, "valgrind", "-q", "--tool=callgrind", *options,
                               f"--callgrind-out-file={folder}/%q{{PMI_RANK}}", program],
                              capture_output=True, text=True, timeout=100, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} under callgrind ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return Profile(pathlib.Path(folder, "0").read_text(encoding="utf-8"))
