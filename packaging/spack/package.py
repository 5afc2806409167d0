# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack. Untested."""
from spack.package import *


class Zipmpi(CMakePackage):
    """MPI library with the standard ABI of MPI 5.0."""

    homepage = "https://zipmpi.invalid/"
    url = "https://zipmpi.invalid/zipmpi-0.2.0.tar.gz"
    license("BSD-3-Clause")

    version("0.2.0", sha256="0" * 64)

    variant("ucx", default=True, description="Networks by UCX; without it jobs are limited to one host")
    variant("ofi", default=False, description="Networks that only libfabric drives")
    variant("pmix", default=True, description="Start under Slurm and Open MPI by PMIx")
    variant("hwloc", default=True, description="Placement by caches and sockets")
    variant("graphs", default=False, description="Placement by SCOTCH and METIS")
    variant("fortran", default=True, description="Fortran bindings")

    provides("mpi@:5.0")
    conflicts("platform=darwin")
    conflicts("platform=windows")
    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.11:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("fmt")
    depends_on("ucx", when="+ucx")
    depends_on("openssl", when="+ucx")
    depends_on("libfabric", when="+ofi")
    depends_on("pmix", when="+pmix")
    depends_on("hwloc", when="+hwloc")
    depends_on("scotch", when="+graphs")
    depends_on("metis", when="+graphs")

    def cmake_args(self):
        def part(name, variant):
            return self.define("ZIPMPI_WITH_" + name, "ON" if self.spec.satisfies("+" + variant) else "OFF")

        return [self.define("ZIPMPI_TESTS", False), part("UCX", "ucx"), part("OFI", "ofi"), part("PMIX", "pmix"),
                part("HWLOC", "hwloc"), part("SCOTCH", "graphs"), part("METIS", "graphs"), part("FORTRAN", "fortran")]

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpif77 = self.prefix.bin.mpif77
        self.spec.mpifc = self.prefix.bin.mpif90
