// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/rdma.hpp"

#include "base/param.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/ucx/ucx_module.hpp"

namespace zipmpi::core {
namespace {

Param<bool> use_rdma{"rma.rdma", true, Level::user, Scope::local,
                     "use RDMA for multi-host windows if every member has a device"};
Param<std::string> rdma_module{
    "rma.rdma_module", "",           nullptr,
    Level::developer,  Scope::local, "testing: module that emulates an RDMA device; empty: UCX devices"};

bool has_rdma(const std::string& devices) { return devices.find(':') != std::string::npos; }

} // namespace

// Clusters without a common network have no devices that reach each other.
proto::rma::RdmaContext* window_rdma_context() {
    Runtime& e = *runtime();
    const bool possible = !rdma_module.get().empty() || has_rdma(e.network_devices);
    if (!use_rdma || !possible || e.progress_engine->peers().clusters() > 1) return nullptr;
    if (e.rdma_context == nullptr && !e.rdma_tried) {
        e.rdma_tried = true;
        std::string why;
        std::unique_ptr<transport::RdmaDevice> direct(
            transport::ucx::open_rdma_device(e.network_devices.c_str(), why, rdma_module.get()));
        if (direct != nullptr)
            e.rdma_context = std::make_unique<proto::rma::RdmaContext>(std::move(direct), *e.progress_engine);
    }
    return e.rdma_context.get();
}

} // namespace zipmpi::core
