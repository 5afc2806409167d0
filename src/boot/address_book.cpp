// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/address_book.hpp"

#include "base/hex.hpp"

#include <cstring>

namespace zipmpi::boot {
namespace {

// An address longer than a value is split into chunks; the first chunk that is not full is the last.
constexpr size_t chunk_bytes = Launcher::value_limit / 2 - 1;
constexpr size_t max_chunks = 8;

std::string chunk_key(std::string_view name, size_t i) { return std::string(name) + std::to_string(i); }

} // namespace

std::string fetch_address(Launcher& launcher, int world_rank, std::string_view name) {
    std::string address;
    for (size_t i = 0; i < max_chunks; ++i) {
        std::string text;
        std::string chunk;
        if (!launcher.get(world_rank, chunk_key(name, i), text) || !from_hex(text, chunk)) return {};
        address += chunk;
        if (chunk.size() < chunk_bytes) return address;
    }
    return {};
}

bool publish_address(Launcher& launcher, std::string_view bytes, std::string_view name) {
    if (bytes.size() >= max_chunks * chunk_bytes) return false;
    for (size_t i = 0;; ++i) {
        const std::string_view chunk = bytes.substr(0, chunk_bytes);
        if (!launcher.put(chunk_key(name, i), hex_of(chunk.data(), chunk.size()))) return false;
        if (chunk.size() < chunk_bytes) return true;
        bytes.remove_prefix(chunk.size());
    }
}

std::string find_address(Launcher& launcher, const segment::NodeSegment& segment, int world_rank) {
    if (!segment.network_info().reserve_address_slot(world_rank)) return fetch_address(launcher, world_rank);
    wire::AddressSlot& slot = segment.network_info().address_slot(world_rank);
    // Pairs with the release store below.
    if (slot.state.load(std::memory_order_acquire) == static_cast<uint32_t>(wire::AddressState::ready) &&
        slot.bytes <= sizeof slot.address)
        return {reinterpret_cast<const char*>(slot.address), slot.bytes};
    std::string address = fetch_address(launcher, world_rank);
    auto empty = static_cast<uint32_t>(wire::AddressState::empty);
    if (!address.empty() && address.size() <= sizeof slot.address &&
        slot.state.compare_exchange_strong(empty, static_cast<uint32_t>(wire::AddressState::being_filled),
                                           std::memory_order_relaxed)) {
        slot.bytes = static_cast<uint32_t>(address.size());
        std::memcpy(slot.address, address.data(), address.size());
        slot.state.store(static_cast<uint32_t>(wire::AddressState::ready), std::memory_order_release);
    }
    return address;
}

} // namespace zipmpi::boot
