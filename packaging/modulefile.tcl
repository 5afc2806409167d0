#%Module1.0
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Environment Modules. Replace @PREFIX@ and @VERSION@.
proc ModulesHelp {} {
    puts stderr "ZipMPI @VERSION@: MPI with the standard ABI of MPI 5.0. mpicc, mpicxx and mpifort compile, mpiexec starts programs."
}
module-whatis "ZipMPI @VERSION@: MPI library with the standard ABI of MPI 5.0"
conflict openmpi mpich intel-mpi
set prefix @PREFIX@
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path PKG_CONFIG_PATH $prefix/lib/pkgconfig
setenv MPI_HOME $prefix
