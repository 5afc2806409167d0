// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The key of a job, which all its ranks and gateways share.
#pragma once

#include "wire/net_layout.hpp"

#include <cstdint>
#include <span>

namespace zipmpi::transport::auth {

using Key = std::span<const uint8_t, wire::job_key_bytes>;

} // namespace zipmpi::transport::auth
