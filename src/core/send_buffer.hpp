// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory for buffered sends: attached by the program, or automatic. Each message is one block that holds the
// operation and a copy of the bytes; blocks of attached memory lie in it in the order of their addresses and
// are found by first fit, in time proportional to the messages under way.
//
// Threads: under the engine lock.
#pragma once

#include "core/object.hpp"
#include "proto/p2p/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zipmpi::core {

class SendBuffer {
  public:
    struct Block : proto::Operation {
        SendBuffer* home = nullptr;
        Comm* comm = nullptr; // counted by the user of the block
        Block* after = nullptr;
        Block* before = nullptr;
        size_t size = 0; // with this head
        uint64_t number = 0;
        std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
    };
    // What the standard promises to be enough beside the bytes of a message (MPI_BSEND_OVERHEAD).
    static constexpr size_t promised_overhead = 512;

    SendBuffer(void* memory, int64_t size) noexcept; // memory null: automatic
    SendBuffer(const SendBuffer&) = delete;
    SendBuffer& operator=(const SendBuffer&) = delete;

    [[nodiscard]] bool automatic() const { return memory_ == nullptr; }
    [[nodiscard]] void* memory() const { return memory_; }
    [[nodiscard]] int64_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }
    [[nodiscard]] const Block* oldest() const;

    // Room for a message, or null.
    Block* allocate(uint64_t bytes);
    void release(Block& block);

    // A message that could not be sent after its call had returned; told by the next call on the buffer.
    void note_failure(Err error) { failure_ = error; }
    [[nodiscard]] Err take_failure() { return std::exchange(failure_, Err::success); }

    // Calls `reached` once all blocks that are under way now are released, at once if there are none.
    using Reached = void (*)(void* subject);
    void when_flushed(Reached reached, void* subject);

  private:
    struct Flush {
        Reached reached;
        void* subject;
        uint64_t up_to;   // number of the last block it waits for
        uint64_t waiting; // blocks
    };
    [[nodiscard]] std::byte* find_gap(size_t size, Block*& before) const;
    void link(Block& block, Block* before);

    void* memory_;
    int64_t size_;
    std::byte* begin_; // aligned
    std::byte* end_;
    Block* first_ = nullptr;
    uint64_t blocks_ = 0;
    uint64_t last_number_ = 0;
    Err failure_ = Err::success;
    std::vector<Flush> flushes_;
};

} // namespace zipmpi::core
