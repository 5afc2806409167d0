# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The names that the library exports: each function as MPI_x and PMPI_x, nothing else."""


def symbol_names(spec):
    return sorted(prefix + e.name for e in spec.entries for prefix in ("", "P"))


def symbol_list(spec):
    return "".join(name + "\n" for name in symbol_names(spec))


def version_script(spec):
    names = "".join(f"    {name};\n" for name in symbol_names(spec))
    return "{\n  global:\n" + names + "  local:\n    *;\n};\n"
