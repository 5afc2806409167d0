#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a wheel of an installation of ZipMPI: launcher, tools, libraries, bindings; nothing for compiling.

  build_wheel.py PREFIX FOLDER      PREFIX: of cmake --install BUILD --prefix PREFIX --strip; prints the path of the wheel

The files are data of the wheel, so pip puts them into bin, lib and share of the environment: the installation works at every
path. A wheel has no links: a library is stored under the name that programs load, other links to programs become scripts.
Equal installations give equal bytes."""
import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)
FOLDERS = ("bin", "lib", "share")
FOR_COMPILING = re.compile(r"bin/mpi(cc|cxx|c\+\+|CC|f77|f90|fort)(_abi)?$|lib/[^/]*\.(so|a)$|lib/(pkgconfig|cmake|zipmpi/fortran)/|"
                           r"share/zipmpi/fortran/|share/(doc|man/man3)/|share/man/man1/mpi[cf]|(^|/)\.debug/")
LOADED_NAME = re.compile(r"\.so(\.\d+)?$")
LINK_TO_PROGRAM = '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/{}" "$@"\n'
WRITTEN, EXECUTABLE = 0o100644, 0o100755

METADATA = """Metadata-Version: 2.1
Name: zipmpi
Version: {version}
Summary: MPI library with the standard ABI of MPI 5.0
License: BSD-3-Clause
Requires-Python: >=3.9
Description-Content-Type: text/markdown

Launcher, tools and libraries of ZipMPI. `mpiexec` also runs programs and Python modules that were built for Open MPI or
MPICH. The libraries of UCX, libfabric, hwloc and PMIx are used where the system has them.
"""
WHEEL = """Wheel-Version: 1.0
Generator: zipmpi
Root-Is-Purelib: false
Tag: {tag}
"""


def version_of(prefix):
    out = subprocess.run([prefix / "bin/mpiexec", "--version"], capture_output=True, text=True, check=True).stdout
    return out.split()[-1]


def is_duplicate(path):
    """libmpi_abi.so.1.0, which everything loads as libmpi_abi.so.1."""
    return ".so." in path.name and not LOADED_NAME.search(path.name)


def contents_of(prefix):
    """(path in the prefix, mode, bytes) of all files of the wheel."""
    for path in sorted(p for folder in FOLDERS for p in (prefix / folder).rglob("*")):
        name = path.relative_to(prefix).as_posix()
        if path.is_dir() or FOR_COMPILING.search(name) or is_duplicate(path):
            continue
        mode = EXECUTABLE if os.access(path, os.X_OK) else WRITTEN
        if path.is_symlink() and name.startswith("bin/"):
            yield name, mode, LINK_TO_PROGRAM.format(os.readlink(path)).encode()
        else:
            yield name, mode, path.read_bytes()


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    def __init__(self, path, info):
        self.file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self.info, self.records = info, []

    def add(self, name, data, mode=WRITTEN):
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.file.writestr(entry, data)
        self.records.append(f"{name},{digest(data)},{len(data)}\n")

    def close(self):
        self.records.append(f"{self.info}/RECORD,,\n")
        self.add(f"{self.info}/RECORD", "".join(self.records).encode())
        self.file.close()


def build(prefix, folder):
    version = version_of(prefix)
    tag = "py3-none-linux_" + platform.machine()
    stem = f"zipmpi-{version}"
    path = folder / f"{stem}-{tag}.whl"
    wheel = Wheel(path, stem + ".dist-info")
    for name, mode, data in contents_of(prefix):
        wheel.add(f"{stem}.data/data/{name}", data, mode)
    for name, text in (("METADATA", METADATA), ("WHEEL", WHEEL)):
        wheel.add(f"{wheel.info}/{name}", text.format(version=version, tag=tag).encode())
    licenses = sorted((prefix / "share/doc").rglob("LICENSE"))
    for license_file in licenses[:1]:
        wheel.add(f"{wheel.info}/LICENSE", license_file.read_bytes())
    wheel.close()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    print(build(arguments.prefix.resolve(), arguments.folder.resolve()))


if __name__ == "__main__":
    main()
