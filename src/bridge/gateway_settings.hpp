// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters of the ranks of multi-cluster jobs and of the gateways.
#pragma once

#include "bridge/endpoint_io.hpp"

namespace zipmpi::bridge {

EndpointLimits endpoint_limits();
bool uses_frame_streams();
// Of gateways only.
uint64_t gateway_buffer_limit();
uint64_t gateway_spin_ns();
bool gateway_prints_stats();

} // namespace zipmpi::bridge
