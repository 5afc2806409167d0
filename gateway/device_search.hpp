// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the devices of each cluster of a gateway, together with the ranks and gateways in it.
#pragma once

#include "gateway/context.hpp"

#include <vector>

namespace zipmpi::gateway {

struct ClusterDevices {
    int cluster;
    std::string devices; // comma-separated; empty: automatic
};

// Returns false on failure, with the reason in why.
bool find_devices(GatewayContext& context, std::vector<ClusterDevices>& found, std::string& why);

} // namespace zipmpi::gateway
