#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: count_test.py MPIEXEC CALLS COUNTS.tsv [--update]
Instructions per call, counted by callgrind, against the recorded counts: fails if one grows by more than 3 percent.
--update records the present counts."""
import pathlib
import sys

from callgrind import profile_of_rank_0

CALLS = 16
TOLERANCE = 1.03


def main():
    mpiexec, program, table = sys.argv[1:4]
    profile = profile_of_rank_0(mpiexec, program)
    counts = {name.removeprefix("count_"): round(total / CALLS) for name, total in profile.inclusive.items()
              if name.startswith("count_")}
    if "--update" in sys.argv:
        pathlib.Path(table).write_text("".join(f"{name}\t{count}\n" for name, count in sorted(counts.items())), encoding="utf-8")
    recorded = dict(line.split("\t") for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines())
    failed = counts.keys() != recorded.keys()
    for name in sorted(counts.keys() | recorded.keys()):
        before, now = int(recorded.get(name, 0)), counts.get(name, 0)
        grown = now > before * TOLERANCE
        failed |= grown
        print(f"{name:16} {now:6} instructions, recorded {before}{'  TOO MANY' if grown else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
