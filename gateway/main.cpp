// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi-gateway: started by zipmpi-noded for a job whose clusters have no common network, with the
// environment of a rank. Finds the devices of its clusters, opens their networks, publishes its addresses,
// and forwards frames until it is terminated or its launcher exits.
#include "base/diagnostic.hpp"
#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "bridge/frame.hpp"
#include "bridge/gateway_settings.hpp"
#include "gateway/device_search.hpp"
#include "gateway/event_loop.hpp"
#include "gateway/stats_file.hpp"
#include "os/host.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <unistd.h>

using namespace zipmpi;

namespace {

int fail_with(const std::string& why, const char* fix) {
    report({"the gateway cannot start", "zipmpi-gateway on host " + os::host_name(), why, fix});
    return 1;
}

constexpr const char* start_hint = "start the job with mpiexec --clusters; gateways are not started by hand";

class KvsResolver final : public transport::AddressResolver {
  public:
    KvsResolver(gateway::GatewayContext& context, int cluster)
        : context_(context)
        , cluster_(cluster) {}
    std::string find(int id) override {
        const bool multihomed = id >= context_.identity.size ||
                                context_.cluster_map.nodes[context_.segment.node_of(id)].clusters.size() > 1;
        return multihomed ? boot::fetch_address(*context_.launcher, id, bridge::address_key(cluster_))
                          : boot::fetch_address(*context_.launcher, id);
    }

  private:
    gateway::GatewayContext& context_;
    int cluster_;
};

void print_stats(const gateway::GatewayContext& context, const gateway::GatewayCounters& c) {
    const auto n = [](const std::atomic<uint64_t>& counter) {
        return static_cast<unsigned long long>(counter.load(std::memory_order_relaxed));
    };
    std::fprintf(
        stderr,
        "zipmpi-gateway: gateway %d on host %s forwarded %llu messages in %llu frames (%llu of them control) "
        "with %llu bytes; buffered at most %llu bytes; dropped %llu, rejected %llu frames\n",
        context.number, os::host_name().c_str(), n(c.messages), n(c.frames), n(c.control), n(c.bytes),
        n(c.max_buffered_bytes), n(c.dropped), n(c.rejected));
}

} // namespace

// Memory of frames is reused immediately: returning it to the kernel costs more than forwarding.
static constexpr int kept_memory = 64 << 20;

int main() {
    os::set_malloc_trim_threshold(kept_memory);
    std::signal(SIGPIPE, SIG_IGN); // splice() would raise it
    for (const char* name : {"ZIPMPI_NODE_FD", "ZIPMPI_JOB_ID", "ZIPMPI_CLUSTERS", "ZIPMPI_GATEWAY",
                             "ZIPMPI_GATEWAY_EPOCH", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES"})
        declare_internal_variable(name);
    load_params(environ); // ranks report invalid settings
    gateway::GatewayContext context;
    std::string why;
    if (!gateway::read_context(context, why)) return fail_with(why, start_hint);
    std::vector<gateway::ClusterDevices> networks;
    if (!gateway::find_devices(context, networks, why))
        return fail_with(
            why,
            "check that this host reaches the nodes of its clusters, or name devices in the cluster file");
    const gateway::StatsFile stats(context);
    gateway::GatewayConfig setting{context.cluster_map,
                                   context.number,
                                   context.identity.size,
                                   bridge::job_number(context.job_id),
                                   bridge::gateway_buffer_limit(),
                                   [&](int rank) { return static_cast<int>(context.segment.node_of(rank)); },
                                   context.segment.header().keys.hop};
    gateway::Forwarder forwarder(std::move(setting), *stats);
    std::deque<KvsResolver> books;
    for (const gateway::ClusterDevices& n : networks) {
        if (!forwarder.open(n.cluster, n.devices, books.emplace_back(context, n.cluster), why))
            return fail_with(why + " (cluster " + context.cluster_name(n.cluster) + ", devices " + n.devices +
                                 ")",
                             "install UCX (Debian: libucx0) and a ZipMPI that was built with it");
    }
    for (const gateway::ClusterDevices& n : networks)
        if (!boot::publish_address(*context.launcher, forwarder.address(n.cluster),
                                   bridge::address_key(n.cluster)))
            return fail_with("the launcher did not accept the address of this gateway", start_hint);
    static_cast<void>(context.launcher->put("epoch", std::to_string(context.epoch)));
    if (context.epoch > 1) forwarder.connect_all();
    gateway::GatewayLinks links(
        forwarder, {[&](int other, int link) {
                        std::string address;
                        const int id = bridge::gateway_id(context.identity.size, other);
                        return context.launcher->get(id, "link." + std::to_string(link), address)
                                   ? address
                                   : std::string();
                    },
                    [&](int link, const std::string& address) {
                        static_cast<void>(context.launcher->put("link." + std::to_string(link), address));
                    }});
    if (!links.listen(why))
        return fail_with(why, "give the link an address of this host in the cluster file");
    gateway::serve(forwarder, links, std::atoi(gateway::variable("PMI_FD").c_str()));
    if (bridge::gateway_prints_stats()) print_stats(context, (*stats).totals);
    return 0;
}
