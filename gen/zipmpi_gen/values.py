# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tables between the engine's own names and the constants of the ABI (abi_values.hpp of the face)."""

from .text import cpp_head

HEADER = """\
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "core/api.hpp"
#include "core/engine.hpp"
#include "core/io/calls.hpp"

namespace zipmpi::abi::values {{

struct ErrorCode {{
    Err err;
    int code;
}};
inline constexpr ErrorCode error_codes[] = {{
{errors}}};

struct ToolError {{
    int code;
    const char* name;
    const char* text;
}};
inline constexpr ToolError tool_errors[] = {{
{tool}}};

// Codes of predefined handles and the engine's objects behind them.
struct Predefined {{
    uint16_t code;
    core::BuiltinName::Kind kind;
    int id;
}};
inline constexpr Predefined predefined[] = {{
{predefined}}};

template <class E>
struct Listed {{
    E own;
    int code;
}};
{enums}
{special}
}} // namespace zipmpi::abi::values
"""

ENUM = """
inline constexpr Listed<core::{name}> listed_{name}[] = {{
{rows}}};
constexpr auto& listed(core::{name}) {{ return listed_{name}; }}
"""

ENUMS = ("ThreadLevel", "Comparison", "TopologyKind", "SplitType", "PredefinedAttribute", "Combiner",
         "TypeClass", "Seek", "LockType", "WinFlavor", "WinAttribute", "ToolErr", "Verbosity", "Binding", "CvarScope", "PvarClass")


def builtin_id(name):
    """MPI_2INT -> N2INT: the engine's enumerators are the standard's names without prefix."""
    short = name.removeprefix("MPI_")
    return "N" + short if short[0].isdigit() else short


def builtin_rows(spec, c_type, kind, enum):
    null = f"{c_type.upper()}_NULL"
    return [(c.value, kind, f"static_cast<int>(core::{enum}::{builtin_id(c.name)})")
            for c in spec.constants_of(c_type) if c.name != null]


def predefined_rows(spec):
    values = {c.name: c.value for c in spec.constants}
    rows = builtin_rows(spec, "MPI_Datatype", "type", "TypeId") + builtin_rows(spec, "MPI_Op", "op", "OpId")
    rows += [(values[constant], own, "0") for own, constant in spec.engine["BuiltinName"].items()]
    return "".join(f"    {{{code}, core::BuiltinName::{kind}, {own}}},\n" for code, kind, own in rows)


def enum_tables(spec):
    out = ""
    for name in ENUMS:
        rows = "".join(f"    {{core::{name}::{own}, {constant}}},\n" for own, constant in spec.engine[name].items())
        out += ENUM.format(name=name, rows=rows)
    return out


def special_asserts(spec):
    """Where the engine's coding equals the ABI's, ranks and tags need no translation at all."""
    return "".join(f'static_assert(core::{own} == {constant}, "{constant} needs a translation");\n'
                   for own, constant in spec.engine["special"].items())


def abi_values_hpp(spec):
    errors = "".join(f"    {{Err::{own}, {constant}}},\n" for own, constant in spec.engine["Err"].items())
    tool = "".join(f'    {{{name}, "{name}", "{text}"}},\n' for name, text in spec.engine["tool"].items())
    return cpp_head("Engine names and the ABI constants that stand for them.") + HEADER.format(
        errors=errors, tool=tool, predefined=predefined_rows(spec), enums=enum_tables(spec),
        special=special_asserts(spec))
