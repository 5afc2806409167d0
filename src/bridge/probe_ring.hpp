// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Selects the partners of device probing: in each cluster one rank per node, and the gateways, form a ring.
// Processes in several networks (gateways, and ranks on hosts of gateways) may reach each other by devices
// that reach no other host, so they are placed between ranks of this cluster only. If there are too many,
// each of the remaining ones probes one rank.
#pragma once

#include "bridge/cluster_map.hpp"

namespace zipmpi::bridge {

struct ProbePartners {
    int next = -1;             // id; -1: no partner
    std::vector<int> incoming; // ids that probe this process
};

// first_ranks: the first rank on each node.
inline ProbePartners probe_partners(const ClusterMap& cluster_map, int cluster,
                                    std::span<const int> first_ranks, int job_size, int own_id) {
    std::vector<int> ranks;
    std::vector<int> gateways;
    std::vector<int> multihomed;
    for (size_t n = 0; n < cluster_map.nodes.size() && n < first_ranks.size(); ++n)
        for (const int c : cluster_map.nodes[n].clusters)
            if (c == cluster)
                (cluster_map.nodes[n].clusters.size() > 1 ? multihomed : ranks).push_back(first_ranks[n]);
    for (const GatewaySpec& g : cluster_map.gateways)
        for (const Attachment& a : g.attached)
            if (a.cluster == cluster) gateways.push_back(gateway_id(job_size, g.number));
    gateways.insert(gateways.end(), multihomed.begin(), multihomed.end());
    // no rank in this cluster alone: gateways and multihomed ranks probe each other
    if (ranks.empty()) std::swap(ranks, gateways);
    std::vector<int> ring;
    for (size_t i = 0; i < ranks.size(); ++i) {
        ring.push_back(ranks[i]);
        if (i < gateways.size()) ring.push_back(gateways[i]);
    }
    ProbePartners partners;
    const size_t n = ring.size();
    for (size_t i = 0; i < n && n > 1; ++i)
        if (ring[i] == own_id) partners = {ring[(i + 1) % n], {ring[(i + n - 1) % n]}};
    for (size_t i = ranks.size(); i < gateways.size(); ++i) {
        const int probed = ranks[i % ranks.size()];
        if (gateways[i] == own_id) partners.next = probed;
        if (probed == own_id) partners.incoming.push_back(gateways[i]);
    }
    return partners;
}

} // namespace zipmpi::bridge
