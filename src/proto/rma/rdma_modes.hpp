// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which operations of a window use RDMA. The members agree when the window is created, so that all accesses
// to a word use the same method.
#pragma once

#include "proto/rma/rdma_keys.hpp"
#include "proto/rma/target_table.hpp"
#include "proto/rma/window_policy.hpp"

namespace zipmpi::proto::rma {

struct RdmaModes {
    enum class Locks : uint8_t { cpu, network, hybrid };
    enum class Atomics : uint8_t {
        cpu,     // at the target, as without RDMA
        network, // RDMA atomics for all origins, never mixed with CPU atomics
        mixed    // coherent with CPU atomics: RDMA for few elements, the target for many
    };

    bool usable = false; // by all members; otherwise none uses RDMA
    bool put_get = false;
    bool ordered = false; // all devices execute the puts and atomics of a connection in order
    Locks locks = Locks::cpu;
    Atomics atomics = Atomics::cpu;
    uint32_t handover_count = 1; // consecutive acquisitions before a hybrid lock migrates
};

// Collective: registers the memory of this rank, exchanges the keys, and determines the modes.
Err agree_on_rdma(const TargetTable& targets, const WindowPolicy& policy, RdmaKeyTable& keys,
                  RdmaModes& modes);

} // namespace zipmpi::proto::rma
