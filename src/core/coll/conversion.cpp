// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Between the layouts of datatypes and contiguous bytes: the first and the last steps of a plan.
#include "core/coll/plan.hpp"
#include "core/datatype/contiguous.hpp"

namespace zipmpi::core {

size_t wire_bytes(int64_t count, const Datatype& type) { return packed_bytes(count, type); }

struct Plan::Conversion {
    std::byte* packed;
    void* buffer;
    int64_t count;
    const Datatype* type;
};

Plan::Conversion* Plan::conversion(void* buf, int64_t count, Datatype& type) {
    keep(type);
    std::byte* packed = schedule_.scratch(packed_bytes(count, type));
    return packed != nullptr ? schedule_.make<Conversion>(packed, buf, count, &type) : nullptr;
}

const std::byte* Plan::outgoing(const void* buf, int64_t count, Datatype& type) {
    if (is_contiguous(count, type)) return static_cast<const std::byte*>(contiguous_start(buf, type));
    Conversion* c = conversion(const_cast<void*>(buf), count, type);
    if (c == nullptr) return nullptr;
    schedule_.call(
        [](void* argument) {
            const auto& how = *static_cast<const Conversion*>(argument);
            pack_all(how.packed, how.buffer, how.count, *how.type);
            return Err::success;
        },
        c);
    return c->packed;
}

std::byte* Plan::incoming(void* buf, int64_t count, Datatype& type) {
    if (is_contiguous(count, type)) return static_cast<std::byte*>(contiguous_start(buf, type));
    Conversion* c = conversion(buf, count, type);
    if (c == nullptr) return nullptr;
    unpacks_.push_back(c);
    return c->packed;
}

std::byte* Plan::in_and_out(void* buf, int64_t count, Datatype& type) {
    auto* packed = const_cast<std::byte*>(outgoing(buf, count, type));
    if (packed != nullptr && !is_contiguous(count, type))
        unpacks_.push_back(schedule_.make<Conversion>(packed, buf, count, &type));
    return packed;
}

void Plan::seal() {
    if (unpacks_.empty()) return;
    schedule_.wait();
    for (Conversion* c : unpacks_)
        schedule_.call(
            [](void* argument) {
                const auto& how = *static_cast<const Conversion*>(argument);
                unpack_first(how.buffer, how.count, *how.type, how.packed,
                             packed_bytes(how.count, *how.type));
                return Err::success;
            },
            c);
}

} // namespace zipmpi::core
