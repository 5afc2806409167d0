# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes abi_values.hpp: the tables between names of core and constants of the ABI."""

from . import special
from .text import cpp_head

HEADER = """\
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "core/api/common.hpp"
#include "core/runtime.hpp"

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

// Codes of predefined handles and their core objects.
struct Predefined {{
    {code_type} code;
    core::BuiltinName::Kind kind;
    int id;
{address}}};
inline constexpr Predefined predefined[] = {{
{predefined}}};

template <class E>
struct EnumCode {{
    E value;
    int code;
}};
{enums}
{special}
}} // namespace zipmpi::abi::values
"""

# Members of a row: how a predefined handle is made from it.
CODE = """\
    [[nodiscard]] uintptr_t handle() const noexcept { return code; }
"""
ADDRESS = """\
    const void* object; // its address is the handle; the dynamic linker may choose a copy in the program
    [[nodiscard]] uintptr_t handle() const noexcept { return reinterpret_cast<uintptr_t>(object); }
"""

ENUM = """
inline constexpr EnumCode<core::{name}> enum_codes_{name}[] = {{
{rows}}};
constexpr auto& enum_codes(core::{name}) {{ return enum_codes_{name}; }}
"""

ENUMS = ("ThreadLevel", "Comparison", "TopologyKind", "SplitType", "PredefinedAttribute", "Combiner",
         "TypeClass", "Seek", "LockType", "WinFlavor", "WinAttribute", "ToolErr", "Verbosity", "Binding", "CvarScope", "PvarClass")


def builtin_id(name):
    """MPI_2INT -> N2INT: core's enumerators are the standard's names without prefix."""
    short = name.removeprefix("MPI_")
    return "N" + short if short[0].isdigit() else short


def address(spec, constant):
    """The object whose address is the handle, as one more member of a row."""
    return f", &{next(c.value[1:] for c in spec.constants if c.name == constant)}" if spec.abi.objects else ""


def builtin_rows(spec, c_type, kind, enum):
    null = f"{c_type.upper()}_NULL"
    values = spec.handle_codes()
    return [(values[c.name], kind, f"static_cast<int>(core::{enum}::{builtin_id(c.name)})", address(spec, c.name))
            for c in spec.constants_of(c_type) if c.name != null]


def predefined_rows(spec):
    values = spec.handle_codes()
    rows = builtin_rows(spec, "MPI_Datatype", "type", "TypeId") + builtin_rows(spec, "MPI_Op", "op", "OpId")
    rows += [(values[constant], own, "0", address(spec, constant)) for own, constant in spec.core_names["BuiltinName"].items()]
    return "".join(f"    {{{code}, core::BuiltinName::{kind}, {own}{address}}},\n" for code, kind, own, address in rows)


def enum_tables(spec):
    out = ""
    for name in ENUMS:
        rows = "".join(f"    {{core::{name}::{own}, {constant}}},\n" for own, constant in spec.core_names[name].items())
        out += ENUM.format(name=name, rows=rows)
    return out


def special_values(spec):
    """Checks that special values have equal encodings in core and ABI, or functions that convert them."""
    if not spec.is_standard:
        return special.conversions(spec)
    return "".join(f'static_assert(core::{own} == {constant}, "{constant} needs a conversion");\n'
                   for names in spec.core_names["special"].values() for own, constant in names.items())


def abi_values_hpp(spec):
    errors = "".join(f"    {{Err::{own}, {constant}}},\n" for own, constant in spec.core_names["Err"].items())
    tool = "".join(f'    {{{name}, "{name}", "{text}"}},\n' for name, text in spec.core_names["tool"].items())
    return cpp_head("Names of core and the corresponding ABI constants.") + HEADER.format(
        errors=errors, tool=tool, predefined=predefined_rows(spec), enums=enum_tables(spec),
        special=special_values(spec), address=ADDRESS if spec.abi.objects else CODE, code_type="uint16_t" if spec.is_standard or spec.abi.objects else "uint32_t")
