// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Constants of the cost model of collectives.
#include "proto/coll/cost.hpp"

#include "base/param.hpp"

namespace zipmpi::proto::coll {
namespace {

Param<int64_t> message_ns{"coll.cost_message_ns",
                          300,
                          {0, 1000000000},
                          Unit::none,
                          Level::tuner,
                          Scope::job_wide,
                          "cost model of collectives: ns per empty message within a node"};
Param<int64_t> mib_ns{"coll.cost_mib_ns",
                      100000,
                      {0, 1000000000},
                      Unit::none,
                      Level::tuner,
                      Scope::job_wide,
                      "cost model of collectives: ns per MiB within a node"};
Param<int64_t> combine_mib_ns{"coll.cost_reduce_mib_ns",
                              100000,
                              {0, 1000000000},
                              Unit::none,
                              Level::tuner,
                              Scope::job_wide,
                              "cost model of collectives: ns to reduce 1 MiB"};

Param<int64_t> network_message_ns{"coll.cost_net_message_ns",
                                  15000,
                                  {0, 1000000000},
                                  Unit::none,
                                  Level::tuner,
                                  Scope::job_wide,
                                  "cost model of collectives: ns per empty message between nodes"};
Param<int64_t> network_mib_ns{"coll.cost_net_mib_ns",
                              700000,
                              {0, 1000000000},
                              Unit::none,
                              Level::tuner,
                              Scope::job_wide,
                              "cost model of collectives: ns per MiB between nodes"};
Param<int64_t> net_senders{"coll.cost_net_senders",
                           2,
                           {1, 1000000},
                           Unit::none,
                           Level::tuner,
                           Scope::job_wide,
                           "cost model of collectives: ranks per node that saturate the network"};

} // namespace

CostModel node_cost_model() {
    return {static_cast<double>(message_ns.get()), static_cast<double>(mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

CostModel network_cost_model() {
    return {static_cast<double>(network_message_ns.get()), static_cast<double>(network_mib_ns.get()) / MiB,
            static_cast<double>(combine_mib_ns.get()) / MiB};
}

double network_senders() { return static_cast<double>(net_senders.get()); }

} // namespace zipmpi::proto::coll
