-- SPDX-FileCopyrightText: 2026 the ZipMPI authors
-- SPDX-License-Identifier: BSD-3-Clause
-- Lmod. Replace @PREFIX@ and @VERSION@.
help([[ZipMPI @VERSION@: MPI with the standard ABI of MPI 5.0. mpicc, mpicxx and mpifort compile, mpiexec starts programs.]])
whatis("Name: ZipMPI")
whatis("Version: @VERSION@")
whatis("Description: MPI library with the standard ABI of MPI 5.0")
family("mpi")
local prefix = "@PREFIX@"
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
setenv("MPI_HOME", prefix)
