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
    ucx, // RDMA, and TCP if the user asks for it
    ofi  // libfabric
};

// The engine for these devices, by the parameter net.engine.
Engine engine_for(const std::string& devices);
const char* name_of(Engine engine);

// Hosts of one cluster must choose the same engine, so a kind of device is used only if all of them have it.
struct DeviceKinds {
    bool rdma = false;
    bool ofi = false; // only libfabric drives it, and is installed; false if net.engine does not use it
};
DeviceKinds device_kinds_of_host();
std::string without_rdma(const std::string& devices);
std::string with_ofi_devices(const std::string& devices); // of this host, which come first

// Opens the network over the devices of the settings. Returns null on failure, with the reason in why.
std::unique_ptr<FrameNetwork> open_network(const NetworkConfig& settings, const FrameConfig& frames,
                                           std::string& why);
std::unique_ptr<DeviceProbe> new_probe(int world_rank, const auth::HandshakeKeys& keys);

} // namespace zipmpi::transport
