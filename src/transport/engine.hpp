// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network engines, and which of them a job uses. All ranks and gateways of a cluster must use the same.
#pragma once

#include "transport/discovery/device_probe.hpp"
#include "transport/frame_network.hpp"

#include <memory>

namespace zipmpi::transport {

enum class Engine {
    tcp, // own authenticated connections
    ucx  // RDMA, and TCP if the user asks for it
};

// The engine for these devices, by the parameter net.engine.
Engine engine_for(const std::string& devices);
const char* name_of(Engine engine);

// Hosts of one cluster must choose the same engine, so RDMA is used only if all of them can.
bool host_has_rdma();
std::string without_rdma(const std::string& devices);

// Opens the network over the devices of the settings. Returns null on failure, with the reason in why.
std::unique_ptr<FrameNetwork> open_network(const NetworkConfig& settings, const FrameConfig& frames,
                                           std::string& why);
std::unique_ptr<DeviceProbe> new_probe(int world_rank, const auth::HandshakeKeys& keys);

} // namespace zipmpi::transport
