// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of what the root of another job states when two groups connect.
#pragma once

#include "transport/stream/contact_info.hpp"

#include <span>

namespace zipmpi::interjob {

using transport::stream::ContactInfo;
using transport::stream::ProcessName;
using wire::first_external;

struct OwnJob {
    uint64_t number = 0; // ProcessName::job
    int size = 0;
};

// The processes are distinct and not in the local group; those of this job exist; counts are within bounds.
bool is_valid_remote_group(const OwnJob& job, std::span<const ContactInfo> own,
                           std::span<const ContactInfo> remote);

// A context that communicators between jobs may have.
constexpr bool is_interjob_context(uint32_t context) {
    constexpr uint32_t variants = 1U << 31 | 1U;
    return (context & wire::interjob_context_bit) != 0 && (context & variants) == 0;
}

} // namespace zipmpi::interjob
