// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffer for buffered sends: attached by the application, or automatic. Each message is one block with the
// operation and a copy of the data. Blocks in attached memory are ordered by address and allocated first fit,
// in time proportional to the messages in flight. If the ABI of the program guarantees less space per message
// than a block needs, blocks are allocated elsewhere and only counted.
//
// Threads: called with the progress engine lock held.
#pragma once

#include "core/object.hpp"
#include "proto/p2p/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zipmpi::core {

class BsendBuffer {
  public:
    struct BsendBlock : proto::Operation {
        BsendBuffer* owner = nullptr;
        Comm* comm = nullptr; // reference-counted by the user of the block
        BsendBlock* next = nullptr;
        BsendBlock* previous = nullptr;
        size_t size = 0; // including this header
        uint64_t sequence = 0;
        std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
    };
    // Space that the standard guarantees to suffice per message in addition to its data (MPI_BSEND_OVERHEAD).
    static constexpr size_t bsend_overhead = 512;

    // memory null: automatic. overhead: MPI_BSEND_OVERHEAD of the program's ABI.
    BsendBuffer(void* memory, int64_t size, size_t overhead = bsend_overhead) noexcept;
    BsendBuffer(const BsendBuffer&) = delete;
    BsendBuffer& operator=(const BsendBuffer&) = delete;

    [[nodiscard]] bool automatic() const { return memory_ == nullptr; }
    [[nodiscard]] void* memory() const { return memory_; }
    [[nodiscard]] int64_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }
    [[nodiscard]] const BsendBlock* oldest() const;

    // Space for a message, or null.
    BsendBlock* allocate(uint64_t bytes);
    void release(BsendBlock& block);

    // Records a failed send whose call has already returned; reported by the next call on the buffer.
    void record_failure(Err error) { failure_ = error; }
    [[nodiscard]] Err take_failure() { return std::exchange(failure_, Err::success); }

    // Calls `callback` when all blocks that are in flight now are released; immediately if there are none.
    using FlushCallback = void (*)(void* subject);
    void on_flushed(FlushCallback callback, void* subject);

  private:
    struct BsendFlush {
        FlushCallback callback;
        void* subject;
        uint64_t last_sequence;  // sequence number of the last block to wait for
        uint64_t pending_blocks; // blocks not yet released
    };
    [[nodiscard]] std::byte* find_free_range(size_t size, BsendBlock*& before) const;
    void link(BsendBlock& block, BsendBlock* before);
    [[nodiscard]] bool allocates() const { return automatic() || overhead_ < bsend_overhead; }
    [[nodiscard]] bool has_space(uint64_t bytes) const;

    void* memory_;
    int64_t size_;
    size_t overhead_;
    uint64_t counted_ = 0; // bytes of blocks allocated elsewhere, with their overhead
    std::byte* begin_;     // aligned
    std::byte* end_;
    BsendBlock* first_ = nullptr;
    uint64_t blocks_ = 0;
    uint64_t last_sequence_ = 0;
    Err failure_ = Err::success;
    std::vector<BsendFlush> flushes_;
};

} // namespace zipmpi::core
