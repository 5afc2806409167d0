// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/limits.hpp"

#include "base/param.hpp"

namespace zipmpi::boot {
namespace {

Param<int64_t> handshake_timeout{
    "boot.handshake_timeout",
    5,
    {1, 3600},
    Unit::seconds,
    Level::user,
    Scope::local,
    "how long to wait for the first answer of the launcher before giving up on it"};

} // namespace

int handshake_limit_seconds() { return static_cast<int>(handshake_timeout.get()); }

} // namespace zipmpi::boot
