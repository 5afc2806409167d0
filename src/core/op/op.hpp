// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction operations: the predefined ones, with one kernel per operation and C++ type.
#pragma once

#include "core/builtin.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

struct Op : Object {
    static constexpr Class class_id = Class::op;
    OpId id{};
    const char* name = "";
};

// inout[i] = in[i] op inout[i]
using Kernel = void (*)(const void* in, void* inout, int64_t count);
// Null if the standard does not define this operation for this type.
Kernel kernel_of(OpId op, TypeId type) noexcept;

} // namespace zipmpi::core
