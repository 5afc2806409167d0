# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# shellcheck shell=sh
# Read by mpifort and build_modules.sh: zipmpi_compiler_key COMPILER... prints what compilers have in common that can use
# the same modules, as a name for a directory; nothing if it does not say what it is. The versions of one gfortran branch are alike.
zipmpi_compiler_key() {
    zipmpi_line=$("$@" --version 2>/dev/null </dev/null | sed -n '/./{p;q;}')
    case $zipmpi_line in
    "GNU Fortran"*) zipmpi_line=gfortran-$("$@" -dumpversion | cut -d. -f1) ;;
    esac
    printf '%s' "$zipmpi_line" | tr -cs 'A-Za-z0-9._-' '_'
}
