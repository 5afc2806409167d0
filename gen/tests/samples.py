# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Test data: the real tables, and small samples."""

from pathlib import Path

from zipmpi_gen import spec

ROOT = Path(__file__).resolve().parents[2]
REAL = spec.load(ROOT / "spec")
CHAPTER = spec.Chapter("test", 99, "sample", "p2p")


def function(params="", **row):
    return spec.parse_function("MPI_Made_up", {"params": params, **row}, CHAPTER, REAL.kinds)


def entry(params="", wide=False, **row):
    return spec.Entry(function(params, **row), wide, 7)
