// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether bulk messages currently pass through gateways to or from this process. Waiting ranks then sleep
// sooner instead of polling, because the gateway may need their CPU. Written by the network's progress, read
// by blocking waits; a stale value only costs time.
#pragma once

#include <atomic>

namespace zipmpi::transport {

inline std::atomic<bool> relaying_bulk{false};

} // namespace zipmpi::transport
