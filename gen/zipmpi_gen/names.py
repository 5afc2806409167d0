# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the function table, which maps function ids of the flight recorder to names."""

from .text import cpp_head

HEADER = """\
#pragma once

#include <cstdint>
#include <string_view>

namespace zipmpi::names {{

struct Chapter {{
    const char* key; // "p2p"
    int number;      // in the standard
    const char* title;
}};

struct Function {{
    const char* name; // "MPI_Send"
    uint32_t chapter; // index into chapters
    bool implemented;
}};

inline constexpr uint32_t function_count = {functions}; // ids run from 1 to this; 0 means none
inline constexpr uint32_t chapter_count = {chapters};
extern const Chapter chapters[chapter_count];

// The function with this id. For 0 and unknown ids, a row named "none".
const Function& function(uint32_t id) noexcept;
// The id of "MPI_Send", or 0.
uint32_t function_id(std::string_view name) noexcept;

}} // namespace zipmpi::names
"""

SOURCE = """\
#include "names/function_table.hpp"

#include <algorithm>

namespace zipmpi::names {{

const Chapter chapters[chapter_count] = {{
{chapters}}};

namespace {{
constexpr Function table[function_count + 1] = {{
    {{"none", 0, false}},
{functions}}};
}} // namespace

const Function& function(uint32_t id) noexcept {{ return table[id <= function_count ? id : 0]; }}

uint32_t function_id(std::string_view name) noexcept {{
    const Function* const first = table + 1; // sorted by name
    const Function* const last = table + function_count + 1;
    const Function* const at =
        std::lower_bound(first, last, name, [](const Function& f, std::string_view n) {{ return f.name < n; }});
    return at != last && at->name == name ? static_cast<uint32_t>(at - table) : 0;
}}

}} // namespace zipmpi::names
"""


def function_table_hpp(spec):
    return cpp_head("Ids, names and chapters of all functions.") + HEADER.format(
        functions=len(spec.entries), chapters=len(spec.chapters))


def function_table_cpp(spec):
    chapters = "".join(f'    {{"{c.key}", {c.number}, "{c.title}"}},\n' for c in spec.chapters)
    functions = "".join(
        f'    {{"{e.name}", {spec.chapters.index(e.function.chapter)}, '
        f'{"true" if e.function.implemented else "false"}}},\n' for e in spec.entries)
    return cpp_head("Ids, names and chapters of all functions.") + SOURCE.format(
        chapters=chapters, functions=functions)
