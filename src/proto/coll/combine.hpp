// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The operation of a reduction as algorithms see it: elements of so many bytes that lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

struct Combine {
    // inout[i] = in[i] op inout[i]
    void (*apply)(const void* in, void* inout, int64_t count) = nullptr;
    int64_t count = 0; // elements that one rank contributes
    size_t element_bytes = 0;
    bool commutative = true;
    // used instead of apply if set: the same with something that apply would need to know
    void (*apply_with)(const void* context, const void* in, void* inout, int64_t count) = nullptr;
    const void* context = nullptr;

    [[nodiscard]] size_t bytes() const { return static_cast<size_t>(count) * element_bytes; }
    void operator()(const void* in, void* inout, int64_t n) const {
        if (n == 0) return;
        apply_with != nullptr ? apply_with(context, in, inout, n) : apply(in, inout, n);
    }
};

} // namespace zipmpi::proto::coll
