// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/op/op.hpp"

#include "core/datatype/datatype.hpp"
#include "core/engine.hpp"

#include <array>

namespace zipmpi::core {
namespace {

struct Table {
    std::array<Op, static_cast<size_t>(OpId::count_)> ops;
    constexpr Table() {
        constexpr const char* names[] = {
#define ZIPMPI_X(id, name) name,
            ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
        };
        for (size_t i = 0; i < ops.size(); ++i) {
            ops[i].cls = Class::op;
            ops[i].index = static_cast<uint32_t>(i);
            ops[i].id = static_cast<OpId>(i);
            ops[i].name = names[i];
        }
    }
};

// Ready before any code runs: threads may meet here first.
constinit Table table;

} // namespace

Op& builtin_op(OpId id) noexcept { return table.ops[static_cast<size_t>(id)]; }

bool op_takes(const Op& op, const Datatype& type) noexcept { return kernel_of(op.id, type.id) != nullptr; }

} // namespace zipmpi::core
