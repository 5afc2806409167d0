# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of other packages that tests use. A test whose program is missing is skipped; but where CI=true is set, as in
.ci/run, it fails if a package of ci/packages_*.txt has the program: nothing is skipped there without notice."""
import glob
import os
import shutil
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = {"ip": "iproute2", "man": "man-db", "mpicc.openmpi": "libopenmpi-dev", "mpicc.mpich": "libmpich-dev", "otf2-print": "otf2-tools",
            "NPmpich2": "netpipe-mpich2", "NPopenmpi": "netpipe-openmpi"}  # of other names than the program's


def listed_packages():
    lines = []
    for path in glob.glob(os.path.join(ROOT, "ci/packages_*.txt")):
        with open(path, encoding="utf-8") as f:
            lines += [line.strip() for line in f]
    return {line for line in lines if line and not line.startswith("#")}


def find(*names):
    """The path of the first of these programs that is installed, or None."""
    for name in names:
        if path := shutil.which(name):
            return path
    package = PACKAGES.get(names[0], names[0])
    if os.environ.get("CI") == "true" and package in listed_packages():
        raise AssertionError(f"{names[0]} is not installed, but CI=true is set and ci/packages_*.txt has {package}")
    return None


def needed(*names):
    """Like find(), but skips the test if there is none."""
    path = find(*names)
    if path is None:
        raise unittest.SkipTest(f"{names[0]} is not installed")
    return path
