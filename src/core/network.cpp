// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/network.hpp"

#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

namespace zipmpi::core {
namespace {

Param<std::string> devices{"net.devices",
                           "",
                           nullptr,
                           Level::user,
                           Scope::local,
                           "network devices for messages between hosts, separated by commas (eth0, "
                           "mlx5_0:1); empty: chosen by itself"};

Problem no_network(const Engine& e, const std::string& reason, const char* todo) {
    return {"this job spans several hosts, and the network cannot be used",
            "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size) + " on host " +
                os::host_name(),
            reason, todo};
}

} // namespace

bool join_network(Engine& e, Problem& why) {
    if (e.segment.nodes() == 1) return true;
    transport::ucx::Settings settings{e.job.rank,
                                      e.segment.header().job_key,
                                      devices.get().c_str(),
                                      e.lane->network_sink(),
                                      {&e, [](void* subject, int world_rank) {
                                           auto& self = *static_cast<Engine*>(subject);
                                           if (self.job.launcher == nullptr) return std::string();
                                           return boot::find_address(*self.job.launcher, self.segment,
                                                                     world_rank);
                                       }}};
    std::string reason;
    std::unique_ptr<transport::ucx::Network> network(transport::ucx::open(settings, reason));
    if (network == nullptr) {
        why = no_network(e, reason,
                         "install UCX (Debian: libucx0) and a ZipMPI that was built with it; name devices "
                         "that exist in ZIPMPI_NET_DEVICES; or start all ranks on one host");
        return false;
    }
    if (!e.lane->shm().hear_a_bell() || !boot::publish_address(*e.job.launcher, network->address()) ||
        !e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not take or spread the address of this rank",
                         "look for a message of the launcher; start the program with ZipMPI's mpiexec");
        return false;
    }
    e.lane->use_network(std::move(network));
    count_contexts_given_back(*e.lane);
    return true;
}

} // namespace zipmpi::core
