// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/device.hpp"

#include "base/param.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"

namespace zipmpi::core {
namespace {

Param<bool> use_device{"rma.device", true, Level::user, Scope::local,
                       "windows over several hosts use network devices that read and write memory of others "
                       "by themselves (RDMA), where all members have one"};
Param<std::string> device_module{"rma.device_module",
                                 "",
                                 nullptr,
                                 Level::developer,
                                 Scope::local,
                                 "a file that stands in for such a device, for tests; empty: devices of UCX"};

bool has_rdma(const std::string& devices) { return devices.find(':') != std::string::npos; }

} // namespace

// Clusters that share no network have no devices that reach each other.
proto::rma::Device* window_device() {
    Engine& e = *engine();
    const bool possible = !device_module.get().empty() || has_rdma(e.devices);
    if (!use_device || !possible || e.lane->clusters() > 1) return nullptr;
    if (e.device == nullptr && !e.device_tried) {
        e.device_tried = true;
        std::string why;
        std::unique_ptr<transport::ucx::Direct> direct(
            transport::ucx::open_direct(e.devices.c_str(), why, device_module.get()));
        if (direct != nullptr) e.device = std::make_unique<proto::rma::Device>(std::move(direct), *e.lane);
    }
    return e.device.get();
}

} // namespace zipmpi::core
