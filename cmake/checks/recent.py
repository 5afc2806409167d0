# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which files a long check looks at in every run: those of the last commits, and a tenth of the others."""
import subprocess
import zlib

from common import ROOT

COMMITS = 20  # a merge counts as one
WHOLESALE = 150  # commits with more files are skipped: run the check over everything before them


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()


class RecentFiles:
    def __init__(self):
        self.head = git("rev-parse", "HEAD")[0]
        commits = git("log", "-n", str(COMMITS), "--first-parent", "--format=%H")
        changed_by = [set(git("show", "-m", "--first-parent", "--name-only", "--format=", commit)) for commit in commits]
        self.changed = set(git("diff", "--name-only", "HEAD")).union(*(s for s in changed_by if len(s) <= WHOLESALE))

    def __contains__(self, name):
        """`name` is relative to the root. The tenth of the others differs from commit to commit."""
        return name in self.changed or zlib.crc32((self.head + name).encode()) % 10 == 0
