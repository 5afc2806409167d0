# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# shellcheck shell=sh
# Sourced by mpifort and build_modules.sh: zipmpi_compiler_key COMPILER... prints a directory name that is equal for
# compilers that can share modules; empty if the compiler prints no version. The versions of one gfortran branch are
# compatible.
zipmpi_compiler_key() {
    zipmpi_line=$("$@" --version 2>/dev/null </dev/null | sed -n '/./{p;q;}')
    case $zipmpi_line in
    "GNU Fortran"*) zipmpi_line=gfortran-$("$@" -dumpversion | cut -d. -f1) ;;
    esac
    printf '%s' "$zipmpi_line" | tr -cs 'A-Za-z0-9._-' '_'
}
