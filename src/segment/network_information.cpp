// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/network_information.hpp"

#include "os/futex.hpp"
#include "segment/node_segment.hpp"

#include <cstdio>

namespace zipmpi::segment {

bool NetworkInformation::reserve_address_slot(int world_rank) const {
    return segment_.reserve(segment_.geometry().addresses_offset() +
                                static_cast<uint64_t>(world_rank) * sizeof(wire::AddressSlot),
                            sizeof(wire::AddressSlot));
}

void NetworkInformation::set_devices(wire::DevicesState state, std::string_view devices,
                                     std::string_view probe_log) const {
    std::snprintf(header_.devices, sizeof header_.devices, "%.*s", static_cast<int>(devices.size()),
                  devices.data());
    std::snprintf(header_.devices_log, sizeof header_.devices_log, "%.*s", static_cast<int>(probe_log.size()),
                  probe_log.data());
    header_.devices_state.store(static_cast<uint32_t>(state), std::memory_order_release);
    os::futex_wake_all(header_.devices_state);
}

bool NetworkInformation::wait_for_devices() const {
    auto& state = header_.devices_state;
    constexpr auto unknown = static_cast<uint32_t>(wire::DevicesState::unknown);
    constexpr int64_t second = 1'000'000'000;
    // If the discovering rank dies, the launcher ends this rank or publishes the failure.
    while (state.load(std::memory_order_acquire) == unknown &&
           header_.fault_state.failed.load(std::memory_order_acquire) == 0)
        os::futex_wait(state, unknown, second);
    return state.load(std::memory_order_acquire) == static_cast<uint32_t>(wire::DevicesState::known);
}

} // namespace zipmpi::segment
