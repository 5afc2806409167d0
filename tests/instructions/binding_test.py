#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: binding_test.py MPIEXEC CALLS OTHER_CALLS
CALLS uses the standard ABI, OTHER_CALLS that of another MPI library: the calls cost at most 12 instructions more."""
import sys

from callgrind import profile_of_rank_0

CALLS = 16
MOST = 12
COMPARED = ("send", "recv", "waitall", "comm_rank", "put")


def counts(mpiexec, program):
    profile = profile_of_rank_0(mpiexec, program)
    return {name.removeprefix("count_"): round(total / CALLS) for name, total in profile.inclusive.items()
            if name.startswith("count_")}


def main():
    mpiexec, standard, other = sys.argv[1:4]
    before, now = counts(mpiexec, standard), counts(mpiexec, other)
    failed = False
    for name in COMPARED:
        more = now[name] - before[name]
        failed |= more > MOST
        print(f"{name:16} {now[name]:6} instructions, {more:+} against the standard ABI{'  TOO MANY' if more > MOST else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
