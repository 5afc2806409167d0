# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the Fortran back ends: functions of each binding, their names and parameters."""

RETURNED = {"MPI_Aint": "integer(MPI_ADDRESS_KIND)", "double": "double precision"}
KINDS_OF_INTEGERS = {"int": "integer", "MPI_Aint": "integer(MPI_ADDRESS_KIND)", "MPI_Count": "integer(MPI_COUNT_KIND)",
                     "MPI_Offset": "integer(MPI_OFFSET_KIND)"}
# Names that differ in Fortran.
RENAMED = {"indx": "index"}
# Parameters that exist only in C.
C_ONLY = {"ARGUMENT_COUNT", "ARGUMENT_LIST", "VARARGS"}
# An address returned by the library: an integer or a pointer in Fortran (C_BUFFER); a pointer in mpi_f08, and in the
# older bindings a buffer that is not written (C_BUFFER2).
GIVEN_ADDRESS, DETACHED_ADDRESS = "C_BUFFER", "C_BUFFER2"


def has_binding(function, binding):
    """binding: f90 (mpif.h and module mpi) or f08. Functions that return handles and the tool interface exist only in C."""
    if function.errors == "tool" or (function.returns and function.returns not in RETURNED):
        return False
    return f"no-{binding}" not in (function.fortran or "")


def entries(spec, binding):
    """Large counts exist only in mpi_f08."""
    return [e for e in spec.entries if has_binding(e.function, binding) and (binding == "f08" or not e.wide)]


def params(entry):
    return [p for p in entry.params if p.kind.name not in C_ONLY]


def has_ierror(entry):
    return entry.function.returns is None and not any(p.kind.name == "VARARGS" for p in entry.params)


def name_of(param):
    return RENAMED.get(param.name, param.name)


def buffers(entry):
    return [p for p in entry.params if p.form == "buffer"]


def scalar_c_type(param, wide):
    """The C type of one element."""
    return param.kind.wide if wide else param.kind.narrow


def strings(entry):
    """Parameters with a hidden length argument."""
    return [p for p in params(entry) if p.form == "string" or p.kind.name.startswith("STRING_") and p.form == "pointer"]


def symbol(entry, prefix="", suffix=""):
    """The external symbol of a name as Fortran compilers mangle it."""
    return f"{prefix}{entry.name}{suffix}".lower() + "_"


def f08_suffix(entry):
    """Suffix of specific procedures in the standard: with buffers by descriptor, and without."""
    return "_f08ts" if buffers(entry) else "_f08"
