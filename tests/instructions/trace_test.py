#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: trace_test.py MPIEXEC CALLS
Instructions that --profile and --trace add to an 8-byte MPI_Send and MPI_Recv, counted by callgrind: fails above a limit."""
import sys
import tempfile

from callgrind import profile_of_rank_0

CALLS = 16
LIMITS = {"profile": {"send": 124, "recv": 118}, "trace": {"send": 168, "recv": 208}}


def counts(mpiexec, program, *launch):
    inclusive = profile_of_rank_0(mpiexec, program, launch=launch).inclusive
    return {name: inclusive[f"count_{name}"] / CALLS for name in ("send", "recv")}


def main():
    mpiexec, program = sys.argv[1:3]
    failed = False
    plain = counts(mpiexec, program)
    with tempfile.TemporaryDirectory(prefix="zipmpi-trace-") as folder:
        for mode, launch in (("profile", ["--profile"]), ("trace", ["--trace", folder])):
            for name, count in counts(mpiexec, program, *launch).items():
                added, limit = round(count - plain[name]), LIMITS[mode][name]
                failed |= not 0 < added <= limit
                print(f"{mode:8} {name}: {added} instructions more, limit {limit}{'  TOO MANY' if added > limit else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
