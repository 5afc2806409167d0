// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a rank gives to a collective must not lie where its result goes; MPI_IN_PLACE is there for that. Found
// out is only what costs a compare and is certain: the same address with the same datatype.
#pragma once

#include "core/coll/plan.hpp"

namespace zipmpi::core {

[[gnu::cold]] Err same_place(const void* place);

// Where data lies: elements of a type from an offset, in elements, on.
struct ElementRange {
    const void* buffer;
    int64_t count;
    const Datatype* type; // null: not significant
    int64_t offset = 0;

    [[nodiscard]] uintptr_t begin() const {
        return reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(offset * type->extent);
    }
};

inline Err check_apart(const ElementRange& given, const ElementRange& result) {
    if (given.buffer == in_place || result.buffer == in_place || given.type != result.type ||
        given.begin() != result.begin() || given.count == 0 || result.count == 0 || given.type->size <= 0)
        [[likely]]
        return Err::success;
    return same_place(given.buffer);
}

// Of a reduction: elements of one type.
inline Err check_apart(const void* given, const void* result, int64_t count, const Datatype& type) {
    if (given != result) [[likely]]
        return Err::success;
    return check_apart(ElementRange{given, count, &type}, ElementRange{result, count, &type});
}

} // namespace zipmpi::core
