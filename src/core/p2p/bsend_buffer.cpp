// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/p2p/bsend_buffer.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::core {
namespace {

constexpr size_t alignment = alignof(std::max_align_t);
static_assert(sizeof(BsendBuffer::BsendBlock) % alignof(BsendBuffer::BsendBlock) == 0);
static_assert(sizeof(BsendBuffer::BsendBlock) + 2 * alignment <= BsendBuffer::bsend_overhead);

constexpr size_t aligned(size_t n) { return (n + alignment - 1) / alignment * alignment; }

} // namespace

BsendBuffer::BsendBuffer(void* memory, int64_t size, size_t overhead) noexcept
    : memory_(memory)
    , size_(size)
    , overhead_(overhead) {
    auto* const start = static_cast<std::byte*>(memory);
    const auto at = reinterpret_cast<uintptr_t>(memory);
    const auto skipped = static_cast<int64_t>(aligned(at) - at);
    end_ = start + size;
    begin_ = skipped < size ? start + skipped : end_;
}

const BsendBuffer::BsendBlock* BsendBuffer::oldest() const {
    const BsendBlock* oldest = first_;
    for (const BsendBlock* b = first_; b != nullptr; b = b->next)
        if (b->sequence < oldest->sequence) oldest = b;
    return oldest;
}

std::byte* BsendBuffer::find_free_range(size_t size, BsendBlock*& before) const {
    std::byte* free_begin = begin_;
    before = nullptr;
    for (BsendBlock* b = first_;; b = b->next) {
        std::byte* const free_end = b != nullptr ? reinterpret_cast<std::byte*>(b) : end_;
        if (static_cast<size_t>(free_end - free_begin) >= size) return free_begin;
        if (b == nullptr) return nullptr;
        before = b;
        free_begin = free_end + b->size;
        if (free_begin > end_)
            free_begin = end_; // the last block may end less than an alignment after the buffer
    }
}

void BsendBuffer::link(BsendBlock& block, BsendBlock* before) {
    block.previous = before;
    block.next = before != nullptr ? before->next : first_;
    if (block.next != nullptr) block.next->previous = &block;
    (before != nullptr ? before->next : first_) = &block;
}

bool BsendBuffer::has_space(uint64_t bytes) const {
    return automatic() || !allocates() || counted_ + bytes + overhead_ <= static_cast<uint64_t>(size_);
}

BsendBuffer::BsendBlock* BsendBuffer::allocate(uint64_t bytes) {
    if (bytes > UINT64_MAX / 2 || !has_space(bytes)) return nullptr;
    const size_t size = sizeof(BsendBlock) + bytes;
    BsendBlock* before = nullptr;
    void* at = allocates() ? std::malloc(size) : find_free_range(size, before);
    if (at == nullptr) return nullptr;
    auto* block = new (at) BsendBlock;
    block->owner = this;
    block->size = allocates() ? size : aligned(size);
    if (allocates()) counted_ += bytes + overhead_;
    block->sequence = ++last_sequence_;
    link(*block, before);
    ++blocks_;
    return block;
}

void BsendBuffer::release(BsendBlock& block) {
    (block.previous != nullptr ? block.previous->next : first_) = block.next;
    if (block.next != nullptr) block.next->previous = block.previous;
    --blocks_;
    const uint64_t number = block.sequence;
    if (allocates()) {
        counted_ -= block.size - sizeof(BsendBlock) + overhead_;
        std::free(&block);
    }
    std::vector<BsendFlush> flushes = std::exchange(flushes_, {});
    for (BsendFlush& f : flushes) {
        if (number <= f.last_sequence) --f.pending_blocks;
        if (f.pending_blocks != 0) flushes_.push_back(f);
    }
    for (const BsendFlush& f : flushes)
        if (f.pending_blocks == 0) f.callback(f.subject);
}

void BsendBuffer::on_flushed(FlushCallback callback, void* subject) {
    if (empty()) return callback(subject);
    flushes_.push_back({callback, subject, last_sequence_, blocks_});
}

} // namespace zipmpi::core
