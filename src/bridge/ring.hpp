// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who looks for devices with whom: in each cluster one rank per node, and the gateways, in a ring. Those that
// are in several networks - gateways, and ranks on the hosts of gateways - may see each other where nobody
// else does, so they are put between ranks of the cluster alone. If there are too many, the others only ask a
// rank each.
#pragma once

#include "bridge/grid.hpp"

namespace zipmpi::bridge {

struct Neighbours {
    int next = -1;           // id; -1: there is nobody else
    std::vector<int> askers; // ids of those who ask it
};

// first_ranks: of each node, the first rank on it.
inline Neighbours neighbours_in(const Grid& grid, int cluster, std::span<const int> first_ranks, int job_size,
                                int own_id) {
    std::vector<int> ranks;
    std::vector<int> gateways;
    std::vector<int> beside_gateways;
    for (size_t n = 0; n < grid.nodes.size() && n < first_ranks.size(); ++n)
        for (const int c : grid.nodes[n].clusters)
            if (c == cluster)
                (grid.nodes[n].clusters.size() > 1 ? beside_gateways : ranks).push_back(first_ranks[n]);
    for (const GatewayPlace& g : grid.gateways)
        for (const Attachment& a : g.attached)
            if (a.cluster == cluster) gateways.push_back(gateway_id(job_size, g.number));
    gateways.insert(gateways.end(), beside_gateways.begin(), beside_gateways.end());
    if (ranks.empty()) std::swap(ranks, gateways); // they pass frames on, and only see each other
    std::vector<int> ring;
    for (size_t i = 0; i < ranks.size(); ++i) {
        ring.push_back(ranks[i]);
        if (i < gateways.size()) ring.push_back(gateways[i]);
    }
    Neighbours who;
    const size_t n = ring.size();
    for (size_t i = 0; i < n && n > 1; ++i)
        if (ring[i] == own_id) who = {ring[(i + 1) % n], {ring[(i + n - 1) % n]}};
    for (size_t i = ranks.size(); i < gateways.size(); ++i) {
        const int asked = ranks[i % ranks.size()];
        if (gateways[i] == own_id) who.next = asked;
        if (asked == own_id) who.askers.push_back(gateways[i]);
    }
    return who;
}

} // namespace zipmpi::bridge
