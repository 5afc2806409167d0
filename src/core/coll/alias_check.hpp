// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rejects collectives whose send and receive buffers start at the same address with the same datatype; other
// overlaps are not detected.
#pragma once

#include "core/coll/builder.hpp"

namespace zipmpi::core {

[[gnu::cold]] Err alias_error(const void* address);

// Elements of a type, starting at an offset in elements.
struct ElementRange {
    const void* buffer;
    int64_t count;
    const Datatype* type; // null: not significant
    int64_t offset = 0;

    [[nodiscard]] uintptr_t begin() const {
        return reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(offset * type->extent);
    }
};

inline Err check_no_alias(const ElementRange& input, const ElementRange& result) {
    if (input.buffer == in_place || result.buffer == in_place || input.type != result.type ||
        input.begin() != result.begin() || input.count == 0 || result.count == 0 || input.type->size <= 0)
        [[likely]]
        return Err::success;
    return alias_error(input.buffer);
}

// For reductions, whose buffers have one type.
inline Err check_no_alias(const void* input, const void* result, int64_t count, const Datatype& type) {
    if (input != result) [[likely]]
        return Err::success;
    return check_no_alias(ElementRange{input, count, &type}, ElementRange{result, count, &type});
}

} // namespace zipmpi::core
