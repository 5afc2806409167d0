#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: standards.py INCLUDE_FOLDER

Compiles a program that includes mpi.h under every standard of C and C++ that the installed compilers support, with pedantic
warnings as errors. The program also uses the conversions between C and Fortran, with MPI_ and PMPI_ names, and takes the
address of some.
"""
import shutil
import subprocess
import sys

PROGRAM = """\
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Status status;
    MPI_Fint handle, words[8];
    MPI_Comm (*from_fortran)(MPI_Fint) = MPI_Comm_f2c;
    MPI_Fint (*to_fortran)(MPI_Comm) = &PMPI_Comm_c2f;
    int (*status_to_f08)(const MPI_Fint *, MPI_F08_status *) = PMPI_Status_f2f08;
    MPI_Init(&argc, &argv);
    handle = PMPI_Comm_c2f(MPI_COMM_WORLD);
    PMPI_Status_c2f(MPI_STATUS_IGNORE, words);
    MPI_Status_f2c(words, &status);
    status_to_f08(words, &status);
    if (from_fortran(handle) != MPI_COMM_WORLD || to_fortran(MPI_COMM_WORLD) != handle) return 1;
    return PMPI_Comm_f2c(handle) != MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
}
"""
STANDARDS = {
    "c": ("c89", "c99", "c11", "c17", "c2x"),
    "c++": ("c++98", "c++11", "c++14", "c++17", "c++20", "c++2b"),
}


def compile_error(compiler, language, standard, include):
    command = [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror",
               "-fsyntax-only", "-I", include, "-"]
    return subprocess.run(command, input=PROGRAM, text=True, capture_output=True, check=False).stderr


def main(include):
    compilers = [c for c in ("gcc", "clang", "clang-19") if shutil.which(c)]
    failed = 0
    for compiler in compilers:
        for language, standards in STANDARDS.items():
            for standard in standards:
                error = compile_error(compiler, language, standard, include)
                if error:
                    failed += 1
                    print(f"{compiler} -std={standard}:\n{error}")
    print(f"{len(compilers)} compilers, {failed} failures")
    return 1 if failed or not compilers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
