// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether this process currently sends or receives bulk messages through gateways; a process has one network,
// so one flag suffices. Waiting ranks then sleep sooner instead of polling, because the gateway may need
// their CPU. Written by the network's progress, read by blocking waits; a stale value only costs time.
#pragma once

#include <atomic>

namespace zipmpi::transport {

inline std::atomic<bool> bulk_via_gateways{false};

} // namespace zipmpi::transport
