// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether long messages are passing through gateways to or from this process, of which there is one network.
// Who waits for them does better to sleep than to look again and again: the CPU that looks may be the one
// that a gateway needs. Written by the network's progress, read by whoever waits; a wrong value costs time
// only.
#pragma once

#include <atomic>

namespace zipmpi::transport {

inline std::atomic<bool> bulk_passes{false};

} // namespace zipmpi::transport
