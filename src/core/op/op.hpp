// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction operations: predefined ones, with one kernel per operation and C++ type, and user-defined ones.
#pragma once

#include "core/api/common.hpp"
#include "core/builtin.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

struct Op : Object {
    static constexpr ObjectKind class_id = ObjectKind::op;
    OpId id{};
    const char* name = "";
    bool commutative = true;
    void* user_function = nullptr; // user function with the ABI's type; null: predefined
    UserReduction call = nullptr;  // binding function that calls it

    [[nodiscard]] bool predefined() const { return user_function == nullptr; }
};

// A user operation lives while its handle or a collective that uses it exists.
Op* share(Op& op);
void release(Op& op);

// inout[i] = in[i] op inout[i]
using Kernel = void (*)(const void* in, void* inout, int64_t count);
// Null if the standard does not define this operation for this type.
Kernel kernel_of(OpId op, TypeId type) noexcept;

// Atomic variant for memory that other processes update concurrently: each element is updated atomically;
// also for REPLACE and NO_OP. A non-null `fetched` receives the previous values. Elements at inout are
// aligned.
using AtomicKernel = void (*)(const void* in, void* inout, void* fetched, int64_t count);
// Null if the type is not an integer of 4 or 8 bytes, or the operation is not defined for it.
AtomicKernel atomic_kernel_of(OpId op, TypeId type) noexcept;

} // namespace zipmpi::core
