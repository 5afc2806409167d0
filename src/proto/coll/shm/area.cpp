// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/area.hpp"

#include "os/clock.hpp"

#include <bit>
#include <sched.h>
#include <unistd.h>

namespace zipmpi::proto::coll {
namespace {

class Locked {
  public:
    // The lock has the pid of its holder: that of a rank that is gone is taken over. What it left half done
    // costs at most a block of memory.
    explicit Locked(const boot::NodeSegment& segment)
        : area_(segment.board_area()) {
        const auto self = static_cast<uint32_t>(getpid());
        // pairs with the release
        for (uint32_t holder = 0;
             !area_.lock.compare_exchange_strong(holder, self, std::memory_order_acquire);) {
            if (!is_gone(segment, holder)) holder = 0;
            sched_yield();
        }
    }
    ~Locked() { area_.lock.store(0, std::memory_order_release); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    static bool is_gone(const boot::NodeSegment& segment, uint32_t pid) {
        if (segment.news().failed.load(std::memory_order_acquire) == 0) return false;
        for (uint32_t i = 0; i < segment.local_ranks(); ++i)
            if (segment.block(i).pid.load(std::memory_order_relaxed) == static_cast<int32_t>(pid))
                return segment.block(i).state.load(std::memory_order_acquire) ==
                       static_cast<uint32_t>(wire::RankState::failed);
        return false;
    }
    wire::BoardArea& area_;
};

uint32_t size_class(uint64_t bytes) {
    const uint64_t pages = (bytes + wire::page_size - 1) / wire::page_size;
    return pages <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(pages - 1));
}

uint64_t& next_of(const boot::NodeSegment& segment, uint64_t offset) {
    return *reinterpret_cast<uint64_t*>(segment.board(offset));
}

uint64_t take_block(const boot::NodeSegment& segment, uint32_t size) {
    wire::BoardArea& area = segment.board_area();
    const Locked locked(segment);
    if (const uint64_t first = area.free[size]; first != 0) {
        area.free[size] = next_of(segment, first);
        return first;
    }
    const uint64_t bytes = wire::page_size << size;
    if (area.used + bytes > segment.geometry().boards_bytes()) return 0;
    const uint64_t offset = segment.geometry().boards_offset() + area.used;
    area.used += bytes;
    return offset;
}

} // namespace

uint64_t take_board_memory(const boot::NodeSegment& segment, uint64_t bytes) {
    const uint32_t size = size_class(bytes);
    if (size >= wire::BoardArea::sizes) return 0;
    const uint64_t offset = take_block(segment, size);
    // a block without memory is lost; there will not be enough for another try soon
    return offset != 0 && segment.reserve(offset, bytes) ? offset : 0;
}

void give_board_memory_back(const boot::NodeSegment& segment, uint64_t offset, uint64_t bytes) {
    wire::BoardArea& area = segment.board_area();
    const uint32_t size = size_class(bytes);
    const Locked locked(segment);
    next_of(segment, offset) = area.free[size];
    area.free[size] = offset;
}

} // namespace zipmpi::proto::coll
