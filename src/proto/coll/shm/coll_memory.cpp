// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_memory.hpp"

#include "os/clock.hpp"

#include <bit>
#include <sched.h>
#include <unistd.h>

namespace zipmpi::proto::coll {
namespace {

class PoolLock {
  public:
    // The lock word holds the pid of its owner; the lock of a failed rank is taken over. An interrupted
    // update loses at most one block.
    explicit PoolLock(const segment::NodeSegment& segment)
        : pool_(segment.coll_pool()) {
        const auto self = static_cast<uint32_t>(getpid());
        // pairs with the release
        for (uint32_t holder = 0;
             !pool_.lock.compare_exchange_strong(holder, self, std::memory_order_acquire);) {
            if (!has_failed(segment, holder)) holder = 0;
            sched_yield();
        }
    }
    ~PoolLock() { pool_.lock.store(0, std::memory_order_release); }
    PoolLock(const PoolLock&) = delete;
    PoolLock& operator=(const PoolLock&) = delete;

  private:
    static bool has_failed(const segment::NodeSegment& segment, uint32_t pid) {
        if (segment.faults().state().failed.load(std::memory_order_acquire) == 0) return false;
        for (uint32_t i = 0; i < segment.local_ranks(); ++i)
            if (segment.block(i).pid.load(std::memory_order_relaxed) == static_cast<int32_t>(pid))
                return segment.block(i).state.load(std::memory_order_acquire) ==
                       static_cast<uint32_t>(wire::RankState::failed);
        return false;
    }
    wire::CollBufferPool& pool_;
};

uint32_t size_class(uint64_t bytes) {
    const uint64_t pages = (bytes + wire::page_size - 1) / wire::page_size;
    return pages <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(pages - 1));
}

uint64_t& next_of(const segment::NodeSegment& segment, uint64_t offset) {
    return *reinterpret_cast<uint64_t*>(segment.coll_memory(offset));
}

uint64_t allocate_block(const segment::NodeSegment& segment, uint32_t size) {
    wire::CollBufferPool& area = segment.coll_pool();
    const PoolLock locked(segment);
    if (const uint64_t first = area.free[size]; first != 0) {
        area.free[size] = next_of(segment, first);
        return first;
    }
    const uint64_t bytes = wire::page_size << size;
    if (area.used + bytes > segment.geometry().coll_memory_bytes()) return 0;
    const uint64_t offset = segment.geometry().coll_memory_offset() + area.used;
    area.used += bytes;
    return offset;
}

} // namespace

uint64_t allocate_coll_memory(const segment::NodeSegment& segment, uint64_t bytes) {
    const uint32_t size = size_class(bytes);
    if (size >= wire::CollBufferPool::sizes) return 0;
    const uint64_t offset = allocate_block(segment, size);
    // a block whose memory cannot be reserved is leaked: memory is exhausted
    return offset != 0 && segment.reserve(offset, bytes) ? offset : 0;
}

void free_coll_memory(const segment::NodeSegment& segment, uint64_t offset, uint64_t bytes) {
    wire::CollBufferPool& area = segment.coll_pool();
    const uint32_t size = size_class(bytes);
    const PoolLock locked(segment);
    next_of(segment, offset) = area.free[size];
    area.free[size] = offset;
}

} // namespace zipmpi::proto::coll
