# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran procedures for the ABI of another MPI library: the code of mpif.h and module mpi under all names that
the library exports. Its module mpi_f08 calls some of them by C names."""

from . import fortran
from .fortran_glue import INCLUDES, definition
from .text import cpp_head


def c_names(spec, entry):
    """The C names of a function, which may have others in this ABI."""
    by_hand = {name.removeprefix("mpi_").removesuffix("_") for name in spec.abi.fortran_symbols}
    return [entry.name] + [a for a in spec.aliases_of(entry) if a.split("_", 1)[1].lower() not in by_hand]


def manglings(name, prefix, suffix=""):
    """All symbols of a procedure, as Fortran compilers and the modules of the library write them."""
    lower = f"{prefix}{name}{suffix}".lower()
    names = [lower + "_", lower, lower + "__", lower.upper()]
    names += [f"{prefix}{name}{suffix}_f", f"{prefix}{name}{suffix}_f08"]
    if prefix:
        names.append(f"o{name.lower()}{suffix}_f")
    return names


def symbols(spec, entry, prefix):
    names = [m for name in c_names(spec, entry) for m in manglings(name, prefix)]
    if fortran.GIVEN_ADDRESS in {p.kind.name for p in entry.params}:
        names += manglings(entry.name, prefix, "_cptr")
    return names


def procedure(spec, entry, prefix):
    first, *others = symbols(spec, entry, prefix)
    text = definition(entry, prefix, length_type="unsigned")
    return text + "".join(f"FUNCTION_ALIAS({first}, {other})\n" for other in others)


def chapter_file(spec, chapter):
    listed = [e for e in fortran.entries(spec, "f90") if e.function.chapter == chapter]
    body = "\n".join(procedure(spec, e, prefix) for e in listed for prefix in ("", "P"))
    return cpp_head(f"Fortran procedures of chapter {chapter.number}.") + INCLUDES + '\nextern "C" {\n\n' + body + "\n} // extern \"C\"\n"


def version_script(spec):
    names = sorted(list(spec.abi.fortran_symbols) + [s for e in fortran.entries(spec, "f90") for prefix in ("", "P") for s in symbols(spec, e, prefix)])
    return "{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n"


def files(spec):
    out = {"fortran/exports.map": version_script(spec)}
    for chapter in spec.chapters:
        out[f"fortran/glue/{chapter.key}.cpp"] = chapter_file(spec, chapter)
    return out
