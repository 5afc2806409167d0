// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/send_buffer.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::core {
namespace {

constexpr size_t alignment = alignof(std::max_align_t);
static_assert(sizeof(SendBuffer::Block) % alignof(SendBuffer::Block) == 0);
static_assert(sizeof(SendBuffer::Block) + 2 * alignment <= SendBuffer::promised_overhead);

constexpr size_t aligned(size_t n) { return (n + alignment - 1) / alignment * alignment; }

} // namespace

SendBuffer::SendBuffer(void* memory, int64_t size) noexcept
    : memory_(memory)
    , size_(size) {
    auto* const start = static_cast<std::byte*>(memory);
    const auto at = reinterpret_cast<uintptr_t>(memory);
    const auto skipped = static_cast<int64_t>(aligned(at) - at);
    end_ = start + size;
    begin_ = skipped < size ? start + skipped : end_;
}

const SendBuffer::Block* SendBuffer::oldest() const {
    const Block* oldest = first_;
    for (const Block* b = first_; b != nullptr; b = b->after)
        if (b->number < oldest->number) oldest = b;
    return oldest;
}

std::byte* SendBuffer::find_gap(size_t size, Block*& before) const {
    std::byte* gap = begin_;
    before = nullptr;
    for (Block* b = first_;; b = b->after) {
        std::byte* const gap_end = b != nullptr ? reinterpret_cast<std::byte*>(b) : end_;
        if (static_cast<size_t>(gap_end - gap) >= size) return gap;
        if (b == nullptr) return nullptr;
        before = b;
        gap = gap_end + b->size;
        if (gap > end_) gap = end_; // the last block may end less than an alignment after the buffer
    }
}

void SendBuffer::link(Block& block, Block* before) {
    block.before = before;
    block.after = before != nullptr ? before->after : first_;
    if (block.after != nullptr) block.after->before = &block;
    (before != nullptr ? before->after : first_) = &block;
}

SendBuffer::Block* SendBuffer::allocate(uint64_t bytes) {
    if (bytes > UINT64_MAX - promised_overhead) return nullptr;
    const size_t size = sizeof(Block) + bytes;
    Block* before = nullptr;
    void* at = automatic() ? std::malloc(size) : find_gap(size, before);
    if (at == nullptr) return nullptr;
    auto* block = new (at) Block;
    block->home = this;
    block->size = aligned(size);
    block->number = ++last_number_;
    link(*block, before);
    ++blocks_;
    return block;
}

void SendBuffer::release(Block& block) {
    (block.before != nullptr ? block.before->after : first_) = block.after;
    if (block.after != nullptr) block.after->before = block.before;
    --blocks_;
    const uint64_t number = block.number;
    if (automatic()) std::free(&block);
    std::vector<Flush> flushes = std::exchange(flushes_, {});
    for (Flush& f : flushes) {
        if (number <= f.up_to) --f.waiting;
        if (f.waiting != 0) flushes_.push_back(f);
    }
    for (const Flush& f : flushes)
        if (f.waiting == 0) f.reached(f.subject);
}

void SendBuffer::when_flushed(Reached reached, void* subject) {
    if (empty()) return reached(subject);
    flushes_.push_back({reached, subject, last_number_, blocks_});
}

} // namespace zipmpi::core
