#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: send_path_test.py MPIEXEC CALLS SOURCE_FOLDER BUILD_FOLDER
The functions, without inlined ones, that an 8-byte MPI_Send within a node passes are in at most six files (docs/architecture.md, walk 1)."""
import sys

from callgrind import profile_of_rank_0

MOST = 6


def main():
    mpiexec, program, source, build = sys.argv[1:5]
    profile = profile_of_rank_0(mpiexec, program, "--toggle-collect=count_send")
    files = profile.reached_files("count_send", (source + "/src/", build + "/gen/", build + "/header_view/"))
    for file in sorted(files):
        print(file)
    if not any("entries_p2p" in file for file in files):
        sys.exit("the profile does not show the entry point")
    return 1 if len(files) > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
