# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The files of the Fortran bindings: their C++ and C code, mpif.h, and include files of the modules."""

from . import fortran, fortran_buffers, fortran_constants, fortran_glue, fortran_interfaces


def mpif_h(spec):
    functions = [(e.name, fortran.RETURNED[e.function.returns]) for e in fortran.entries(spec, "f90") if e.function.returns]
    return fortran_constants.mpif_h(spec, functions)


def fortran_files(spec):
    files = {
        "modules/base_constants.inc": fortran_constants.base_constants(spec),
        "modules/base_types.inc": fortran_constants.derived_types(spec),
        "modules/base_comparisons.inc": fortran_constants.comparisons(spec),
        "modules/f90_constants.inc": fortran_constants.f90_constants(spec),
        "modules/f90_interfaces.inc": fortran_interfaces.f90_interfaces(spec),
        "modules/f08_constants.inc": fortran_constants.f08_constants(spec),
        "modules/f08_callbacks.inc": fortran_interfaces.f08_callbacks(spec),
        "modules/f08_interfaces.inc": fortran_interfaces.f08_interfaces(spec),
    }
    files["modules/f08_buffers.c"] = fortran_buffers.f08_buffers(spec)
    for chapter in spec.chapters:
        files[f"glue/{chapter.key}.cpp"] = fortran_glue.chapter_file(spec, chapter)
    return files
