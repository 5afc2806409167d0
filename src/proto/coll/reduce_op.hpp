// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operator of a reduction on a contiguous vector of elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

// Whether a scan includes the contribution of the rank itself.
enum class ScanKind : uint8_t { inclusive, exclusive };

struct ReduceOp {
    // inout[i] = in[i] op inout[i]
    void (*apply)(const void* in, void* inout, int64_t count) = nullptr;
    int64_t count = 0; // elements per rank
    size_t element_bytes = 0;
    bool commutative = true;
    // used instead of apply if set: takes a context argument
    void (*apply_with_context)(const void* context, const void* in, void* inout, int64_t count) = nullptr;
    const void* context = nullptr;

    [[nodiscard]] size_t bytes() const { return static_cast<size_t>(count) * element_bytes; }
    void operator()(const void* in, void* inout, int64_t n) const {
        if (n == 0) return;
        apply_with_context != nullptr ? apply_with_context(context, in, inout, n) : apply(in, inout, n);
    }
};

} // namespace zipmpi::proto::coll
