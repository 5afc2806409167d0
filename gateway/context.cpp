// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/context.hpp"

#include "base/diagnostic.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <utility>

namespace zipmpi::gateway {

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
}

bool read_context(GatewayContext& p, std::string& why) {
    if (!bridge::parse(variable(bridge::cluster_map_variable), p.cluster_map)) {
        why = "ZIPMPI_CLUSTERS is not a valid cluster map";
        return false;
    }
    p.number = std::atoi(variable("ZIPMPI_GATEWAY").c_str());
    p.epoch = std::atoi(variable("ZIPMPI_GATEWAY_EPOCH").c_str());
    p.job_id = variable("ZIPMPI_JOB_ID");
    p.identity.rank = std::atoi(variable("PMI_RANK").c_str());
    p.identity.size = std::atoi(variable("PMI_SIZE").c_str());
    const int pmi = std::atoi(variable("PMI_FD").c_str());
    if (p.number < 0 || p.number >= static_cast<int>(p.cluster_map.gateways.size()) || p.identity.size < 1 ||
        p.identity.rank != bridge::gateway_id(p.identity.size, p.number)) {
        why = "the variables ZIPMPI_GATEWAY, PMI_RANK and PMI_SIZE are inconsistent";
        return false;
    }
    Diagnostic problem;
    os::Fd node(fcntl(std::atoi(variable("ZIPMPI_NODE_FD").c_str()), F_DUPFD_CLOEXEC, 3));
    if (!node || !segment::NodeSegment::attach(std::move(node), p.segment, problem)) {
        why = "ZIPMPI_NODE_FD is not the node segment of a job";
        return false;
    }
    p.launcher = boot::open_pmi(pmi, false, p.identity, why);
    p.identity.rank = bridge::gateway_id(p.identity.size, p.number);
    return p.launcher != nullptr && p.segment.nodes() == p.cluster_map.nodes.size();
}

} // namespace zipmpi::gateway
