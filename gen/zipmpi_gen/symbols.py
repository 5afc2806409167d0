# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The names that the library exports: each function as MPI_x and PMPI_x, and what else the ABI has."""


def symbol_names(spec):
    names = [prefix + e.name for e in spec.entries for prefix in ("", "P")]
    names += [prefix + alias for alias in spec.abi.aliases for prefix in ("", "P")]
    return sorted(names + [o.name for o in spec.abi.objects] + list(spec.abi.symbols))


# Read by debuggers: src/abi/debugger_symbols.cpp.
DEBUGGER_SYMBOLS = ["MPIR_dll_name", "zipmpi_message_queues"]


def exported_names(spec):
    return sorted(symbol_names(spec) + DEBUGGER_SYMBOLS)


def symbol_list(spec):
    return "".join(name + "\n" for name in exported_names(spec))


def version_script(spec):
    names = "".join(f"    {name};\n" for name in exported_names(spec))
    return "{\n  global:\n" + names + "  local:\n    *;\n};\n"
