// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Staging between datatype layouts and contiguous bytes: the first and last steps of a collective.
#include "core/coll/builder.hpp"
#include "core/datatype/contiguous.hpp"

namespace zipmpi::core {

size_t wire_bytes(int64_t count, const Datatype& type) { return packed_bytes(count, type); }

struct CollectiveBuilder::Staging {
    std::byte* packed;
    void* buffer;
    int64_t count;
    const Datatype* type;
};

CollectiveBuilder::Staging* CollectiveBuilder::make_staging(void* buf, int64_t count, Datatype& type) {
    retain_type(type);
    std::byte* packed = schedule().scratch(packed_bytes(count, type));
    return packed != nullptr ? schedule().make<Staging>(packed, buf, count, &type) : nullptr;
}

const std::byte* CollectiveBuilder::outgoing(const void* buf, int64_t count, Datatype& type) {
    if (is_contiguous(count, type)) return static_cast<const std::byte*>(contiguous_start(buf, type));
    Staging* c = make_staging(const_cast<void*>(buf), count, type);
    if (c == nullptr) return nullptr;
    schedule().call(
        [](void* argument) {
            const auto& staging = *static_cast<const Staging*>(argument);
            pack_all(staging.packed, staging.buffer, staging.count, *staging.type);
            return Err::success;
        },
        c);
    return c->packed;
}

std::byte* CollectiveBuilder::incoming(void* buf, int64_t count, Datatype& type) {
    if (is_contiguous(count, type)) return static_cast<std::byte*>(contiguous_start(buf, type));
    Staging* c = make_staging(buf, count, type);
    if (c == nullptr) return nullptr;
    unpacks_.push_back(c);
    return c->packed;
}

std::byte* CollectiveBuilder::in_and_out(void* buf, int64_t count, Datatype& type) {
    auto* packed = const_cast<std::byte*>(outgoing(buf, count, type));
    if (packed != nullptr && !is_contiguous(count, type))
        unpacks_.push_back(schedule().make<Staging>(packed, buf, count, &type));
    return packed;
}

void CollectiveBuilder::finish() {
    if (unpacks_.empty()) return;
    schedule().wait();
    for (Staging* c : unpacks_)
        schedule().call(
            [](void* argument) {
                const auto& staging = *static_cast<const Staging*>(argument);
                unpack_first(staging.buffer, staging.count, *staging.type, staging.packed,
                             packed_bytes(staging.count, *staging.type));
                return Err::success;
            },
            c);
}

} // namespace zipmpi::core
