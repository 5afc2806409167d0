// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_keys.hpp"

#include <cstring>

namespace zipmpi::proto::rma {
namespace {

bool copy_key(const std::string& key, uint8_t& bytes, char (&to)[wire::rma_key_bytes]) {
    if (key.size() > sizeof to) return false;
    bytes = static_cast<uint8_t>(key.size());
    std::memcpy(to, key.data(), key.size());
    return true;
}

} // namespace

RdmaKeyTable::~RdmaKeyTable() {
    for (ImportedKeys& keys : imported_) {
        device_.release_key(keys.region);
        device_.release_key(keys.lock);
    }
    device_.deregister_memory(region_);
    device_.deregister_memory(lock_);
}

void RdmaKeyTable::register_memory(int own_rank, const Region& own, wire::WindowMember& member) {
    wire::RmaKeys& keys = published_[index(own_rank)];
    keys.coherent = device_.is_coherent() ? 1 : 0;
    keys.ordered = device_.keeps_order() ? 1 : 0;
    keys.region = own.base;
    keys.lock = reinterpret_cast<uint64_t>(&member.network_lock);
    constexpr size_t words = sizeof(wire::WindowMember) - offsetof(wire::WindowMember, network_lock);
    const bool has_region = own.size != 0 && !own.is_dynamic();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): local memory
    auto* const base = reinterpret_cast<void*>(own.base);
    const bool registered = (!has_region || device_.register_memory(base, own.size, region_)) &&
                            device_.register_memory(&member.network_lock, words, lock_) &&
                            copy_key(region_.key, keys.region_key_bytes, keys.region_key) &&
                            copy_key(lock_.key, keys.lock_key_bytes, keys.lock_key);
    keys.usable = registered ? 1 : 0;
}

bool RdmaKeyTable::import(int rank) {
    ImportedKeys& imported = imported_[index(rank)];
    const wire::RmaKeys& keys = published_[index(rank)];
    if (imported.valid) return true;
    if (keys.region_key_bytes > wire::rma_key_bytes || keys.lock_key_bytes > wire::rma_key_bytes)
        return false;
    imported.valid = (keys.region_key_bytes == 0 ||
                      device_.import_key({keys.region_key, keys.region_key_bytes}, imported.region)) &&
                     device_.import_key({keys.lock_key, keys.lock_key_bytes}, imported.lock);
    return imported.valid;
}

} // namespace zipmpi::proto::rma
