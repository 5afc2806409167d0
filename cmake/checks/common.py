# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Functions shared by the checks: the files of the repository, and the form of a finding."""
import os
import pathlib
import subprocess
import sys

# CHECKED_ROOT: another repository to check; checks_test.py creates one with faults.
ROOT = pathlib.Path(os.environ.get("CHECKED_ROOT", pathlib.Path(__file__).resolve().parents[2]))


def own_files(*suffixes):
    """Files tracked by git, or not ignored by it, with one of these suffixes (default: all)."""
    out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         check=True, capture_output=True, text=True).stdout
    names = sorted(n for n in out.split("\0") if n)
    return [ROOT / n for n in names if (not suffixes or n.endswith(suffixes)) and (ROOT / n).is_file()]


def read_text(path):
    """The text of a file, or None if it is not UTF-8 text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def relative(path):
    return path.relative_to(ROOT).as_posix()


class Findings:
    def __init__(self, check):
        self.check = check
        self.errors = 0

    def error(self, path, line, text):
        self.errors += 1
        print(f"{relative(path)}:{line}: {text}")

    def warn(self, path, line, text):
        print(f"{relative(path)}:{line}: note: {text}")

    def finish(self, checked):
        print(f"{self.check}: {checked} checked, {self.errors} wrong")
        sys.exit(1 if self.errors else 0)
