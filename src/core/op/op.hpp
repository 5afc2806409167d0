// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction operations: the predefined ones, with one kernel per operation and C++ type, and those of the
// program.
#pragma once

#include "core/api.hpp"
#include "core/builtin.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

struct Op : Object {
    static constexpr Class class_id = Class::op;
    OpId id{};
    const char* name = "";
    bool commutative = true;
    void* face_function = nullptr; // of the program, of the face's own type; null: predefined
    UserReduction call = nullptr;  // the face's way to call it

    [[nodiscard]] bool predefined() const { return face_function == nullptr; }
};

// An operation of the program lives while its handle or a collective that uses it does.
Op* share(Op& op);
void release(Op& op);

// inout[i] = in[i] op inout[i]
using Kernel = void (*)(const void* in, void* inout, int64_t count);
// Null if the standard does not define this operation for this type.
Kernel kernel_of(OpId op, TypeId type) noexcept;

// The same on memory that other processes change as well, each element in one step; also for REPLACE and
// NO_OP. fetched, if it is not null, gets what was there before. Elements at inout are aligned.
using Step = void (*)(const void* in, void* inout, void* fetched, int64_t count);
// Null if the type is not an integer of 4 or 8 bytes, or the operation not defined for it.
Step step_of(OpId op, TypeId type) noexcept;

} // namespace zipmpi::core
