// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Choices for one window by info hints; equal on all members. `automatic`: a parameter decides.
#pragma once

#include <cstdint>

namespace zipmpi::proto::rma {

struct WindowPolicy {
    enum class Locks : uint8_t { automatic, cpu, network, hybrid };            // rma.lock_mode
    enum class Fence : uint8_t { automatic, acknowledged, counted, notified }; // epoch_sync.hpp
    enum class Passive : uint8_t { allowed, none };                            // none: no_locks
    enum class AccumulateOrder : uint8_t { kept, none };                       // accumulate_ordering

    Locks locks = Locks::automatic;
    Fence fence = Fence::automatic;
    Passive passive = Passive::allowed;
    AccumulateOrder accumulate_order = AccumulateOrder::kept;
    uint32_t lock_turns = 0; // of hybrid locks; 0: rma.hybrid_lock_turns
};

} // namespace zipmpi::proto::rma
