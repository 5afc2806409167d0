// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The keys that the segments of a multi-node job contain, by the kind of process that maps them.
#pragma once

#include "base/key_schedule.hpp"
#include "wire/segment_layout.hpp"

#include <algorithm>

namespace zipmpi::segment {

inline wire::SegmentKeys keys_of_ranks(std::span<const uint8_t> secret) {
    wire::SegmentKeys keys{};
    std::ranges::copy(derive_key(secret, KeyPurpose::peer), keys.peer);
    std::ranges::copy(derive_key(secret, KeyPurpose::hop), keys.hop);
    std::ranges::copy(derive_key(secret, KeyPurpose::end_to_end), keys.end_to_end);
    std::ranges::copy(derive_key(secret, KeyPurpose::inter_job), keys.inter_job);
    return keys;
}

inline wire::SegmentKeys keys_of_gateways(std::span<const uint8_t> secret) {
    wire::SegmentKeys keys{};
    std::ranges::copy(derive_key(secret, KeyPurpose::hop), keys.hop);
    return keys;
}

} // namespace zipmpi::segment
