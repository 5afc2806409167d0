// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The memory of a collective buffer (wire/coll_buffer_layout.hpp): its head, the state of each member, and
// the slots of each operation. Operation numbers wrap around.
#pragma once

#include "wire/coll_buffer_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zipmpi::proto::coll {

inline bool has_reached(uint32_t value, uint32_t op) { return static_cast<int32_t>(value - op) >= 0; }

// A word of a collective buffer that grows, and the value a member waits for. The load is seq_cst, as is the
// store of the word before the sleeper bits are read (coll_wait.hpp).
struct AwaitedWord {
    const std::atomic<uint32_t>* word;
    uint32_t value;
    [[nodiscard]] bool is_reached() const {
        return has_reached(word->load(std::memory_order_seq_cst), value);
    }
};

class CollBufferView {
  public:
    CollBufferView(std::byte* memory, const wire::CollBufferGeometry& geometry)
        : memory_(memory)
        , geometry_(geometry) {}

    [[nodiscard]] const wire::CollBufferGeometry& geometry() const { return geometry_; }
    [[nodiscard]] uint32_t depth() const { return geometry_.depth; }
    [[nodiscard]] uint32_t bank(uint32_t op) const { return op % geometry_.depth; }
    [[nodiscard]] size_t slot_capacity() const {
        return geometry_.slot_bytes - sizeof(wire::SlotHead);
    } // bytes of payload
    [[nodiscard]] wire::CollBufferHead& head() const {
        return *reinterpret_cast<wire::CollBufferHead*>(memory_);
    }
    [[nodiscard]] wire::CollBufferMember& member(int m) const {
        return reinterpret_cast<wire::CollBufferMember*>(memory_ + geometry_.members_offset())[m];
    }
    [[nodiscard]] wire::SlotHead& slot_head(uint32_t op, int m) const {
        return *reinterpret_cast<wire::SlotHead*>(memory_ +
                                                  geometry_.slot_offset(bank(op), static_cast<uint32_t>(m)));
    }
    [[nodiscard]] std::byte* slot(uint32_t op, int m) const {
        return reinterpret_cast<std::byte*>(&slot_head(op, m)) + sizeof(wire::SlotHead);
    }
    [[nodiscard]] wire::CollBufferHead::PaddedWord& arrived(uint32_t op) const {
        return head().arrived[bank(op)];
    }
    [[nodiscard]] wire::CollBufferHead::PaddedWord& released(uint32_t op) const {
        return head().released[bank(op)];
    }

  private:
    std::byte* memory_;
    wire::CollBufferGeometry geometry_;
};

} // namespace zipmpi::proto::coll
