// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena.hpp"

#include "os/memory.hpp"

#include <algorithm>

namespace zipmpi::transport::shm {

Arena::~Arena() {
    for (const ArenaBlock& b : blocks_) os::unmap(b.base, b.bytes);
    for (size_t peer = 0; peer < mappings_.size(); ++peer)
        if (const PeerMapping& v = mappings_[peer]; v.base != nullptr) os::unmap(v.base, v.bytes);
}

// First fit. Returns the number of blocks before the free range and sets the offset of the range.
size_t Arena::find_free(uint64_t bytes, uint64_t& offset) const {
    offset = 0;
    for (size_t i = 0; i < blocks_.size(); ++i) {
        if (blocks_[i].offset - offset >= bytes) return i;
        offset = blocks_[i].offset + blocks_[i].bytes;
    }
    return blocks_.size();
}

void* Arena::allocate(uint64_t bytes) {
    void* const base = bytes < smallest ? nullptr : allocate_unreserved(bytes);
    if (base == nullptr || reserve(self_, offset_of(base, bytes), bytes)) return base;
    free(base);
    return nullptr;
}

bool Arena::reserve(Peer owner, uint64_t arena_offset, uint64_t bytes) const {
    const uint64_t offset = segment_.geometry().arena_offset(owner) + arena_offset - 1;
    if (bytes <= reserved_at_once) return bytes == 0 || segment_.reserve(offset, bytes);
    return os::reserve_on_access(segment_.fd(), offset, bytes);
}

void* Arena::allocate_unreserved(uint64_t bytes) {
    if (!segment_.has_arenas() || bytes == 0 || bytes > wire::arena_bytes) return nullptr;
    bytes = (bytes + wire::page_size - 1) / wire::page_size * wire::page_size;
    uint64_t offset = 0;
    const size_t before = find_free(bytes, offset);
    if (offset + bytes > wire::arena_bytes) return nullptr;
    const uint64_t in_file = segment_.geometry().arena_offset(self_) + offset;
    std::byte* const base = os::map_shared(segment_.fd(), in_file, bytes, os::Access::read_and_write);
    if (base == nullptr) return nullptr;
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(before), ArenaBlock{offset, bytes, base});
    return base;
}

bool Arena::free(void* base) {
    const auto at =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const ArenaBlock& b) { return b.base == base; });
    if (at == blocks_.end()) return false;
    os::unmap(at->base, at->bytes);
    os::release_pages(segment_.fd(), segment_.geometry().arena_offset(self_) + at->offset, at->bytes);
    blocks_.erase(at);
    return true;
}

uint64_t Arena::find(const void* memory, uint64_t bytes) const {
    const auto* const first = static_cast<const std::byte*>(memory);
    for (const ArenaBlock& b : blocks_)
        if (first >= b.base && first < b.base + b.bytes)
            return bytes <= b.bytes - static_cast<uint64_t>(first - b.base)
                       ? b.offset + static_cast<uint64_t>(first - b.base) + 1
                       : 0;
    return 0;
}

const std::byte* Arena::view(Peer owner, uint64_t arena_offset, uint64_t bytes) {
    if (!segment_.has_arenas() || arena_offset == 0 || arena_offset > wire::arena_bytes ||
        bytes > wire::arena_bytes - (arena_offset - 1))
        return nullptr;
    const uint64_t end = arena_offset - 1 + bytes;
    PeerMapping& v = mappings_[owner];
    if (end > v.bytes) {
        const uint64_t wanted = (end + mapping_step - 1) / mapping_step * mapping_step;
        std::byte* const base = os::map_shared(segment_.fd(), segment_.geometry().arena_offset(owner), wanted,
                                               os::Access::read_only);
        if (base == nullptr) return nullptr;
        if (v.base != nullptr) os::unmap(v.base, v.bytes);
        v = {base, wanted};
    }
    return v.base + (arena_offset - 1);
}

std::byte* Arena::map(Peer owner, uint64_t arena_offset, uint64_t bytes) const {
    if (!segment_.has_arenas() || arena_offset == 0 || bytes == 0 || arena_offset > wire::arena_bytes ||
        bytes > wire::arena_bytes - (arena_offset - 1))
        return nullptr;
    const uint64_t in_page = (arena_offset - 1) % wire::page_size;
    const uint64_t offset = segment_.geometry().arena_offset(owner) + (arena_offset - 1) - in_page;
    std::byte* const base =
        os::map_shared(segment_.fd(), offset, in_page + bytes, os::Access::read_and_write);
    return base != nullptr ? base + in_page : nullptr;
}

void Arena::unmap(std::byte* at, uint64_t bytes) {
    const uint64_t in_page = reinterpret_cast<uintptr_t>(at) % wire::page_size;
    os::unmap(at - in_page, in_page + bytes);
}

} // namespace zipmpi::transport::shm
