#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of mpiexec's options is consistent, and the guide's tables are generated from it."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))

from zipmpi_gen import command_line_docs  # noqa: E402

if __name__ == "__main__":
    command_line_docs.main(ROOT / "launch/mpiexec/options.toml", ROOT / "docs/guide/migrating.md", "--check")
    print("options: the guide is up to date")
